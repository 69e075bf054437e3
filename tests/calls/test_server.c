// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Clients and servers that end at any moment, and what an idle server costs. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "caller.h"
#include "need.h"
#include "oracle.h"

TestSuite(calls_server, .init = need_root, .timeout = 300);

static struct serve serve;
static char *buffer;

static void start(void)
{
	buffer = fresh_pages(TEXT_SPAN);
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
}

static long wakeups(void)
{
	long times = serve_number(&serve, "status", "voluntary_ctxt_switches:");

	cr_assert_geq(times, 0);
	return times;
}

static int clocks(void)
{
	return serve_descriptors(&serve, "[perf_event]");
}

static bool no_clock_runs(void *argument)
{
	(void)argument;
	return clocks() == 0;
}

static void burn_and_see_clocks(void *argument)
{
	int before = clocks();

	(void)argument;
	ENSURE_NUMBER(before, ==, 0);
	start();
	ENSURE_NUMBER(clocks(), >, 0);
	burn_low(0.1);
	ENSURE_NUMBER(off_and_account(buffer, TEXT_SPAN).binned, >, 20);
}

static void leave_it_on(void *argument)
{
	(void)argument;
	start();
	burn_low(0.05);
}

/*
 * While nobody profiles there is no wake-up in two seconds, before the first call and after the
 * last.
 */
Test(calls_server, idle)
{
	long before;
	int i;

	caller_begin(&serve, ARGS(NULL));
	for (i = 0; i < 3; i++) {
		rest(0.2);
		before = wakeups();
		rest(2);
		cr_assert_eq(wakeups(), before);
		/* Ended by a stop, and by an exit that nobody announces. */
		caller_run(i ? leave_it_on : burn_and_see_clocks, NULL);
		cr_assert(eventually(no_clock_runs, NULL), "a clock runs on");
	}
	serve_end(&serve);
}

static void live_at_random(void *argument)
{
	struct dice dice = { *(uint64_t *)argument };
	uintptr_t samples[256];

	buffer = fresh_pages(TEXT_SPAN);
	for (;;) {
		switch (dice_u64(&dice) % 8) {
		case 0:
			off();
			break;
		case 1:
			on(buffer, TEXT_SPAN);
			break;
		case 2:
			pcsample(samples, 256);
			break;
		case 3:
			bpfprofil_sync();
			break;
		case 4:
			if (!fork())
				rest(0.01);
			break;
		default:
			on_fast(buffer, TEXT_SPAN);
			burn_low((double)(dice_u64(&dice) % 2000) / 1e6);
		}
	}
}

static void kill_at_random(void *argument)
{
	struct dice dice = { 42 };
	int i;

	(void)argument;
	/* The children's children are in its group. */
	for (i = 0; i < 200; i++) {
		uint64_t seed = (uint64_t)i + 1;
		pid_t child = fork();

		if (!child) {
			setpgid(0, 0);
			live_at_random(&seed);
		}
		setpgid(child, child);
		rest((double)(dice_u64(&dice) % 30000) / 1e6);
		kill(-child, SIGKILL);
		ENSURE(waitpid(child, NULL, 0) == child);
	}
}

Test(calls_server, clients_killed)
{
	int descriptors;

	caller_begin(&serve, ARGS("--max-calls", "64"));
	caller_run(leave_it_on, NULL);
	cr_assert(eventually(no_clock_runs, NULL));
	rest(0.1);
	descriptors = serve_descriptors(&serve, "");
	caller_run(kill_at_random, NULL);
	cr_assert(eventually(no_clock_runs, NULL), "a clock runs on");
	rest(0.1);
	cr_assert_leq(serve_descriptors(&serve, ""), descriptors);
	caller_run(burn_and_see_clocks, NULL);
	serve_end(&serve);
}

static volatile sig_atomic_t own_ticks;

static void count_tick(int signal)
{
	(void)signal;
	own_ticks++;
}

static void burn_in_child(void *argument)
{
	(void)argument;
	burn_high(0.02);
	ENSURE(off() == 0 || errno == EMFILE || errno == ETIMEDOUT || errno == ECONNRESET);
}

