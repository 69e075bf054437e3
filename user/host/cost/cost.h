/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_HOST_COST_H
#define BPFPROFIL_HOST_COST_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The cost of ticks on this host, and their lateness. */

/* The most CPUs that kernels support. The kernel refuses a mask that is shorter than its own. */
#define CPU_MASK_CPUS 8192

typedef struct {
	cpu_set_t part[CPU_MASK_CPUS / CPU_SETSIZE];
} cpu_mask;

/* The highest cost seen on any host, on a CPU whose neighbour has ticks too. */
#define CALIBRATE_DEAREST_NS 33000.0

/*
 * Refuses a rate above the kernel's limit, and a rate that would cost more than a fifth of a CPU on
 * this host. It measures the cost, because a timer interrupt takes about 1 us on metal and 12 us in
 * many VMs. It does not measure for rates that are fine on any host. The hint in err has a rate
 * that fits.
 */
int calibrate_check(double hz, struct error *err);

/*
 * The median of the nanoseconds that one tick costs the program that it interrupts, while a CPU of
 * the same core, or else the next CPU, has ticks too. A busy host pays this cost. In a VM where a
 * tick on a single CPU costs 23 us, this measures 33 us. It uses two CPUs for 40 ms. 0: it could
 * not be measured.
 */
double calibrate_busy_tick_ns(void);

/*
 * The accuracy of a CPU's clock on this host, measured by sampling ourselves for two seconds: how
 * late its interrupts come, and, if each sample counted as one tick, what part of the CPU time of a
 * program with short bursts the samples would cover. Profiles weigh samples for this reason: their
 * samples cover all of it.
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
