/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COST_H
#define BPFPROFIL_COST_H

#include <stdint.h>

#include "base/error.h"
#include "bench/handler/cost_load.h"
#include "host/cost/cost.h"
#include "spread.h"
#include "host/engine/session.h"

/*
 * What sampling costs on this host, measured by sampling a program of our own (cost_load.h). A
 * round has four windows of 40 to 80 ms each: nothing ticks; the session ticks; nothing ticks;
 * empty programs tick. Each window with ticks is compared with the windows beside it that have
 * none, so that it does not matter if the host gets faster or slower meanwhile. The two windows
 * without ticks are compared with each other, which shows how small a difference this can resolve.
 *
 * The kernel's BPF statistics are on in all windows. They add some tens of ns to each tick, which
 * are part of what the empty program measures.
 */
enum { COST_ROWS = 6 };

/*
 * One run of the handler by the kernel's statistics; for the scheduler's tick, all runs per tick.
 */
struct cost_handler {
	struct spread gross_ns;
	struct spread empty_ns;
	struct spread net_ns;
};

/* The results at one rate. */
struct cost_row {
	enum tick_source source;
	double requested_hz;
	uint64_t period_ns;
	struct error skipped; /* why this was not measured; "": it was measured */
	uint64_t ticks; /* that hit the program, in all windows with the session */
	uint64_t held_ns; /* CPU time that the program had in these windows, on all its CPUs */
	double delivered_hz;
	struct cost_handler handler[COST_KINDS];
	/*
	 * Share of the time of a spinning program: what the tick takes without our handler, and
	 * with it; below, the same per tick in ns. What the host takes anyway is subtracted.
	 */
	struct change empty_percent, taken_percent;
	struct change empty_ns, taken_ns;
	struct change slower_percent[COST_KINDS]; /* how many fewer calls it makes */
	uint64_t kernel_bytes; /* memory of maps and programs */
};

struct cost_report {
	uint32_t cpus; /* CPUs that the program runs on */
	uint32_t rounds;
	uint64_t duration_ns;
	uint64_t peak_bytes; /* our own peak resident memory */
	struct cost_row rows[COST_ROWS];
};

struct cost_options {
	uint32_t rounds;
	int stop_fd; /* readable when all shall end */
};

/* -EINTR if stop_fd became readable. */
int cost_measure(const struct cost_options *options, struct cost_report *result, struct error *err);

#endif
