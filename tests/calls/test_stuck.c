// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Users that block the server, and one beside them that has its replies and counts as if they were
 * not there. A buffer in a file whose pages do not come blocks whoever touches it, and no signal
 * ends that.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "caller.h"
#include "doc.h"
#include "need.h"
#include "slow_file.h"

TestSuite(calls_stuck, .init = need_root, .timeout = 300);

enum { HONEST = 1000, HOSTILE = 65534, LENT = 100000, ASKED = 60 };

static struct serve serve;
static struct slow_file file;
static char *buffer;
static unsigned int hostile = HOSTILE;

/* What an honest user got from the server. */
struct had {
	double reply; /* nine of ten come sooner */
	double age; /* longest CPU time for which no count came */
	uint64_t binned;
	uint64_t lost;
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double reply_time(void)
{
	double replies[ASKED], before;
	int i;

	for (i = 0; i < ASKED; i++) {
		before = seconds_now();
		ENSURE(bpfprofil_sync() == 0);
		replies[i] = seconds_now() - before;
	}
	qsort(replies, ASKED, sizeof(*replies), by_size);
	return replies[ASKED * 9 / 10];
}

static double oldest_count(double seconds)
{
	double start = cpu_seconds(), last = start, now = start, oldest = 0;
	uint64_t before = sum_of(buffer, TEXT_SPAN), sum;

	while (now < start + seconds) {
		burn_low(0.002);
		now = cpu_seconds();
		sum = sum_of(buffer, TEXT_SPAN);
		if (now - last > oldest)
			oldest = now - last;
		if (sum != before)
			last = now;
		before = sum;
	}
	return oldest;
}

static void live_honestly(void *argument)
{
	struct had *had = argument;
	struct bpfprofil_status status;

	buffer = fresh_pages(TEXT_SPAN);
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	had->age = oldest_count(0.4);
	had->reply = reply_time();
	status = off_and_account(buffer, TEXT_SPAN);
	had->binned = status.binned;
	had->lost = status.lost;
}

static void assert_as_good(const struct had *quiet, const struct had *beside)
{
	printf("replies within %.2f ms, quiet %.2f ms; counts at most %.0f ms old, quiet %.0f ms\n",
	       beside->reply * 1e3, quiet->reply * 1e3, beside->age * 1e3, quiet->age * 1e3);
	cr_assert_leq(beside->reply, 0.02 + 3 * quiet->reply, "replies: %.1f ms, quiet %.1f ms",
		      beside->reply * 1e3, quiet->reply * 1e3);
	cr_assert_leq(beside->age, 0.1 + 2 * quiet->age, "counts: %.0f ms old, quiet %.0f ms",
		      beside->age * 1e3, quiet->age * 1e3);
	cr_assert_eq(beside->lost, 0);
	cr_assert_gt(beside->binned * 2, quiet->binned);
}

static struct had *shared_had(void)
{
	struct had *had = mmap(NULL, 2 * sizeof(*had), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert(had != MAP_FAILED);
	return had;
}

static void end_attackers(const int *attackers, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		kill(attackers[i], SIGKILL);
	for (i = 0; i < nr; i++)
		waitpid(attackers[i], NULL, 0);
}

enum { ATTACKERS_MAX = 4 };

static void attack(void (*body)(void *argument), int nr)
{
	struct had *had = shared_had();
	int attackers[ATTACKERS_MAX], i;

	caller_begin(&serve, ARGS(NULL));
	caller_run_as(HONEST, live_honestly, &had[0]);
	for (i = 0; i < nr; i++)
		attackers[i] = caller_fork(body, NULL);
	rest(0.5);
	caller_run_as(HONEST, live_honestly, &had[1]);
	assert_as_good(&had[0], &had[1]);
	end_attackers(attackers, nr);
	munmap(had, 2 * sizeof(*had));
}

static char *map_slow(void)
{
	int fd = open(file.path, O_RDWR | O_CLOEXEC);
	char *at = mmap(NULL, SLOW_FILE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	ENSURE(fd >= 0 && at != MAP_FAILED);
	return at;
}

static void count_into_slow(void *argument)
{
	char *slow;

	(void)argument;
	caller_become(hostile);
	slow = map_slow();
	ENSURE(on_fast(slow, TEXT_SPAN) == 0);
	burn_low(0.1);
	for (;;)
		pause();
}

/* Whether a thread of the server waits for a page. */
static bool is_held(void *argument)
{
	(void)argument;
	return serve_waiting(&serve, "request_wait_answer") == 1;
}

/* Asserts that there is one line, about the user that was dropped. */
static void assert_said(const struct child_end *end)
{
	const char *said = serve_said(end);
	char expected[64];

	snprintf(expected, sizeof(expected), "serve: user %u: ", hostile);
	cr_assert(strstr(said, expected), "%s", end->err);
	cr_assert_eq(strchr(said, '\n') + 1 - end->err, (long)end->err_len, "%s", end->err);
	cr_assert_eq(end->status, 0);
}

static void end_and_see(void (*see)(const struct child_end *end))
{
	struct child_end end;

	kill(serve.child.pid, SIGTERM);
	child_finish(&serve.child, &end);
	see(&end);
	child_end_free(&end);
}

/* Before and after the user is dropped; the server's end does not wait either. */
Test(calls_stuck, page)
{
	struct had *had = shared_had();

	slow_file_begin(&file);
	caller_begin(&serve, ARGS(NULL));
	caller_run_as(HONEST, live_honestly, &had[0]);
	caller_fork(count_into_slow, NULL);
	cr_assert(eventually(is_held, NULL));
	caller_run_as(HONEST, live_honestly, &had[1]);
	assert_as_good(&had[0], &had[1]);
	rest(4);
	caller_run_as(HONEST, live_honestly, &had[1]);
	assert_as_good(&had[0], &had[1]);
	cr_assert(is_held(NULL));
	end_and_see(assert_said);
	serve_clean(&serve);
	slow_file_end(&file);
}

/* It does not matter whether there was time to drop the user. */
static void assert_ended(const struct child_end *end)
{
	cr_assert_eq(end->status, 0, "%s", end->err);
}

/* When the server ends it is unknown where the ticks belong, but not how many there were. */
Test(calls_stuck, recorded)
{
	struct json_object *doc;
	const char *path;

	slow_file_begin(&file);
	caller_begin(&serve, ARGS(NULL));
	serve_stop(&serve);
	path = serve_file(&serve, "calls.json");
	serve_again(&serve, ARGS("--record", path));
	caller_fork(count_into_slow, NULL);
	caller_run_as(HONEST, live_honestly, shared_had());
	cr_assert(eventually(is_held, NULL));
	rest(0.2);
	end_and_see(assert_ended);
	doc = doc_load(path);
	doc_assert_sound(doc);
	cr_assert_geq(doc_lost(doc, "unwritten"), 20);
	cr_assert_geq(doc_number(doc, "ticks.binned"), 200);
	json_object_put(doc);
	serve_clean(&serve);
	slow_file_end(&file);
}

static void be_refused(void *argument)
{
	(void)argument;
	buffer = fresh_pages(TEXT_SPAN);
	ENSURE(on_fast(buffer, TEXT_SPAN) == -1);
	ENSURE_NUMBER(errno, ==, ETIMEDOUT);
}

static void be_served(void *argument)
{
	(void)argument;
	buffer = fresh_pages(TEXT_SPAN);
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.05);
	ENSURE_NUMBER(off_and_account(buffer, TEXT_SPAN).binned, >, 10);
}

static bool is_free(void *argument)
{
	(void)argument;
	return !is_held(NULL);
}

/* The server refuses the user until the thread that waited for the file has run again. */
static void await_pardon(void)
{
	struct bpfprofil_status status;

	while (bpfprofil_status(&status, sizeof(status)) && errno == ETIMEDOUT)
		burn_low(0.01);
}

static void count_and_be_told(void *argument)
{
	struct bpfprofil_status status;
	char *slow;

	caller_become(hostile);
	slow = map_slow();
	ENSURE(on_fast(slow, TEXT_SPAN) == 0);
	burn_low(0.1);
	while (!__atomic_load_n((int *)argument, __ATOMIC_RELAXED))
		burn_low(0.01);
	await_pardon();
	status = account(slow, TEXT_SPAN);
	ENSURE_NUMBER(status.stopped, ==, BPFPROFIL_STOPPED_FAULT);
	ENSURE_NUMBER(status.binned, >, 10);
	ENSURE_NUMBER(status.lost, ==, 0);
}

/* Assigns uids to somebody by the host's file, which is replaced until the test's process ends. */
static void lend_uids(void)
{
	char path[] = "/tmp/subuid-XXXXXX";
	FILE *lent = fdopen(mkstemp(path), "w");

	cr_assert_not_null(lent);
	fprintf(lent, "somebody:%d:65536\n", LENT);
	fclose(lent);
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount(path, "/etc/subuid", NULL, MS_BIND, NULL), 0);
	unlink(path);
}

/*
 * A dropped user is refused at once, with all of their uids, until what was waited for has come;
 * then nothing is lost.
 */
Test(calls_stuck, dropped_and_back)
{
	int child, status = -1;

	lend_uids();
	hostile = LENT;
	slow_file_begin(&file);
	caller_begin(&serve, ARGS(NULL));
	child = caller_fork(count_and_be_told, file.serves);
	cr_assert(eventually(is_held, NULL));
	rest(5);
	caller_run_as(LENT, be_refused, NULL);
	caller_run_as(LENT + 1, be_refused, NULL);
	caller_run_as(HOSTILE, be_served, NULL);
	slow_file_serve(&file);
	cr_assert(eventually(is_free, NULL));
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0);
	caller_run_as(LENT, be_served, NULL);
	caller_run_as(LENT + 1, be_served, NULL);
	end_and_see(assert_said);
	serve_clean(&serve);
	slow_file_end(&file);
}

