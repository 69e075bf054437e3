// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * copy_back [ROUNDS]
 *
 * Measures what it costs to add a page of counters to its caller's buffer, by how many of its 1,024
 * counters were hit, compared with a memcpy of the 2 KiB that they take there. The counters are set
 * by hand; everything else is what the server does.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "calls/calls.h"
#include "calls/registry.h"
#include "calls/worker.h"

enum { PAGES = 256, ROUNDS_MAX = 256 };

static const int densities[] = { 1, 16, 256, PAGE_COUNTERS };
#define NR_DENSITIES (sizeof(densities) / sizeof(*densities))

static uint16_t buffer[PAGES * PAGE_COUNTERS], copy[PAGES * PAGE_COUNTERS];

static void give_up(const char *what)
{
	fprintf(stderr, "copy_back: %s\n", what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static pid_t start_caller(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memset(buffer, 0, sizeof(buffer));
	for (;;)
		pause();
}

static struct caller *register_caller(struct calls *calls, pid_t pid)
{
	struct {
		struct call_request request;
		struct call_entry entry;
	} asked = { .request = { .magic = CALL_MAGIC,
				 .version = CALL_VERSION,
				 .op = CALL_PROFIL,
				 .pointer = sizeof(void *),
				 .nr_entries = 1 },
		    .entry = { (uintptr_t)buffer, sizeof(buffer), 0, 0x10000 } };
	struct call_reply reply;
	struct worker *worker;
	uint32_t slot;

	/* A fork has the same proof as its parent. */
	memcpy(asked.request.proof, (const void *)getauxval(AT_RANDOM), CALL_PROOF_BYTES);
	/*
	 * Nobody reads records here, so the worker's thread never starts, and this thread can act
	 * for it.
	 */
	worker = worker_of(calls, 0, 0);
	calls_request(worker, pid, 0, &asked.request, sizeof(asked), &reply);
	if (reply.error)
		give_up(strerror(reply.error));
	for (slot = 0; slot < calls->engine.nr_calls; slot++)
		if (calls->callers[slot])
			return calls->callers[slot];
	give_up("no call");
	return NULL;
}

static void hit(struct call_engine *engine, const struct caller *caller, int density)
{
	int page, i;

	for (page = 0; page < PAGES; page++) {
		uint32_t number = call_engine_held_page(engine, &caller->ref, (uint64_t)page);

		if (!number)
			number = call_engine_add_page(engine, &caller->ref, (uint64_t)page);
		if (!number)
			give_up("no page");
		for (i = 0; i < density; i++)
			call_engine_page(engine, number)->counters[i * (PAGE_COUNTERS / density)] =
				1;
	}
}

static void print_row(const char *name, double *ns, int rounds)
{
	qsort(ns, (size_t)rounds, sizeof(*ns), compare);
	printf("| %s | %.2f (%.2f to %.2f) |\n", name, ns[rounds / 2] / 1000, ns[0] / 1000,
	       ns[rounds - 1] / 1000);
}

int main(int argc, char **argv)
{
	static double ns[NR_DENSITIES][ROUNDS_MAX], plain[ROUNDS_MAX];
	int rounds = argc > 1 ? atoi(argv[1]) : 21, round;
	pid_t pid = start_caller();
	struct calls_options options;
	struct caller *caller;
	struct calls *calls;
	struct error err;
	uint64_t before;
	char name[64];
	size_t i;

	if (rounds < 1 || rounds > ROUNDS_MAX)
		give_up("ROUNDS");
	calls_options_init(&options);
	if (calls_open(&options, &calls, &err))
		give_up(err.text);
	caller = register_caller(calls, pid);
	for (round = -1; round < rounds; round++) {
		for (i = 0; i < NR_DENSITIES; i++) {
			hit(&calls->engine, caller, densities[i]);
			before = now_ns();
			calls_copy(calls, caller);
			if (round >= 0)
				ns[i][round] = (double)(now_ns() - before) / PAGES;
		}
		before = now_ns();
		memcpy(copy, buffer, sizeof(copy));
		__asm__ volatile("" ::"r"(copy) : "memory");
		if (round >= 0)
			plain[round] = (double)(now_ns() - before) / PAGES;
	}
	printf("| a page to its buffer | µs |\n|---|---|\n");
	for (i = 0; i < NR_DENSITIES; i++) {
		snprintf(name, sizeof(name), "%d of 1,024 counters hit", densities[i]);
		print_row(name, ns[i], rounds);
	}
	print_row("memcpy of its 2 KiB", plain, rounds);
	calls_close(calls);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}
