// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "noise_trial.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff.h"
#include "sample.h"

#define SAMPLE_TICKS_MAX 64 /* as in BPF */

static const double levels[NOISE_LEVELS] = { [NOISE_5] = 0.05, [NOISE_1] = 0.01 };

const struct noise_trial noise_level_trials[] = {
	{ 100, 100, 0.10, 0.10, false },     { 400, 400, 0.025, 0.025, false },
	{ 400, 400, 0.05, 0.05, false },     { 400, 400, 0.5, 0.5, false },
	{ 397, 443, 0.4836, 0.4836, false }, { 400, 100, 0.1, 0.1, false },
	{ 1000, 100, 0.1, 0.1, false },	     { 100, 1000, 0.3, 0.3, false },
	{ 2000, 60, 0.2, 0.2, false },	     { 2000, 2000, 0.005, 0.005, false },
	{ 400, 400, 0.1, 0.1, true },	     { 2000, 500, 0.1, 0.1, true },
	{ 2000, 2000, 0.5, 0.5, true },
};
const size_t nr_noise_level_trials = sizeof(noise_level_trials) / sizeof(*noise_level_trials);

const struct noise_trial noise_power_trials[] = {
	{ 100, 100, 0.10, 0.20, false },   { 400, 400, 0.025, 0.05, false },
	{ 400, 400, 0.025, 0.07, false },  { 400, 400, 0.48, 0.57, false },
	{ 400, 100, 0.10, 0.20, false },   { 400, 100, 0.10, 0.03, false },
	{ 1000, 100, 0.10, 0.20, false },  { 1000, 100, 0.20, 0.10, false },
	{ 397, 443, 0.4836, 0.56, false }, { 397, 443, 0.4836, 0.6546, false },
	{ 400, 400, 0.10, 0.20, true },	   { 2000, 500, 0.50, 0.60, true },
};
const size_t nr_noise_power_trials = sizeof(noise_power_trials) / sizeof(*noise_power_trials);

/* A fixed sequence of numbers: Knuth's MMIX generator, whose upper bits are good. */
static double uniform(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(*state >> 11) / 9007199254740992.0;
}

/* Most samples stand for one tick, some for many: 2.5 on average, as in a storm of short processes. */
static uint64_t ticks_of_sample(uint64_t *state)
{
	double ticks = ceil(-2 * log1p(-uniform(state)));

	return ticks < 1 ? 1 : ticks > SAMPLE_TICKS_MAX ? SAMPLE_TICKS_MAX : (uint64_t)ticks;
}

/* Draws the samples of a profile that has one function; text that is in no object has the others. */
static void draw(struct profile *profile, unsigned int samples, double share, bool weighted,
		 uint64_t *state)
{
	struct profile_target *target = &profile->targets[0];
	uint64_t hits = 0, all = 0, excess = 0, ticks;
	unsigned int i;

	for (i = 0; i < samples; i++) {
		ticks = weighted ? ticks_of_sample(state) : 1;
		all += ticks;
		excess += ticks * (ticks - 1);
		hits += uniform(state) < share ? ticks : 0;
	}
	profile->histograms[0].bins[0].count = hits;
	target->ticks.total = profile->ticks.total = all;
	target->ticks.binned = profile->ticks.binned = hits;
	target->ticks.outside = profile->ticks.outside = all - hits;
	target->excess = excess;
}

/* Its ticks as that many independent samples. */
static double effective(const struct profile *profile, uint64_t ticks)
{
	const struct profile_target *target = &profile->targets[0];

	return (double)ticks / (1 + (double)target->excess / (double)target->ticks.total);
}

static double z_probability(const struct profile *old, const struct profile *new)
{
	double n1 = effective(old, old->ticks.total), n2 = effective(new, new->ticks.total);
	double k1 = effective(old, old->ticks.binned), k2 = effective(new, new->ticks.binned);
	double pooled = (k1 + k2) / (n1 + n2);
	double error = sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2));

	return error > 0 ? erfc(fabs(k1 / n1 - k2 / n2) / error / sqrt(2)) : 1;
}

/* There is one row, so that nothing is corrected for the number of rows. */
static double diff_probability(const struct profile *old, const struct profile *new)
{
	const struct diff_options options = { .by = REPORT_OBJECTS };
	struct error err = { 0 };
	struct diff diff;
	double probability;

	if (diff_build(old, new, &options, &diff, &err) || diff.nr > 1) {
		fprintf(stderr, "a simulated pair: %s, %zu rows\n", err.text, diff.nr);
		abort();
	}
	probability = diff.nr ? diff.rows[0].probability : 1;
	diff_free(&diff);
	return probability;
}

struct noise_found noise_simulate(const struct noise_trial *trial, unsigned int pairs)
{
	cleanup_profile struct profile *old = sample_profile_of_bins(1);
	cleanup_profile struct profile *new = sample_profile_of_bins(1);
	struct noise_found found = { 0 };
	uint64_t state = 1;
	unsigned int pair;
	int i;

	for (pair = 0; pair < pairs; pair++) {
		draw(old, trial->old, trial->old_share, trial->weighted, &state);
		draw(new, trial->new, trial->new_share, trial->weighted, &state);
		for (i = 0; i < NOISE_LEVELS; i++) {
			found.diff[i] += diff_probability(old, new) < levels[i] ? 100.0 / pairs : 0;
			found.z[i] += z_probability(old, new) < levels[i] ? 100.0 / pairs : 0;
		}
	}
	return found;
}
