// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "live.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "chance.h"
#include "host.h"

#define MAX_ARGS 64
#define TRIES 3
/* How late a tick is, in periods of the default rate, in all but one of a hundred cases. */
#define LATENESS_PERIODS 0.03

void live_begin(struct live *live)
{
	memset(live, 0, sizeof(*live));
	host_clock_begin();
	snprintf(live->dir, sizeof(live->dir), "/tmp/bpfprofil-live-XXXXXX");
	cr_assert_not_null(mkdtemp(live->dir), "%s: %s", live->dir, strerror(errno));
	snprintf(live->profile, sizeof(live->profile), "%s/profile.json", live->dir);
}

void live_end(struct live *live)
{
	child_do(ARGS("rm", "-rf", live->dir));
	child_end_free(&live->end);
	json_object_put(live->doc);
	live->doc = NULL;
}

const char *live_path(struct live *live, const char *name)
{
	static char paths[8][128];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", live->dir, name);
	return path;
}

const char *live_copy(struct live *live, const char *workload, const char *name)
{
	const char *copy = live_path(live, name);

	child_do(ARGS("cp", workload, copy));
	return copy;
}

static size_t append(const char **argv, size_t n, size_t max, const char *const more[])
{
	for (; *more; more++) {
		cr_assert_lt(n + 1, max);
		argv[n++] = *more;
	}
	argv[n] = NULL;
	return n;
}

void live_command(struct live *live, const char **argv, size_t max, const char *const options[],
		  const char *const command[], bool treetime)
{
	size_t n = 0;

	n = append(argv, n, max, ARGS(BPFPROFIL_BIN, "run", "-o", live->profile));
	n = append(argv, n, max, options);
	n = append(argv, n, max, ARGS("--"));
	if (treetime)
		n = append(argv, n, max, ARGS(WORKLOAD("treetime"), live_path(live, "usage")));
	append(argv, n, max, command);
}

void live_read_parts(const struct live *live, double ret[3])
{
	double sum = 0;
	int i;

	cr_assert_eq(sscanf(live->end.out, "%lf %lf %lf", &ret[0], &ret[1], &ret[2]), 3);
	for (i = 0; i < 3; i++)
		sum += ret[i];
	for (i = 0; i < 3; i++)
		ret[i] /= sum;
}

void live_load(struct live *live)
{
	json_object_put(live->doc);
	live->doc = doc_load(live->profile);
}

void live_read_usage(struct live *live)
{
	FILE *file = fopen(live_path(live, "usage"), "re");

	live->cpu_ns = 0;
	live->turns = 0;
	live->system_ns = 0;
	if (!file)
		return;
	if (fscanf(file, "%lf %lf %lf", &live->cpu_ns, &live->turns, &live->system_ns) != 3)
		live->cpu_ns = 0;
	fclose(file);
}

void live_try(struct live *live, const char *const options[], const char *const command[])
{
	const char *argv[MAX_ARGS];

	live_command(live, argv, MAX_ARGS, options, command, true);
	child_end_free(&live->end);
	child_run(&live->end, NULL, argv);
	live_read_usage(live);
	if (!access(live->profile, R_OK))
		live_load(live);
}

bool live_run(struct live *live, const char *const options[], const char *const command[])
{
	live_try(live, options, command);
	if (live->end.status == 77)
		return false;
	cr_assert_eq(live->end.status, 0, "exit %d: %s", live->end.status, live->end.err);
	cr_assert_not_null(live->doc, "no profile: %s", live->end.err);
	doc_assert_sound(live->doc);
	doc_assert_delivered(live->doc);
	cr_assert(json_object_get_boolean(doc_get(live->doc, "complete")));
	cr_assert_gt(live->cpu_ns, 0);
	return true;
}

/* How many ticks should have been counted. */
static double expected_ticks(struct live *live)
{
	return live->cpu_ns / (double)doc_number(live->doc, "sampling.period_ns");
}

double live_time_ratio(struct live *live)
{
	return (double)doc_number(live->doc, "ticks.total") / expected_ticks(live);
}

double live_allowed_part(double expected, double turns)
{
	/*
	 * A clock with fixed period and random phase hits the part f of a turn beyond whole periods
	 * either once or not at all: variance f(1 - f), which averages 1/6. It is late by some 30
	 * us, so many short turns may have more or less than their ticks: for 2,000 processes perf
	 * record -a had 1.01 to 1.06 of what another run took.
	 */
	double late = turns * LATENESS_PERIODS / expected;

	return fmax(0.02 + late + doc_emulated_part() + host_stolen_part(),
		    CHANCE_ERRORS * sqrt(turns / 6) / expected);
}

/* Relative to the whole run. */
static double allowed_part(struct live *live)
{
	return live_allowed_part(expected_ticks(live), live->turns);
}

bool live_run_timed(struct live *live, const char *const options[], const char *const command[])
{
	int tries = 0;

	do {
		host_clock_begin();
		if (!live_run(live, options, command))
			return false;
		if (fabs(live_time_ratio(live) - 1) <= allowed_part(live))
			return true;
	} while (++tries < TRIES);
	cr_expect_fail("%.4f ticks for each that %.3f s of CPU time in %.0f turns should have, "
		       "allowed are +- %.4f: %s",
		       live_time_ratio(live), live->cpu_ns / 1e9, live->turns, allowed_part(live),
		       json_object_to_json_string(doc_get(live->doc, "ticks")));
	return true;
}

struct awaited {
	struct live *live;
	size_t nr;
};

static size_t count_profiles(struct live *live)
{
	size_t nr = 0;
	glob_t found;

	if (!glob(live_path(live, "files/*.json.gz"), 0, NULL, &found))
		nr = found.gl_pathc;
	globfree(&found);
	return nr;
}

static bool are_there(void *argument)
{
	struct awaited *awaited = argument;

	return count_profiles(awaited->live) >= awaited->nr;
}

void live_await_profiles(struct live *live, size_t more)
{
	struct awaited awaited = { live, count_profiles(live) + more };

	cr_assert(eventually(are_there, &awaited), "%zu profiles, and no more",
		  count_profiles(live));
}
