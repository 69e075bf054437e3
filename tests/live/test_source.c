// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * --source tick: the scheduler's own tick, on programs whose truth is known. There are few ticks,
 * and on a busy machine turns begin and end at them. So the number of ticks of a program is not
 * checked as strictly as with the clock, but their places are.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "attach.h"
#include "cgroup.h"
#include "chance.h"
#include "guard.h"
#include "host.h"
#include "need.h"

#define TICK "--source", "tick"
#define FIVE_THREE_TWO SHARES({ "alpha", 5 }, { "beta", 3 }, { "delta", 2 })

/* The pcs around a system call are not exact, and reading the clock takes time too. */
#define NEARLY 0.03

TestSuite(live_source, .init = need_root, .timeout = 180);

static void check_sampling(struct json_object *doc)
{
	struct timespec tick;
	double hz = json_object_get_double(doc_get(doc, "sampling.requested_hz"));

	cr_assert_eq(clock_getres(CLOCK_MONOTONIC_COARSE, &tick), 0);
	cr_expect_str_eq(json_object_get_string(doc_get(doc, "sampling.source")), "tick");
	cr_expect_eq(doc_number(doc, "sampling.period_ns"), (uint64_t)tick.tv_nsec);
	cr_expect_eq(hz, round(1e9 / (double)tick.tv_nsec), "%f", hz);
}

static void burn(const char *const command[])
{
	struct live live;

	live_begin(&live);
	cr_assert(live_run(&live, ARGS("-q", TICK), command));
	check_sampling(live.doc);
	doc_assert_shares(live.doc, FIVE_THREE_TWO, 0.95);
	live_end(&live);
}

Test(live_source, one_thread)
{
	burn(ARGS(WORKLOAD("three"), "40000"));
}

Test(live_source, eight_threads)
{
	burn(ARGS(WORKLOAD("threads"), "8", "60000"));
}

/* The share of all ticks is what it should be, within chance and other allowed differences. */
static void expect_part(struct live *live, const char *what, uint64_t ticks, double part)
{
	double total = (double)doc_number(live->doc, "ticks.total");
	double error = sqrt(part * (1 - part) / total);

	cr_expect_leq(fabs((double)ticks / total - part), CHANCE_ERRORS * error + NEARLY,
		      "%s: %lu of %.0f ticks, expected %.3f +- %.3f", what, ticks, total, part,
		      error);
}

/* Runs the workload that reports how long it was in alpha, ask_parent and read_zeros. */
static void run_syscalls(struct live *live, const char *mode, double part[3])
{
	live_begin(live);
	cr_assert(live_run(live, ARGS("-q", TICK, "--mode", mode),
			   ARGS(WORKLOAD("syscalls"), "15000")));
	live_read_parts(live, part);
}

Test(live_source, charged_mode)
{
	struct live live;
	double part[3];

	run_syscalls(&live, "charged", part);
	expect_part(&live, "alpha", doc_function(live.doc, "alpha", NULL), part[0]);
	expect_part(&live, "ask_parent", doc_function(live.doc, "ask_parent", NULL), part[1]);
	expect_part(&live, "read_zeros", doc_function(live.doc, "read_zeros", NULL), part[2]);
	live_end(&live);
}

/*
 * Kernel mode is told from user mode by what was interrupted: read_zeros itself has next to
 * nothing.
 */
Test(live_source, split_mode)
{
	struct live live;
	double part[3];
	uint64_t kernel, asking;

	run_syscalls(&live, "split", part);
	kernel = doc_object(live.doc, "kernel", NULL);
	asking = doc_function(live.doc, "ask_parent", NULL);
	expect_part(&live, "alpha", doc_function(live.doc, "alpha", NULL), part[0]);
	expect_part(&live, "read_zeros", doc_function(live.doc, "read_zeros", NULL), 0);
	expect_part(&live, "the kernel and ask_parent", kernel + asking, part[1] + part[2]);
	cr_expect_gt(kernel, asking);
	live_end(&live);
}

Test(live_source, user_mode)
{
	struct live live;
	double part[3];

	run_syscalls(&live, "user", part);
	expect_part(&live, "alpha", doc_function(live.doc, "alpha", NULL), part[0]);
	cr_expect_gt(doc_number(live.doc, "ticks.filtered"), 0);
	expect_part(&live, "filtered and ask_parent",
		    doc_number(live.doc, "ticks.filtered") +
			    doc_function(live.doc, "ask_parent", NULL),
		    part[1] + part[2]);
	live_end(&live);
}

/*
 * Ticks of an idle CPU count for nobody, in split mode neither: two CPUs would have seconds of
 * them.
 */
LIVE_TEST(live_source, idle_is_nobodys)
{
	double busy, ticked;
	struct child child;

	attach_start_tick(live, &child, ARGS("--all", "--mode", "split"));
	busy = host_busy_seconds();
	sleep(3);
	busy = host_busy_seconds() - busy;
	attach_end(live, &child, SIGINT);
	check_sampling(live->doc);
	ticked = (double)doc_number(live->doc, "ticks.total") *
		 (double)doc_number(live->doc, "sampling.period_ns") / 1e9;
	cr_expect_leq(ticked, 1.3 * busy + 0.5, "%.3f s of ticks, %.3f s busy", ticked, busy);
}

static void remove_cgroup(void *path)
{
	cgroup_remove(path);
}

/* Cgroups use another program. */
Test(live_source, cgroup)
{
	char mount[128], path[256];
	struct burner inside, outside;
	struct guard guard;
	struct child child;
	struct live live;

	NEED(cgroup_mount(NULL, mount, sizeof(mount)), "no cgroup2 is mounted");
	snprintf(path, sizeof(path), "%s/bpfprofil-tick-%d", mount, getpid());
	guard_begin(&guard, remove_cgroup, path);
	live_begin(&live);
	cgroup_make(path);
	burner_start(&inside, &live, "inside", WORKLOAD("forever"), 1, ARGS(NULL));
	burner_start(&outside, &live, "outside", WORKLOAD("forever"), 1, ARGS(NULL));
	cgroup_enter(path, inside.child.pid);
	attach_start_tick(&live, &child, ARGS("--cgroup", path));
	burner_let(&outside);
	burner_run(&inside, 2);
	attach_end(&live, &child, SIGINT);
	burner_end(&inside);
	burner_end(&outside);
	cr_expect_gt(doc_object(live.doc, "file", "/inside"), 100);
	cr_expect_eq(doc_object(live.doc, "file", "/outside"), 0);
	live_end(&live);
	guard_end(&guard);
}
