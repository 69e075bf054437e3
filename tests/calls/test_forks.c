// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* fork: the child has a copy of the buffer, and counting goes on in both. */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "caller.h"
#include "need.h"

static struct serve serve;

/* So few that a slot that is not given back is soon missed. */
#define MAX_CALLS "16"

static void begin(void)
{
	need_root();
	caller_begin(&serve, ARGS("--max-calls", MAX_CALLS, "--memory", "4M"));
}

static void end(void)
{
	serve_end(&serve);
}

TestSuite(calls_forks, .init = begin, .fini = end, .timeout = 300);

static char *buffer;

static void start(void)
{
	buffer = fresh_pages(TEXT_SPAN);
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
}

/* account() for a buffer that has the parent's counts too. */
static struct bpfprofil_status own_account(void)
{
	struct bpfprofil_status status;

	ENSURE(off() == 0);
	status = told();
	ENSURE_NUMBER(status.total, ==,
		      status.binned + status.overflow + status.outside + status.filtered +
			      status.lost);
	return status;
}

/* Which of its parent's ticks the child of a fork found in its buffer. */
struct inheritance {
	uint64_t inherited;
	uint64_t own;
};

static void say_inheritance(void *argument)
{
	struct inheritance *shared = argument;
	struct bpfprofil_status status;

	burn_high(0.02);
	status = own_account();
	shared->own = status.binned;
	shared->inherited = sum_of(buffer, TEXT_SPAN) - status.binned;
}

static void *shared_memory(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ENSURE(at != MAP_FAILED);
	return at;
}

/* Forks with ticks on their way: what the child finds is what the parent had. */
static long fork_with_ticks(double seconds)
{
	struct inheritance *shared = shared_memory(sizeof(*shared));
	uint64_t counted;
	int child;

	start();
	burn_low(seconds);
	child = caller_fork(say_inheritance, shared);
	/* A tick or two may have come since. */
	counted = off_and_account(buffer, TEXT_SPAN).binned;
	caller_join(child);
	ENSURE_NUMBER(shared->own, >, 5);
	munmap(buffer, TEXT_SPAN);
	return (long)(counted - shared->inherited);
}

CALLER_TEST(calls_forks, inherits_counts)
{
	int i;

	/* At different times since the server's last copy. */
	for (i = 0; i < 100; i++) {
		long more = fork_with_ticks(0.005 + 0.0007 * i);

		ENSURE_NUMBER(more, >=, -1);
		ENSURE_NUMBER(more, <=, 3);
	}
}

static void watch_buffer(void *counted)
{
	/* It asks for nothing and has no tick that would make the server look at it. */
	rest(0.15);
	*(uint64_t *)counted = sum_of(buffer, TEXT_SPAN);
}

CALLER_TEST(calls_forks, inherits_while_asleep)
{
	uint64_t *seen = shared_memory(PAGE), counted;
	int child;

	start();
	ENSURE(bpfprofil_sync() == 0);
	burn_low(0.03);
	child = caller_fork(watch_buffer, seen);
	counted = off_and_account(buffer, TEXT_SPAN).binned;
	caller_join(child);
	ENSURE_NUMBER(counted, >, 5);
	ENSURE_NUMBER(*seen + 3, >=, counted);
	ENSURE_NUMBER(*seen, <=, counted + 3);
}

/* Each descendant burns, and has in its buffer what all its ancestors had. */
static void descend(void *generations)
{
	uint64_t before = sum_of(buffer, TEXT_SPAN);
	int left = *(int *)generations - 1;
	struct bpfprofil_status status;
	int child = 0;

	burn_low(0.03);
	if (left)
		child = caller_fork(descend, &left);
	status = own_account();
	ENSURE_NUMBER(status.binned, >, 5);
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), >=, before + status.binned);
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), >=, 20 * (6 - left));
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), <=, 40 * (6 - left));
	if (left)
		caller_join(child);
}

CALLER_TEST(calls_forks, child_of_child)
{
	int generations = 6;

	start();
	descend(&generations);
}

static void burn_a_little(void *argument)
{
	(void)argument;
	burn_low(0.004);
}

static void burn_much(void *argument)
{
	(void)argument;
	burn_low(0.1);
}

static void do_nothing(void *argument)
{
	(void)argument;
}

static void assert_followed(void *argument)
{
	(void)argument;
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_SPROFIL);
	burn_low(0.02);
	ENSURE_NUMBER(own_account().binned, >, 3);
}

/* Many times as many forks as there are slots, and pages: all are given back. */
static void many_forks(void (*life)(void *), int n)
{
	int descriptors;
	int i;

	start();
	burn_low(0.02);
	ENSURE(bpfprofil_sync() == 0);
	descriptors = serve_descriptors(&serve, "");
	ENSURE(descriptors > 0);
	for (i = 0; i < n; i++)
		caller_join(caller_fork(life, NULL));
	/* An ended process is released when the server gets to it. */
	rest(0.2);
	caller_join(caller_fork(assert_followed, NULL));
	ENSURE(bpfprofil_sync() == 0);
	rest(0.2);
	ENSURE_NUMBER(serve_descriptors(&serve, ""), <=, descriptors);
	off_and_account(buffer, TEXT_SPAN);
}

CALLER_TEST(calls_forks, many_forks)
{
	double start = seconds_now(), rate;

	many_forks(do_nothing, 3000);
	rate = 3000 / (seconds_now() - start);
	fprintf(stderr, "%.0f forks a second\n", rate);
}

CALLER_TEST(calls_forks, many_forks_with_ticks)
{
	many_forks(burn_a_little, 500);
}

/* More at a time than there are slots: those without one are not followed, and nothing breaks. */
CALLER_TEST(calls_forks, more_than_slots)
{
	enum { N = 40 };
	int children[N], i;

	start();
	for (i = 0; i < N; i++)
		children[i] = caller_fork(burn_a_little, NULL);
	for (i = 0; i < N; i++)
		caller_join(children[i]);
	rest(0.2);
	caller_join(caller_fork(assert_followed, NULL));
	off_and_account(buffer, TEXT_SPAN);
}

/* Forks a process with the pid of one that is gone, because the kernel reuses pids. */
static int fork_as(pid_t pid)
{
	struct clone_args arguments = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&pid,
		.set_tid_size = 1,
	};
	long child = syscall(SYS_clone3, &arguments, sizeof(arguments));

	if (child < 0)
		ENSURE(errno == EEXIST || errno == EPERM);
	return (int)child;
}

static void wait_and_compare(void)
{
	struct bpfprofil_status status;

	/* Waits until the server has handled what its predecessor left. */
	rest(0.3);
	status = own_account();
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), <=, status.binned + 5);
	_exit(0);
}

/* The first one's ticks are its own, although the second has its pid and its random bytes. */
CALLER_TEST(calls_forks, pid_reused)
{
	int first, second;

	start();
	ENSURE(bpfprofil_sync() == 0);
	memset(buffer, 0, TEXT_SPAN);
	kill(serve.pid, SIGSTOP);
	first = caller_fork(burn_much, NULL);
	caller_join(first);
	second = fork_as(first);
	if (!second)
		wait_and_compare();
	kill(serve.pid, SIGCONT);
	ENSURE_NUMBER(second, ==, first);
	caller_join(second);
}
