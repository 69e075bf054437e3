// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Frames of which little is described: their callers and names, or that these are not known. */
#include <string.h>
#include <unistd.h>

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

/* On arm64 what the C library describes of __startcontext begins at a nop before that. */
#ifdef __aarch64__
#define START_CONTEXT "*"
#else
#define START_CONTEXT "__start_context"
#endif

/* The C library's names of these are in no shared one. */
LIVE_TEST(live_frames, coroutine_of_a_static_program)
{
	expect_backtrace(live, ARGS(WORKLOAD("frames_static"), "context", "3000"),
			 ARGS("leaf", "first", START_CONTEXT));
}

LIVE_TEST(live_frames, coroutine)
{
	expect_backtrace(live, ARGS(WORKLOAD("frames"), "context", "3000"), ARGS("leaf", "first"));
}

LIVE_TEST(live_frames, return_from_a_signal)
{
	expect_backtrace(live, ARGS(WORKLOAD("frames_static"), "signal", "3000"),
			 ARGS("leaf", "first", "handle", "*_rt*", "*kill*", "raise", "raises",
			      "main"));
}

/* The mark of a signal's frame does not make it one. */
LIVE_TEST(live_frames, mark_of_a_signal)
{
	expect_backtrace(live, ARGS(WORKLOAD("frames"), "marked", "3000"),
			 ARGS("leaf", "first", "marked", "calls_marked", "main"));
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

/* Where Go is not in PATH, its programs are not built. */
#define NEED_GO_PROGRAM(path) NEED(!access(path, X_OK), "no go in PATH when it was built")

/* A goroutine begins with what the compiler makes of the go statement. */
LIVE_TEST(live_frames, go)
{
	uint64_t ticks, in_main, in_routine;

	NEED_GO_PROGRAM(WORKLOAD("goroutines"));
	expect_backtrace(live, ARGS(WORKLOAD("goroutines")),
			 ARGS("main.middle", "main.main", "runtime.main", "runtime.goexit*"));
	ticks = doc_inclusive(live->doc, "main.leaf");
	in_main = doc_called(live->doc, "main.leaf", "main.middle");
	in_routine = doc_backtraces(live->doc, ARGS("main.other", "main.routine", "main.main.*",
						    "runtime.goexit*"));
	cr_expect_gt(in_routine, 100);
	cr_expect_geq((double)(in_main + in_routine), 0.95 * (double)ticks, "%lu and %lu of %lu",
		      in_main, in_routine, ticks);
}

#ifdef __aarch64__
/* Go describes nothing of the frame of its crosscall2(), which C calls it by: a note says so. */
LIVE_TEST(live_frames, go_between_c)
{
	uint64_t ticks;

	NEED_GO_PROGRAM(WORKLOAD("goarchive"));
	live_run(live, ARGS(FAST, "--callers"), ARGS(WORKLOAD("goarchive"), "500"));
	doc_assert_callers(live->doc);
	ticks = doc_inclusive(live->doc, "main.goLeaf");
	cr_expect_gt(ticks, 100);
	cr_expect_geq((double)doc_called(live->doc, "main.goLeaf", "crosscall2"),
		      0.95 * (double)ticks);
	cr_expect(strstr(live->end.err, "no callers above crosscall2 of "), "%s", live->end.err);
}
#else
/*
 * Both languages' rules in one file, and three changes of the stack. Go before 1.21 leaves no trace of the
 * function that called asmcgocall(): such a chain is a guess.
 */
LIVE_TEST(live_frames, go_between_c)
{
	uint64_t ticks;

	NEED_GO_PROGRAM(WORKLOAD("goarchive"));
	expect_backtrace(live, ARGS(WORKLOAD("goarchive"), "1000"),
			 ARGS("main.goLeaf", "main.goMiddle", "_cgoexp_*_GoOuter",
			      "runtime.cgocallbackg1", "runtime.cgocallbackg",
			      "runtime.cgocallbackg.abi0", "runtime.cgocallback.abi0", "crosscall2",
			      "GoOuter", "c_calls_go", "main"));
	ticks = doc_inclusive(live->doc, "c_leaf");
	cr_expect_gt(ticks, 100);
	cr_expect_geq((double)doc_called(live->doc, "c_back", "main"), 0.95 * (double)ticks);
	doc_backtraces(live->doc, ARGS("c_leaf", "c_middle", "c_back", "_cgo_*_Cfunc_c_back",
				       "runtime.asmcgocall.abi0", "runtime.cgocall",
				       "main._Cfunc_c_back.abi0", "main.goMiddle"));
}
#endif
