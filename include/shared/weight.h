/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WEIGHT_H
#define BPFPROFIL_WEIGHT_H

#include "shared/types.h"

/* A sample never stands for more ticks than this; the rest waits for the next sample. */
enum { WEIGHT_MAX = 64 };

/*
 * What a thread's samples have stood for, so that they add up to its runtime; see weight.bpf.h. A
 * run is the time from when the thread gets a CPU until it leaves it.
 */
struct weight {
	__u64 run; /* the thread's runtime when the run of the last sample began */
	__u64 base; /* the runtime from which this run counts */
	__s64 due; /* runtime in ns that no sample has stood for; < 0: too much */
	__u32 ticked; /* samples in this run */
	__s32 step; /* how much of `due` each sample is to take along */
	__s32 taken; /* how much of it samples have taken, less whole periods */
	__u32 round; /* from 0 to a period: from where on a part of a period rounds up to a whole */
};

_Static_assert(sizeof(struct weight) == 40, "struct weight");

#endif
