// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Linked into a bpfprofil of the tests alone: what a hostile file could make its reader do, once it has taken it
 * over. READER_FAULT is NAME, or NAME:KIND for one kind of question. Files that end with MARK are hostile.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "reader/frame.h"

#define MARK "HOSTILE!"

static bool is_hostile(const struct reader_call *call)
{
	char end[sizeof(MARK)] = "";
	struct stat stat;

	if (call->fds[0] < 0)
		return true;
	if (fstat(call->fds[0], &stat) || stat.st_size < (off_t)strlen(MARK))
		return false;
	return pread(call->fds[0], end, strlen(MARK), stat.st_size - (off_t)strlen(MARK)) > 0 &&
	       !strcmp(end, MARK);
}

static void crash(void)
{
	raise(SIGSEGV);
	__builtin_trap();
}

static void loop(void)
{
	volatile unsigned long n = 0;

	for (;;)
		n++;
}

static void hang(void)
{
	char nothing;

	/* The program that asks sends nothing before it has an answer. */
	for (;;)
		if (read(STDIN_FILENO, &nothing, 1) <= 0)
			_exit(0);
}

static void leave(void)
{
	close(STDIN_FILENO);
	_exit(0);
}

static void fill(void)
{
	char *memory;

	while ((memory = malloc(1 << 20)))
		memset(memory, 1, 1 << 20);
	crash();
}

static void babble(void)
{
	struct frame_line line = { .socket = STDIN_FILENO };
	struct reader_frame frame = { .kind = FRAME_ANSWER, .fds = { -1, -1 } };
	uint64_t word = 0x123456789abcdef1;
	int i;

	for (i = 0; i < 1000; i++) {
		word = word * 0x5851f42d4c957f2d + 1;
		wire_put_u64(&frame.body, word);
	}
	frame_send(&line, &frame);
	_exit(0);
}

/* A length that nobody can have, and a frame of no kind. */
static void boast(void)
{
	static const uint64_t head[3] = { FRAME_ANSWER, 0, UINT64_MAX };

	if (write(STDIN_FILENO, head, sizeof(head)) == sizeof(head))
		hang();
	crash();
}

/* Ends by a crash if it may do anything that a reader must not. */
static void escape(void)
{
	struct perf_event_attr event = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(event) };
	char *const none[] = { NULL };
	int i;

	/* Even a crash would be refused if kill() were, so that every attempt is on its own. */
	const long done[] = {
		open("/etc/shadow", O_RDONLY),
		openat(AT_FDCWD, "/etc/passwd", O_RDONLY),
		open("/tmp/bpfprofil-escaped", O_WRONLY | O_CREAT, 0600),
		socket(AF_INET, SOCK_STREAM, 0),
		socket(AF_UNIX, SOCK_STREAM, 0),
		ptrace(PTRACE_ATTACH, getppid(), NULL, NULL),
		kill(getppid(), 0),
		execve("/bin/true", none, none),
		syscall(SYS_execveat, AT_FDCWD, "/bin/true", none, none, 0),
		fork(),
		syscall(SYS_bpf, 0, NULL, 0),
		syscall(SYS_perf_event_open, &event, 0, -1, -1, 0),
		mount("none", "/mnt", "tmpfs", 0, NULL),
		syscall(SYS_unshare, 0),
		syscall(SYS_io_uring_setup, 1, NULL),
		syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0),
		setuid(0),
		(long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
	};

	for (i = 0; i < (int)(sizeof(done) / sizeof(done[0])); i++)
		if (done[i] != -1)
			crash();
}

static const struct {
	const char *name;
	void (*act)(void);
} faults[] = {
	{ "crash", crash }, { "loop", loop },	  { "hang", hang },   { "leave", leave },
	{ "fill", fill },   { "babble", babble }, { "boast", boast }, { "escape", escape },
};

void reader_fault(const struct reader_call *call)
{
	const char *wanted = getenv(READER_FAULT), *kind = wanted ? strchr(wanted, ':') : NULL;
	size_t i;

	if (!wanted || (kind && strtoul(kind + 1, NULL, 10) != call->kind) || !is_hostile(call))
		return;
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (!strncmp(wanted, faults[i].name, strcspn(wanted, ":")))
			faults[i].act();
}
