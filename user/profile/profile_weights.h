/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_WEIGHTS_H
#define BPFPROFIL_PROFILE_WEIGHTS_H

#include "profile/profile.h"

/*
 * How much CPU time a tick stands for. Ticks are samples, and miss much of what programs use that
 * sleep when the clock comes. The scheduler knows that time, but not where in the text it was
 * spent. So the time of each stratum (the term of survey statistics) is shared among the stratum's
 * own ticks, and no time goes from one process or cgroup to another:
 *
 * - A target that was not split is one stratum: its CPU time, all its ticks.
 * - Each split is one.
 * - The ticks of a target that are in none of its splits are one. Its time is what the splits leave.
 *   For sums by place it also gets time that the splits have beyond their ticks, until a tick whose
 *   process is unknown stands for as much as any other.
 *
 * For sums by place, processes of one name that are small (less than PROFILE_STRATUM_TICKS ticks, and
 * periods of CPU time) are one stratum, including those without a tick: of short processes it is
 * chance alone which one has the tick. None of their ticks stands for more than PROFILE_STRATUM_TICKS
 * periods because of those without.
 *
 * Ticks that the kernel withheld stand for no time: it is that of the ticks that it let pass.
 *
 * The time of a stratum without a tick is at no place: it is unseen. If the scheduler's time is
 * unknown, a tick stands for its target's period. The sum of what all ticks of a target stand for,
 * and of its unseen time, is its CPU time.
 */
#define PROFILE_STRATUM_TICKS 10

struct profile_weights;

/* The profile must outlive the result, and its histograms must not move. NULL: out of memory. */
struct profile_weights *profile_weights_new(const struct profile *profile);

/* The same for sums by process, thread or cgroup: each of them is a stratum. */
struct profile_weights *profile_weights_of_splits(const struct profile *profile);
void profile_weights_free(struct profile_weights *weights); /* NULL is fine */

/* How many nanoseconds a tick in one of the profile's histograms stands for. */
double profile_weight(const struct profile_weights *weights,
		      const struct profile_histogram *histogram);

/*
 * Whole nanoseconds for the next ticks of a histogram. Fractions carry over to the following ticks,
 * so that all ticks of a stratum get all its time, in whatever portions they are taken.
 */
uint64_t profile_weights_take(struct profile_weights *weights,
			      const struct profile_histogram *histogram, uint64_t ticks);

/* Nanoseconds of a target's CPU time for which no tick stands. */
uint64_t profile_weights_unseen(const struct profile_weights *weights, uint32_t target);

/* Nanoseconds of the CPU time of a target's splits for which ticks stand whose process is unknown. */
uint64_t profile_weights_unknown(const struct profile_weights *weights, uint32_t target);

/* Nanoseconds of a split's CPU time that belong to no bin: it had no tick, or some that are in none. */
uint64_t profile_weights_unbinned(const struct profile_weights *weights, size_t split);

/*
 * The variance of sums of a target's ticks, relative to that of independent ticks: the ticks of a
 * sample that stands for several are not independent.
 */
double profile_tick_variance(const struct profile *profile, uint32_t target);

/* CPU time between two ticks of a target. */
uint64_t profile_target_period(const struct profile *profile, uint32_t target);

/* Ticks of a target among which its CPU time is shared: all but those that the kernel withheld. */
uint64_t profile_timed_ticks(const struct profile_target *target);

/* CPU time of a target in nanoseconds, from the scheduler or else from its ticks. */
double profile_target_time(const struct profile *profile, uint32_t target);

/* The same for all targets that count. */
double profile_time(const struct profile *profile);

#endif
