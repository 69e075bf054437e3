/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_WEIGHTS_H
#define BPFPROFIL_PROFILE_WEIGHTS_H

#include "profile/profile.h"

/*
 * The CPU time of a tick. Ticks are samples, and miss much of programs that sleep when the clock
 * fires. The scheduler knows the time of such programs, but not where it was spent. Therefore the
 * time of each stratum (a term of survey statistics) is divided among the stratum's own ticks. No
 * time moves from one process or cgroup to another:
 *
 * - A target that is not split is one stratum: its CPU time, and all of its ticks.
 * - Each split is one.
 * - The ticks of a target outside its splits are one. Its time is the rest that the splits leave.
 *   For sums by place, it also gets time that the splits have beyond their ticks, until a tick of
 *   an unknown process has as much as any other.
 *
 * For sums by place, small processes of one name (with less than PROFILE_STRATUM_TICKS ticks, and
 * periods of CPU time) are one stratum, including those without ticks: for short processes, chance
 * alone decides which one has the tick. Those without ticks do not raise the time of a tick above
 * PROFILE_STRATUM_TICKS periods.
 *
 * Ticks that the kernel withheld get no time: it belongs to the ticks that it delivered.
 *
 * The time of a stratum without ticks has no place: it is unseen. Without the scheduler's time, a
 * tick has its target's period. The times of all ticks of a target and its unseen time add up to
 * its CPU time.
 */
#define PROFILE_STRATUM_TICKS 10

struct profile_weights;

/* The profile must outlive the result, and its histograms must not move. NULL: out of memory. */
struct profile_weights *profile_weights_new(const struct profile *profile);

/* Does the same for sums by process, thread or cgroup: each is a stratum. */
struct profile_weights *profile_weights_of_splits(const struct profile *profile);
void profile_weights_free(struct profile_weights *weights); /* NULL is fine */

/* Nanoseconds of a tick in one of the profile's histograms. */
double profile_weight(const struct profile_weights *weights,
		      const struct profile_histogram *histogram);

/*
 * Returns whole nanoseconds for the next ticks of a histogram. Fractions carry over, so that all
 * ticks of a stratum get all of its time, in any portions.
 */
uint64_t profile_weights_next_ns(struct profile_weights *weights,
				 const struct profile_histogram *histogram, uint64_t ticks);

/* Nanoseconds of a target's CPU time without ticks. */
uint64_t profile_weights_unseen(const struct profile_weights *weights, uint32_t target);

/* Nanoseconds of a target's splits that ticks of unknown processes stand for. */
uint64_t profile_weights_unknown(const struct profile_weights *weights, uint32_t target);

/*
 * Nanoseconds of a split's CPU time outside of bins: it has no ticks, or only ticks outside of
 * bins.
 */
uint64_t profile_weights_unbinned(const struct profile_weights *weights, size_t split);

/*
 * The variance of sums of a target's ticks, relative to independent ticks. If a sample stands for
 * several ticks, these are not independent.
 */
double profile_tick_variance(const struct profile *profile, uint32_t target);

/* CPU time between two ticks of a target. */
uint64_t profile_target_period(const struct profile *profile, uint32_t target);

/* Ticks of a target that share its CPU time: all but those that the kernel withheld. */
uint64_t profile_timed_ticks(const struct profile_target *target);

/* CPU time of a target in nanoseconds, from the scheduler, or else from its ticks. */
double profile_target_time(const struct profile *profile, uint32_t target);

/* Does the same for all targets that count. */
double profile_time(const struct profile *profile);

#endif
