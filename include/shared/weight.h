/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WEIGHT_H
#define BPFPROFIL_WEIGHT_H

#include "shared/types.h"

/*
 * A sample never stands for more than WEIGHT_MAX ticks; the rest waits for the next sample. From WEIGHT_SETTLED
 * ticks on all that is due to a thread is made up for.
 */
enum { WEIGHT_MAX = 64, WEIGHT_SETTLED = 16 };

/*
 * What a thread's samples have counted for, so that they add up to its runtime; see weight.bpf.h. A
 * run is the time from when the thread gets a CPU until it leaves it.
 */
struct weight {
	__u64 run; /* the thread's runtime when the run of the last sample began */
	__u64 base; /* the runtime from which this run counts */
	__s64 due; /* runtime in ns that no sample has counted for; < 0: too much */
	__u32 samples; /* samples in this run */
	__s32 step; /* how much of `due` each sample is to take along */
	__s32 accrued; /* how much of it samples have accrued, less whole periods */
	__u16 round; /* in 1/65536: from what part of a period on it rounds up to a whole */
	__u16 counted; /* for how many ticks, up to WEIGHT_SETTLED */
};

_Static_assert(sizeof(struct weight) == 40, "struct weight");

#endif
