// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* --budget: which rate it chooses. */
#include <string.h>

#include <criterion/criterion.h>

#include "host/engine/sched_tick.h"
#include "live.h"
#include "need.h"

TestSuite(live_budget, .init = need_root, .timeout = 120);

static double figure(const struct live *live, const char *path)
{
	return json_object_get_double(doc_get(live->doc, path));
}

static const char *word(const struct live *live, const char *path)
{
	return json_object_get_string(doc_get(live->doc, path));
}

/* The period may have changed during the run. */
static double last_period(const struct live *live)
{
	struct json_object *segments, *last;

	if (!json_object_object_get_ex(doc_get(live->doc, "sampling"), "segments", &segments))
		return figure(live, "sampling.period_ns");
	last = json_object_array_get_idx(segments, json_object_array_length(segments) - 1);
	return (double)doc_number(last, "period_ns");
}

/* With the clock, the rate that its measured cost allows. */
LIVE_TEST(live_budget, of_the_clock)
{
	const char *options[] = { "--budget", "5", "--source", "clock", NULL };
	const char *command[] = { WORKLOAD("threads"), "2", "1000", NULL };
	double share;

	live_run_timed(live, options, command);
	cr_expect_str_eq(word(live, "sampling.source"), "clock");
	cr_expect_eq(figure(live, "sampling.cost.budget_percent"), 5);
	cr_expect_gt(figure(live, "sampling.cost.interrupt_ns"), 0);
	cr_expect_gt(figure(live, "sampling.cost.handler_ns"), 0);
	share = 100 *
		(figure(live, "sampling.cost.interrupt_ns") +
		 figure(live, "sampling.cost.handler_ns")) /
		last_period(live);
	cr_expect_float_eq(figure(live, "sampling.cost.percent"), share, 1e-6 * share);
	cr_expect_leq(share, 5);
	cr_expect(strstr(live->end.err, "budget of 5 %: "), "%s", live->end.err);
	cr_expect(strstr(live->end.err, "of a budget of 5 %: "), "%s", live->end.err);
}

/* If the clock would be slower than the scheduler's tick, the tick is chosen, if it works here. */
LIVE_TEST(live_budget, chooses_the_source)
{
	const char *options[] = { "--budget", "0.1", NULL };
	const char *command[] = { WORKLOAD("one"), "300", NULL };
	struct sched_tick found;
	struct error ignored;
	bool slower;

	live_run(live, options, command);
	slower = figure(live, "sampling.period_ns") > (double)sched_tick_period_ns();
	if (!strcmp(word(live, "sampling.source"), "tick"))
		cr_expect_eq(figure(live, "sampling.cost.interrupt_ns"), 0);
	else
		cr_expect(!slower || sched_tick_find(&found, &ignored));
}
