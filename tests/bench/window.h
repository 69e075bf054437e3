/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BENCH_WINDOW_H
#define BENCH_WINDOW_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * What measure and the workload share: one file, mapped by both. measure alone moves the phase,
 * so that a window has the same length and place whoever started the workload; the workload's
 * threads look at it once per call into an object and note their figures when it changes.
 */
enum window_phase {
	WINDOW_WARM,
	WINDOW_OPEN,
	WINDOW_DONE,
};

/*
 * held_ns: how long the thread had its CPU, interrupts included: elapsed time less the time it
 * waited in the run queue. Other load on the host then spoils the figure less.
 */
struct window_thread {
	uint64_t calls;
	uint64_t held_ns;
	uint64_t elapsed_ns;
	uint64_t taken_ns; /* with 0 PAGES: from the median stretch of a scheduler's tick */
};

struct window {
	_Atomic uint32_t phase;
	_Atomic uint32_t ready; /* threads that spin */
	_Atomic uint32_t left; /* threads that have noted their figures */
	uint32_t nr_threads;
	struct window_thread thread[];
};

#endif
