// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What reaches the socket without the library: garbage, lies, and too much of it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "caller.h"
#include "child.h"
#include "need.h"
#include "oracle.h"
#include "shared/call_protocol.h"

CALLER_SUITE(calls_requests);

enum { NOBODY = 65534 };

static int dial(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", serve.path);
	ENSURE(fd >= 0 && !connect(fd, (const struct sockaddr *)&address, sizeof(address)));
	return fd;
}

/* The reply's error; -1: there was no reply. */
static int await_reply(int fd)
{
	struct call_reply reply;
	ssize_t got = recv(fd, &reply, sizeof(reply), 0);

	close(fd);
	if (got != sizeof(reply))
		return -1;
	ENSURE(reply.magic == CALL_MAGIC && reply.version == CALL_VERSION);
	return reply.error;
}

static int ask(const void *message, size_t size)
{
	int fd = dial();

	ENSURE(send(fd, message, size, MSG_NOSIGNAL) == (ssize_t)size);
	return await_reply(fd);
}

/* A request as the library would make it, followed by entries. */
struct large_request {
	struct call_request head;
	struct call_entry entries[CALL_ENTRIES_MAX + 1];
};

static void fill(struct large_request *request, enum call_op op, uint32_t nr_entries)
{
	memset(request, 0, sizeof(*request));
	request->head.magic = CALL_MAGIC;
	request->head.version = CALL_VERSION;
	request->head.op = (uint16_t)op;
	request->head.pointer = sizeof(void *);
	request->head.nr_entries = nr_entries;
	request->head.count = nr_entries;
	memcpy(request->head.proof, (const void *)getauxval(AT_RANDOM), CALL_PROOF_BYTES);
}

static size_t size_of(const struct large_request *request)
{
	return sizeof(request->head) + request->head.nr_entries * sizeof(request->entries[0]);
}

static int ask_for(const struct large_request *request)
{
	return ask(request, size_of(request));
}

/* Everybody else is still served. */
static void assert_serves(void)
{
	char *buffer = fresh_pages(TEXT_SPAN);

	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.03);
	ENSURE_NUMBER(off_and_account(buffer, TEXT_SPAN).binned, >, 3);
	munmap(buffer, TEXT_SPAN);
}

CALLER_TEST_AS(NOBODY, calls_requests, bad_form)
{
	static struct large_request request, good;
	size_t size;

	fill(&good, CALL_PROFIL, 1);
	good.entries[0] = (struct call_entry){ (uintptr_t)&request, 2, 0x1000, 0x10000 };
	ENSURE_NUMBER(ask_for(&good), ==, 0);
	/* A message of 0 bytes would be an end of file. */
	for (size = 1; size < size_of(&good); size++)
		ENSURE_NUMBER(ask(&good, size), ==, EPROTO);
	ENSURE_NUMBER(ask(&good, size_of(&good) + 1), ==, EPROTO);
	request = good;
	request.head.magic++;
	ENSURE_NUMBER(ask_for(&request), ==, EPROTO);
	request = good;
	request.head.version++;
	ENSURE_NUMBER(ask_for(&request), ==, EPROTONOSUPPORT);
	request = good;
	request.head.pointer = 2;
	ENSURE_NUMBER(ask_for(&request), ==, EPROTO);
	request = good;
	request.head.op = 77;
	ENSURE_NUMBER(ask_for(&request), ==, EPROTO);
	request = good;
	request.head.dialect = 8;
	ENSURE_NUMBER(ask_for(&request), ==, EINVAL);
	request = good;
	request.head.flags = 2;
	ENSURE_NUMBER(ask_for(&request), ==, EINVAL);
	/* With 4,097 entries, and with a number of entries that does not match their size. */
	fill(&request, CALL_SPROFIL, CALL_ENTRIES_MAX + 1);
	ENSURE_NUMBER(ask_for(&request), ==, EPROTO);
	request = good;
	request.head.nr_entries = UINT32_MAX;
	ENSURE_NUMBER(ask(&request, size_of(&good)), ==, EPROTO);
	fill(&request, CALL_SPROFIL, 3);
	request.head.count = 2;
	ENSURE_NUMBER(ask_for(&request), ==, EPROTO);
	request.head.count = -3;
	ENSURE_NUMBER(ask_for(&request), ==, E2BIG);
	assert_serves();
}

CALLER_TEST_AS(NOBODY, calls_requests, another_proof)
{
	struct large_request *request = fresh_pages(sizeof(*request));

	fill(request, CALL_PROFIL, 1);
	request->entries[0] = (struct call_entry){ (uintptr_t)request, 2, 0x1000, 0x10000 };
	request->head.proof[7] ^= 1;
	ENSURE_NUMBER(ask_for(request), ==, EPERM);
	request->head.proof[7] ^= 1;
	/* A 32-bit program has another auxiliary vector, in which the proof is found. */
	request->head.pointer = 4;
	ENSURE_NUMBER(ask_for(request), ==, EPERM);
	assert_serves();
}

/*
 * Sizes and scales at the edges of 32 and 64 bits, in every dialect: refused or counted, but no
 * worse.
 */
