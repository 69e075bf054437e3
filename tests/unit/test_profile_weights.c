// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_weights.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile_io.h"
#include "sample.h"

/* One tick at 1 kHz. */
#define PERIOD 1000000

static struct profile *split_profile(void)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile_load("tests/golden/split.json", &profile, &err), 0, "%s", err.text);
	return profile;
}

static struct profile_weights *weigh(const struct profile *profile)
{
	struct profile_weights *weights = profile_weights_new(profile);

	cr_assert(weights);
	return weights;
}

/* The nanoseconds that the ticks in a target's bins stand for. */
static double binned(const struct profile *profile, const struct profile_weights *weights,
		     uint32_t target)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];

		if (histogram->target == target)
			sum += profile_weight(weights, histogram) *
			       (double)profile_histogram_ticks(histogram);
	}
	return sum;
}

/* The same in whole nanoseconds, bin by bin. */
static uint64_t taken(const struct profile *profile, struct profile_weights *weights)
{
	uint64_t sum = 0;
	size_t i, j;

	for (i = 0; i < profile->nr_histograms; i++)
		for (j = 0; j < profile->histograms[i].nr_bins; j++)
			sum += profile_weights_next_ns(weights, &profile->histograms[i],
						       profile->histograms[i].bins[j].count);
	return sum;
}

static void check_close(double value, double want, const char *what)
{
	cr_expect_float_eq(value, want, fabs(want) * 1e-9 + 2, "%s: %.3f, not %.3f", what, value,
			   want);
}

/* Each tick that belongs to a process is in a bin of it. */
static struct profile *whole_split_profile(void)
{
	struct profile *profile = split_profile();
	struct profile_account *ticks = &profile->targets[0].ticks;

	profile->splits[1].ticks = 500;
	ticks->total = ticks->binned = 915;
	ticks->outside = 0;
	ticks->lost[3].ticks = 0;
	profile_account_free(&profile->ticks);
	profile->ticks = (struct profile_account){ .total = 915, .binned = 915 };
	return profile;
}

Test(profile_weights, periods_where_the_scheduler_was_not_asked)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct profile_weights *weights;

	profile->targets[1].period_ns = 10000000;
	weights = weigh(profile);
	cr_expect_eq(profile_weight(weights, &profile->histograms[0]), 1003009);
	cr_expect_eq(profile_weight(weights, &profile->histograms[1]), 10000000);
	cr_expect_eq(profile_weights_next_ns(weights, &profile->histograms[0], 600), 601805400);
	cr_expect_eq(profile_weights_next_ns(weights, &profile->histograms[0], 1), 1003009);
	cr_expect_eq(profile_weights_unseen(weights, 0), 0);
	cr_expect_eq(profile_target_time(profile, 0), 1003009000);
	cr_expect_eq(profile_target_time(profile, 1), 600000000);
	cr_expect_eq(profile_time(profile), 1603009000);
	profile_weights_free(weights);
}

/* Without splits the CPU time is shared among all ticks, including those in no bin. */
Test(profile_weights, one_stratum)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct profile_weights *weights;

	profile->targets[0].cpu_known = true;
	profile->targets[0].cpu_ns = 2000000001;
	weights = weigh(profile);
	check_close(profile_weight(weights, &profile->histograms[0]), 2000000.001, "a tick");
	cr_expect_eq(profile_weight(weights, &profile->histograms[1]), 1003009);
	check_close(binned(profile, weights, 0), 2000000001.0 * 950 / 1000, "with overflow bins");
	cr_expect_eq(profile_weights_next_ns(weights, &profile->histograms[0], 999), 1998000000);
	cr_expect_eq(profile_weights_next_ns(weights, &profile->histograms[2], 1), 2000001);
	cr_expect_eq(profile_weights_unseen(weights, 0), 0);
	check_close(profile_time(profile), 2000000001.0 + 60 * 1003009, "all");
	profile_weights_free(weights);
}

/* Each process has its own time, and a steady one gets no more because another was in bursts. */
Test(profile_weights, a_stratum_for_each_process)
{
	cleanup_profile struct profile *profile = whole_split_profile();
	struct profile_weights *weights = weigh(profile);
	const struct profile_histogram *histograms = profile->histograms;

	check_close(profile_weight(weights, &histograms[0]), 505e6 / 500, "steady");
	check_close(profile_weight(weights, &histograms[1]), 1000e6 / 410, "in bursts");
	check_close(profile_weight(weights, &histograms[2]), 505e6 / 500, "steady, in the kernel");
	check_close(profile_weight(weights, &histograms[3]), 1000e6 / 410, "bursts, in the kernel");
	/* 3 and 2 ticks of 4 ms, and 6 ms without one. */
	check_close(profile_weight(weights, &histograms[4]), 10e6 / 5, "small");
	check_close(profile_weight(weights, &histograms[5]), 10e6 / 5, "small");
	check_close(binned(profile, weights, 0), 1515e6, "all");
	cr_expect_eq(taken(profile, weights), 1515000000);
	cr_expect_eq(profile_weights_unseen(weights, 0), 0);
	profile_weights_free(weights);
}

