/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_WEIGHTS_H
#define BPFPROFIL_PROFILE_WEIGHTS_H

#include "profile/profile.h"

/*
 * How much CPU time a tick stands for. Ticks sample it, and miss much of what programs use that sleep
 * when the clock comes; the scheduler knows it, but not where in the text it went. So the time of
 * each stratum, as survey statistics calls it, is shared among its own ticks, and a process in bursts
 * is not paid out to its steady neighbours:
 *
 *  - A target that was not split is one stratum: its CPU time, all its ticks.
 *  - A split with PROFILE_STRATUM_TICKS, or with as many periods of CPU time, is one.
 *  - The smaller splits of a target are one together, also those without a tick: of short processes
 *    one has the tick and the others have none by chance alone. No tick of theirs stands for more
 *    than PROFILE_STRATUM_TICKS periods because of those without.
 *  - Ticks of a target in none of its splits, such as lost ones, are one.
 *
 * Time in a stratum without a tick is at no place: it is unseen. Where the scheduler was not asked, a
 * tick stands for its target's period. What all ticks of a target stand for, and what is unseen of
 * it, is its CPU time.
 */
#define PROFILE_STRATUM_TICKS 10

struct profile_weights;

/* The profile must outlive it, and its histograms stay where they are. NULL: out of memory. */
struct profile_weights *profile_weights_new(const struct profile *profile);
void profile_weights_free(struct profile_weights *weights); /* NULL is fine */

/* Nanoseconds that a tick in one of the profile's histograms stands for. */
double profile_weight(const struct profile_weights *weights,
		      const struct profile_histogram *histogram);

/*
 * Whole nanoseconds of the next ticks of a histogram. Fractions are carried on to those after them,
 * so all ticks of a stratum have all its time, in whatever portions they are taken.
 */
uint64_t profile_weights_take(struct profile_weights *weights,
			      const struct profile_histogram *histogram, uint64_t ticks);

/* Nanoseconds of a target's CPU time that no tick stands for. */
uint64_t profile_weights_unseen(const struct profile_weights *weights, uint32_t target);

/*
 * How much sums of a target's ticks vary, beside as many that are each a sample of its own: those of
 * a sample that stands for several come together.
 */
double profile_tick_variance(const struct profile *profile, uint32_t target);

/* CPU time between two ticks of a target. */
uint64_t profile_target_period(const struct profile *profile, uint32_t target);

/* Nanoseconds of CPU time of a target, by the scheduler or else by its ticks. */
double profile_target_time(const struct profile *profile, uint32_t target);

/* Of all targets that count. */
double profile_time(const struct profile *profile);

#endif
