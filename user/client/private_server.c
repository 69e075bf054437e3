// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "client/calls.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "client/sys.h"

enum {
	READY_MS = 10000,
	READY_FD = 3, /* as in argv of become_server() */
	CAPABILITY_SYS_ADMIN = 21,
	CAPABILITY_PERFMON = 38,
	CAPABILITY_BPF = 39,
};

static uint64_t current; /* number of the server */
static int starting; /* the pid that starts a server; fork copies it */

void private_server_name(uint64_t id, char name[PRIVATE_NAME])
{
	char *digit = name + strlen(strcpy(name, "@bpfprofil-"));
	int shift;

	for (shift = 60; shift >= 0; shift -= 4)
		*digit++ = "0123456789abcdef"[id >> shift & 15];
	*digit = '\0';
}

static void decimal(unsigned int value, char text[12])
{
	char digits[12];
	int n = 0;

	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (n)
		*text++ = digits[--n];
	*text = '\0';
}

uint64_t private_server(void)
{
	return __atomic_load_n(&current, __ATOMIC_ACQUIRE);
}

void private_server_forget(uint64_t id)
{
	__atomic_compare_exchange_n(&current, &id, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

int private_server_allowed(void)
{
	/* As in linux/capability.h, which musl's compiler does not find. */
	struct {
		uint32_t version;
		int pid;
	} header = { 0x20080522, 0 };
	struct {
		uint32_t effective, permitted, inheritable;
	} sets[2] = { 0 };
	uint64_t effective;

	if (SYS(capget, &header, sets))
		return 0;
	effective = sets[0].effective | (uint64_t)sets[1].effective << 32;
	return effective >> CAPABILITY_SYS_ADMIN & 1 ||
	       (effective >> CAPABILITY_BPF & effective >> CAPABILITY_PERFMON & 1);
}

/* Detaches from all that belongs to the program: descriptors, terminal, directory, LD_PRELOAD. */
static int leave_program(int ready)
{
	sys_signals none = 0;

	if (SYS(setsid, 0) < 0 || SYS(chdir, "/") < 0)
		return -1;
	if (ready == READY_FD ? SYS(fcntl, ready, F_SETFD, 0) < 0 :
				SYS(dup3, ready, READY_FD, 0) < 0)
		return -1;
	SYS(close_range, READY_FD + 1, ~0U, 0);
	SYS(close_range, 0, READY_FD - 1, 0);
	if (SYS(openat, AT_FDCWD, "/dev/null", O_RDWR) != 0 || SYS(dup, 0) < 0 || SYS(dup, 0) < 0)
		return -1;
	sys_restore_signals(none);
	return 0;
}

static void become_server(const char *program, uint64_t id, unsigned int pid, int ready)
{
	char name[PRIVATE_NAME], pid_text[12];
	const char *const argv[] = { program,	   "serve", "--private", "--socket", name,
				     "--ready-fd", "3",	    "--for",	 pid_text,   NULL };
	const char *const environment[] = { NULL };

	private_server_name(id, name);
	decimal(pid, pid_text);
	if (!leave_program(ready))
		SYS(execve, program, argv, environment);
	SYS(exit_group, 127);
}

/*
 * Forks twice, so that init becomes the server's parent, and without an exit signal, so that the
 * program's wait() does not see the process in between. It does not use fork(), because fork()
 * would run the program's hooks.
 */
static int launch(const char *program, uint64_t id, int ready)
{
	unsigned int pid = (unsigned int)SYS(getpid, 0);
	long child = SYS(clone, 0, 0, 0, 0, 0);

	if (child == 0) {
		child = SYS(clone, 0, 0, 0, 0, 0);
		if (child == 0)
			become_server(program, id, pid, ready);
		SYS(exit_group, 0);
	}
	if (child < 0)
		return -1;
	SYS_RETRY(wait4, child, NULL, __WCLONE, NULL);
	return 0;
}

/* The server writes a byte when it is listening. If it fails it closes the pipe. */
static int wait_ready(int fd)
{
	struct timespec patience = { .tv_sec = READY_MS / 1000 };
	struct pollfd event = { .fd = fd, .events = POLLIN };
	char byte;

	return SYS_RETRY(ppoll, &event, 1, &patience, NULL, 0) == 1 &&
	       SYS_RETRY(read, fd, &byte, 1) == 1;
}

static uint64_t start_server(const char *program)
{
	uint64_t id = 0;
	int pipes[2], ready = 0;

	if (SYS(getrandom, &id, sizeof(id), 0) != sizeof(id) || !id ||
	    SYS(pipe2, pipes, O_CLOEXEC) < 0)
		return 0;
	if (!launch(program, id, pipes[1])) {
		SYS(close, pipes[1]);
		ready = wait_ready(pipes[0]);
	} else {
		SYS(close, pipes[1]);
	}
	SYS(close, pipes[0]);
	return ready ? id : 0;
}

static int lock_starting(int pid)
{
	int holder = __atomic_load_n(&starting, __ATOMIC_ACQUIRE);

	return holder != pid && __atomic_compare_exchange_n(&starting, &holder, pid, 0,
							    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/*
 * Two threads must not start two servers. The calls would reach different servers, and the second
 * call would not replace the first.
 */
uint64_t private_server_start(const char *program)
{
	const struct timespec millisecond = { .tv_nsec = 1000000 };
	int pid = (int)SYS(getpid, 0), waited = 0;
	uint64_t id;

	while (!lock_starting(pid)) {
		if (waited++ == READY_MS)
			return 0;
		SYS(nanosleep, &millisecond, NULL);
	}
	id = private_server();
	if (!id) {
		id = start_server(program);
		__atomic_store_n(&current, id, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&starting, 0, __ATOMIC_RELEASE);
	return id;
}
