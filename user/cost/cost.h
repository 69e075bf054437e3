/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COST_H
#define BPFPROFIL_COST_H

#include <stdint.h>

#include "base/error.h"
#include "cost/cost_load.h"
#include "cost/cost_spread.h"
#include "cost/lateness.h"
#include "engine/session.h"

/*
 * What sampling costs on this host, by sampling a program of our own (cost_load.h). A round is four
 * windows of it, 40 to 80 ms each: nothing ticks, the session does, nothing, programs that do
 * nothing. What the windows beside it show is what a window is set against, so that a host that
 * gets faster or slower meanwhile takes both along; the two with nothing are set against each other,
 * which is what this measure can tell apart.
 *
 * The kernel's BPF statistics are on in all of them: they are some tens of ns in each tick, which
 * are in what the empty program reads.
 */
enum { COST_ROWS = 6 };

/* A run of the handler by the kernel's statistics; of the scheduler's tick, all runs by one. */
struct cost_handler {
	struct spread gross_ns;
	struct spread empty_ns;
	struct spread net_ns;
};

/* One rate. */
struct cost_row {
	enum tick_source source;
	double requested_hz;
	uint64_t period_ns;
	struct error skipped; /* why this was not measured; "": it was */
	uint64_t ticks; /* that hit the program, in all windows */
	uint64_t held_ns; /* that it had its CPUs in these, all of them together */
	double delivered_hz;
	struct cost_handler handler[COST_KINDS];
	/*
	 * Of the time of a program that spins: what the tick takes without our handler, what it takes
	 * with it, and from a tick of each on average. Net of what the host takes anyway.
	 */
	struct change empty_percent, taken_percent;
	struct change empty_ns, taken_ns;
	struct change slower_percent[COST_KINDS]; /* fewer calls in the same time */
	uint64_t kernel_bytes; /* maps and programs */
};

struct cost_report {
	uint32_t cpus; /* that the program runs on */
	uint32_t rounds;
	uint64_t duration_ns;
	uint64_t peak_bytes; /* our own resident memory, at most */
	struct cost_row rows[COST_ROWS];
	struct lateness lateness; /* at 997 Hz, with nothing else that we do */
};

struct cost_options {
	uint32_t rounds;
	int stop_fd; /* readable when all is to end */
	/* Told before each round, and how much of the whole is done: 0 to 1. May be NULL. */
	void (*progress)(void *ctx, const struct cost_row *row, double done);
	void *ctx;
};

/* About how long it takes. */
uint64_t cost_estimate_ns(uint32_t rounds);

/* -EINTR when stop_fd became readable. */
int cost_measure(const struct cost_options *options, struct cost_report *ret, struct error *err);

#endif