CALLER_TEST_AS(NOBODY, calls_requests, edges)
{
	static const uint64_t edge[] = { 0,	     1,		2,	    3,
					 0xffff,     0x10000,	0xffffffff, 0x100000000,
					 1ULL << 47, INT64_MAX, 1ULL << 63, UINT64_MAX };
	enum { EDGES = sizeof(edge) / sizeof(edge[0]) };
	static struct large_request request;
	struct dice dice = { 7 };
	int i, j, error;

	for (i = 0; i < 600; i++) {
		fill(&request, i % 3 ? CALL_SPROFIL : CALL_PROFIL, i % 3 ? 8 : 1);
		request.head.dialect = (uint32_t)dice_below(&dice, DIALECT_COUNT);
		request.head.profil_flags = i % 3 ? (uint32_t)dice_below(&dice, 4) : 0;
		for (j = 0; j < 8; j++)
			request.entries[j] = (struct call_entry){ edge[dice_below(&dice, EDGES)],
								  edge[dice_below(&dice, EDGES)],
								  edge[dice_below(&dice, EDGES)],
								  edge[dice_below(&dice, EDGES)] };
		error = ask_for(&request);
		ENSURE(error == 0 || error == EINVAL || error == EFAULT || error == EDQUOT);
		if (!(i % 100))
			burn_low(0.02);
	}
	assert_serves();
}

/* Claims to be another process, which the kernel only allows root. */
static int send_as(int fd, const struct large_request *request, const struct ucred *who)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(struct ucred))];
	} control = { .head = { .cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_CREDENTIALS,
				.cmsg_len = CMSG_LEN(sizeof(*who)) } };
	struct iovec part = { (void *)request, size_of(request) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.head), who, sizeof(*who));
	return (int)sendmsg(fd, &message, MSG_NOSIGNAL);
}

CALLER_TEST_AS(NOBODY, calls_requests, another_pid)
{
	static struct large_request request;
	struct ucred who = { getppid(), getuid(), getgid() };
	int fd = dial();

	fill(&request, CALL_STATUS, 0);
	ENSURE(send_as(fd, &request, &who) == -1 && errno == EPERM);
	who = (struct ucred){ getpid(), 0, 0 };
	ENSURE(send_as(fd, &request, &who) == -1 && errno == EPERM);
	close(fd);
	assert_serves();
}

static void sleep_for_ever(void *argument)
{
	execl("/bin/sleep", "sleep", "60", NULL);
	(void)argument;
}

/* Until it has executed sleep, its random bytes are those of its parent. */
static bool sleeps(void *pid)
{
	char path[32], name[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", *(int *)pid);
	file = fopen(path, "re");
	if (file && !fgets(name, sizeof(name), file))
		name[0] = '\0';
	if (file)
		fclose(file);
	return !strcmp(name, "sleep\n");
}

/* Root may claim it, but in vain, because the other process's random bytes are unknown. */
CALLER_TEST_AS(0, calls_requests, root_s_lie)
{
	static struct large_request request;
	int other = caller_fork(sleep_for_ever, NULL), fd = dial();
	struct ucred who = { other, 0, 0 };

	ENSURE(eventually(sleeps, &other));
	fill(&request, CALL_PROFIL, 1);
	request.entries[0] = (struct call_entry){ (uintptr_t)&request, 2, 0x1000, 0x10000 };
	ENSURE(send_as(fd, &request, &who) > 0);
	ENSURE_NUMBER(await_reply(fd), ==, EPERM);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	fd = dial();
	ENSURE(send_as(fd, &request, &who) == -1);
	close(fd);
	assert_serves();
}

/* A connection that root made, used by a child that gave up its rights: the child is the asker. */
static void ask_as_nobody(void *fd)
{
	static struct large_request request;
	char *buffer = fresh_pages(TEXT_SPAN);

	caller_become(NOBODY);
	fill(&request, CALL_SPROFIL, 1);
	request.head.profil_flags = PROF_FAST;
	request.entries[0] =
		(struct call_entry){ (uintptr_t)buffer, TEXT_SPAN, text_start(), 0x10000 };
	ENSURE(send(*(int *)fd, &request, size_of(&request), 0) > 0);
	/* PROF_FAST is for root here, which shows who is taken for the asker. */
	ENSURE_NUMBER(await_reply(*(int *)fd), ==, EACCES);
}

static void inherited_descriptor_body(void *argument)
{
	int fd = dial();

	(void)argument;
	caller_join(caller_fork(ask_as_nobody, &fd));
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_OFF);
}

Test(calls_requests, inherited_descriptor, .init = need_root, .fini = NULL)
{
	caller_begin(&serve, ARGS("--restrict-fast"));
	caller_run(inherited_descriptor_body, NULL);
	serve_end(&serve);
}

static void profile_as_nobody(void *argument)
{
	(void)argument;
	caller_become(NOBODY);
	assert_serves();
}

