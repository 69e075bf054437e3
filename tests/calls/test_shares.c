// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Who is charged for a call, and that nobody's share of the tables leaves others without. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "caller.h"
#include "need.h"

TestSuite(calls_shares, .init = need_root, .timeout = 300);

enum { NOBODY = 65534, DAEMON = 1, CALLERS = 8 };

static struct serve serve;
static unsigned short counters[64];

static int call(void)
{
	return profil(counters, sizeof(counters), 0x1000, 0x10000);
}

static void *shared_page(void)
{
	void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ENSURE(at != MAP_FAILED);
	return at;
}

/* A user namespace, and what happened to the calls of its uids. */
struct userns {
	unsigned int owner; /* who makes it; 0: root */
	const char *map; /* for uids and gids; NULL: the host's own */
	unsigned int first;
	int inner; /* each uid makes another one inside */
	int *answers; /* shared: how many of CALLERS may call */
};

static void call_as(const struct userns *ns, unsigned int uid)
{
	ENSURE(setgid(uid) == 0 && setuid(uid) == 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ns->inner)
		ENSURE(unshare(CLONE_NEWUSER) == 0);
	if (call())
		ENSURE_NUMBER(errno, ==, EDQUOT);
	else
		__atomic_add_fetch(&ns->answers[0], 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&ns->answers[1], 1, __ATOMIC_SEQ_CST);
	pause();
}

static void call_in(void *argument)
{
	const struct userns *ns = argument;
	unsigned int i;

	if (ns->map)
		caller_lend(ns->owner, ns->map);
	for (i = 0; i < CALLERS; i++)
		if (!fork()) {
			call_as(ns, ns->first + i);
			_exit(1);
		}
	pause();
}

static int answered(const struct userns *ns)
{
	return __atomic_load_n(&ns->answers[1], __ATOMIC_SEQ_CST);
}

/*
 * How many of its uids may have a call at once; *ret_beside: how one of NOBODY's fares beside them.
 */
static int calls_in(struct userns *ns, int *ret_beside)
{
	int inside, outside, status = -1, i;

	ns->answers = shared_page();
	inside = caller_fork(call_in, ns);
	for (i = 0; i < 2000 && answered(ns) < CALLERS; i++)
		rest(0.01);
	ENSURE_NUMBER(answered(ns), ==, CALLERS);
	outside = fork();
	if (!outside) {
		caller_become(NOBODY);
		_exit(call() ? errno : 0);
	}
	ENSURE(waitpid(outside, &status, 0) == outside && WIFEXITED(status));
	*ret_beside = WEXITSTATUS(status);
	kill(inside, SIGKILL);
	waitpid(inside, NULL, 0);
	/* Their calls are released when the server has noticed their end. */
	rest(0.3);
	return ns->answers[0];
}

/* With four calls each: whoever lent a uid is charged for it. */
static void namespaces_body(void *argument)
{
	struct userns subordinate = { NOBODY, "0 65534 1\n1 100000 1000\n", .first = 1 };
	struct userns made_by_root = { 0, "0 200000 1000\n", .first = 1 };
	struct userns same = { 0, "0 0 65536\n", .first = 1 }, none = { .first = 1000000 };
	struct userns inner = subordinate, inner_of_root = made_by_root;
	int beside;

	(void)argument;
	inner.inner = inner_of_root.inner = 1;
	ENSURE_NUMBER(calls_in(&subordinate, &beside), ==, 4);
	ENSURE_NUMBER(beside, ==, EDQUOT);
	ENSURE_NUMBER(calls_in(&inner, &beside), ==, 4);
	ENSURE_NUMBER(beside, ==, EDQUOT);
	ENSURE_NUMBER(calls_in(&made_by_root, &beside), ==, 4);
	ENSURE_NUMBER(beside, ==, 0);
	ENSURE_NUMBER(calls_in(&inner_of_root, &beside), ==, 4);
	ENSURE_NUMBER(beside, ==, 0);
	/* The host's own users in a namespace that does not change uids. */
	ENSURE_NUMBER(calls_in(&same, &beside), ==, CALLERS);
	ENSURE_NUMBER(beside, ==, 0);
	ENSURE_NUMBER(calls_in(&none, &beside), ==, 4);
	none.first -= CALLERS;
	ENSURE_NUMBER(calls_in(&none, &beside), ==, CALLERS);
}

/* Assigns uids from a million on, for a server started later. */
static void lend_uids(void)
{
	static const char text[] = "# none\nsomebody:1000000:65536\n";
	char path[] = "/tmp/subuid-XXXXXX";
	int fd = mkstemp(path);

	cr_assert(write(fd, text, sizeof(text) - 1) == sizeof(text) - 1);
	close(fd);
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount(path, "/etc/subuid", NULL, MS_BIND, NULL), 0);
	unlink(path);
}

Test(calls_shares, namespaces)
{
	NEED(have_mounts(), "no mount namespaces");
	lend_uids();
	caller_begin(&serve, ARGS("--user-calls", "4"));
	caller_run(namespaces_body, NULL);
	serve_end(&serve);
}

