// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * The callers of handlers and destructors that run because of a C++ exception. By then the frames that it has left
 * are gone, and so are those of the library that searched for the handler.
 */
#include <criterion/criterion.h>

#include "doc_callers.h"
#include "live.h"
#include "need.h"

TestSuite(live_exceptions, .init = need_root, .timeout = 120);

/*
 * All but some ticks, and those from before the tables were there: a busy host is late with them. When libgcc enters a
 * handler, it overwrites what its own frame has saved. Throws without any work take 1.3 % of an emulated arm64's time
 * for that.
 */
#define NEARLY_ALL 0.97

static void expect_complete(struct live *live, uint64_t complete, uint64_t ticks)
{
	uint64_t late = doc_ended(live->doc, "late");

	cr_expect_gt(ticks, 50);
	cr_expect_geq((double)(complete + late), NEARLY_ALL * (double)ticks, "%lu of %lu, %lu late",
		      complete, ticks, late);
	cr_expect_leq(late, doc_number(live->doc, "ticks.total") / 5);
}

static void run_exceptions(struct live *live, const char *what, const char *units)
{
	live_run(live, ARGS("-F", doc_walk_hz(), "--force", "--callers"),
		 ARGS(WORKLOAD("exceptions"), what, units));
	doc_assert_callers(live->doc);
	expect_complete(live, doc_ended(live->doc, "complete"),
			doc_number(live->doc, "ticks.total"));
}

/* All ticks below the first frame have these frames above it. */
static void expect_frames(struct live *live, const char *function, const char *const frames[])
{
	expect_complete(live, doc_backtraces(live->doc, frames),
			doc_inclusive(live->doc, function));
}

#define LEAF "leaf(unsigned long)"

/* Patterns of functions have an end for what gcc splits off, such as handles(unsigned long) [clone .cold]. */
static void expect_leaf(struct live *live, const char *what, const char *const frames[])
{
	const struct share wanted[] = { { LEAF, 6 }, { "plain(unsigned long)", 4 } };
	uint64_t ticks[2];
	int i;

	run_exceptions(live, what, "5000");
	expect_frames(live, LEAF, frames);
	for (i = 0; i < 2; i++)
		ticks[i] = doc_inclusive(live->doc, wanted[i].name);
	assert_ratio(2, wanted, ticks);
}

LIVE_TEST(live_exceptions, handler)
{
	expect_leaf(live, "handler", ARGS(LEAF, "handles(*", "round_of(*", "main"));
}

LIVE_TEST(live_exceptions, destructor_of_what_is_left)
{
	expect_leaf(live, "destructor",
		    ARGS(LEAF, "object::~object()", "passes(*", "catches(*", "round_of(*", "main"));
}

LIVE_TEST(live_exceptions, destructor_beside_an_array)
{
	expect_leaf(live, "array",
		    ARGS(LEAF, "object::~object()", "passes_array(*", "catches(*", "round_of(*",
			 "main"));
}

/* The frame in between is the library's, whose file has no name for it. */
LIVE_TEST(live_exceptions, destructor_of_the_exception)
{
	expect_leaf(live, "end",
		    ARGS(LEAF, "object::~object()", "*", "ends(*", "round_of(*", "main"));
}

LIVE_TEST(live_exceptions, nobody_catches)
{
	expect_leaf(live, "terminate",
		    ARGS(LEAF, "terminates()", "*", "std::terminate()", "__cxa_throw", "deeper(*",
			 "deeper(*", "uncaught(*", "round_of(*", "main"));
}

/* Most of the time is spent in searching for rules of frames, in the compiler's library. */
LIVE_TEST(live_exceptions, throws)
{
	uint64_t ticks, search;

	run_exceptions(live, "throws", "10000");
	ticks = doc_number(live->doc, "ticks.total");
	search = doc_inclusive(live->doc, "_Unwind_RaiseException");
	cr_expect_gt(search, ticks / 2, "%lu of %lu", search, ticks);
	expect_frames(live, "_Unwind_RaiseException",
		      ARGS("_Unwind_RaiseException", "__cxa_throw", "deeper(*", "deeper(*",
			   "deeper(*", "deeper(*", "deeper(*", "deeper(*", "deeper(*", "deeper(*",
			   "deeper(*", "deeper(*", "catches(*", "main"));
}
