/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_HOST_COST_H
#define BPFPROFIL_HOST_COST_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What ticks cost on this host, and how late they come. */

/* As many CPUs as kernels support, because the kernel refuses a mask shorter than its own. */
#define CPU_MASK_CPUS 8192

typedef struct {
	cpu_set_t part[CPU_MASK_CPUS / CPU_SETSIZE];
} cpu_mask;

/*
 * The median of what the rounds measured, and the interval that contains the true median 95 times
 * in 100, whatever the distribution: an outlier, of which a shared host has many, counts like any
 * other value. With fewer than SPREAD_LEAST values the interval goes from the lowest to the highest
 * and is less certain.
 */
enum { SPREAD_LEAST = 6 };

struct spread {
	double median, low, high;
	size_t nr; /* number of values; 0: nothing was measured, and the rest is 0 */
};

/* Sorts the values, and leaves out those that are NaN (a round without a tick). */
struct spread spread_of(double *values, size_t nr);

/*
 * A difference, and what the same measurement gives where there is none; a smaller difference
 * cannot be told from that.
 */
struct change {
	struct spread value;
	double limit; /* resolved: the least that could be; otherwise the true value is below it */
	bool resolved;
};

struct change change_of(double *differences, size_t nr, double *noise, size_t nr_noise);

/* The highest cost seen on any host, on a CPU whose neighbour takes ticks too. */
#define CALIBRATE_DEAREST_NS 33000.0

/*
 * Refuses a rate above the kernel's limit, and one that would take more than a fifth of a CPU on
 * this host. The cost is measured, because a timer interrupt takes some 1 us on metal and 12 us in
 * many a VM; it is not measured for rates that are fine on any host. The hint in err has a rate
 * that fits.
 */
int calibrate_check(double hz, struct error *err);

/*
 * Nanoseconds that one tick takes from the program it interrupts, as a median, while a CPU that
 * shares the core, or else the next CPU, takes ticks too: this is what a busy host pays. It reads
 * 33 us in a VM that reads 23 us for a single CPU. It takes 40 ms of two CPUs. 0: it could not be
 * measured.
 */
double calibrate_busy_tick_ns(void);

/*
 * What a CPU's clock sees of this host, measured by sampling ourselves for two seconds: how late
 * its interrupts come, and for what part of the CPU time of a program that comes and goes its
 * samples stand, when each sample counts as one tick. This is why profiles weigh samples: theirs
 * stand for all of it.
 */
enum { BURST_KINDS = 3 };

struct burst_share {
	uint32_t on_us; /* CPU time before each sleep */
	uint32_t off_us;
	double seen; /* samples x period / CPU time */
};

struct lateness {
	uint64_t ticks;
	double median_ns; /* 0: unknown on this host */
	double p99_ns;
	struct burst_share bursts[BURST_KINDS];
};

int lateness_measure(struct lateness *result, struct error *err);

#endif