/* Signalled by a byte through a pipe, and answers with one. */
struct pipes {
	int to_caller[2];
	int to_test[2];
};

static void await(const int pipe[2])
{
	char byte;

	ENSURE(read(pipe[0], &byte, 1) == 1);
}

static void tell(const int pipe[2])
{
	ENSURE(write(pipe[1], "", 1) == 1);
}

static void survive(void *argument)
{
	const struct pipes *pipes = argument;
	uint64_t before;
	int i;

	start();
	burn_low(0.1);
	ENSURE(bpfprofil_sync() == 0);
	tell(pipes->to_test);
	await(pipes->to_caller); /* the server is gone */
	before = sum_of(buffer, TEXT_SPAN);
	ENSURE_NUMBER(before, >, 20);
	/* Nothing disturbs it: no signal, no interrupted sleep, no count. */
	for (i = 0; i < 20; i++)
		ENSURE(poll(NULL, 0, 2) == 0);
	burn_low(0.1);
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), ==, before);
	ENSURE(bpfprofil_sync() == -1 && errno == ECONNRESET);
	ENSURE(on_fast(buffer, TEXT_SPAN) == -1 && errno == ENOSYS);
	/* This says that counts are missing; afterwards nothing is on. */
	ENSURE(off() == -1 && errno == ECONNRESET);
	ENSURE(off() == 0);
	ENSURE(bpfprofil_sync() == -1 && errno == ENOSYS);
	tell(pipes->to_test);
	await(pipes->to_caller); /* there is another one */
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_OFF);
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.1);
	ENSURE(off() == 0);
	ENSURE_NUMBER(told().binned, >, 20);
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), ==, before + told().binned);
}

/* A caller survives while its server is killed and restarted. */
Test(calls_server, killed_and_again)
{
	struct pipes pipes;
	int status = -1;
	pid_t caller;

	caller_begin(&serve, ARGS(NULL));
	cr_assert(!pipe(pipes.to_caller) && !pipe(pipes.to_test));
	caller = caller_fork(survive, &pipes);
	await(pipes.to_test);
	serve_kill(&serve);
	tell(pipes.to_caller);
	await(pipes.to_test);
	serve_again(&serve, ARGS(NULL));
	tell(pipes.to_caller);
	waitpid(caller, &status, 0);
	cr_assert_eq(status, 0);
	serve_end(&serve);
}

static void find_another(void *argument)
{
	const struct pipes *pipes = argument;
	int i;

	for (i = 0; i < 2; i++) {
		start();
		tell(pipes->to_test);
		await(pipes->to_caller); /* there is another server */
		ENSURE_NUMBER(told().on, ==, BPFPROFIL_OFF);
		ENSURE(bpfprofil_sync() == -1 && errno == ECONNRESET);
		ENSURE(bpfprofil_sync() == -1 && errno == ECONNRESET);
		if (i)
			ENSURE(pcsample(NULL, 0) == -1 && errno == ECONNRESET);
		else
			ENSURE(off() == -1 && errno == ECONNRESET);
		ENSURE(bpfprofil_sync() == 0 && off() == 0);
	}
}

/* A new server does not know what was asked of the old one, and no call pretends that it does. */
Test(calls_server, anew)
{
	struct pipes pipes;
	int status = -1, i;
	pid_t caller;

	caller_begin(&serve, ARGS(NULL));
	cr_assert(!pipe(pipes.to_caller) && !pipe(pipes.to_test));
	caller = caller_fork(find_another, &pipes);
	for (i = 0; i < 2; i++) {
		await(pipes.to_test);
		serve_kill(&serve);
		serve_again(&serve, ARGS(NULL));
		tell(pipes.to_caller);
	}
	waitpid(caller, &status, 0);
	cr_assert_eq(status, 0);
	serve_end(&serve);
}

static void find_nothing_on(void *error)
{
	int expected = *(int *)error;

	ENSURE(bpfprofil_sync() == (expected ? -1 : 0) && (!expected || errno == expected));
	ENSURE(off() == (expected ? -1 : 0) && (!expected || errno == expected));
	ENSURE(off() == 0);
}

