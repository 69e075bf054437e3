// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * jit UNITS [reuse|calls|python|dump|threads|child|asleep]: writes two functions of machine code into anonymous
 * memory, describes them in /tmp/perf-PID.map, and burns in them 3 : 1. With reuse the second one
 * replaces the first; with calls likewise, but they call burn(), which has all the time; with python burn()
 * is called by the code and the name that CPython gives its script's functions for perf; with dump they
 * are described in /tmp/jit-PID.dump; with threads each is burnt in by two threads, "three" and "one",
 * 3 : 1; with child the second one is burnt in by child processes in the same memory; with asleep a thread sleeps
 * for four seconds below the first one, and another one replaces the second. Prints its pid.
 * Exit status 77: there is no code for this machine.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

#define FUNCTION_BYTES 256UL
#define REGION_BYTES 65536

/* Calls its second argument with the first one, in a frame of its own. */
#if defined(__x86_64__)
static const unsigned char calling[] = {
	0x55, /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0xff, 0xd6, /* call *%rsi */
	0x5d, /* pop %rbp */
	0xc3, /* ret */
};
#elif defined(__aarch64__)
static const unsigned int calling[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xd63f0020, /* blr x1 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
#else
static const unsigned char calling[1];
#endif

/* Calls its fourth argument as CPython's trampolines do, which on x86-64 keep no frame pointer. */
#if defined(__x86_64__)
static const unsigned char trampoline[] = {
	0x48, 0x83, 0xec, 0x08, /* sub $8, %rsp */
	0xff, 0xd1, /* call *%rcx */
	0x48, 0x83, 0xc4, 0x08, /* add $8, %rsp */
	0xc3, /* ret */
};
#elif defined(__aarch64__)
static const unsigned int trampoline[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xd63f0060, /* blr x3 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
#else
static const unsigned char trampoline[1];
#endif

/* n is the first argument: n times x = x * 3, then return. */
#if defined(__x86_64__)
static const unsigned char code[] = {
	0x48, 0x6b, 0xc0, 0x03, /* 1: imul $3, %rax, %rax */
	0x48, 0x83, 0xc0, 0x01, /* add $1, %rax */
	0x48, 0xff, 0xcf, /* dec %rdi */
	0x75, 0xf3, /* jnz 1b */
	0xc3, /* ret */
};
#elif defined(__aarch64__)
static const unsigned int code[] = {
	0x9b027c21, /* 1: mul x1, x1, x2 */
	0x91000421, /* add x1, x1, #1 */
	0xf1000400, /* subs x0, x0, #1 */
	0x54ffffa1, /* b.ne 1b */
	0xd65f03c0, /* ret */
};
#else
static const unsigned char code[1];
#define NO_CODE 1
#endif

/* The first one truncates the map, because a process that had our pid may have left one. */
static int describe(const char *text, const char *name)
{
	static const char *mode = "w";
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, mode);
	mode = "a";
	if (!map)
		return -1;
	fprintf(map, "%lx %lx %s\n", (unsigned long)text, FUNCTION_BYTES, name);
	return fclose(map);
}

/* A record of code that was loaded, without the code itself. */
static void dump_load(FILE *dump, const char *text, unsigned long index, const char *name)
{
	const unsigned int head[] = { 0, (unsigned int)(56 + strlen(name) + 1) };
	const unsigned long rest[] = { 1,
				       (unsigned long)getpid(),
				       (unsigned long)text,
				       (unsigned long)text,
				       FUNCTION_BYTES,
				       index };

	fwrite(head, sizeof(head), 1, dump);
	fwrite(rest, sizeof(rest), 1, dump);
	fwrite(name, strlen(name) + 1, 1, dump);
}

static int dump_code(const char *text)
{
	const unsigned int head[] = { 0x4a695444, 1, 40, 0, 0, (unsigned int)getpid(), 0, 0, 0, 0 };
	char path[64];
	FILE *dump;

	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", getpid());
	dump = fopen(path, "w+");
	if (!dump)
		return -1;
	fwrite(head, sizeof(head), 1, dump);
	dump_load(dump, text, 1, "jit_hot");
	dump_load(dump, text + FUNCTION_BYTES, 2, "jit_warm");
	/* Others find the dump by this mapping. */
	if (fflush(dump) ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		return -1;
	return fclose(dump);
}

static void call(char *text, unsigned long units)
{
	union {
		void *object;
		void (*call)(unsigned long n);
	} function = { .object = text };

	function.call(units * SPIN_UNIT);
}

static void take_turns(char *text, unsigned long units)
{
	unsigned long done;

	for (done = 0; done < units; done += SPIN_ROUND) {
		call(text, SPIN_ROUND / 4 * 3);
		call(text + FUNCTION_BYTES, SPIN_ROUND / 4);
	}
}

static int reuse(char *text, unsigned long units)
{
	unsigned long done;

	for (done = 0; done < units / 4 * 3; done += SPIN_ROUND)
		call(text, SPIN_ROUND);
	if (describe(text, "jit_warm"))
		return 1;
	for (; done < units; done += SPIN_ROUND)
		call(text, SPIN_ROUND);
	return 0;
}

static __attribute__((noinline)) void burn(unsigned long units)
{
	spin(units);
}

static int reuse_and_call(char *text, unsigned long units)
{
	union {
		void *object;
		void (*call)(unsigned long units, void (*function)(unsigned long units));
	} function = { .object = text };

	function.call(units / 4 * 3, burn);
	if (describe(text, "jit_warm"))
		return 1;
	function.call(units / 4, burn);
	return 0;
}

static int call_as_python(char *text, unsigned long units)
{
	union {
		void *object;
		void (*call)(unsigned long units, void *frame, int flags,
			     void (*function)(unsigned long units));
	} function = { .object = text };

	function.call(units, NULL, 0, burn);
	return 0;
}

static __attribute__((noinline)) void nap(unsigned long seconds)
{
	sleep((unsigned int)seconds);
}

static void *nap_below(void *text)
{
	union {
		void *object;
		void (*call)(unsigned long seconds, void (*function)(unsigned long seconds));
	} function = { .object = text };

	function.call(4, nap);
	return NULL;
}

static int sleep_beside(char *text, unsigned long units)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, nap_below, text))
		return 1;
	call(text + FUNCTION_BYTES, units);
	if (describe(text + FUNCTION_BYTES, "jit_new"))
		return 1;
	call(text + FUNCTION_BYTES, units);
	pthread_join(thread, NULL);
	return 0;
}

