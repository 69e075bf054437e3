// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* --duty: a part of the ticks count, found by chance, and stand for all of them, and the account is exact. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/util.h"
#include "doc.h"
#include "host/engine/child.h"
#include "host/engine/sched_tick.h"
#include "host.h"
#include "need.h"
#include "host/record/sample_loop.h"

TestSuite(live_duty, .init = need_root, .timeout = 120);

#define SECONDS 6
#define PERCENT 20.0
#define NR(array) (sizeof(array) / sizeof(*(array)))

struct run {
	struct sampling_options options;
	struct phase_options phases;
	struct result result;
	struct sample_loop loop;
	struct child child;
	char path[64];
	struct json_object *doc;
};

static void begin(struct run *run, enum tick_source source, uint64_t period_ns)
{
	struct sampling_options *options = &run->options;
	int fd;

	*run = (struct run){ .phases = { .duration_ns = SECONDS * UINT64_C(1000000000) } };
	run->loop = (struct sample_loop){ .options = options,
					  .phases = &run->phases,
					  .result = &run->result,
					  .signal_fd = -1,
					  .ended_fd = -1,
					  .control = CONTROL_CLOSED };
	strcpy(run->path, "/tmp/bpfprofil-test-XXXXXX");
	fd = mkstemp(run->path);
	cr_assert_geq(fd, 0);
	close(fd);
	host_clock_begin();
	sampling_options_init(options);
	options->output = run->path;
	options->verbosity = -1;
	options->source = source;
	options->period_ns = period_ns;
	options->requested_hz = 1e9 / (double)period_ns;
	options->duty_percent = PERCENT;
}

/* The command has been forked. */
static void sample_to_the_end(struct run *run, char **argv)
{
	struct target target = { .kind = TARGET_COMMAND, .name = argv[0], .pid = run->child.pid };
	struct error err = { 0 };

	cr_assert_eq(sample_start(&run->loop, &target, 1, NULL, &err), 0, "%s", err.text);
	cr_assert_eq(child_exec(&run->child, argv[0], NULL, &err), 0, "%s", err.text);
	cr_assert_eq(sample_run(&run->loop), SAMPLE_OVER);
	/* To stop takes an emulated CPU a second, in which the command would run on. */
	kill(run->child.pid, SIGKILL);
	cr_assert_eq(session_stop(run->loop.session, &err), 0, "%s", err.text);
	child_wait(&run->child);
	result_finish(&run->result, run->loop.session);
	cr_assert_not(run->result.failed);
}

static void sample(struct run *run, char **argv)
{
	struct error err = { 0 };

	cr_assert_eq(child_fork(argv, NULL, NULL, &run->child, &err), 0, "%s", err.text);
	cr_assert_eq(result_begin_files(&run->result, &run->options, argv, run->child.pid, &err),
		     0);
	sample_to_the_end(run, argv);
	run->doc = doc_load(run->path);
}

static void end(struct run *run)
{
	result_free(&run->result);
	sample_close(&run->loop);
	child_free(&run->child);
	json_object_put(run->doc);
	unlink(run->path);
}

static void check(struct run *run, uint64_t period_ns)
{
	struct json_object *doc = run->doc;
	double ticks = (double)doc_number(doc, "ticks.total");
	double period = (double)doc_number(doc, "sampling.period_ns");
	double sampled = (double)doc_number(doc, "sampling.sampled_ns");
	double duration = (double)doc_number(doc, "duration_ns");
	double used = (double)doc_number(doc, "cpu_ns");

	doc_assert_sound(doc);
	doc_assert_delivered(doc);
	cr_expect_float_eq(period, (double)period_ns * 100 / PERCENT, 1);
	cr_expect_eq(json_object_get_double(doc_get(doc, "sampling.duty_percent")), PERCENT);
	cr_expect_float_eq(sampled / duration, PERCENT / 100, 1e-6, "%f of %f", sampled, duration);
	/* The scheduler's time is that of all the time. */
	cr_expect_float_eq(used, (double)run->child.cpu_ns, 0.03 * used + 2e7, "%f of %lu", used,
			   run->child.cpu_ns);
	cr_expect_geq(ticks, 10);
	cr_expect_float_eq(ticks * period / used, 1, 0.15 + 3 * period / used, "%f ticks for %f",
			   ticks, used);
}

Test(live_duty, clock)
{
	char *argv[] = { WORKLOADS "/one", "10000000", NULL };
	struct run run;

	begin(&run, SOURCE_CLOCK, 1000003);
	sample(&run, argv);
	check(&run, 1000003);
	end(&run);
}

