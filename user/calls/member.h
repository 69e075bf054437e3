/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_MEMBER_H
#define BPFPROFIL_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/call_engine.h"
#include "calls/pcs.h"
#include "calls/process.h"
#include "calls/shape.h"
#include "calls/sparse.h"
#include "calls/written.h"

/* A call and the process it belongs to. */
struct member {
	struct call_ref ref;
	struct shape *shape;
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
	struct written_list written; /* for children that are forked amid a copy */
	struct sparse held; /* with a limit: what kernel and buffer had last time, by counter */
	struct sparse taken; /* for the record: by member_taken_index */
	struct pcs pcs; /* for the record of pcsample */
	bool unrecorded; /* memory ran out for that */
};

static inline struct call *member_call(const struct member *member,
				       const struct call_engine *engine)
{
	return &engine->calls[member->ref.slot];
}

/*
 * Where the counters of an entry are in `taken`: not by their number among all of the call, which
 * changes when a region is taken out. No buffer has as many counters.
 */
enum { MEMBER_ENTRY_SHIFT = 50 };

static inline uint64_t member_taken_index(uint32_t entry, uint64_t bin)
{
	return (uint64_t)entry << MEMBER_ENTRY_SHIFT | bin;
}

/*
 * Adds what was counted since the last time to the caller's buffer. A region that could not be
 * written is left in faulted: the caller says what becomes of the call.
 */
void member_copy(struct member *member, struct call_engine *engine);

/*
 * What a fork's child was given of this counter of its parent's, before it is copied;
 * CALL_NOT_INHERITED: its buffer has no copy of it.
 */
uint32_t member_inherited(const struct member *member, const struct call_engine *engine,
			  uint64_t flat);

/* The same for pcsample(): whether the child was given this sample; 0: it was, or is not known. */
uint32_t member_inherited_sample(const struct member *member, const struct call_engine *engine,
				 uint64_t index);

/* member_copy() of a pcsample(). */
void member_copy_samples(struct member *member, struct call_engine *engine);

/* A dialect with a limit: the kernel's counters start from what the buffer holds. -ENOMEM, -ENOSPC. */
int member_preload(struct member *member, struct call_engine *engine);

/* Gives all pages back. The call must be off and no handler inside. */
void member_drop_pages(struct member *member, struct call_engine *engine);

void member_free(struct member *member);

#endif