struct turns {
	const char *name;
	char *text;
	unsigned long units;
};

static void *take_turns_apart(void *arg)
{
	const struct turns *turns = arg;

	pthread_setname_np(pthread_self(), turns->name);
	take_turns(turns->text, turns->units);
	return NULL;
}

static int take_turns_in_threads(char *text, unsigned long units)
{
	struct turns turns[] = { { "three", text, units / 4 * 3 }, { "one", text, units / 4 } };
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, take_turns_apart, &turns[0]) ||
	    pthread_create(&threads[1], NULL, take_turns_apart, &turns[1]))
		return 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}

struct child_turn {
	char *text;
	unsigned long units;
};

static int burn_in_child(void *arg)
{
	const struct child_turn *turn = arg;

	call(turn->text, turn->units);
	return 0;
}

static int take_turns_with_children(char *text, unsigned long units)
{
	struct child_turn turn = { text + FUNCTION_BYTES, SPIN_ROUND };
	static char stack[65536] __attribute__((aligned(64)));
	unsigned long done;
	int status;
	pid_t pid;

	for (done = 0; done < units; done += 4 * SPIN_ROUND) {
		call(text, 3 * SPIN_ROUND);
		pid = clone(burn_in_child, stack + sizeof(stack), CLONE_VM | SIGCHLD, &turn);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long units = spin_argument(argc, argv, 1, 1000);
	int is_dump = argc > 2 && !strcmp(argv[2], "dump");
	int is_reuse = argc > 2 && !strcmp(argv[2], "reuse");
	int is_asleep = argc > 2 && !strcmp(argv[2], "asleep");
	int is_calls = is_asleep || (argc > 2 && !strcmp(argv[2], "calls"));
	int is_python = argc > 2 && !strcmp(argv[2], "python");
	int is_threads = argc > 2 && !strcmp(argv[2], "threads");
	int is_child = argc > 2 && !strcmp(argv[2], "child");
	char *text;

#ifdef NO_CODE
	return 77;
#endif
	text = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED)
		return 1;
	if (is_python)
		memcpy(text, trampoline, sizeof(trampoline));
	else
		memcpy(text, is_calls ? (const void *)calling : code,
		       is_calls ? sizeof(calling) : sizeof(code));
	memcpy(text + FUNCTION_BYTES, code, sizeof(code));
	__builtin___clear_cache(text, text + REGION_BYTES);
	if (mprotect(text, REGION_BYTES, PROT_READ | PROT_EXEC) ||
	    (is_dump ? dump_code(text) :
		       describe(text, is_python ? "py::lookup:t.py" : "jit_hot"))) {
		perror("jit");
		return 1;
	}
	printf("%d\n", getpid());
	if (is_reuse)
		return reuse(text, units);
	if (is_python)
		return call_as_python(text, units);
	if (is_calls && !is_asleep)
		return reuse_and_call(text, units);
	if (!is_dump && describe(text + FUNCTION_BYTES, "jit_warm"))
		return 1;
	if (is_asleep)
		return sleep_beside(text, units);
	if (is_threads)
		return take_turns_in_threads(text, units);
	if (is_child)
		return take_turns_with_children(text, units);
	take_turns(text, units);
	return 0;
}
