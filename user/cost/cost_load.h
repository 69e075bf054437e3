/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COST_LOAD_H
#define BPFPROFIL_COST_LOAD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * The program that is sampled: a process with one thread on each CPU we may use, so that every tick
 * of the clock falls and hits it.
 *
 * It calls small functions in random order. WARM reads the clock after each call, and sees as a gap
 * what takes the CPU from it; nothing drives what the handler uses out of the caches. COLD also reads
 * the next of twice the memory that a CPU's own caches hold, so that little stays in them from one
 * tick to the next.
 */
enum cost_kind { COST_WARM, COST_COLD, COST_KINDS };

/* Of all threads, in one window. */
struct cost_window {
	uint64_t units; /* calls */
	uint64_t held_ns; /* they had their CPUs: interrupts are in it, others' turns are not */
	uint64_t taken_ns; /* of it, in the gaps that WARM saw */
};

struct cost_shared;

struct cost_load {
	pid_t pid;
	uint32_t threads;
	size_t shared_size;
	struct cost_shared *shared;
	int stop_fd; /* the caller's: readable when all is to end; -1: never */
};

/* Returns when all threads run. If we die, it does too. */
int cost_load_start(struct cost_load *load, int stop_fd, struct error *err);

/* What runs from now on, and in the next windows. */
void cost_load_choose(struct cost_load *load, enum cost_kind kind);

/* Lets it run; -EINTR when all is to end. */
int cost_load_let(struct cost_load *load, uint64_t ns, struct error *err);

/* A window is what it is let run between these two. */
void cost_load_open(struct cost_load *load);
void cost_load_close(struct cost_load *load);

/* What its threads counted in the window that was closed last; waits for them. */
int cost_load_collect(struct cost_load *load, struct cost_window *ret, struct error *err);

/* Ends it. One that is all zero is fine. */
void cost_load_end(struct cost_load *load);

/* The loops that a thread of the sampled program runs in. */
struct cost_work {
	const uint8_t *memory; /* what COLD reads, of all threads the same */
	size_t size;
	size_t at;
	uint64_t state; /* of the random order */
	uint64_t usual_ns; /* a call of WARM's that nothing interrupts */
	struct cost_window figures; /* of the last run */
};

void cost_work_begin(struct cost_work *work);

/* Until *phase is another one. */
void cost_work_run(struct cost_work *work, enum cost_kind kind, const _Atomic uint32_t *phase,
		   uint32_t current);

/* Bytes that COLD is to read. */
size_t cost_work_memory(void);

#endif
