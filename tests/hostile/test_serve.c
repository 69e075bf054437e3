// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A user who wants all of the server, beside one who profiles a program: what the second one sees
 * is compared with what it sees beside programs that only burn as much CPU time.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "caller.h"
#include "need.h"
#include "shared/call_protocol.h"

TestSuite(hostile_serve, .timeout = 120);

enum { NOBODY = 65534, HONEST = 1, ATTACKERS = 4, LOOKS = 100, REPLIES = 30, TRIES = 3 };

static struct serve serve;

/* --- the honest user ------------------------------------------------------------------------------ */

/* What the honest user sees; nine of ten values are no longer than this. */
struct view {
	double reply; /* seconds until an answer comes */
	double age; /* longest time without a new count while it ran */
	uint64_t lost;
	uint64_t binned;
};

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static double nine_of_ten(double *list, size_t nr)
{
	qsort(list, nr, sizeof(*list), compare);
	return list[nr * 9 / 10];
}

static double see_ages(const char *buffer)
{
	double ages[LOOKS], came = seconds_now(), now;
	uint64_t before = 0, sum;
	int i;

	for (i = 0; i < LOOKS; i++) {
		burn_low(0.003);
		sum = sum_of(buffer, TEXT_SPAN);
		now = seconds_now();
		if (sum != before)
			came = now;
		before = sum;
		ages[i] = now - came;
	}
	return nine_of_ten(ages, LOOKS);
}

static double see_replies(void)
{
	double times[REPLIES], asked;
	int i;

	for (i = 0; i < REPLIES; i++) {
		burn_low(0.001);
		asked = seconds_now();
		ENSURE_NUMBER(told().on, ==, BPFPROFIL_SPROFIL);
		times[i] = seconds_now() - asked;
	}
	return nine_of_ten(times, REPLIES);
}

static void look(void *argument)
{
	char *buffer = fresh_pages(TEXT_SPAN);
	struct bpfprofil_status status;
	struct view *view = argument;

	caller_become(HONEST);
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	view->age = see_ages(buffer);
	view->reply = see_replies();
	status = off_and_account(buffer, TEXT_SPAN);
	view->lost = status.lost;
	view->binned = status.binned;
}

/* --- who is beside it ----------------------------------------------------------------------------- */

struct attack {
	void (*prepare)(void); /* NULL: nothing; prepares what needs root */
	void (*run)(void);
	unsigned int settle_ms; /* how long until it is fully under way */
};

static void burn(void)
{
	for (;;)
		burn_high(1);
}

static void attack_body(void *argument)
{
	const struct attack *attack = argument;

	if (attack->prepare)
		attack->prepare();
	else
		caller_become(NOBODY);
	attack->run();
}

static void see_beside(const struct attack *attack, struct view *result)
{
	struct view *view =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int attackers[ATTACKERS], i;

	ENSURE(view != MAP_FAILED);
	for (i = 0; i < ATTACKERS; i++)
		attackers[i] = caller_fork(attack_body, (void *)(uintptr_t)attack);
	rest(attack->settle_ms / 1000.0);
	caller_join(caller_fork(look, view));
	for (i = 0; i < ATTACKERS; i++) {
		ENSURE_NUMBER(waitpid(attackers[i], NULL, WNOHANG), ==, 0);
		kill(attackers[i], SIGKILL);
		waitpid(attackers[i], NULL, 0);
	}
	*result = *view;
	munmap(view, PAGE);
}

/* Whether it is at most five times as long, or below what a busy scheduler may cause. */
static int is_near(double seen, double quiet, double least)
{
	return seen <= 5 * (quiet > least ? quiet : least);
}

/* Nothing may ever be lost. Durations may be spoiled by the host too, but not every time. */
static void beside_body(void *argument)
{
	static const struct attack none = { .run = burn };
	struct view quiet, seen;
	int i, good = 0;

	for (i = 0; i < TRIES && !good; i++) {
		see_beside(&none, &quiet);
		see_beside(argument, &seen);
		ENSURE_NUMBER(seen.lost, ==, 0);
		ENSURE_NUMBER(2 * seen.binned, >, quiet.binned);
		good = is_near(seen.reply, quiet.reply, 0.01) && is_near(seen.age, quiet.age, 0.06);
		if (!good)
			fprintf(stderr, "reply %.1f ms beside %.1f, age %.0f ms beside %.0f\n",
				seen.reply * 1e3, quiet.reply * 1e3, seen.age * 1e3,
				quiet.age * 1e3);
	}
	ENSURE(good);
}

#define ATTACK(name, ...)                                                                          \
	Test(hostile_serve, name)                                                                  \
	{                                                                                          \
		struct attack attack = { __VA_ARGS__ };                                            \
                                                                                                   \
		NEED_ROOT();                                                                       \
		caller_begin(&serve, ARGS(NULL));                                                  \
		caller_run(beside_body, &attack);                                                  \
		serve_end(&serve);                                                                 \
	}

/* --- the socket ----------------------------------------------------------------------------------- */

static int connect_now(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	strncpy(address.sun_path, serve.path, sizeof(address.sun_path) - 1);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

enum { HELD = 500, PLACES = 64 };

/* As many connections as can be open, replaced all the time. */
static void flood(void)
{
	int fds[HELD], i;

	memset(fds, -1, sizeof(fds));
	for (i = 0;; i = (i + 1) % HELD) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = connect_now();
	}
}

ATTACK(connections, .run = flood)

static void ask(void)
{
	for (;;)
		told();
}

ATTACK(requests, .run = ask)