static void fork_without_room(void *argument)
{
	int lost = ECONNRESET, rightly = 0;

	(void)argument;
	start();
	caller_join(caller_fork(find_nothing_on, &lost));
	/* A call that had ended before the fork, here by a fault, is no loss for the child. */
	munmap(buffer, TEXT_SPAN);
	burn_low(0.15);
	ENSURE_NUMBER(told().stopped, ==, BPFPROFIL_STOPPED_FAULT);
	caller_join(caller_fork(find_nothing_on, &rightly));
}

/* A child for which the server has no room. */
Test(calls_server, no_room_for_a_child)
{
	caller_begin(&serve, ARGS("--max-calls", "1"));
	caller_run(fork_without_room, NULL);
	serve_end(&serve);
}

static void survive_a_stop(void *argument)
{
	const struct pipes *pipes = argument;

	start();
	burn_low(0.02);
	tell(pipes->to_test);
	await(pipes->to_caller);
	/* The last copy was not due yet. */
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), >, 3);
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), <, 40);
	ENSURE(bpfprofil_sync() == -1 && errno == ECONNRESET);
}

Test(calls_server, terminated)
{
	struct pipes pipes;
	int status = -1;
	pid_t caller;

	caller_begin(&serve, ARGS(NULL));
	cr_assert(!pipe(pipes.to_caller) && !pipe(pipes.to_test));
	caller = caller_fork(survive_a_stop, &pipes);
	await(pipes.to_test);
	serve_stop(&serve);
	tell(pipes.to_caller);
	waitpid(caller, &status, 0);
	cr_assert_eq(status, 0);
	serve_clean(&serve);
}

