// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "interval.h"

#include <stdlib.h>
#include <string.h>

/* A test without memory can show nothing, so it ends at once. */
static void *need(void *pointer)
{
	if (!pointer)
		abort();
	return pointer;
}

static char *copy(const char *text)
{
	return text ? need(strdup(text)) : NULL;
}

static void add(struct profile *profile, uint32_t i, const struct interval_count *counted)
{
	struct profile_histogram *histogram = &profile->histograms[i];
	struct profile_function *function = &profile->functions[i];

	profile->objects[i].path = copy(counted->object);
	*function = (struct profile_function){ .object = i,
					       .name = copy(counted->function),
					       .offset = counted->offset,
					       .size = 16,
					       .ticks = counted->ticks };
	*histogram = (struct profile_histogram){ .object = i,
						 .pid = counted->process ? counted->pid : -1,
						 .process = copy(counted->process),
						 .cgroup = copy(counted->cgroup),
						 .offset = counted->offset,
						 .size = 16,
						 .width = 4,
						 .scale = 131072,
						 .bytes_per_bin = 1,
						 .nr_bins = 1 };
	histogram->bins = need(calloc(1, sizeof(*histogram->bins)));
	histogram->bins[0].count = counted->ticks;
	profile->ticks.total += counted->ticks;
	profile->ticks.binned += counted->ticks;
}

struct profile *interval_profile(const struct interval_count *counted, size_t nr, uint64_t lost)
{
	struct profile *profile = need(profile_new());
	uint32_t i;

	profile->duration_ns = 1000000000;
	profile->sampling.period_ns = 1000000;
	profile->host.cpus = 2;
	profile->targets = need(calloc(1, sizeof(*profile->targets)));
	profile->targets[0].kind = copy("system");
	profile->targets[0].name = copy("all");
	profile->nr_targets = 1;
	profile->objects = need(calloc(nr + 1, sizeof(*profile->objects)));
	profile->functions = need(calloc(nr + 1, sizeof(*profile->functions)));
	profile->histograms = need(calloc(nr + 1, sizeof(*profile->histograms)));
	for (i = 0; i < nr; i++)
		add(profile, i, &counted[i]);
	profile->nr_objects = profile->nr_functions = profile->nr_histograms = nr;
	profile->ticks.lost = need(calloc(1, sizeof(*profile->ticks.lost)));
	profile->ticks.nr_lost = 1;
	profile->ticks.lost[0].cause = copy("exit");
	profile->ticks.lost[0].ticks = lost;
	profile->ticks.total += lost;
	return profile;
}
