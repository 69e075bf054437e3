// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Who shares a buffer, threads and children in the same memory, and that exec ends it. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "caller.h"
#include "need.h"
#include "others.h"

CALLER_SUITE(calls_exec);

static char *buffer;

static void start(void)
{
	buffer = fresh_pages(TEXT_SPAN);
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
}

CALLER_TEST(calls_exec, vfork)
{
	volatile uint64_t before, in_child;
	int status = -1;
	pid_t child;

	start();
	burn_low(0.05);
	ENSURE(bpfprofil_sync() == 0);
	before = told().binned;
	child = vfork();
	if (!child) {
		burn_low(0.1);
		_exit(0);
	}
	ENSURE(child > 0 && waitpid(child, &status, 0) == child && !status);
	in_child = off_and_account(buffer, TEXT_SPAN).binned - before;
	ENSURE_NUMBER(in_child, >, 20);
	ENSURE_NUMBER(in_child, <, 140);
}

static char child_stack[65536] __attribute__((aligned(64)));

static int clone_on_memory(int (*life)(void *), void *argument)
{
	return clone(life, child_stack + sizeof(child_stack), CLONE_VM | SIGCHLD, argument);
}

static int burn_high_in_child(void *argument)
{
	(void)argument;
	burn_high(0.2);
	return 0;
}

/* Both at the same time, with one buffer. */
CALLER_TEST(calls_exec, clone_vm)
{
	int child, i;

	start();
	for (i = 0; i < 3; i++) {
		child = clone_on_memory(burn_high_in_child, NULL);
		ENSURE(child > 0);
		burn_low(0.2);
		caller_join(child);
	}
	off_and_account(buffer, TEXT_SPAN);
	ENSURE_NUMBER(sum_of(buffer, PAGE), >, 150);
	ENSURE_NUMBER(sum_of(buffer + high_at(), PAGE), >, 150);
}

static int stop_and_burn(void *argument)
{
	(void)argument;
	if (off())
		return 1;
	burn_high(0.1);
	return 0;
}

/* It stops its own counting; the other one's goes on. */
CALLER_TEST(calls_exec, clone_vm_stops)
{
	int child;

	start();
	child = clone_on_memory(stop_and_burn, NULL);
	ENSURE(child > 0);
	caller_join(child);
	burn_low(0.1);
	ENSURE_NUMBER(off_and_account(buffer, TEXT_SPAN).binned, >, 20);
	ENSURE_NUMBER(sum_of(buffer + high_at(), PAGE), <=, 3);
}

static uint64_t *outlived;

static int outlive(void *parent)
{
	while (getppid() == *(pid_t *)parent)
		sched_yield();
	burn_high(0.2);
	if (off())
		return 1;
	*outlived = sum_of(buffer + high_at(), PAGE);
	return 0;
}

/* The process that made the call is gone, but not its memory and those who share it. */
static void make_call_and_leave(void *argument)
{
	static pid_t self;

	(void)argument;
	self = getpid();
	start();
	ENSURE(clone_on_memory(outlive, &self) > 0);
	_exit(0);
}

CALLER_TEST(calls_exec, clone_vm_outlives)
{
	int status = -1;

	outlived = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	caller_join(caller_fork(make_call_and_leave, NULL));
	ENSURE(waitpid(-1, &status, __WALL) > 0);
	ENSURE_NUMBER(status, ==, 0);
	ENSURE_NUMBER(*outlived, >, 40);
}

/* Where the canary maps its memory; sanitizers use addresses below. */
#define AT ((char *)0x200000000000)

static void exec_canary(const char *program, const char *user)
{
	char at[32], size[32];

	snprintf(at, sizeof(at), "%p", (void *)AT);
	snprintf(size, sizeof(size), "%d", TEXT_SPAN);
	execl(program, "canary", at, size, "150", user, NULL);
	ENSURE(!"exec");
}