/* The time of lost ticks that are nobody's is in the processes' times, which stay theirs. */
Test(profile_weights, ticks_in_no_split)
{
	cleanup_profile struct profile *profile = split_profile();
	struct profile_weights *weights = weigh(profile);

	check_close(profile_weight(weights, &profile->histograms[0]), 505e6 / 505, "a tick");
	check_close(binned(profile, weights, 0) +
			    5 * profile_weight(weights, &profile->histograms[0]),
		    1515e6, "all");
	check_close((double)profile_weights_unbinned(weights, 1), 5e6, "in no bin");
	profile_weights_free(weights);
}

/* A process's seconds are its own, whatever other ticks there are, and however few it has. */
Test(profile_weights, each_process_has_its_own)
{
	cleanup_profile struct profile *profile = split_profile();
	struct profile_weights *weights = profile_weights_of_splits(profile);

	cr_assert(weights);
	check_close(profile_weight(weights, &profile->histograms[4]), 2e6 / 3, "of one sh");
	check_close(profile_weight(weights, &profile->histograms[5]), 2e6 / 2, "of the other");
	check_close((double)profile_weights_unbinned(weights, 0), 6e6, "of those without a tick");
	cr_expect_eq(profile_weights_unseen(weights, 0), 6000000);
	profile_weights_free(weights);
}

/*
 * Where memory had run out, nobody knows whose some ticks are. Their time is that of a process that lacks
 * ticks, and not of one whose ticks are all known.
 */
Test(profile_weights, ticks_of_nobody_knows_whom)
{
	cleanup_profile struct profile *profile = whole_split_profile();
	struct profile_histogram *unknown = &profile->histograms[2];
	uint64_t ticks = profile_histogram_ticks(unknown);
	struct profile_weights *weights;

	unknown->pid = -1;
	free(unknown->process);
	unknown->process = NULL;
	profile->splits[0].cpu_ns = 0;
	profile->splits[1].ticks -= ticks;
	profile->splits[2].cpu_ns = 410000000;
	profile->targets[0].cpu_ns = 919000000;
	weights = weigh(profile);
	check_close(profile_weight(weights, unknown), 919e6 / 915, "by place like any other");
	check_close((double)profile_weights_unknown(weights, 0), 919e6 / 915 * (double)ticks,
		    "all of them");
	check_close(profile_weight(weights, &profile->histograms[0]),
		    (505e6 - 919e6 / 915 * (double)ticks) / (double)(500 - ticks), "has less");
	check_close(profile_weight(weights, &profile->histograms[1]), 1e6, "all are known");
	check_close(binned(profile, weights, 0), 919e6, "all");
	profile_weights_free(weights);

	weights = profile_weights_of_splits(profile);
	cr_assert(weights);
	cr_expect_eq(profile_weight(weights, unknown), 0);
	cr_expect_eq(profile_weights_unknown(weights, 0), 0);
	check_close(profile_weight(weights, &profile->histograms[0]), 505e6 / (double)(500 - ticks),
		    "its own");
	profile_weights_free(weights);
}

/* A process of which no tick is known has the time of those of which nobody knows the process. */
Test(profile_weights, all_ticks_of_a_process_are_of_nobody)
{
	cleanup_profile struct profile *profile = whole_split_profile();
	struct profile_weights *weights;
	size_t i;

	for (i = 0; i < 4; i += 2) {
		profile->histograms[i].pid = -1;
		free(profile->histograms[i].process);
		profile->histograms[i].process = NULL;
	}
	profile->splits[0].cpu_ns = 0;
	profile->splits[1].ticks = 0;
	profile->splits[2].cpu_ns = 410000000;
	profile->targets[0].cpu_ns = 919000000;
	weights = weigh(profile);
	check_close(profile_weight(weights, &profile->histograms[0]), 919e6 / 915, "unknown");
	check_close(profile_weight(weights, &profile->histograms[1]), 1e6, "all are known");
	check_close((double)profile_weights_unseen(weights, 0), 505e6 - 500 * 919e6 / 915, "rest");
	profile_weights_free(weights);
}

