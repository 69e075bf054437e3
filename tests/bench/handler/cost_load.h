/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COST_LOAD_H
#define BPFPROFIL_COST_LOAD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * The program that is sampled: a process with one thread on each CPU that we may use, so that the
 * clock ticks everywhere and every tick hits the program.
 *
 * It calls small functions in random order. WARM reads the clock after each call and so sees time
 * that is taken from it as a gap; the data of the handler stays in the caches. COLD also reads
 * through twice the memory that a CPU's own caches hold, so that little stays in them from one tick
 * to the next.
 */
enum cost_kind { COST_WARM, COST_COLD, COST_KINDS };

/* What all threads did in one window. */
struct cost_window {
	uint64_t units; /* calls */
	uint64_t held_ns; /* time on their CPUs, with interrupts but without other threads' turns */
	uint64_t taken_ns; /* of this, the time in gaps that WARM saw */
};

struct cost_shared;

struct cost_load {
	pid_t pid;
	uint32_t threads;
	size_t shared_size;
	struct cost_shared *shared;
	int stop_fd; /* belongs to the caller; readable when all shall end; -1: never */
};

/* Returns when all threads run. The program ends if we die. */
int cost_load_start(struct cost_load *load, int stop_fd, struct error *err);

/* Sets what runs from now on, in the next windows. */
void cost_load_choose(struct cost_load *load, enum cost_kind kind);

/* Lets it run for ns; -EINTR if all shall end. */
int cost_load_let(struct cost_load *load, uint64_t ns, struct error *err);

/* A window is the time between these two calls. */
void cost_load_open(struct cost_load *load);
void cost_load_close(struct cost_load *load);

/* What its threads counted in the window that was closed last; waits for the threads. */
int cost_load_collect(struct cost_load *load, struct cost_window *result, struct error *err);

/* Ends the program. A load that is all zero is fine. */
void cost_load_end(struct cost_load *load);

/* The loops that a thread of the sampled program runs. */
struct cost_work {
	const uint8_t *memory; /* what COLD reads; shared by all threads */
	size_t size;
	size_t at;
	uint64_t state; /* of the random order */
	uint64_t usual_ns; /* duration of a WARM call that nothing interrupts */
	struct cost_window figures; /* of the last run */
};

void cost_work_begin(struct cost_work *work);

/* Runs until *phase differs from current. */
void cost_work_run(struct cost_work *work, enum cost_kind kind, const _Atomic uint32_t *phase,
		   uint32_t current);

/* How many bytes COLD shall read. */
size_t cost_work_memory(void);

#endif