static void hold_connections(void *ready)
{
	int fds[100], i;

	for (i = 0; i < 100; i++)
		fds[i] = dial();
	ENSURE(write(*(int *)ready, "", 1) == 1);
	/* Those beyond a user's places are closed at once, the others when they stay silent. */
	for (i = 0; i < 100; i++)
		ENSURE_NUMBER(await_reply(fds[i]), ==, -1);
}

/* Sends a request that cannot be answered, and returns when the server is done with it. */
static void ask_deaf(const struct large_request *request)
{
	int fd = dial();
	char byte = 0;

	ENSURE(!shutdown(fd, SHUT_RD));
	ENSURE(send(fd, request, size_of(request), MSG_NOSIGNAL) == (ssize_t)size_of(request));
	while (send(fd, &byte, 1, MSG_NOSIGNAL) == 1)
		rest(0.001);
	close(fd);
}

/* A request for whose reply nobody waited is not carried out, and everything stays as before. */
CALLER_TEST_AS(NOBODY, calls_requests, deaf)
{
	static struct large_request request;
	char *buffer = fresh_pages(TEXT_SPAN);

	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	fill(&request, CALL_STATUS, 0);
	ask_deaf(&request);
	fill(&request, CALL_SYNC, 0);
	ask_deaf(&request);
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_SPROFIL);
	/* A call that is refused makes none. */
	fill(&request, CALL_PROFIL, 1);
	request.head.dialect = 8;
	ask_deaf(&request);
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_SPROFIL);
	request.head.dialect = 0;
	request.entries[0] = (struct call_entry){ (uintptr_t)&request, 2, 0x1000, 0x10000 };
	ask_deaf(&request);
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_OFF);
	assert_serves();
}

CALLER_TEST_AS(0, calls_requests, silent_connections)
{
	double start = seconds_now();
	int ready[2], holder;
	char byte = 0;

	ENSURE(!pipe(ready));
	holder = caller_fork(hold_connections, &ready[1]);
	ENSURE(read(ready[0], &byte, 1) == 1);
	caller_join(caller_fork(profile_as_nobody, NULL));
	ENSURE_NUMBER((seconds_now() - start) * 1000, <, 1000);
	caller_join(holder);
	ENSURE_NUMBER(seconds_now() - start, <, 6);
	assert_serves();
}

static void send_garbage(void *argument)
{
	struct dice dice = { 3 };
	uint64_t words[64];
	int i, j;

	(void)argument;
	for (i = 0; i < 2000; i++) {
		int fd = dial();
		struct call_request *request = (struct call_request *)words;

		for (j = 0; j < 64; j++)
			words[j] = dice_u64(&dice);
		if (i % 2) {
			request->magic = CALL_MAGIC;
			request->version = CALL_VERSION;
			request->op = (uint16_t)dice_below(&dice, 8);
			request->pointer = 8;
			request->dialect %= 10;
			request->flags %= 3;
			request->nr_entries %= 14;
		}
		send(fd, words, (size_t)dice_below(&dice, sizeof(words)) + 1, MSG_NOSIGNAL);
		close(fd);
	}
}

static void send_garbage_as_nobody(void *argument)
{
	caller_become(NOBODY);
	send_garbage(argument);
}

/* Thousands of bad requests do not affect others who profile. */
CALLER_TEST_AS(0, calls_requests, garbage)
{
	int child = caller_fork(send_garbage_as_nobody, NULL), i;

	for (i = 0; i < 10; i++)
		assert_serves();
	caller_join(child);
	caller_join(caller_fork(profile_as_nobody, NULL));
}

static void call_once(void *argument)
{
	static unsigned short counters[64];

	(void)argument;
	ENSURE(profil(counters, sizeof(counters), 0x1000, 0x10000) == 0);
	ENSURE(off() == 0);
}

/* More requests of one user at a time than may wait: none is refused. */
CALLER_TEST_AS(0, calls_requests, burst)
{
	enum { N = 300 };
	int children[N], i;

	kill(serve.pid, SIGSTOP);
	for (i = 0; i < N; i++) {
		children[i] = fork();
		if (!children[i]) {
			caller_become(NOBODY);
			call_once(NULL);
			_exit(0);
		}
	}
	rest(0.3);
	kill(serve.pid, SIGCONT);
	for (i = 0; i < N; i++)
		caller_join(children[i]);
}

CALLER_TEST_AS(NOBODY, calls_requests, send_descriptors)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(64 * sizeof(int))];
	} control = { .head = { .cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS,
				.cmsg_len = CMSG_LEN(64 * sizeof(int)) } };
	struct iovec part = { "x", 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int pipes[2], i, j;
	char byte = 0;

	ENSURE(!pipe(pipes));
	for (i = 0; i < 64; i++)
		memcpy(CMSG_DATA(&control.head) + i * (int)sizeof(int), &pipes[1], sizeof(int));
	for (j = 0; j < 50; j++) {
		int fd = dial();

		/* Since Linux 6.16 they are refused on this side. */
		if (sendmsg(fd, &message, 0) == 1)
			await_reply(fd);
		else
			ENSURE(errno == EPERM && !close(fd));
	}
	close(pipes[1]);
	/* The end of file shows that the server has closed each of them. */
	ENSURE(read(pipes[0], &byte, 1) == 0);
}