static void start_at_fixed(void)
{
	buffer = mmap(AT, TEXT_SPAN, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	ENSURE(buffer == AT && on_fast(buffer, TEXT_SPAN) == 0);
}

/* With ticks on their way, at different times before the next copy. */
static void burn_and_exec(void *microseconds)
{
	start_at_fixed();
	burn_low(*(int *)microseconds / 1e6);
	exec_canary(CALLS_PROGRAMS "/canary", NULL);
}

CALLER_TEST(calls_exec, exec)
{
	int i;

	for (i = 1000; i < 120000; i += 13000)
		caller_join(caller_fork(burn_and_exec, &i));
}

static void *exec_in_thread(void *argument)
{
	burn_low(0.03);
	exec_canary(CALLS_PROGRAMS "/canary", NULL);
	return argument;
}

/* The thread becomes the first thread of its process. */
CALLER_TEST(calls_exec, exec_by_a_thread)
{
	pthread_t thread;

	start_at_fixed();
	pthread_create(&thread, NULL, exec_in_thread, NULL);
	burn_low(9);
}

static const char *set_uid_copy;

static void burn_and_exec_set_uid(void *microseconds)
{
	start_at_fixed();
	burn_low(*(int *)microseconds / 1e6);
	exec_canary(set_uid_copy, "1");
}

static void exec_set_uid_body(void *argument)
{
	int i;

	(void)argument;
	for (i = 1000; i < 120000; i += 7000)
		caller_join(caller_fork(burn_and_exec_set_uid, &i));
}

/* An unprivileged buffer is where a program that runs as another user has its memory. */
Test(calls_exec, exec_set_uid)
{
	struct statvfs where;

	cr_assert_eq(statvfs(serve.dir, &where), 0);
	NEED(!(where.f_flag & ST_NOSUID), "/tmp is mounted nosuid");
	set_uid_copy = others_copy(serve.dir, CALLS_PROGRAMS "/canary");
	cr_assert(!chown(set_uid_copy, 1, 1) && !chmod(set_uid_copy, 04755));
	caller_run_as(65534, exec_set_uid_body, NULL);
}

enum { LINKS = 39, LINK_SIZE = 3500 };

/*
 * A script whose interpreter takes long to look up, through links full of "./", and is not found.
 */
static const char *make_long_exec(void)
{
	const char *script;
	char link[LINK_SIZE + 128], name[32];
	FILE *stream;
	int i, n;

	for (i = 0; i < LINKS; i++) {
		for (n = 0; n < LINK_SIZE; n += 2)
			memcpy(link + n, "./", 2);
		snprintf(link + n, sizeof(link) - (size_t)n, "l%d", i + 1);
		snprintf(name, sizeof(name), "l%d", i);
		cr_assert_eq(symlink(link, serve_file(&serve, name)), 0);
	}
	script = serve_file(&serve, "script");
	stream = fopen(script, "we");
	cr_assert_not_null(stream);
	fprintf(stream, "#!%s\n", serve_file(&serve, "l0"));
	cr_assert(!fclose(stream) && !chmod(script, 0755));
	return script;
}

/* While the process is in an exec nothing is counted, and the account says so. */
static void exec_at_length_body(void *script)
{
	double until = cpu_seconds() + 0.6;
	struct bpfprofil_status status;

	start();
	while (cpu_seconds() < until)
		ENSURE(execl(script, "script", NULL) == -1 && errno == ENOENT);
	status = off_and_account(buffer, TEXT_SPAN);
	ENSURE_NUMBER(status.total, >, 100);
	ENSURE_NUMBER(status.lost * 2, >, status.total);
	/* Afterwards it goes on as before. */
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.1);
	ENSURE(bpfprofil_sync() == 0 && told().lost == 0);
	ENSURE_NUMBER(told().binned, >, 20);
}

Test(calls_exec, exec_at_length)
{
	caller_run(exec_at_length_body, (void *)(uintptr_t)make_long_exec());
}

static void burn_and_exec_sh(void *argument)
{
	(void)argument;
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.15);
	execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 800000 ]; do i=$((i+1)); done", NULL);
	ENSURE(!"exec");
}

/*
 * The buffer outlives the image, because it is shared with the parent, and gets no more counts: the
 * shell would add hundreds.
 */
CALLER_TEST(calls_exec, exec_leaves_the_buffer)
{
	buffer = mmap(NULL, TEXT_SPAN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	caller_join(caller_fork(burn_and_exec_sh, NULL));
	rest(0.15);
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), >, 20);
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), <, 200);
}

/* What vfork's child executes does not count for the parent. */
CALLER_TEST(calls_exec, vfork_and_exec)
{
	uint64_t before;
	pid_t child;

	start();
	ENSURE(bpfprofil_sync() == 0);
	before = told().total;
	child = vfork();
	if (!child) {
		execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done",
		      NULL);
		_exit(127);
	}
	caller_join(child);
	ENSURE_NUMBER(off_and_account(buffer, TEXT_SPAN).total - before, <, 30);
}

enum { THREADS = 4 };

static volatile int stop_threads;

static void *burn_until_told(void *seconds)
{
	while (!stop_threads)
		burn_low(0.002);
	*(double *)seconds = 1;
	return NULL;
}

/* Threads that ran before the call, and all together. */
CALLER_TEST(calls_exec, threads)
{
	struct ratio ratio = { 0 };
	pthread_t threads[THREADS];
	double ends[THREADS] = { 0 }, used, switches;
	int i, try;

	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, burn_until_told, &ends[i]);
	rest(0.05);
	/* A machine that takes a CPU away for longer than a period swallows ticks. */
	for (try = 0; try < 3 && !ratio_is_good(&ratio); try++) {
		start();
		used = cpu_seconds();
		switches = turns();
		rest(0.5);
		used = cpu_seconds() - used;
		switches = turns() - switches;
		ratio = ratio_of((double)off_and_account(buffer, TEXT_SPAN).total, used * 1000,
				 switches + THREADS, 0.03);
	}
	stop_threads = 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ENSURE_NUMBER(ratio.allowed * 1000, <, 300);
	if (!ratio_is_good(&ratio))
		fprintf(stderr, "%.3f of the ticks, +- %.3f\n", ratio.value, ratio.allowed);
	ENSURE(ratio_is_good(&ratio));
}

static void *call_without_main(void *argument)
{
	rest(0.05);
	start();
	burn_low(0.1);
	ENSURE_NUMBER(off_and_account(buffer, TEXT_SPAN).binned, >, 20);
	_exit(0);
	return argument;
}

/* The first thread is gone, but not the process. */
CALLER_TEST(calls_exec, first_thread_gone)
{
	pthread_t thread;

	pthread_create(&thread, NULL, call_without_main, NULL);
	pthread_exit(NULL);
}

static void burn_in_child(void *argument)
{
	(void)argument;
	burn_high(0.05);
	ENSURE(off() == 0 && told().binned > 10);
}

static void *count_without_main(void *argument)
{
	rest(0.05);
	burn_low(0.1);
	ENSURE(bpfprofil_sync() == 0);
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), >, 20);
	caller_join(caller_fork(burn_in_child, NULL));
	off_and_account(buffer, TEXT_SPAN);
	_exit(0);
	return argument;
}

/* It ends after it has made the call. */
CALLER_TEST(calls_exec, first_thread_leaves)
{
	pthread_t thread;

	start();
	pthread_create(&thread, NULL, count_without_main, NULL);
	pthread_exit(NULL);
}
