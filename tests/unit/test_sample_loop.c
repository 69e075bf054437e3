// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/sample_loop.h"

#include <criterion/criterion.h>

#include "base/util.h"

/* Names hold a file up, but nobody who goes on making new ones can do so for long. */
Test(sample_loop, a_file_waits_for_names)
{
	struct sampling_options options = { .interval_ns = 100 * SECOND_NS };
	struct sample_loop loop = { .options = &options };

	loop.named_ns = 7 * SECOND_NS;
	cr_expect_eq(sample_due(&loop), 0, "no series");
	loop.cut_ns = 9 * SECOND_NS;
	cr_expect_eq(sample_due(&loop), 9 * SECOND_NS);
	loop.named_ns = 10 * SECOND_NS;
	cr_expect_eq(sample_due(&loop), 10 * SECOND_NS);
	loop.named_ns = 50 * SECOND_NS;
	cr_expect_eq(sample_due(&loop), 11 * SECOND_NS);
	options.interval_ns = SECOND_NS;
	cr_expect_eq(sample_due(&loop), 9 * SECOND_NS + SECOND_NS / 10);
}
