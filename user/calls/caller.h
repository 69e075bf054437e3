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
 * Repairs a fork that happens during a copy. A fork makes the child's image first and its call some
 * time later. What is taken from the parent's counters and written to the parent's buffer in
 * between is in neither of the child's. So the writes of the last copies are remembered for a
 * while, and when the child is found its buffer is given what it lacks.
 */
struct recent_writes {
	struct recent_write *list; /* in order of time */
	size_t nr;
	size_t capacity;
};

/*
 * Gives the child what its parent's counters no longer had when the child was born, unless the
 * child's image shows it or the parent has changed it since. If copy and birth overlap in time, as
 * they do when either loses its CPU, the counter is assumed to have had the count if the child got
 * most of it: a smaller value is ticks that came later, and these are few.
 */
void fork_repair(struct caller *child, const struct caller *parent,
		 const struct call_engine *engine);

/* A call together with the process that it belongs to. */
struct caller {
	struct call_ref ref;
	struct spec *spec;
	struct process process;
	char comm[16];
	bool forked; /* the kernel made its counters from its parent's */
	bool gone; /* the address space is gone */
	bool record; /* keep what was counted */
	uint64_t copied; /* pcsample: samples passed on to the buffer, */
	uint64_t not_stored; /* except these, for which the buffer has a hole */
	bool told_stored; /* pcsample() has returned how many there are */
	uint64_t binned;
	uint64_t overflow;
	uint64_t unwritten; /* counted, but could not be written to the buffer */
	uint32_t stop; /* enum call_stop, if user space ended it */
	uint32_t stop_region;
	uint64_t stop_counter;
	uint32_t faulted; /* region found not to be writable in this pass; UINT32_MAX: none */
	struct recent_writes writes; /* for children that are forked during a copy */
	struct sparse held; /* with a limit: last values of kernel and buffer, by counter */
	struct sparse taken; /* for the record: by caller_taken_index */
	struct pcs pcs; /* for the record of pcsample */
	bool unrecorded; /* there was no memory for that */
};

static inline struct call *call_of(const struct caller *caller, const struct call_engine *engine)
{
	return &engine->calls[caller->ref.slot];
}

/*
 * Where the counters of an entry are in `taken`. Their numbers in the call are not used, because
 * these change when a region is removed. No buffer has that many counters.
 */
enum { CALLER_ENTRY_SHIFT = 50 };

static inline uint64_t caller_taken_index(uint32_t entry, uint64_t bin)
{
	return (uint64_t)entry << CALLER_ENTRY_SHIFT | bin;
}

/*
 * Adds what was counted since the last time to the caller's buffer. If a region cannot be written,
 * its number is left in `faulted`, and calls_copy() decides what happens to the call.
 */
void caller_copy(struct caller *caller, struct call_engine *engine);

/*
 * For a dialect with a limit: sets the kernel's counters to what the buffer holds. -ENOMEM,
 * -ENOSPC.
 */
int caller_preload(struct caller *caller, struct call_engine *engine);

/* Gives all pages back. The call must be off, and no handler may be inside. */
void caller_drop_pages(struct caller *caller, struct call_engine *engine);

void caller_free(struct caller *caller);

#endif
