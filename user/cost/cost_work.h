/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COST_WORK_H
#define BPFPROFIL_COST_WORK_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "cost/cost_load.h"

/* The loops that a thread of the sampled program runs in. */
struct cost_work {
	const uint8_t *memory; /* what COLD reads, of all threads the same */
	size_t size;
	size_t at;
	uint64_t state; /* of the random order */
	uint64_t usual_ns; /* a call of WARM's that nothing interrupts */
	struct cost_window figures; /* of the last run */
};

void cost_work_begin(struct cost_work *work);

/* Until *phase is another one. */
void cost_work_run(struct cost_work *work, enum cost_kind kind, const _Atomic uint32_t *phase,
		   uint32_t current);

/* Bytes that COLD is to read. */
size_t cost_work_memory(void);

#endif
