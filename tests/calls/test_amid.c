// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A fork while the server copies: what it has taken from the kernel's counters, and not yet written
 * when the child's image was made, must be in the child's buffer. The thread that copies is stopped
 * at one of its system calls; counters have 32 bits and wrap meanwhile.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <criterion/criterion.h>

#include "caller.h"

CALLER_SUITE(calls_amid);

enum { COUNTERS = 64 };

static uint32_t *counters;

/* What a child has of the buffer: a copy, the same memory, or zeros. */
enum kind { COPIED, SHARED, WIPED };

static uint32_t *map_counters(enum kind kind)
{
	int flags = MAP_ANONYMOUS | (kind == SHARED ? MAP_SHARED : MAP_PRIVATE);
	void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);

	ENSURE(at != MAP_FAILED);
	ENSURE(kind != WIPED || madvise(at, PAGE, MADV_WIPEONFORK) == 0);
	return at;
}

/* A counter covers 64 KiB of text, so nearly all ticks are in one. */
static size_t first_pc(void)
{
	return (text_start() & ~0xffffUL) - 32 * 0x10000UL;
}

static void start(uint32_t preset)
{
	struct prof region = { counters, COUNTERS * sizeof(*counters), first_pc(), 4 };

	counters[(text_start() - first_pc()) >> 16] = preset;
	ENSURE(bpfprofil_dialect("bsd44") == 0);
	ENSURE(sprofil(&region, 1, NULL, PROF_FAST | PROF_UINT) == 0);
}

/* All ticks in the buffer, modulo 2^32. */
static uint32_t counted(uint32_t preset)
{
	uint32_t sum = -preset;
	int i;

	for (i = 0; i < COUNTERS; i++)
		sum += counters[i];
	return sum;
}

/* Where a copy is stopped: before or after a call that reads or writes the buffer. */
struct place {
	uint64_t call;
	bool done;
};

static pid_t copier;

static void ask(enum __ptrace_request request, void *data)
{
	ENSURE(ptrace(request, copier, NULL, data) == 0);
}

static void wait_for_stop(void)
{
	int status = 0;

	while (waitpid(copier, &status, __WALL) < 0)
		ENSURE(errno == EINTR);
	ENSURE(WIFSTOPPED(status));
}

static bool at_entry_of(uint64_t call)
{
	struct __ptrace_syscall_info info = { 0 };
	uintptr_t start = (uintptr_t)counters;

	ENSURE(ptrace(PTRACE_GET_SYSCALL_INFO, copier, sizeof(info), &info) > 0);
	return info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == call &&
	       info.entry.args[3] - start < COUNTERS * sizeof(*counters);
}

/* Finds the server's thread for this user, which has just answered. */
static void find_copier(void)
{
	char path[64];
	struct dirent *entry;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", serve.pid);
	threads = opendir(path);
	ENSURE(threads != NULL);
	copier = 0;
	while ((entry = readdir(threads))) {
		pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

		if (thread <= 0 || thread == serve.pid)
			continue;
		ENSURE(!copier);
		copier = thread;
	}
	closedir(threads);
	ENSURE(copier > 0);
}

static void hold_server(void)
{
	find_copier();
	ask(PTRACE_SEIZE, (void *)PTRACE_O_TRACESYSGOOD);
	ask(PTRACE_INTERRUPT, NULL);
	wait_for_stop();
}

static void let_it_run_to(const struct place *place)
{
	do {
		ask(PTRACE_SYSCALL, NULL);
		wait_for_stop();
	} while (!at_entry_of(place->call));
	if (place->done) {
		ask(PTRACE_SYSCALL, NULL);
		wait_for_stop();
	}
}

struct found {
	uint32_t preset;
	uint64_t inherited;
	uint64_t own;
};

static void say_found(void *argument)
{
	struct found *found = argument;
	struct bpfprofil_status status;

	burn_low(0.02);
	ENSURE(off() == 0);
	status = told();
	ENSURE_NUMBER(status.binned, >, 5);
	found->own = status.binned;
	found->inherited = (uint32_t)(counted(found->preset) - status.binned);
}

/* The parent may have had a tick or two since. */
static void check(enum kind kind, const struct found *found, uint64_t own)
{
	uint64_t there = counted(found->preset);

	ENSURE_NUMBER(own, >, 20);
	ENSURE_NUMBER(there, ==, own + (kind == SHARED ? found->own : 0));
	if (kind == WIPED)
		ENSURE_NUMBER(found->inherited, ==, 0);
	if (kind != COPIED)
		return;
	ENSURE_NUMBER(found->inherited, <=, own + 1);
	ENSURE_NUMBER(found->inherited + 3, >=, own);
}

static void fork_at(const struct place *place, enum kind kind, uint32_t preset)
{
	struct found *found =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t own;
	int child;

	ENSURE(found != MAP_FAILED);
	found->preset = preset;
	counters = map_counters(kind);
	start(preset);
	hold_server();
	burn_low(0.03);
	let_it_run_to(place);
	child = caller_fork(say_found, found);
	ask(PTRACE_DETACH, NULL);
	ENSURE(off() == 0);
	own = told().binned;
	caller_join(child);
	check(kind, found, own);
	munmap(found, PAGE);
	munmap(counters, PAGE);
}

struct amid {
	enum kind kind;
	uint32_t preset;
};

static void fork_amid_copy_body(void *argument)
{
	static const struct place places[] = {
		{ SYS_pread64, false },
		{ SYS_pread64, true },
		{ SYS_pwrite64, false },
		{ SYS_pwrite64, true },
	};
	const struct amid *amid = argument;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		fork_at(&places[i], amid->kind, amid->preset);
}

#define AMID(name, ...)                                                                            \
	Test(calls_amid, name)                                                                     \
	{                                                                                          \
		struct amid amid = { __VA_ARGS__ };                                                \
                                                                                                   \
		caller_run(fork_amid_copy_body, &amid);                                            \
	}

AMID(fork, COPIED, 0)
AMID(fork_and_wrap, COPIED, UINT32_MAX - 5)
AMID(fork_of_shared, SHARED, 0)
AMID(fork_of_wiped, WIPED, 0)
