/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BATCH_H
#define BPFPROFIL_BATCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "calls/caller.h"

/* What has come to counters, or pcs, that stand one after the other in one region. */
struct batch {
	uint32_t entry;
	uint64_t bin; /* of the first */
	const uint32_t *more;
	size_t nr;
	uint64_t flat; /* the number of the first in the call */
	uint64_t from_ns; /* they were taken from the kernel after this, */
	uint64_t taken_ns; /* and before this */
};

/* Room for the values of as many as come together. */
typedef uint8_t batch_values[PAGE_COUNTERS * sizeof(uint64_t)];

/*
 * What stands at an address of the caller's now, and what is to. The batch is shortened to those
 * that it could be done for, or not, together: what follows may fare otherwise. 0, -EFAULT, -ESRCH.
 */
int batch_read(struct caller *caller, uint64_t address, uint8_t *values, struct batch *batch);
int batch_write(struct caller *caller, uint64_t address, const uint8_t *values,
		struct batch *batch);

void batch_note_failure(struct caller *caller, const struct batch *batch, int failure);

static inline uint64_t get_counter(const uint8_t *at, uint32_t width)
{
	uint64_t value = 0;

	memcpy(&value, at, width);
	return value;
}

static inline void put_counter(uint8_t *at, uint32_t width, uint64_t value)
{
	memcpy(at, &value, width);
}

#endif
