/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLER_H
#define BPFPROFIL_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/call_engine.h"
#include "calls/process.h"
#include "calls/sparse.h"
#include "calls/spec.h"

struct batch;
struct call_engine;
struct caller;
struct recent_write;

/*
 * Repairs forks during a copy. A fork first copies the parent's memory, and the kernel makes the
 * child's call some time later. Counts that move from the parent's counters to the parent's buffer
 * in between are in neither of the child's. Therefore recent writes are kept for a while, and a new
 * child gets the counts that it lacks.
 */
struct recent_writes {
	struct recent_write *list; /* in order of time */
	size_t nr;
	size_t capacity;
};

/*
 * Adds the counts that were gone from the parent's counters when the child's call was made, unless
 * the child's buffer has them, or the parent changed its buffer since. If copy and fork overlap in
 * time, because one of them lost its CPU, a child that got most of a count is assumed to have it:
 * the rest are later ticks, and few.
 */
void fork_repair(struct caller *child, const struct caller *parent,
		 const struct call_engine *engine);

/* A call and its process. */
struct caller {
	struct call_ref ref;
	struct spec *spec;
	struct process process;
	char comm[16];
	bool forked; /* the kernel copied its counters from its parent's */
	bool gone; /* the address space is gone */
	bool record; /* keep counts for the record */
	uint64_t copied; /* pcsample: samples in the buffer, */
	uint64_t not_stored; /* of these, samples that left a hole */
	bool reported_stored; /* pcsample() has returned their number */
	uint64_t binned;
	uint64_t overflow;
	uint64_t unwritten; /* counted, but the buffer could not be written */
	uint32_t stop; /* enum call_stop, if set in user space */
	uint32_t stop_region;
	uint64_t stop_counter;
	uint32_t faulted; /* region that was not writable in this pass; UINT32_MAX: none */
	struct recent_writes writes; /* for children forked during a copy */
	struct sparse held; /* with a limit: last values of kernel and buffer, by counter */
	struct sparse recorded; /* for the record: counts by caller_recorded_index() */
	struct pcs pcs; /* for the record of pcsample */
	bool unrecorded; /* the record ran out of memory */
};

static inline struct call *call_of(const struct caller *caller, const struct call_engine *engine)
{
	return &engine->calls[caller->ref.slot];
}

/*
 * The index of an entry's counters in `recorded`. Their numbers in the call would change when a
 * region is removed. No buffer has so many counters.
 */
enum { CALLER_ENTRY_SHIFT = 50 };

static inline uint64_t caller_recorded_index(uint32_t entry, uint64_t bin)
{
	return (uint64_t)entry << CALLER_ENTRY_SHIFT | bin;
}

/*
 * Adds new counts to the caller's buffer. If a region cannot be written, its number is in
 * `faulted`, and calls_copy() decides what happens to the call.
 */
void caller_copy(struct caller *caller, struct call_engine *engine);

/*
 * For a dialect with a limit: sets the kernel's counters to the buffer's values. -ENOMEM, -ENOSPC.
 */
int caller_preload(struct caller *caller, struct call_engine *engine);

/* Frees all pages. The call must be off, with no handler running. */
void caller_drop_pages(struct caller *caller, struct call_engine *engine);

void caller_free(struct caller *caller);

#endif
