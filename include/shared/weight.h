/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WEIGHT_H
#define BPFPROFIL_WEIGHT_H

#include "shared/types.h"

/*
 * A sample never stands for more than WEIGHT_MAX ticks; the next sample makes up for the rest. From
 * WEIGHT_SETTLED ticks on, a thread's samples make up for all that is due.
 */
enum { WEIGHT_MAX = 64, WEIGHT_SETTLED = 16 };

/*
 * How many ticks a thread's samples have stood for, so that they add up to its runtime: see
 * weight.bpf.h. A run is the time from when the thread gets a CPU until it leaves it.
 */
struct weight {
	__u64 run; /* the thread's runtime when the run of the last sample began */
	__u64 base; /* the runtime from which this run counts */
	__s64 due; /* runtime in ns that no sample has stood for; < 0: too much */
	__u32 samples; /* in this run */
	__s32 step; /* how much of `due` each sample makes up for */
	__s32 accrued; /* the sum of the steps, less whole periods */
	__u16 round; /* part of a period, in 1/65536: it is added before a remainder is cut off */
	__u16 counted; /* ticks so far, up to WEIGHT_SETTLED */
};

_Static_assert(sizeof(struct weight) == 40, "struct weight");

#endif