/* CPU time of the server so far. */
static double server_seconds(void)
{
	char path[64], line[512] = "";
	unsigned long user = 0, kernel = 0;
	FILE *stream;

	snprintf(path, sizeof(path), "/proc/%d/stat", serve.pid);
	stream = fopen(path, "re");
	ENSURE(stream && fgets(line, sizeof(line), stream));
	fclose(stream);
	sscanf(strrchr(line, ')'), ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
	       &kernel);
	return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

static void call_and_tell(void *argument)
{
	const struct pipes *pipes = argument;
	char error;

	buffer = fresh_pages(TEXT_SPAN);
	error = on_fast(buffer, TEXT_SPAN) ? (char)errno : 0;
	ENSURE(write(pipes->to_test[1], &error, 1) == 1);
	/* A burning child needs descriptors of its own. */
	if (!error)
		caller_join(caller_fork(burn_in_child, NULL));
	pause();
}

enum { CALLERS = 30 };

static void use_up_descriptors(void *argument)
{
	int callers[CALLERS], i, good = 0;
	struct pipes pipes;
	double used;
	char error;

	(void)argument;
	ENSURE(!pipe(pipes.to_test));
	for (i = 0; i < CALLERS; i++)
		callers[i] = caller_fork(call_and_tell, &pipes);
	/* So that one that ends before it tells is not waited for. */
	ENSURE(!close(pipes.to_test[1]));
	used = server_seconds();
	for (i = 0; i < CALLERS; i++) {
		ENSURE(read(pipes.to_test[0], &error, 1) == 1);
		ENSURE(!error || error == EMFILE || error == ETIMEDOUT || error == ECONNRESET);
		good += !error;
	}
	ENSURE_NUMBER(good, >=, 5);
	ENSURE_NUMBER(good, <, CALLERS);
	/* A client that is not accepted does not make the server try again and again. */
	ENSURE_NUMBER((server_seconds() - used) * 1000, <, 1500);
	for (i = 0; i < CALLERS; i++) {
		kill(callers[i], SIGKILL);
		waitpid(callers[i], NULL, 0);
	}
	rest(1.5);
	start();
	burn_low(0.05);
	ENSURE_NUMBER(off_and_account(buffer, TEXT_SPAN).binned, >, 10);
}

/* More callers than it has descriptors for, and no way to get more. */
Test(calls_server, no_descriptors)
{
	char script[256];

	NEED_TOOL("capsh");
	caller_begin(&serve, ARGS(NULL));
	serve_stop(&serve);
	snprintf(script, sizeof(script), "ulimit -n 120; exec %s serve --socket %s", BPFPROFIL_BIN,
		 serve.path);
	child_start(&serve.child, NULL,
		    ARGS("capsh", "--drop=cap_sys_resource", "--", "-c", script));
	rest(1);
	serve_find(&serve);
	caller_run(use_up_descriptors, NULL);
	serve_end(&serve);
}

/* The program sees nothing: no child, no descriptor, no signal, and none of its own missing. */
static void notice_nothing(void *argument)
{
	struct itimerval every = { { 0, 10000 }, { 0, 10000 } };
	struct sigaction action = { .sa_handler = count_tick };
	char children[8] = "";
	sigset_t waiting;
	int fd;

	(void)argument;
	sigaction(SIGPROF, &action, NULL);
	errno = ENOTTY;
	start();
	ENSURE(errno == ENOTTY);
	fd = open("/proc/thread-self/children", O_RDONLY);
	ENSURE(fd >= 0 && read(fd, children, sizeof(children)) == 0);
	ENSURE(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	burn_low(0.1);
	ENSURE_NUMBER(own_ticks, ==, 0);
	setitimer(ITIMER_PROF, &every, NULL);
	burn_low(0.3);
	setitimer(ITIMER_PROF, &(struct itimerval){ 0 }, NULL);
	ENSURE_NUMBER(own_ticks, >, 5);
	sigpending(&waiting);
	ENSURE(sigisemptyset(&waiting));
	errno = ENOTTY;
	ENSURE(bpfprofil_sync() == 0 && off() == 0 && errno == ENOTTY);
	ENSURE_NUMBER(account(buffer, TEXT_SPAN).binned, >, 80);
}

Test(calls_server, is_not_noticed)
{
	caller_begin(&serve, ARGS(NULL));
	caller_run(notice_nothing, NULL);
	serve_end(&serve);
}

/* Asserts that it does not start, by what it prints. */
static void assert_refused(const char *path, const char *why)
{
	struct child_end end;

	child_run(&end, NULL, ARGS(BPFPROFIL_BIN, "serve", "--socket", path));
	cr_assert_eq(end.status, 1, "status %d", end.status);
	cr_assert(strstr(end.err, why) && strstr(end.err, path), "it said: %s", end.err);
	cr_assert_eq(strncmp(end.err, "bpfprofil: ", 11), 0, "it said: %s", end.err);
	child_end_free(&end);
}

Test(calls_server, place_taken)
{
	const char *file;
	struct stat status;

	caller_begin(&serve, ARGS(NULL));
	file = serve_file(&serve, "file");
	fclose(fopen(file, "w"));
	assert_refused(file, "in use");
	cr_assert(!stat(file, &status) && S_ISREG(status.st_mode), "the file is gone");
	assert_refused(serve.path, "a server may be running");
	assert_refused(serve_file(&serve, "nowhere/socket"), "No such file");
	assert_refused(serve.dir, "in use");
	/* The one that existed still serves. */
	caller_run(leave_it_on, NULL);
	serve_end(&serve);
}

static void assert_no_access(void *argument)
{
	static unsigned short counters[64];

	(void)argument;
	ENSURE(profil(counters, sizeof(counters), 0x1000, 0x10000) == -1 && errno == EACCES);
	/* Nothing is on, so a stop has nothing to do. */
	ENSURE(off() == 0);
}

static void assert_access(void *argument)
{
	static unsigned short counters[64];

	(void)argument;
	ENSURE(profil(counters, sizeof(counters), 0x1000, 0x10000) == 0 && off() == 0);
}

Test(calls_server, rights_of_the_socket)
{
	struct stat status;

	caller_begin(&serve, ARGS("--group", "daemon"));
	cr_assert_eq(stat(serve.path, &status), 0);
	cr_assert_eq(status.st_mode & 07777, 0660);
	caller_run_as(65534, assert_no_access, NULL);
	caller_run_as(1, assert_access, NULL);
	caller_run(assert_access, NULL);
	chmod(serve.path, 0);
	caller_run_as(1, assert_no_access, NULL);
	serve_end(&serve);
}
