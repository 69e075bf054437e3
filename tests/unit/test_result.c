// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/result.h"

#include <criterion/criterion.h>

/* The rate of ticks at 1 kHz that cpu_ms of CPU time gave. */
static double measured(uint64_t ticks, bool known, uint64_t cpu_ms, size_t nr_segments)
{
	struct profile_target target = { .kind = (char *)"command",
					 .cpu_known = known,
					 .cpu_ns = cpu_ms * 1000000 };
	struct profile profile = { .sampling = { .requested_hz = 1000, .nr_segments = nr_segments },
				   .ticks = { .total = ticks },
				   .targets = &target,
				   .nr_targets = 1 };

	result_measure_rate(&profile);
	return profile.sampling.measured_hz;
}

Test(result, measured_rate)
{
	cr_expect_float_eq(measured(5000, true, 5000, 0), 1000, 0.001);
	cr_expect_float_eq(measured(5000, true, 4000, 0), 1250, 0.001);
	cr_expect_float_eq(measured(9700, true, 10000, 0), 970, 0.001);
	cr_expect_eq(measured(5000, false, 0, 0), 0);
	cr_expect_eq(measured(5000, true, 0, 0), 0);
	cr_expect_eq(measured(5000, true, 5000, 2), 0, "of several periods");
}
