// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What one user may have, and that another one has no less because of it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "caller.h"
#include "need.h"

TestSuite(calls_limits, .init = need_root, .timeout = 300);

enum { NOBODY = 65534, DAEMON = 1 };

static struct serve serve;

/* Called from a root process, to run as another user. */
static void profile_as_daemon(void *argument)
{
	char *buffer = fresh_pages(TEXT_SPAN);

	(void)argument;
	caller_become(DAEMON);
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.05);
	ENSURE_NUMBER(off_and_account(buffer, TEXT_SPAN).binned, >, 10);
}

static void call_and_wait(void *told_to)
{
	static unsigned short counters[64];
	const int *pipes = told_to;
	char answer;

	caller_become(NOBODY);
	answer = profil(counters, sizeof(counters), 0x1000, 0x10000) ? (char)errno : 0;
	ENSURE(write(pipes[1], &answer, 1) == 1);
	pause();
}

/* Four of eight callers may profile; when one of these ends, another one can. */
static void user_calls_body(void *argument)
{
	int pipes[2], children[8], i, good = 0;
	char answer[8];

	(void)argument;
	ENSURE(!pipe(pipes));
	for (i = 0; i < 8; i++) {
		children[i] = caller_fork(call_and_wait, pipes);
		ENSURE(read(pipes[0], &answer[i], 1) == 1);
		good += !answer[i];
		ENSURE(!answer[i] || answer[i] == EDQUOT);
	}
	ENSURE_NUMBER(good, ==, 4);
	caller_join(caller_fork(profile_as_daemon, NULL));
	kill(children[0], SIGKILL);
	waitpid(children[0], NULL, 0);
	/* Its call is released when the server has noticed. */
	rest(0.2);
	children[0] = caller_fork(call_and_wait, pipes);
	ENSURE(read(pipes[0], &answer[0], 1) == 1);
	ENSURE_NUMBER(answer[0], ==, 0);
	for (i = 0; i < 8; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

Test(calls_limits, user_calls)
{
	caller_begin(&serve, ARGS("--user-calls", "4"));
	caller_run(user_calls_body, NULL);
	serve_end(&serve);
}

static void set_file_limit(const struct serve *of, rlim_t files)
{
	const struct rlimit limit = { files, files };

	ENSURE(!prlimit(of->pid, RLIMIT_NOFILE, &limit, NULL));
}

enum { CROWD = 60 };

/* Callers that use up what calls may take, and one that was there before and goes on as it was. */
static void descriptors_body(void *argument)
{
	char *buffer = fresh_pages(TEXT_SPAN), answer;
	int pipes[2], children[CROWD], i, good = 0, refused = 0;

	(void)argument;
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	ENSURE(!pipe(pipes));
	for (i = 0; i < CROWD; i++) {
		children[i] = caller_fork(call_and_wait, pipes);
		ENSURE(read(pipes[0], &answer, 1) == 1);
		good += !answer;
		refused += answer == EMFILE;
	}
	ENSURE_NUMBER(good, >, 0);
	ENSURE_NUMBER(refused, >, 0);
	ENSURE_NUMBER(good + refused, ==, CROWD);
	burn_low(0.05);
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_SPROFIL);
	ENSURE_NUMBER(off_and_account(buffer, TEXT_SPAN).binned, >, 10);
	for (i = 0; i < CROWD; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

/* Calls leave descriptors for requests, so that whoever has one can ask about it and end it. */
Test(calls_limits, descriptors)
{
	caller_begin(&serve, ARGS("--user-calls", "100"));
	set_file_limit(&serve, 100);
	caller_run(descriptors_body, NULL);
	serve_end(&serve);
}

static void burn_unfollowed(void *argument)
{
	(void)argument;
	burn_low(0.02);
	/*
	 * One of the five inherits its parent's call, because not all may have one at the same
	 * time.
	 */
	rest(0.3);
}

/* Children beyond the limit are not profiled, but run normally. */
static void forks_beyond_body(void *argument)
{
	char *buffer = fresh_pages(TEXT_SPAN);
	int children[8], i;

	(void)argument;
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	for (i = 0; i < 8; i++)
		children[i] = caller_fork(burn_unfollowed, NULL);
	for (i = 0; i < 8; i++)
		caller_join(children[i]);
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_SPROFIL);
	off_and_account(buffer, TEXT_SPAN);
}

Test(calls_limits, forks_beyond)
{
	caller_begin(&serve, ARGS("--user-calls", "4"));
	caller_run_as(NOBODY, forks_beyond_body, NULL);
	caller_run_as(NOBODY, forks_beyond_body, NULL);
	serve_end(&serve);
}

static struct prof regions[4096];

static void make_regions(char *buffers)
{
	int i;

	for (i = 0; i < 4096; i++)
		regions[i] =
			(struct prof){ buffers + i * 16, 16, 0x1000000 + (size_t)i * 64, 0x10000 };
}

static int call_with(int n)
{
	return sprofil(regions, n, NULL, PROF_USHORT);
}

static void hold_regions(void *told_to)
{
	const int *pipes = told_to;
	char answer;

	caller_become(NOBODY);
	answer = call_with(600) ? (char)errno : 0;
	ENSURE(write(pipes[1], &answer, 1) == 1);
	pause();
}

static void user_regions_body(void *argument)
{
	int pipes[2], child, i;
	char answer;

	(void)argument;
	make_regions(fresh_pages(4096 * 16));
	ENSURE(!pipe(pipes));
	child = caller_fork(hold_regions, pipes);
	ENSURE(read(pipes[0], &answer, 1) == 1 && !answer);
	caller_join(caller_fork(profile_as_daemon, NULL));
	caller_become(NOBODY);
	ENSURE(call_with(401) == -1 && errno == EDQUOT);
	/* A call that replaces another one uses its place. */
	for (i = 0; i < 50; i++)
		ENSURE(call_with(400 - i % 2) == 0);
	ENSURE(call_with(401) == -1 && errno == EDQUOT);
	ENSURE(call_with(0) == 0 && call_with(400) == 0);
	ENSURE(call_with(1001) == -1 && errno == EDQUOT);
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_SPROFIL);
	kill(child, SIGKILL);
}

Test(calls_limits, user_regions)
{
	caller_begin(&serve, ARGS("--user-regions", "1000"));
	caller_run(user_regions_body, NULL);
	serve_end(&serve);
}

/* 1 MiB is 256 pages; ticks in the text of a 257th are lost, and reported. */
static void user_memory_body(void *argument)
{
	size_t size = WIDE_SPAN * 2;
	char *text = wide_text(), *buffer = fresh_pages(size);
	struct prof region = { buffer, size, (size_t)text, 0x20000 };
	struct bpfprofil_status status;

	caller_become(NOBODY);
	ENSURE(sprofil(&region, 1, NULL, PROF_FAST) == 0);
	burn_wide(text, WIDE * 2);
	caller_join(caller_fork(argument ? argument : (void *)burn_unfollowed, NULL));
	ENSURE(off() == 0);
	status = told();
	ENSURE_NUMBER(status.total, ==, status.binned + status.outside + status.lost);
	ENSURE_NUMBER(status.binned, ==, sum_of(buffer, size));
	ENSURE_NUMBER(status.binned, >, 40);
	ENSURE_NUMBER(status.lost, >, 3);
	/* All of it is given back at the end of the call. */
	memset(buffer, 0, size);
	ENSURE(sprofil(&region, 1, NULL, PROF_FAST) == 0);
	/* With a slow CPU's two ticks in each, 100 would need more pages than the 192 of one user. */
	burn_wide(text, 50);
	ENSURE(off() == 0);
	status = told();
	ENSURE_NUMBER(status.lost, ==, 0);
	ENSURE_NUMBER(status.binned, ==, sum_of(buffer, size));
}

Test(calls_limits, user_memory)
{
	caller_begin(&serve, ARGS("--user-memory", "1M"));
	caller_run(user_memory_body, NULL);
	caller_run(profile_as_daemon, NULL);
	serve_end(&serve);
}

/* The same for the limit of all users. */
Test(calls_limits, memory)
{
	caller_begin(&serve, ARGS("--memory", "1M"));
	caller_run(user_memory_body, NULL);
	caller_run(profile_as_daemon, NULL);
	serve_end(&serve);
}

/*
 * Nearly each tick needs a page of counters, and more are needed than exist when the server starts.
 */
static void pages_grow_body(void *argument)
{
	size_t size = WIDE_SPAN * 2;
	char *text = wide_text(), *buffer = fresh_pages(size);
	struct prof region = { buffer, size, (size_t)text, 0x20000 };
	struct bpfprofil_status status;
	int i, pages = 0;

	(void)argument;
	ENSURE(sprofil(&region, 1, NULL, PROF_FAST) == 0);
	for (i = 0; i < 40 && !told().lost && told().binned < 2000; i++)
		burn_wide(text, WIDE / 2);
	caller_join(caller_fork(profile_as_daemon, NULL));
	ENSURE(off() == 0);
	status = told();
	for (i = 0; i < WIDE; i++)
		pages += sum_of(buffer + (size_t)i * WIDE_STEP * 2, WIDE_STEP * 2) != 0;
	ENSURE_NUMBER(status.lost, ==, 0);
	ENSURE_NUMBER(status.binned, ==, sum_of(buffer, size));
	ENSURE_NUMBER(pages, >, 520);
}

/* 2 MiB of counters exist at once, and the rest of the 64 when they are needed. */
Test(calls_limits, pages_grow)
{
	caller_begin(&serve, ARGS(NULL));
	caller_run(pages_grow_body, NULL);
	serve_end(&serve);
}

static void profile_long(void *result)
{
	char *buffer = fresh_pages(TEXT_SPAN);

	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.5);
	*(uint64_t *)result = off_and_account(buffer, TEXT_SPAN).binned;
}

static void profile_long_as_daemon(void *result)
{
	caller_become(DAEMON);
	profile_long(result);
}

static void profile_long_as_nobody(void *result)
{
	caller_become(NOBODY);
	profile_long(result);
}

/* Two users side by side each have their own limit. */
static void two_users_body(void *argument)
{
	uint64_t *results =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int first = caller_fork(profile_long_as_daemon, &results[0]);
	int second = caller_fork(profile_long_as_nobody, &results[1]);

	(void)argument;
	caller_join(first);
	caller_join(second);
	ENSURE_NUMBER(results[0], >, 120);
	ENSURE_NUMBER(results[0], <, 650);
	ENSURE_NUMBER(results[1], >, 120);
	ENSURE_NUMBER(results[1], <, 650);
}

Test(calls_limits, two_users)
{
	caller_begin(&serve, ARGS(NULL));
	caller_run(two_users_body, NULL);
	serve_end(&serve);
}