Test(live_duty, tick)
{
	char *argv[] = { WORKLOADS "/one", "10000000", NULL };
	struct run run;

	begin(&run, SOURCE_TICK, sched_tick_period_ns());
	sample(&run, argv);
	check(&run, sched_tick_period_ns());
	end(&run);
}

/* Its time is made of bursts, of which samples see a part: what they miss is due to those that count. */
Test(live_duty, bursts)
{
	char *argv[] = { WORKLOADS "/bursts", "50", "950", "10", NULL };
	struct run run;
	double ratio;

	begin(&run, SOURCE_CLOCK, 1000003);
	sample(&run, argv);
	ratio = (double)doc_number(run.doc, "ticks.total") *
		(double)doc_number(run.doc, "sampling.period_ns") /
		(double)doc_number(run.doc, "cpu_ns");
	cr_expect_float_eq(ratio, 1, 0.5, "%f", ratio);
	doc_assert_sound(run.doc);
	doc_assert_delivered(run.doc);
	end(&run);
}

/* Another duty between two profiles: their ticks stand for all that was run but while none fell. */
Test(live_duty, another)
{
	char *argv[] = { WORKLOADS "/one", "10000000", NULL };
	struct profile *first = NULL, *second = NULL;
	struct run run;
	struct error err = { 0 };
	struct target target = { .kind = TARGET_COMMAND, .name = argv[0] };
	uint64_t used[2] = { 0 };
	double seen;

	begin(&run, SOURCE_CLOCK, 1000003);
	cr_assert_eq(child_fork(argv, NULL, NULL, &run.child, &err), 0, "%s", err.text);
	target.pid = run.child.pid;
	cr_assert_eq(result_begin_files(&run.result, &run.options, argv, target.pid, &err), 0);
	cr_assert_eq(sample_start(&run.loop, &target, 1, NULL, &err), 0, "%s", err.text);
	cr_assert_eq(child_exec(&run.child, argv[0], NULL, &err), 0, "%s", err.text);
	sleep(1);
	session_stop_ticks(run.loop.session);
	cr_assert_eq(session_take(run.loop.session, &first, &err), 0, "%s", err.text);
	session_start_ticks(run.loop.session, 50);
	sleep(1);
	/* No tick falls from here on, and none makes up for what is run. */
	session_stop_ticks(run.loop.session);
	usleep(500000);
	kill(run.child.pid, SIGKILL);
	cr_assert_eq(session_stop(run.loop.session, &err), 0, "%s", err.text);
	cr_assert_eq(session_take(run.loop.session, &second, &err), 0, "%s", err.text);
	child_wait(&run.child);
	cr_expect_eq(first->sampling.duty_percent, PERCENT);
	cr_expect_eq(second->sampling.duty_percent, 50);
	cr_expect_eq(first->sampling.sampled_ns, first->duration_ns / 5);
	cr_expect_eq(second->sampling.period_ns, 2000006);
	cr_expect(profile_account_exact(&first->ticks) && profile_account_exact(&second->ticks));
	cr_expect(profile_cpu_time(first, &used[0]) && profile_cpu_time(second, &used[1]));
	cr_expect_float_eq((double)(used[0] + used[1]), (double)run.child.cpu_ns,
			   0.03 * (double)run.child.cpu_ns + 2e7);
	seen = (double)first->ticks.total * (double)first->sampling.period_ns;
	cr_expect_float_eq(seen / (double)used[0], 1, 0.2, "%f of %lu", seen, used[0]);
	seen = (double)second->ticks.total * 2000006;
	cr_expect_leq(seen, (double)used[1], "%f of %lu", seen, used[1]);
	cr_expect_geq(seen, 0.3 * (double)used[1], "%f of %lu", seen, used[1]);
	profile_free(first);
	profile_free(second);
	run.doc = NULL;
	end(&run);
}