/* What the kernel withheld has no place, and what it let pass has all the time. */
Test(profile_weights, withheld_ticks_stand_for_no_time)
{
	cleanup_profile struct profile *profile = split_profile();
	struct profile_account *ticks = &profile->targets[0].ticks;
	struct profile_weights *weights;

	ticks->lost[4].ticks = 200;
	ticks->total += 200;
	cr_expect_eq(profile_timed_ticks(&profile->targets[0]), ticks->total - 200);
	profile->nr_splits = 0;
	weights = weigh(profile);
	check_close(profile_weight(weights, &profile->histograms[0]), 1515e6 / 930, "a tick");
	profile_weights_free(weights);
	profile->nr_splits = 5;
}

/* --- sums --------------------------------------------------------------------------------------- */

/* In a sum with a part that was not split, the time in no split belongs to that part's ticks. */
Test(profile_weights, time_in_no_split)
{
	struct profile *profile = split_profile();
	struct profile_weights *weights;

	profile->targets[0].cpu_ns += 1000000000;
	weights = weigh(profile);
	check_close(profile_weight(weights, &profile->histograms[0]), 505e6 / 505, "a tick");
	cr_expect_eq(profile_weights_unseen(weights, 0), 0);
	profile_weights_free(weights);
	profile_free(profile);

	profile = whole_split_profile();
	profile->targets[0].cpu_ns += 1000000000;
	weights = weigh(profile);
	check_close(binned(profile, weights, 0), 1515e6, "rows");
	cr_expect_eq(profile_weights_unseen(weights, 0), 1000000000);
	profile_weights_free(weights);
	profile_free(profile);
}

Test(profile_weights, time_without_a_tick)
{
	cleanup_profile struct profile *profile = whole_split_profile();
	struct profile_weights *weights;

	/*
	 * Of the time of shells that the clock did not see, those with five ticks get as much as five
	 * ticks may stand for.
	 */
	profile->splits[0].cpu_ns += 5000000000;
	profile->targets[0].cpu_ns += 5000000000;
	weights = weigh(profile);
	check_close(profile_weight(weights, &profile->histograms[4]),
		    PROFILE_STRATUM_TICKS * PERIOD, "at most");
	check_close((double)profile_weights_unseen(weights, 0), 5010e6 - 50e6, "unseen");
	check_close(binned(profile, weights, 0) + (double)profile_weights_unseen(weights, 0),
		    6515e6, "all");
	profile_weights_free(weights);

	/* Nor to any other if there is none. */
	profile->splits[3].ticks = profile->splits[4].ticks = 0;
	profile->targets[0].ticks.total = profile->targets[0].ticks.binned = 910;
	profile->nr_histograms = 4;
	weights = weigh(profile);
	cr_expect_eq(profile_weights_unseen(weights, 0), 5010000000);
	check_close(binned(profile, weights, 0), 1505e6, "the others");
	profile_weights_free(weights);
	profile->nr_histograms = 6;
}

/* A single tick of the 50 that it should have had stands for all of them. */
Test(profile_weights, few_ticks_of_a_large_process)
{
	cleanup_profile struct profile *profile = whole_split_profile();
	struct profile_weights *weights;

	profile->splits[3].cpu_ns += 48000000;
	profile->targets[0].cpu_ns += 48000000;
	weights = weigh(profile);
	check_close(profile_weight(weights, &profile->histograms[4]), 50e6 / 3, "its own");
	check_close(profile_weight(weights, &profile->histograms[5]), 8e6 / 2, "the small ones'");
	check_close(binned(profile, weights, 0), 1563e6, "all");
	profile_weights_free(weights);
}

/* Which split a histogram belongs to. */
Test(profile_weights, owners)
{
	cleanup_profile struct profile *profile = whole_split_profile();
	struct profile_histogram *histograms = profile->histograms;
	struct profile_weights *weights;

	/*
	 * A pid that was two processes: the name tells them apart; without a name it is the other
	 * one.
	 */
	profile->splits[1].pid = histograms[0].pid = 200;
	free(histograms[0].process);
	free(profile->splits[1].process);
	histograms[0].process = NULL;
	profile->splits[1].process = NULL;
	/* If there is only one, it may have changed its name. */
	free(histograms[4].process);
	histograms[4].process = strdup("exec");
	weights = profile_weights_of_splits(profile);
	cr_assert(weights);
	check_close(profile_weight(weights, &histograms[0]), 505e6 / 500, "no name");
	check_close(profile_weight(weights, &histograms[1]), 1000e6 / 410, "the name");
	check_close(profile_weight(weights, &histograms[4]), 2e6 / 3, "another name");
	profile_weights_free(weights);

	/* A cgroup has all its processes. */
	profile->splits[2].pid = -1;
	free(profile->splits[2].process);
	profile->splits[2].process = NULL;
	profile->splits[2].cgroup = strdup("/redis");
	histograms[1].cgroup = strdup("/redis");
	histograms[3].cgroup = strdup("/other");
	weights = weigh(profile);
	profile_weights_free(weights);
	weights = profile_weights_of_splits(profile);
	cr_assert(weights);
	check_close(profile_weight(weights, &histograms[1]), 1000e6 / 410, "the cgroup");
	cr_expect_eq(profile_weight(weights, &histograms[3]), 0, "no split, and no time is left");
	profile_weights_free(weights);
}

