// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Signals to the profiler and to COMMAND, at any time: nothing of ours may stay behind. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "kernel.h"
#include "live.h"
#include "need.h"

#define MAX_PROGRAMS 64
#define TICKING_S 0.3 /* CPU time that COMMAND has before anything happens to it */

TestSuite(live_signals, .init = need_root, .timeout = 120);

struct running {
	struct live live;
	struct child child; /* the profiler */
	pid_t command;
	uint32_t programs[MAX_PROGRAMS];
	size_t nr_programs;
};

/* Starts a profiler on a command that writes its pid into file and burns without end. */
static void start(struct running *r, const char *file, const char *const command[])
{
	const char *argv[32];

	live_begin(&r->live);
	live_command(&r->live, argv, 32, ARGS(FAST), command, false);
	child_start(&r->child, NULL, argv);
	r->command = (pid_t)number_in_file(file);
	process_wait_cpu(r->command, TICKING_S);
	r->nr_programs = process_bpf_programs(r->child.pid, r->programs, MAX_PROGRAMS);
	cr_assert_gt(r->nr_programs, 0, "the profiler holds no BPF program");
}

static const char *pid_file(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/bpfprofil-live-pid.%d", getpid());
	unlink(path);
	return path;
}

static bool not_stopped(void *pid)
{
	char state = process_state(*(pid_t *)pid);

	return state != 'T' && state != 't';
}

/* Nothing of ours is in the kernel, and COMMAND is not stopped. */
static void assert_nothing_left(struct running *r)
{
	cr_expect(bpf_programs_gone(r->programs, r->nr_programs), "BPF programs stay loaded");
	cr_expect(eventually(not_stopped, &r->command), "COMMAND is stopped");
	cr_expect_eq(process_fds(r->command, "bpf"), 0, "COMMAND holds a BPF object");
	cr_expect_eq(process_fds(r->command, "perf_event"), 0, "COMMAND holds a perf event");
}

static void assert_whole_profile(struct running *r)
{
	live_load(&r->live);
	doc_assert_sound(r->live.doc);
	cr_expect_gt(doc_function(r->live.doc, "neighbour_spin", NULL), 100);
}

static void finish(struct running *r)
{
	if (process_state(r->command))
		kill(r->command, SIGKILL);
	live_end(&r->live);
}

/* After a signal to the profiler only, it stops and writes. */
static void stop_by(int signal)
{
	const char *file = pid_file();
	struct running r;

	start(&r, file, ARGS(WORKLOAD("forever"), file));
	kill(r.child.pid, signal);
	child_finish(&r.child, &r.live.end);
	assert_whole_profile(&r);
	assert_nothing_left(&r);
	finish(&r);
	unlink(file);
}

Test(live_signals, sigint_stops_and_writes)
{
	stop_by(SIGINT);
}

Test(live_signals, sigterm_stops_and_writes)
{
	stop_by(SIGTERM);
}

/* The end of a terminal does not end what nohup(1) started. */
Test(live_signals, sighup_that_is_ignored)
{
	const char *file = pid_file(), *argv[32] = { "nohup" };
	struct running r;

	live_begin(&r.live);
	live_command(&r.live, argv + 1, 31, ARGS(FAST), ARGS(WORKLOAD("forever"), file), false);
	child_start(&r.child, NULL, argv);
	r.command = (pid_t)number_in_file(file);
	process_wait_cpu(r.command, TICKING_S);
	kill(r.child.pid, SIGHUP);
	process_wait_cpu(r.command, 2 * TICKING_S);
	cr_expect_neq(access(r.live.profile, F_OK), 0, "SIGHUP ended it");
	kill(r.child.pid, SIGTERM);
	child_finish(&r.child, &r.live.end);
	assert_whole_profile(&r);
	finish(&r);
	unlink(file);
}

/*
 * A terminal's ^C goes to the whole group; COMMAND dies of it, which determines the exit status.
 * setsid(1) makes the group before COMMAND is forked.
 */
