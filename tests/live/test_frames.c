// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Frames of which little is described: their callers and names, or that these are not known. */
#include <criterion/criterion.h>

#include "doc_callers.h"
#include "live.h"
#include "need.h"

TestSuite(live_frames, .init = need_root, .timeout = 120);

/* All ticks below the first frame are in complete chains, with these frames above it. */
static void expect_backtrace(struct live *live, const char *const command[],
			     const char *const frames[])
{
	uint64_t ticks, complete;

	live_run(live, ARGS(FAST, "--callers"), command);
	doc_assert_callers(live->doc);
	ticks = doc_inclusive(live->doc, frames[0]);
	complete = doc_backtraces(live->doc, frames);
	cr_expect_gt(ticks, 100);
	/* The tables of a busy host are late. */
	cr_expect_geq((double)complete, 0.95 * (double)ticks, "%lu of %lu", complete, ticks);
}

/* The C library's names of these are in no shared one. */
LIVE_TEST(live_frames, coroutine_of_a_static_program)
{
	expect_backtrace(live, ARGS(WORKLOAD("frames_static"), "context", "3000"),
			 ARGS("leaf", "first", "__start_context"));
}

LIVE_TEST(live_frames, coroutine)
{
	expect_backtrace(live, ARGS(WORKLOAD("frames"), "context", "3000"), ARGS("leaf", "first"));
}

LIVE_TEST(live_frames, return_from_a_signal)
{
	expect_backtrace(live, ARGS(WORKLOAD("frames_static"), "signal", "3000"),
			 ARGS("leaf", "first", "handle", "__restore_rt", "*kill*", "raise",
			      "raises", "main"));
}

/* What nobody described may push more than its neighbours: its callers are not known. */
LIVE_TEST(live_frames, code_between_functions)
{
	uint64_t ticks;

	live_run(live, ARGS(FAST, "--callers"), ARGS(WORKLOAD("frames"), "shim", "3000"));
	doc_assert_callers(live->doc);
	ticks = doc_called(live->doc, "leaf", "shim");
	cr_expect_gt(ticks, 100);
	cr_expect_eq(doc_backtraces(live->doc, ARGS("leaf", "first", "shim", "calls_shim")), 0);
	cr_expect_geq(doc_ended(live->doc, "no rule"), ticks / 20 * 19);
}