/* As in a sum with a part that was not split. */
Test(profile_weights, more_ticks_in_bins_than_in_the_split)
{
	cleanup_profile struct profile *profile = whole_split_profile();
	struct profile_weights *weights;

	profile->splits[1].ticks = 100;
	weights = weigh(profile);
	check_close(profile_weight(weights, &profile->histograms[0]), 505e6 / 500, "a tick");
	check_close(binned(profile, weights, 0), 1515e6, "all");
	profile_weights_free(weights);
}

Test(profile_weights, no_ticks_at_all)
{
	struct profile_target target = { .kind = (char *)"pid",
					 .name = (char *)"1",
					 .cpu_known = true,
					 .cpu_ns = 123 };
	struct profile_split split = { .pid = 1, .cpu_ns = 123 };
	struct profile profile = { .sampling.period_ns = PERIOD,
				   .targets = &target,
				   .nr_targets = 1 };
	struct profile_weights *weights = weigh(&profile);

	cr_expect_eq(profile_weights_unseen(weights, 0), 123);
	cr_expect_eq(profile_time(&profile), 123);
	profile_weights_free(weights);
	profile.splits = &split;
	profile.nr_splits = 1;
	weights = weigh(&profile);
	cr_expect_eq(profile_weights_unseen(weights, 0), 123);
	profile_weights_free(weights);
	target.cpu_ns = 0;
	split.cpu_ns = 0;
	weights = weigh(&profile);
	cr_expect_eq(profile_weights_unseen(weights, 0), 0);
	profile_weights_free(weights);
}

/* Values that a file may contain must not divide by zero or overflow. */
Test(profile_weights, huge_values)
{
	static const uint64_t values[] = { 0, 1, 9, 10, UINT64_MAX / 2, UINT64_MAX };
	enum { NR = sizeof(values) / sizeof(values[0]) };
	cleanup_profile struct profile *profile = whole_split_profile();
	size_t i;

	for (i = 0; i < NR * NR * NR * NR; i++) {
		struct profile_weights *weights;
		uint64_t unseen;

		profile->targets[0].cpu_ns = values[i % NR];
		profile->splits[0].cpu_ns = values[i / NR % NR];
		profile->splits[1].cpu_ns = values[i / NR / NR % NR];
		profile->splits[2].cpu_ns = values[i / NR / NR / NR];
		profile->sampling.period_ns = values[(i + i / NR) % NR];
		weights = weigh(profile);
		unseen = profile_weights_unseen(weights, 0);
		cr_assert_leq(unseen, profile->targets[0].cpu_ns);
		cr_assert_float_eq(binned(profile, weights, 0) + (double)unseen,
				   (double)profile->targets[0].cpu_ns,
				   8 + 1e-9 * (double)profile->targets[0].cpu_ns, "%zu", i);
		cr_assert_leq(taken(profile, weights), profile->targets[0].cpu_ns);
		profile_weights_free(weights);
	}
}

/* Ticks that do not add up to the total are in no file, but a caller may have such a profile. */
Test(profile_weights, more_than_there_are)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct profile_weights *weights;

	profile->targets[0].cpu_known = true;
	profile->targets[0].cpu_ns = UINT64_MAX;
	profile->targets[0].ticks.total = 1;
	weights = weigh(profile);
	cr_expect_eq(profile_weights_next_ns(weights, &profile->histograms[0], UINT64_MAX),
		     UINT64_MAX);
	cr_expect_eq(profile_weights_next_ns(weights, &profile->histograms[0], 1), 0);
	profile_weights_free(weights);
	profile->targets[0].ticks.total = 0;
	weights = weigh(profile);
	cr_expect_eq(profile_weight(weights, &profile->histograms[0]), 0);
	cr_expect_eq(profile_weights_next_ns(weights, &profile->histograms[0], 5), 0);
	cr_expect_eq(profile_weights_unseen(weights, 0), UINT64_MAX);
	profile_weights_free(weights);
}
