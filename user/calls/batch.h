/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BATCH_H
#define BPFPROFIL_BATCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "calls/caller.h"

/* What was added to consecutive counters, or pcs, of one region. */
struct batch {
	uint32_t entry;
	uint64_t bin; /* of the first one */
	const uint32_t *more;
	size_t nr;
	uint64_t flat; /* the number of the first one in the call */
	uint64_t from_ns; /* they were taken from the kernel after this time, */
	uint64_t taken_ns; /* and before this one */
};

/* Room for the values of the largest batch. */
typedef uint8_t batch_values[PAGE_COUNTERS * sizeof(uint64_t)];

/*
 * Read the current values at an address of the caller's, and write new ones. The batch is shortened
 * to the counters for which this either worked or failed, because the rest may have another result.
 * Return 0, -EFAULT or -ESRCH.
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