Test(live_signals, interrupt_of_the_group)
{
	const char *file = pid_file(), *argv[32] = { "setsid" };
	struct running r;

	live_begin(&r.live);
	live_command(&r.live, argv + 1, 31, ARGS(FAST), ARGS(WORKLOAD("forever"), file), false);
	child_start(&r.child, NULL, argv);
	r.command = (pid_t)number_in_file(file);
	cr_assert_eq(getpgid(r.command), r.child.pid, "COMMAND is in another process group");
	process_wait_cpu(r.command, TICKING_S);
	r.nr_programs = process_bpf_programs(r.child.pid, r.programs, MAX_PROGRAMS);
	kill(-r.child.pid, SIGINT);
	child_finish(&r.child, &r.live.end);
	cr_expect_eq(r.live.end.status, 128 + SIGINT, "exit %d", r.live.end.status);
	assert_whole_profile(&r);
	assert_nothing_left(&r);
	finish(&r);
	unlink(file);
}

Test(live_signals, command_killed)
{
	const char *file = pid_file();
	struct running r;

	start(&r, file, ARGS(WORKLOAD("forever"), file));
	kill(r.command, SIGKILL);
	child_finish(&r.child, &r.live.end);
	cr_expect_eq(r.live.end.status, 128 + SIGKILL, "exit %d", r.live.end.status);
	assert_whole_profile(&r);
	assert_nothing_left(&r);
	finish(&r);
	unlink(file);
}

Test(live_signals, profiler_killed)
{
	const char *file = pid_file();
	struct running r;

	start(&r, file, ARGS(WORKLOAD("forever"), file));
	kill(r.child.pid, SIGKILL);
	child_finish(&r.child, &r.live.end);
	cr_expect_eq(r.live.end.status, 128 + SIGKILL);
	cr_expect_neq(access(r.live.profile, F_OK), 0, "half a profile under FILE's name");
	assert_nothing_left(&r);
	finish(&r);
	unlink(file);
}

/* COMMAND ends before its children: the run ends with it, and they go on undisturbed. */
LIVE_TEST(live_signals, children_outlive_the_command)
{
	const char *file = pid_file(), *argv[32];
	pid_t left;

	live_command(live, argv, 32, ARGS(FAST),
		     ARGS("sh", "-c",
			  "\"$0\" 1000000 >/dev/null 2>&1 & echo $! > \"$1\"; "
			  "until awk '{ exit $14 < 30 }' /proc/$!/stat; do sleep 0.1; done; exit 3",
			  WORKLOAD("three"), file),
		     false);
	child_run(&live->end, NULL, argv);
	cr_expect_eq(live->end.status, 3, "exit %d: %s", live->end.status, live->end.err);
	live_load(live);
	doc_assert_sound(live->doc);
	cr_expect_gt(doc_function(live->doc, "alpha", NULL), 100);
	left = (pid_t)number_in_file(file);
	cr_expect(eventually(not_stopped, &left));
	cr_expect_neq(process_state(left), 0, "the child of COMMAND was ended");
	kill(left, SIGKILL);
	unlink(file);
}

static bool is_stopped(void *pid)
{
	return !not_stopped(pid);
}

/* A stop is not an end. */
LIVE_TEST(live_signals, command_stops_and_continues)
{
	const char *file = pid_file(), *argv[32];
	struct child child;
	pid_t command;

	live_command(live, argv, 32, ARGS(FAST),
		     ARGS("sh", "-c", "echo $$ > \"$0\"; kill -STOP $$; exit 4", file), false);
	child_start(&child, NULL, argv);
	command = (pid_t)number_in_file(file);
	cr_expect(eventually(is_stopped, &command), "COMMAND could not stop");
	kill(command, SIGCONT);
	child_finish(&child, &live->end);
	cr_expect_eq(live->end.status, 4, "exit %d: %s", live->end.status, live->end.err);
	unlink(file);
}

static bool is_there(void *path)
{
	return !access(path, R_OK);
}

/*
 * COMMAND ignores ^C: the first one still writes the profile, and after the second COMMAND is left
 * alone. The copy of the first one, as timeout(1) sends it, is no second one.
 */
Test(live_signals, second_interrupt_quits)
{
	const char *file = pid_file();
	struct running r;

	start(&r, file,
	      ARGS("sh", "-c", "trap '' INT; echo $$ > \"$0\"; exec \"$1\" 1000000 >/dev/null 2>&1",
		   file, WORKLOAD("three")));
	kill(r.child.pid, SIGINT);
	usleep(2000);
	kill(r.child.pid, SIGINT);
	cr_assert(eventually(is_there, r.live.profile), "nothing was written");
	usleep(300000);
	cr_expect_neq(process_state(r.child.pid), 'Z', "it did not wait for COMMAND");
	kill(r.child.pid, SIGINT);
	child_finish(&r.child, &r.live.end);
	cr_expect_eq(r.live.end.status, 128 + SIGINT, "exit %d", r.live.end.status);
	cr_expect(strstr(r.live.end.err, "run: waiting for sh, which goes on\n"
					 "try: another signal, which leaves it alone\n"),
		  "%s", r.live.end.err);
	cr_expect_neq(process_state(r.command), 0, "COMMAND was ended");
	assert_nothing_left(&r);
	live_load(&r.live);
	doc_assert_sound(r.live.doc);
	finish(&r);
	unlink(file);
}