/* Sends half of a request of the largest size, and closes the connection. */
static void send_halves(void)
{
	static struct {
		struct call_request request;
		struct call_entry entries[CALL_ENTRIES_MAX];
	} message = { .request = { .magic = CALL_MAGIC,
				   .version = CALL_VERSION,
				   .op = CALL_SPROFIL,
				   .pointer = sizeof(void *),
				   .nr_entries = CALL_ENTRIES_MAX } };
	size_t size = sizeof(message) / 2;
	int fd, i;

	for (i = 0;; i++) {
		fd = connect_now();
		if (fd < 0)
			continue;
		send(fd, &message, size + (i % 2) * size, MSG_DONTWAIT | MSG_NOSIGNAL);
		close(fd);
	}
}

ATTACK(halves, .run = send_halves)

/* --- calls ---------------------------------------------------------------------------------------- */

static unsigned short counters[64];

static void tick_now_and_then(void *argument)
{
	(void)argument;
	for (;;) {
		burn_low(0);
		rest(1);
	}
}

/*
 * One call for each of as many processes as may have one, with a tick for one of them all the time.
 */
static void call_often(void)
{
	int i;

	ENSURE(profil(counters, sizeof(counters), text_start(), 0x10000) == 0);
	for (i = 0; i < 1024 / ATTACKERS; i++)
		caller_fork(tick_now_and_then, NULL);
	tick_now_and_then(NULL);
}

ATTACK(calls, .run = call_often, .settle_ms = 500)

static void call_sparse(void)
{
	const size_t size = 1UL << 30, set = 8UL << 20;
	unsigned short *buffer = mmap(NULL, size, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t i;

	ENSURE(buffer != MAP_FAILED);
	ENSURE(bpfprofil_dialect("solaris") == 0);
	/* One in each page of counters, as far apart as possible. */
	for (i = 0; i < set / PAGE; i++)
		buffer[i * (size / set) * PAGE / sizeof(*buffer)] = 7;
	if (profil(buffer, size, text_start(), 0x10000) == 0 || errno == ENOMEM)
		burn();
}

ATTACK(sparse, .run = call_sparse, .settle_ms = 500)

/* Every counter of the buffer, which each copy looks at. */
static void call_set(void)
{
	const size_t size = 2UL << 20;
	unsigned short *buffer = fresh_pages(size);
	size_t i;

	ENSURE(bpfprofil_dialect("solaris") == 0);
	for (i = 0; i < size / sizeof(*buffer); i++)
		buffer[i] = 7;
	ENSURE(profil(buffer, size, text_start(), 0x10000) == 0);
	burn();
}

ATTACK(set, .run = call_set, .settle_ms = 500)

/* Children that have their own call until an exec, and children that share it until theirs. */
static void storm(void)
{
	char *const argv[] = { "true", NULL };
	pid_t child;
	int i;

	for (i = 0;; i++) {
		if (i % 16 == 0)
			ENSURE(profil(counters, sizeof(counters), text_start(), 0x10000) == 0);
		if (i % 2) {
			ENSURE(!posix_spawn(&child, "/bin/true", NULL, NULL, argv, argv + 1));
		} else {
			child = fork();
			if (!child)
				_exit(execv("/bin/true", argv));
		}
		waitpid(child, NULL, 0);
	}
}

ATTACK(storm, .run = storm)

/* --- tables --------------------------------------------------------------------------------------- */

static void be_lent(void)
{
	caller_lend(NOBODY, "0 65534 1\n1 100000 65536\n");
}

/* Tables of the largest size, as long as there is room. */
static void call_as(void *argument)
{
	static struct prof regions[CALL_ENTRIES_MAX];
	unsigned int uid = *(unsigned int *)argument;
	int i;

	for (i = 0; i < CALL_ENTRIES_MAX; i++)
		regions[i] = (struct prof){ counters, sizeof(counters),
					    text_start() + (size_t)i * sizeof(counters), 0x10000 };
	ENSURE(setgid(uid) == 0 && setuid(uid) == 0);
	caller_become(0);
	for (;;) {
		ENSURE(sprofil(regions, CALL_ENTRIES_MAX, NULL, PROF_USHORT) == 0 ||
		       errno == EDQUOT);
		burn_low(0);
		rest(1);
	}
}

/* Dozens of uids that belong to the same person. */
static void call_as_many(void)
{
	unsigned int uid;

	for (uid = 1; uid <= 64; uid++)
		caller_fork(call_as, &uid);
	for (;;)
		pause();
}

ATTACK(subordinates, .prepare = be_lent, .run = call_as_many, .settle_ms = 500)

static void stay_silent(void *argument)
{
	unsigned int uid = *(unsigned int *)argument;
	int fds[PLACES], i;
	char byte;

	ENSURE(setgid(uid) == 0 && setuid(uid) == 0);
	caller_become(0);
	memset(fds, -1, sizeof(fds));
	for (;; rest(0.1))
		for (i = 0; i < PLACES; i++) {
			if (fds[i] >= 0 && !recv(fds[i], &byte, 1, MSG_DONTWAIT)) {
				close(fds[i]);
				fds[i] = -1;
			}
			if (fds[i] < 0)
				fds[i] = connect_now();
		}
}

/* Each of them has as many silent connections as one user may. */
static void be_silent(void)
{
	unsigned int uid;

	for (uid = 1; uid <= 4; uid++) {
		unsigned int own = (unsigned int)getpid() % 1000 * 8 + uid;

		caller_fork(stay_silent, &own);
	}
	for (;;)
		pause();
}

ATTACK(silence, .prepare = be_lent, .run = be_silent, .settle_ms = 1000)
