// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/cpu_time.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profile/profile_splits.h"
#include "profile/profile_weights.h"
#include "report/rows.h"

/* The allowed difference: this many standard deviations, this share of the time, and a few ms. */
#define CHANCE 3
#define TOLERANCE 0.02
#define GRACE_NS 4e6

#define NAME_BYTES 256
/* If more than this share is missing, it may just as well be ticks that came late. */
#define NEARLY_ALL 0.9
/* A shorter time would be shown as 0.000 s. */
#define SHOWN_NS 5e5

/* Something of which both times are known. */
struct sight {
	uint64_t ticks;
	double seen; /* nanoseconds, from its ticks */
	double used; /* nanoseconds, from the scheduler */
	const struct profile_target *target;
	const struct profile_split *split; /* NULL: the whole target */
};

static double gap(const struct sight *sight)
{
	return fabs(sight->seen - sight->used);
}

static void judge(const struct sight *sight, double period, struct sight *worst)
{
	double chance = CHANCE * sqrt((double)sight->ticks) * period;

	if (gap(sight) > chance + TOLERANCE * sight->used + GRACE_NS && gap(sight) > gap(worst))
		*worst = *sight;
}

bool cpu_time_is_missed(double ns, uint64_t period_ns)
{
	return ns * (1 - TOLERANCE) > GRACE_NS && ns > CHANCE * (double)period_ns;
}

static void judge_splits(const struct profile *profile, const struct report_options *options,
			 struct sight *worst)
{
	size_t i;

	for (i = 0; i < profile->nr_splits; i++) {
		const struct profile_split *split = &profile->splits[i];
		double period = (double)profile_target_period(profile, split->target);
		const struct sight sight = { .ticks = split->ticks,
					     .seen = (double)split->ticks * period,
					     .used = (double)split->cpu_ns,
					     .target = &profile->targets[split->target],
					     .split = split };

		/* A sum of several is left out, because it may consist of splits that had no tick. */
		if (target_chosen(profile, options, split->target) && sight.target->cpu_known &&
		    (split->pid >= 0 || split->cgroup))
			judge(&sight, period, worst);
	}
}

static void judge_targets(const struct profile *profile, const struct report_options *options,
			  struct sight *worst)
{
	uint32_t i;

	for (i = 0; i < profile->nr_targets; i++) {
		const struct profile_target *target = &profile->targets[i];
		double period = (double)profile_target_period(profile, i);
		const struct sight sight = { .ticks = target->ticks.total,
					     .seen = (double)target->ticks.total * period,
					     .used = (double)target->cpu_ns,
					     .target = target };

		if (target_chosen(profile, options, i) && target->cpu_known)
			judge(&sight, period, worst);
	}
}

static void name_sight(const struct sight *sight, char name[NAME_BYTES])
{
	const struct profile_target *target = sight->target;
	const struct profile_split *split = sight->split;

	if (split && split->process)
		snprintf(name, NAME_BYTES, "%.128s (pid %" PRId64 ")", split->process, split->pid);
	else if (split && split->pid >= 0)
		snprintf(name, NAME_BYTES, "pid %" PRId64, split->pid);
	else if (split)
		snprintf(name, NAME_BYTES, "cgroup %.200s", split->cgroup);
	else
		snprintf(name, NAME_BYTES, "%.16s %.128s%s%.64s", target->kind, target->name,
			 target->host ? " on " : "", target->host ? target->host : "");
}

static const char *reason(const struct profile *profile, const struct sight *sight)
{
	if (profile_is_partly_sampled(profile))
		return "not all of the time was sampled";
	if (sight->seen > sight->used)
		return "they fall on its bursts, or on time that a hypervisor took away";
	if (sight->seen < NEARLY_ALL * sight->used)
		return "its bursts fall between ticks";
	return "its bursts fall between ticks, or these came late";
}

static void tell(const struct profile *profile, const struct sight *sight,
		 struct cpu_time_notes *notes)
{
	char *text = notes->text[notes->nr++], name[NAME_BYTES];
	double share = sight->seen / sight->used;

	name_sight(sight, name);
	if (!sight->ticks)
		snprintf(text, CPU_TIME_NOTE_BYTES,
			 "ticks saw nothing of the %.3f s of CPU time of %s: %s", sight->used / 1e9,
			 name, reason(profile, sight));
	else if (!(sight->used > 0))
		snprintf(text, CPU_TIME_NOTE_BYTES,
			 "ticks saw %.3f s of CPU time of %s, which had none", sight->seen / 1e9,
			 name);
	else
		snprintf(text, CPU_TIME_NOTE_BYTES,
			 "ticks saw %.2f%s the CPU time of %s: %s; SECONDS are the scheduler's",
			 share, share < 1 ? " of" : " times", name, reason(profile, sight));
}

static const char *noun(const struct profile *profile)
{
	if (!profile->nr_splits)
		return "targets";
	if (profile->splits[0].cgroup)
		return "cgroups";
	return profile->sampling.split && !strcmp(profile->sampling.split, "thread") ? "threads" :
										       "processes";
}

static int tell_unseen(const struct profile *profile, const struct report_options *options,
		       struct cpu_time_notes *notes)
{
	struct profile_weights *weights = profile_weights_new(profile);
	double unseen = 0;
	uint32_t i;

	if (!weights)
		return -ENOMEM;
	for (i = 0; i < profile->nr_targets; i++)
		if (target_chosen(profile, options, i))
			unseen += (double)profile_weights_unseen(weights, i);
	profile_weights_free(weights);
	if (unseen >= SHOWN_NS)
		snprintf(notes->text[notes->nr++], CPU_TIME_NOTE_BYTES,
			 "%.3f s were used by %s without a tick", unseen / 1e9, noun(profile));
	return 0;
}

int cpu_time_judge(const struct profile *profile, uint64_t target, struct cpu_time_notes *result)
{
	const struct report_options options = { .target = target };
	struct sight worst = { 0 };

	result->nr = 0;
	/* Without any tick there is nothing to compare, and render_empty() says so. */
	if (!rows_account(profile, &options)->total)
		return 0;
	judge_splits(profile, &options, &worst);
	if (!worst.target)
		judge_targets(profile, &options, &worst);
	if (worst.target)
		tell(profile, &worst, result);
	return tell_unseen(profile, &options, result);
}