static void ask_without_pause(void *argument)
{
	(void)argument;
	caller_become(hostile);
	for (;;)
		told();
}

Test(calls_stuck, asked_without_pause)
{
	attack(ask_without_pause, ATTACKERS_MAX);
	serve_end(&serve);
}

enum { SET_BYTES = 2 << 20 };

/* Each copy looks at all of them, and counts arrive all the time. */
static void set_all_counters(void *argument)
{
	uint16_t *counters;
	size_t i;

	(void)argument;
	caller_become(hostile);
	counters = fresh_pages(SET_BYTES);
	ENSURE(bpfprofil_dialect("solaris") == 0);
	for (i = 0; i < SET_BYTES / sizeof(*counters); i++)
		counters[i] = 7;
	ENSURE(profil(counters, SET_BYTES, text_start() - (SET_BYTES - TEXT_SPAN), 0x10000) == 0);
	for (;;) {
		burn_low(0.01);
		bpfprofil_sync();
	}
}

Test(calls_stuck, all_counters_set)
{
	attack(set_all_counters, 2);
	serve_end(&serve);
}

/* A connection with data that nobody reads, whose close waits for that. */
static int lingering(void)
{
	struct linger linger = { .l_onoff = 1, .l_linger = 60 };
	struct sockaddr_in address = { .sin_family = AF_INET };
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	static char bytes[1 << 20];
	socklen_t size = sizeof(address);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ENSURE(!bind(listener, (struct sockaddr *)&address, size) && !listen(listener, 1));
	ENSURE(!getsockname(listener, (struct sockaddr *)&address, &size));
	ENSURE(!connect(fd, (struct sockaddr *)&address, size));
	ENSURE(!setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return fd;
}

static void pass(int passed)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .head = { .cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS,
				.cmsg_len = CMSG_LEN(sizeof(int)) } };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct iovec part = { "x", 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	memcpy(CMSG_DATA(&control.head), &passed, sizeof(passed));
	strncpy(address.sun_path, serve.path, sizeof(address.sun_path) - 1);
	ENSURE(!connect(fd, (struct sockaddr *)&address, sizeof(address)));
	/* Since Linux 6.16 it is refused on this side. */
	ENSURE(sendmsg(fd, &message, 0) == 1 || errno == EPERM);
	close(passed);
	close(fd);
}

static void pass_lingering(void *argument)
{
	(void)argument;
	caller_become(hostile);
	for (;;) {
		pass(lingering());
		rest(0.05);
	}
}

Test(calls_stuck, lingering_descriptor)
{
	attack(pass_lingering, 1);
	serve_end(&serve);
}
