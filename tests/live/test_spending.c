// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* --budget while ticks fall: changing from one period to another. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/util.h"
#include "host/record/sample_loop.h"
#include "doc.h"
#include "host/engine/child.h"
#include "host.h"
#include "need.h"

TestSuite(live_spending, .timeout = 120);

/* As on a host whose interrupts cost nothing, so that only the programs determine the rate. */
static void begin_cheap(struct sample_loop *loop, struct sampling_options *options)
{
	options->source = SOURCE_CLOCK;
	options->budget_percent = 0.25;
	options->period_ns = 1000003;
	options->requested_hz = 1e9 / 1000003;
	spending_begin(&loop->spending, options, NULL);
	loop->spending.changed_ns = 0;
}

static double seconds_of(struct json_object *doc)
{
	struct json_object *targets = doc_get(doc, "targets"), *period;
	double seconds = 0;
	size_t i;

	for (i = 0; i < json_object_array_length(targets); i++) {
		struct json_object *target = json_object_array_get_idx(targets, i);

		if (!json_object_object_get_ex(target, "period_ns", &period))
			period = doc_get(doc, "sampling.period_ns");
		seconds += (double)doc_number(target, "ticks.total") *
			   (double)json_object_get_uint64(period) / 1e9;
	}
	return seconds;
}

/*
 * Segments follow each other, have different periods, and say which targets belong to them. Returns
 * the seconds between them.
 */
static double check_segments(struct json_object *doc, uint64_t wall_ns)
{
	struct json_object *segments = doc_get(doc, "sampling.segments");
	uint64_t end = 0, duration = 0, last = 0, between = 0;
	size_t i, nr = json_object_array_length(segments);

	cr_assert_geq(nr, 2);
	for (i = 0; i < nr; i++) {
		struct json_object *segment = json_object_array_get_idx(segments, i);

		cr_expect_geq(doc_number(segment, "since_ns"), end);
		cr_expect_neq(doc_number(segment, "period_ns"), last);
		last = doc_number(segment, "period_ns");
		between += doc_number(segment, "since_ns") - end;
		end = doc_number(segment, "since_ns") + doc_number(segment, "duration_ns");
		duration += doc_number(segment, "duration_ns");
	}
	cr_expect_eq(duration, doc_number(doc, "duration_ns"));
	cr_expect_leq(end, wall_ns, "a segment ends %lu ns after the start, all after %lu", end,
		      wall_ns);
	cr_expect_geq(json_object_array_length(doc_get(doc, "targets")), 2);
	return (double)between / 1e9;
}

Test(live_spending, changes_the_period_and_keeps_the_account)
{
	char *argv[] = { WORKLOADS "/one", "10000000", NULL };
	struct target target = { .kind = TARGET_COMMAND, .name = argv[0] };
	struct sampling_options options;
	struct phase_options phases = { .duration_ns = 4000000000 };
	struct result result = { 0 };
	struct sample_loop loop = { .options = &options,
				    .phases = &phases,
				    .result = &result,
				    .signal_fd = -1,
				    .ended_fd = -1,
				    .control = CONTROL_CLOSED };
	struct child child;
	struct error err = { 0 };
	char profile[] = "/tmp/bpfprofil-test-XXXXXX";
	struct json_object *doc;
	uint64_t started_ns, stopped_ns;
	double seconds, used, pauses;
	int fd;

	NEED_ROOT();
	fd = mkstemp(profile);
	cr_assert_geq(fd, 0);
	close(fd);
	host_clock_begin();
	sampling_options_init(&options);
	options.output = profile;
	options.verbosity = -1;
	begin_cheap(&loop, &options);
	cr_assert_eq(child_fork(argv, NULL, NULL, &child, &err), 0, "%s", err.text);
	target.pid = child.pid;
	cr_assert_eq(result_begin_files(&result, &options, argv, child.pid, &err), 0);
	started_ns = monotonic_ns();
	cr_assert_eq(sample_start(&loop, &target, 1, NULL, &err), 0, "%s", err.text);
	cr_assert_eq(child_exec(&child, argv[0], NULL, &err), 0, "%s", err.text);
	cr_assert_eq(sample_run(&loop), SAMPLE_OVER);
	cr_assert_eq(session_stop(loop.session, &err), 0, "%s", err.text);
	stopped_ns = monotonic_ns();
	kill(child.pid, SIGKILL);
	child_wait(&child);
	result_finish(&result, loop.session);
	cr_assert_not(result.failed);
	doc = doc_load(profile);
	doc_assert_sound(doc);
	doc_assert_delivered(doc);
	pauses = check_segments(doc, stopped_ns - started_ns);
	seconds = seconds_of(doc);
	used = (double)child.cpu_ns / 1e9;
	/* In the pauses the child went on, or waited for us. */
	cr_expect_geq(seconds,
		      used * (0.97 - 4 * doc_emulated_part() - host_stolen_part()) - pauses,
		      "%.3f s of %.3f, %.3f", seconds, used, pauses);
	cr_expect_leq(seconds, used * (1.03 + host_stolen_part()), "%.3f s of %.3f, %.3f", seconds,
		      used, pauses);
	result_free(&result);
	sample_close(&loop);
	child_free(&child);
	json_object_put(doc);
	unlink(profile);
}
