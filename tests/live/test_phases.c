// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * Sampling in phases: ticks and CPU time are those of the phases, without anything before or
 * between.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "attach.h"
#include "host.h"
#include "kernel.h"
#include "need.h"

TestSuite(live_phases, .timeout = 180);

/* A tick is some 218 us, and a phase may end in the middle of one for each thread. */
static void assert_time_agrees(struct json_object *doc)
{
	double ticks_ns = (double)doc_number(doc, "ticks.total") *
			  (double)doc_number(doc, "sampling.period_ns");
	double cpu_ns = (double)doc_number(doc, "cpu_ns");

	cr_expect_leq(fabs(ticks_ns - cpu_ns), (0.05 + host_stolen_part()) * cpu_ns + 5e6,
		      "ticks of %.3f s for %.3f s", ticks_ns / 1e9, cpu_ns / 1e9);
}

/* COMMAND itself says which parts of it are sampled, and gets an answer before it goes on. */
static void run_by_control(struct live *live, const char *split)
{
	const char *control, *answers, *script;
	char both[256];

	NEED_ROOT();
	live_begin(live);
	control = live_path(live, "control");
	answers = live_path(live, "answers");
	cr_assert(!mkfifo(control, 0600) && !mkfifo(answers, 0600));
	snprintf(both, sizeof(both), "%s,%s", control, answers);
	script = "say() { echo $1 >\"$control\"; read answer <\"$answers\"; echo $answer; }; "
		 "control=$2 answers=$3; "
		 "\"$0\" 4000; say start; \"$1\" 4000; say stop; \"$0\" 4000; say now; "
		 "say start; say start; \"$1\" 4000; say stop; \"$0\" 4000";
	cr_assert(live_run(live, ARGS(FAST, "--paused", "--split", split, "--control", both),
			   ARGS("sh", "-c", script, WORKLOAD("three"), WORKLOAD("one"), control,
				answers)));
}

static void assert_phases(struct live *live)
{
	double cpu_ns = (double)doc_number(live->doc, "cpu_ns");

	cr_expect_str_eq(live->end.out, "ok\nok\nerror\nok\nok\nok\n");
	cr_expect(strstr(live->end.err, "--control: 'now': no such command"), "%s", live->end.err);
	cr_expect_gt(doc_object(live->doc, "file", "/one"), 100);
	cr_expect_eq(doc_object(live->doc, "file", "/three"), 0);
	assert_time_agrees(live->doc);
	/* There is one process at a time, and pauses do not count as time. */
	cr_expect_leq(cpu_ns, 1.02 * (double)doc_number(live->doc, "duration_ns"));
}

Test(live_phases, by_control)
{
	struct live live;

	run_by_control(&live, "none");
	assert_phases(&live);
	live_end(&live);
}

Test(live_phases, by_control_split)
{
	struct live live;

	run_by_control(&live, "process");
	assert_phases(&live);
	live_end(&live);
}

/* A process that runs all the time is sampled for as long as asked for, and goes on afterwards. */
LIVE_TEST(live_phases, delay_and_duration)
{
	double duration_ns;

	NEED_ROOT();
	live_try(live, ARGS(FAST, "--delay", "0.5", "--duration", "0.5"),
		 ARGS("sh", "-c", "\"$0\" 20000 & sleep 2; wait; exit 7", WORKLOAD("three")));
	cr_assert_eq(live->end.status, 7, "exit %d: %s", live->end.status, live->end.err);
	doc_assert_sound(live->doc);
	duration_ns = (double)doc_number(live->doc, "duration_ns");
	cr_expect_geq(duration_ns, 0.5e9);
	cr_expect_leq((double)doc_number(live->doc, "cpu_ns"), 1.02 * duration_ns + 10e6);
	assert_time_agrees(live->doc);
}

static bool is_waiting(void *argument)
{
	struct child *child = argument;

	return process_fds(child->pid, "signalfd") > 0;
}

static bool is_sampling(void *argument)
{
	struct child *child = argument;

	return process_fds(child->pid, "perf_event") >= (size_t)sysconf(_SC_NPROCESSORS_ONLN);
}

static bool is_paused(void *argument)
{
	struct child *child = argument;

	return process_fds(child->pid, "perf_event") == 0;
}

/*
 * Two phases, by signals, of a process that is already running; what it did in the pauses has no
 * tick.
 */
LIVE_TEST(live_phases, by_signal)
{
	struct burner burner;
	struct child child;
	char pid[16];
	int i;

	NEED_ROOT();
	burner_start(&burner, live, "burner", WORKLOAD("forever"), 1, ARGS(NULL));
	snprintf(pid, sizeof(pid), "%d", burner.child.pid);
	child_start(&child, NULL,
		    ARGS(BPFPROFIL_BIN, "attach", FAST, "-o", live->profile, "--pid", pid,
			 "--paused", "-v"));
	cr_assert(eventually(is_waiting, &child));
	for (i = 0; i < 2; i++) {
		burner_run(&burner, 0.3);
		kill(child.pid, SIGUSR1);
		cr_assert(eventually(is_sampling, &child));
		burner_let(&burner);
		process_wait_cpu(burner.child.pid, 0.3);
		kill(child.pid, SIGUSR2);
		cr_assert(eventually(is_paused, &child));
	}
	attach_end(live, &child, SIGINT);
	cr_expect_gt(doc_function(live->doc, "neighbour_spin", NULL), 100);
	assert_time_agrees(live->doc);
	cr_expect_leq((double)doc_number(live->doc, "cpu_ns"),
		      1.02 * (double)doc_number(live->doc, "duration_ns") + 10e6);
	burner_end(&burner);
}
