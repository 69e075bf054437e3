// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * noise [PAIRS]
 *
 * How often `bpfprofil diff` sees a change in pairs of simulated profiles, at 5 % and at 1 %, beside
 * the z test of two proportions: first in pairs that do not differ, then in pairs that do. The seed
 * is fixed, so each run prints the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include "noise_trial.h"

static void print_trial(const struct noise_trial *trial, unsigned int pairs)
{
	const struct noise_found found = noise_simulate(trial, pairs);

	printf("%5u %5u %7.2f %7.2f  %-8s %7.2f %7.2f  %7.2f %7.2f\n", trial->old, trial->new,
	       100 * trial->old_share, 100 * trial->new_share, trial->weighted ? "1 to 64" : "1",
	       found.diff[NOISE_5], found.z[NOISE_5], found.diff[NOISE_1], found.z[NOISE_1]);
}

static void print_trials(const char *title, const struct noise_trial *trials, size_t nr,
			 unsigned int pairs)
{
	size_t i;

	printf("%s\n%5s %5s %7s %7s  %-8s %7s %7s  %7s %7s\n", title, "OLD", "NEW", "OLD %",
	       "NEW %", "WEIGHT", "5% diff", "z", "1% diff", "z");
	for (i = 0; i < nr; i++)
		print_trial(&trials[i], pairs);
}

int main(int argc, char **argv)
{
	unsigned int pairs = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 20000;

	print_trials("Level: changes that are seen where there are none, in per cent of pairs",
		     noise_level_trials, nr_noise_level_trials, pairs);
	print_trials("\nPower: changes that are found", noise_power_trials, nr_noise_power_trials,
		     pairs);
	return 0;
}