/* --- tables --------------------------------------------------------------------------------------- */

enum { FIRST_GREEDY = 3000, LATE = 4000, REGIONS = 4096 };

/* A user who takes as much as they get of something, reports how much, and keeps it. */
struct greedy {
	unsigned int user;
	void (*take)(void);
	int told[2];
};

static void take_and_keep(void *argument)
{
	const struct greedy *greedy = argument;

	caller_become(greedy->user);
	greedy->take();
	ENSURE(write(greedy->told[1], "", 1) == 1);
	pause();
}

/* Users who take one after the other. */
static void fill(void (*take)(void), unsigned int users)
{
	struct greedy greedy = { .take = take };
	char done;

	for (greedy.user = FIRST_GREEDY; greedy.user < FIRST_GREEDY + users; greedy.user++) {
		ENSURE(!pipe(greedy.told));
		caller_fork(take_and_keep, &greedy);
		close(greedy.told[1]);
		ENSURE(read(greedy.told[0], &done, 1) == 1);
		close(greedy.told[0]);
	}
}

static int call_regions(int n)
{
	static struct prof regions[REGIONS];
	char *buffers = fresh_pages(REGIONS * 16);
	int i;

	for (i = 0; i < n; i++)
		regions[i] =
			(struct prof){ buffers + i * 16, 16, 0x1000000 + (size_t)i * 64, 0x10000 };
	return sprofil(regions, n, NULL, PROF_USHORT);
}

static void call_and_stay(void *told_to)
{
	const int *told = told_to;
	char answer = call_regions(REGIONS) ? (char)errno : 0;

	ENSURE(write(told[1], &answer, 1) == 1);
	pause();
}

/* As many as a user may have by default. */
static void take_regions(void)
{
	char answer, last = 0;
	int told[2], i;

	ENSURE(!pipe(told));
	for (i = 0; i < 4; i++) {
		caller_fork(call_and_stay, told);
		ENSURE(read(told[0], &answer, 1) == 1);
		ENSURE(!answer || answer == EDQUOT);
		last |= answer;
	}
	/* Asserted for the first one. */
	ENSURE(!last || getuid() != FIRST_GREEDY);
}

static void call_late(void *regions)
{
	caller_become(LATE);
	ENSURE(call_regions(*(const int *)regions) == 0);
	/* What one has can be had again. */
	ENSURE(call_regions(*(const int *)regions) == 0);
}

static void regions_body(void *argument)
{
	int few = 200;

	(void)argument;
	fill(take_regions, 6);
	caller_join(caller_fork(call_late, &few));
	ENSURE(call_regions(REGIONS) == 0);
}

Test(calls_shares, regions)
{
	caller_begin(&serve, ARGS(NULL));
	caller_run(regions_body, NULL);
	serve_end(&serve);
}

static void stay(void *argument)
{
	(void)argument;
	pause();
}

/* Children of a process with a call get one, as long as there is room. */
static void take_calls(void)
{
	int i;

	ENSURE(call() == 0);
	for (i = 0; i < 64; i++)
		caller_fork(stay, NULL);
}

static void calls_body(void *argument)
{
	int one = 1;

	(void)argument;
	fill(take_calls, 4);
	caller_join(caller_fork(call_late, &one));
	ENSURE(call() == 0);
}

Test(calls_shares, calls)
{
	caller_begin(&serve, ARGS("--max-calls", "64"));
	caller_run(calls_body, NULL);
	serve_end(&serve);
}

static char *wide, *wide_buffer;

/* Counters in more and more pages, until the first one that they do not get. */
static void take_pages(void)
{
	struct prof region = { wide_buffer, WIDE_SPAN * 2, (size_t)wide, 0x20000 };
	int i;

	ENSURE(sprofil(&region, 1, NULL, PROF_FAST) == 0);
	for (i = 0; i < 60 && !told().lost; i++)
		burn_wide(wide, WIDE / 4);
	ENSURE_NUMBER(told().lost, >, 0);
}

static void profile(void *user)
{
	char *buffer = fresh_pages(TEXT_SPAN);
	struct bpfprofil_status status;

	caller_become(*(const unsigned int *)user);
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.05);
	burn_high(0.05);
	status = off_and_account(buffer, TEXT_SPAN);
	ENSURE_NUMBER(status.lost, ==, 0);
	ENSURE_NUMBER(status.binned, >, 20);
}

static void pages_body(void *argument)
{
	unsigned int late = LATE, root = 0;

	(void)argument;
	wide = wide_text();
	wide_buffer = fresh_pages(WIDE_SPAN * 2);
	fill(take_pages, 5);
	caller_join(caller_fork(profile, &late));
	caller_join(caller_fork(profile, &root));
}

/* Each of them may have all by their limit, and a sixth one loses nothing. */
Test(calls_shares, pages)
{
	caller_begin(&serve, ARGS("--memory", "4M"));
	caller_run(pages_body, NULL);
	serve_end(&serve);
}
