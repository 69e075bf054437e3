/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WEIGHT_H
#define BPFPROFIL_WEIGHT_H

#include "shared/types.h"

/* A sample never stands for more than this: the rest waits for the next. */
enum { WEIGHT_MAX = 64 };

/*
 * What a thread's samples have stood for, so that they add up to its runtime: see weight.bpf.h. A run
 * is the time from when it gets a CPU to when it leaves it.
 */
struct weight {
	__u64 run; /* its runtime when the run of the last sample began */
	__u64 base; /* from where on this run counts */
	__s64 due; /* of runs before it, in ns, that no sample has stood for; less: too many did */
	__u32 ticked; /* samples in this run */
	__s32 step; /* what of due each sample is to take along */
	__s32 taken; /* of it by samples since, less whole periods */
	__u32 round; /* where between 0 and a period a part of one begins to count as a whole */
};

_Static_assert(sizeof(struct weight) == 40, "struct weight");

#endif
