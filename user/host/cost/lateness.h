/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_LATENESS_H
#define BPFPROFIL_LATENESS_H

#include <stdint.h>

#include "base/error.h"

/*
 * What a CPU's clock sees of this host, measured by sampling ourselves for two seconds: how late
 * its interrupts come, and for what part of the CPU time of a program that comes and goes its
 * samples stand, when each sample counts as one tick. This is why profiles weigh samples: theirs
 * stand for all of it.
 */
enum { BURST_KINDS = 3 };

/* Roughly how long it takes. */
#define LATENESS_NS 2500000000

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