/* What is measured is that of the times when it is on, and the estimate is of all the time. */
Test(live_duty, measured_in_turns)
{
	char *argv[] = { WORKLOADS "/one", "10000000", NULL };
	struct target target = { .kind = TARGET_COMMAND, .name = argv[0] };
	struct session_cost on, off, later, again;
	struct session *session;
	struct error err = { 0 };
	struct run run;

	begin(&run, SOURCE_CLOCK, 1000003);
	run.options.budget_percent = 1;
	cr_assert_eq(child_fork(argv, NULL, NULL, &run.child, &err), 0, "%s", err.text);
	target.pid = run.child.pid;
	cr_assert_eq(result_begin_files(&run.result, &run.options, argv, target.pid, &err), 0);
	cr_assert_eq(sample_start(&run.loop, &target, 1, NULL, &err), 0, "%s", err.text);
	cr_assert_eq(child_exec(&run.child, argv[0], NULL, &err), 0, "%s", err.text);
	session = run.loop.session;
	usleep(500000);
	session_cost(session, &on);
	session_measure_cost(session, false);
	session_cost(session, &off);
	usleep(500000);
	session_cost(session, &later);
	session_measure_cost(session, true);
	usleep(500000);
	session_cost(session, &again);
	kill(run.child.pid, SIGKILL);
	child_wait(&run.child);
	cr_expect_gt(on.runs, 0);
	cr_expect_gt(on.ns, 0);
	cr_expect_eq(on.all_ns, on.ns);
	cr_expect_geq(off.ns, on.ns);
	cr_expect_eq(later.ns, off.ns);
	cr_expect_eq(later.runs, off.runs);
	cr_expect_eq(later.time_ns, off.time_ns);
	cr_expect_gt(later.all_ns, off.all_ns);
	cr_expect_gt(again.runs, later.runs);
	cr_expect_gt(again.all_ns, later.all_ns);
	cr_expect_geq(again.all_ns - again.ns, later.all_ns - later.ns);
	cr_assert_eq(session_stop(session, &err), 0, "%s", err.text);
	run.doc = NULL;
	end(&run);
}

/* What the sinks of a series get while the budget changes the duty. */
struct changing {
	struct run run;
	double duty[SECONDS]; /* by profile */
	size_t nr;
	double used; /* CPU time, in ns, */
	double seen; /* and that which ticks stand for */
};

/* At a cost of 4.2 % a budget of 1 % allows 17 % of the time, and at 0.1 % all of it. */
static void pretend_cost(struct spending *spending, double percent)
{
	spending->due_ns = 0;
	spending->seen.runs = 1;
	spending->cost.fixed_percent = 0;
	spending->ticking_ns = percent / 100 * (double)spending->period_ns;
}

static void get_profile(void *context, const struct profile *profile)
{
	struct changing *changing = context;
	const struct profile_sampling *sampling = &profile->sampling;
	double duty = sampling->duty_percent > 0 ? sampling->duty_percent : 100;
	double ticks = (double)profile->ticks.total;
	uint64_t cpu_ns = 0;

	cr_assert_lt(changing->nr, SECONDS + 1);
	if (changing->nr < SECONDS)
		changing->duty[changing->nr] = duty;
	changing->nr++;
	cr_expect(profile_account_exact(&profile->ticks));
	cr_expect(profile_cpu_time(profile, &cpu_ns));
	cr_expect_eq(profile_is_partly_sampled(profile), duty < 100);
	cr_expect_float_eq((double)sampling->period_ns * duty / 100, (double)sched_tick_period_ns(),
			   1);
	changing->seen += ticks * (double)sampling->period_ns;
	changing->used += (double)cpu_ns;
	pretend_cost(&changing->run.loop.spending, changing->nr < 2 ? 4.2 : 0.1);
}

/*
 * Each profile has one duty, by which its ticks count, and the budget's changes are between them:
 * down at once, not without need, and up by octaves.
 */
Test(live_duty, changes_between_profiles)
{
	char *argv[] = { WORKLOADS "/one", "10000000", NULL };
	static const double wanted[] = { 100, 17, 17, 29, 50 };
	struct changing changing = { .nr = 0 };
	struct run *run = &changing.run;
	struct error err = { 0 };
	size_t i;

	NEED_ROOT();
	begin(run, SOURCE_TICK, sched_tick_period_ns());
	run->options.duty_percent = 0;
	run->options.adapt_duty = true;
	run->options.budget_percent = 1;
	run->options.interval_ns = 1000000000;
	run->result.deliver = get_profile;
	run->result.context = &changing;
	run->result.options = &run->options;
	spending_begin(&run->loop.spending, &run->options, NULL);
	pretend_cost(&run->loop.spending, 4.2);
	cr_assert_eq(child_fork(argv, NULL, NULL, &run->child, &err), 0, "%s", err.text);
	sample_to_the_end(run, argv);
	cr_assert_geq(changing.nr, NR(wanted));
	for (i = 0; i < NR(wanted); i++)
		cr_expect_eq(changing.duty[i], wanted[i], "%zu: %f", i, changing.duty[i]);
	/* Seconds are the scheduler's, of all the time. */
	cr_expect_float_eq(changing.used, (double)run->child.cpu_ns, 0.03 * changing.used + 2e7,
			   "%f of %lu", changing.used, run->child.cpu_ns);
	cr_expect_float_eq(changing.seen / changing.used, 1, 0.4, "%f for %f", changing.seen,
			   changing.used);
	run->doc = NULL;
	end(run);
}
