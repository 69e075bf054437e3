/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLER_H
#define BPFPROFIL_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/call_engine.h"
#include "calls/fork_repair.h"
#include "calls/process.h"
#include "calls/sparse.h"
#include "calls/spec.h"

/* A call and the process it belongs to. */
struct caller {
	struct call_ref ref;
	struct spec *spec;
	struct process process;
	char comm[16];
	bool forked; /* its counters came from its parent in the kernel */
	bool gone; /* its address space is */
	bool record; /* keep what was counted */
	uint64_t copied; /* pcsample: into the buffer, */
	uint64_t not_stored; /* but for these, which belonged where it has a hole */
	bool told_stored; /* pcsample() has returned how many */
	uint64_t binned;
	uint64_t overflow;
	uint64_t unwritten; /* counted, but the buffer could not be written */
	uint32_t stop; /* enum call_stop, where user space ended it */
	uint32_t stop_region;
	uint64_t stop_counter;
	uint32_t faulted; /* region found not writable in this pass; UINT32_MAX: none */
	struct recent_writes writes; /* for children that are forked amid a copy */
	struct sparse held; /* with a limit: what kernel and buffer had last time, by counter */
	struct sparse taken; /* for the record: by caller_taken_index */
	struct pcs pcs; /* for the record of pcsample */
	bool unrecorded; /* memory ran out for that */
};

static inline struct call *call_of(const struct caller *caller, const struct call_engine *engine)
{
	return &engine->calls[caller->ref.slot];
}

/*
 * Where the counters of an entry are in `taken`: not by their number among all of the call, which
 * changes when a region is taken out. No buffer has as many counters.
 */
enum { CALLER_ENTRY_SHIFT = 50 };

static inline uint64_t caller_taken_index(uint32_t entry, uint64_t bin)
{
	return (uint64_t)entry << CALLER_ENTRY_SHIFT | bin;
}

/*
 * Adds what was counted since the last time to the caller's buffer. A region that could not be
 * written is left in faulted: calls_copy() says what becomes of the call.
 */
void caller_copy(struct caller *caller, struct call_engine *engine);

/* CALL_NOT_INHERITED: a fork's child has no copy of this sample of its parent's; 0: it may have. */
uint32_t caller_inherited_sample(const struct caller *caller, const struct call_engine *engine,
				 uint64_t index);

/* caller_copy() of a pcsample(). */
void caller_copy_samples(struct caller *caller, struct call_engine *engine);

/* A dialect with a limit: the kernel's counters start from what the buffer holds. -ENOMEM, -ENOSPC. */
int caller_preload(struct caller *caller, struct call_engine *engine);

/* Gives all pages back. The call must be off and no handler inside. */
void caller_drop_pages(struct caller *caller, struct call_engine *engine);

void caller_free(struct caller *caller);

#endif
