// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cli/result.h"

#include <criterion/criterion.h>
#include <string.h>

/* ticks at 1 kHz that cpu_ms of CPU time left; what is noted of it. */
static void check_rate(uint64_t ticks, uint64_t cpu_ms, double hz, const char *note)
{
	struct profile *profile = profile_new();

	cr_assert(profile);
	profile->sampling.requested_hz = 1000;
	profile->ticks.total = ticks;
	cr_assert_eq(result_measure_rate(profile, cpu_ms * 1000000), 0);
	cr_expect_float_eq(profile->sampling.measured_hz, hz, 0.001);
	cr_assert_eq(profile->nr_notes, note ? 1 : 0, "%lu ticks in %lu ms", ticks, cpu_ms);
	if (note)
		cr_expect_eq(strncmp(profile->notes[0], note, strlen(note)), 0, "%s",
			     profile->notes[0]);
	profile_free(profile);
}

Test(result, measured_rate)
{
	check_rate(5000, 0, 0, NULL);
	check_rate(5000, 5000, 1000, NULL);
	check_rate(5000, 4000, 1250, "25.0 % more ticks than the CPU time used should have: ");
	check_rate(10199, 10000, 1019.9, NULL);
	check_rate(9801, 10000, 980.1, NULL);
	check_rate(9700, 10000, 970, "3.0 % fewer ticks than the CPU time used should have: ");
	/* Too few to say anything of the clock. */
	check_rate(900, 1000, 900, NULL);
	check_rate(990, 900, 1100, NULL);
}
