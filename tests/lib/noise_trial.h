/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_NOISE_TRIAL_H
#define TEST_NOISE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Pairs of profiles by simulation: each sample hits one function with a probability that is known.
 * diff compares the two. So does the z test of two proportions, which textbooks use.
 */
struct noise_trial {
	unsigned int old, new; /* samples */
	double old_share, new_share; /* how probable it is that a sample hits the function */
	bool weighted; /* samples stand for 1 to 64 ticks, and not for one each */
};

enum noise_level { NOISE_5, NOISE_1, NOISE_LEVELS };

/* In how many per cent of the pairs a test sees a change, by level. */
struct noise_found {
	double diff[NOISE_LEVELS];
	double z[NOISE_LEVELS];
};

/* Two runs of the same seed give the same figures. */
struct noise_found noise_simulate(const struct noise_trial *trial, unsigned int pairs);

/* Equal shares: how often a change is seen where there is none, which the level promises. */
extern const struct noise_trial noise_level_trials[];
extern const size_t nr_noise_level_trials;

/* Unlike shares: how often the change is found. */
extern const struct noise_trial noise_power_trials[];
extern const size_t nr_noise_power_trials;

#endif
