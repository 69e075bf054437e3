/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BENCH_WINDOW_H
#define BENCH_WINDOW_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * What measure and the workload share: a file that both map. Only measure moves the phase, so a
 * window has the same length and place whoever started the workload. The workload's threads look at
 * the phase once per call into an object and note their figures when it changes.
 */
enum window_phase {
	WINDOW_WARM,
	WINDOW_OPEN,
	WINDOW_DONE,
};

/*
 * held_ns is how long the thread had its CPU, including interrupts: elapsed time minus the time it
 * waited in the run queue. So other load on the host disturbs it less.
 */
struct window_thread {
	uint64_t calls;
	uint64_t held_ns;
	uint64_t elapsed_ns;
	uint64_t taken_ns; /* with 0 PAGES: from the median stretch of one scheduler tick */
};

struct window {
	_Atomic uint32_t phase;
	_Atomic uint32_t ready; /* number of threads that spin */
	_Atomic uint32_t left; /* number of threads that have noted their figures */
	uint32_t nr_threads;
	struct window_thread thread[];
};

#endif