static bool ends_by_sigterm(void *pid)
{
	kill(*(pid_t *)pid, SIGTERM);
	return process_state(*(pid_t *)pid) == 'Z';
}

/* The profile goes into a fifo that nobody reads. */
LIVE_TEST(live_signals, a_signal_ends_it_while_it_writes)
{
	const char *fifo = live_path(live, "fifo"), *marker = live_path(live, "marker");
	struct child child;
	bool ended;

	cr_assert_eq(mkfifo(fifo, 0600), 0);
	child_start(&child, NULL, ARGS(BPFPROFIL_BIN, "run", "-o", fifo, "--", "touch", marker));
	cr_assert(eventually(is_there, (void *)marker), "COMMAND was not started");
	ended = eventually(ends_by_sigterm, &child.pid);
	if (!ended)
		kill(child.pid, SIGKILL);
	child_finish(&child, &live->end);
	cr_expect(ended, "SIGTERM does not end it");
	unlink(fifo);
	unlink(marker);
}

/* timeout(1) sends the signal twice, to the process and to its group. */
LIVE_TEST(live_signals, timeout_ends_it_once)
{
	unsigned int i;

	for (i = 0; i < 8; i++) {
		child_end_free(&live->end);
		unlink(live->profile);
		child_run(&live->end, NULL,
			  ARGS("timeout", "-s", "INT", "0.5", BPFPROFIL_BIN, "attach", "--all",
			       "-o", live->profile));
		cr_assert_eq(live->end.status, 124);
		cr_assert(is_there(live->profile), "nothing was written: %s", live->end.err);
	}
}

/* Collects every child of ours, including orphans, until there is none. */
static bool all_collected(void *unused)
{
	pid_t pid;

	(void)unused;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid < 0 && errno == ECHILD;
}

/*
 * Killed at some time during the start: a child that waits to be released must not wait forever.
 * Orphans become ours, and all must end.
 */
LIVE_TEST(live_signals, profiler_killed_while_it_starts)
{
	const char *argv[32];
	int i;

	cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	live_command(live, argv, 32, ARGS(FAST), ARGS("true"), false);
	for (i = 0; i < 24; i++) {
		uint32_t programs[MAX_PROGRAMS];
		struct child child;
		size_t n;

		child_start(&child, NULL, argv);
		usleep((useconds_t)i * i * 500);
		n = process_bpf_programs(child.pid, programs, MAX_PROGRAMS);
		kill(child.pid, SIGKILL);
		child_finish(&child, &live->end);
		child_end_free(&live->end);
		cr_expect(bpf_programs_gone(programs, n), "killed after %d us: programs stay",
			  i * i * 500);
		cr_assert(eventually(all_collected, NULL), "killed after %d us: a child stays",
			  i * i * 500);
	}
}

/*
 * The same with a signal that lets it clean up: no half-written or temporary file may be left
 * either.
 */
LIVE_TEST(live_signals, profiler_interrupted_while_it_starts)
{
	const char *argv[32];
	int i;

	cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	live_command(live, argv, 32, ARGS(FAST), ARGS("true"), false);
	for (i = 0; i < 24; i++) {
		struct child child;

		child_start(&child, NULL, argv);
		usleep((useconds_t)i * i * 500);
		kill(child.pid, i % 2 ? SIGTERM : SIGINT);
		child_finish(&child, &live->end);
		child_end_free(&live->end);
		cr_assert(eventually(all_collected, NULL), "after %d us: a child stays",
			  i * i * 500);
		if (!access(live->profile, R_OK)) {
			live_load(live);
			doc_assert_sound(live->doc);
			unlink(live->profile);
		}
		cr_assert_eq(rmdir(live->dir), 0, "after %d us: a file stays in %s", i * i * 500,
			     live->dir);
		cr_assert_eq(mkdir(live->dir, 0700), 0);
	}
}
