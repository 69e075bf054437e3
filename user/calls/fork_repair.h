/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FORK_REPAIR_H
#define BPFPROFIL_FORK_REPAIR_H

#include <stddef.h>
#include <stdint.h>

struct batch;
struct call_engine;
struct caller;
struct recent_write;

/*
 * The repair of a fork amid a copy. A fork makes the child's image first and its call some time
 * later; what is taken from the parent's counters and written to the parent's buffer between the
 * two is in neither of the child's. So it is known for a while what the last copies wrote, and when
 * the child is met, its buffer is given what it lacks.
 */
struct recent_writes {
	struct recent_write *list; /* in the order of time */
	size_t nr;
	size_t capacity;
};

/*
 * What stood in the caller's buffer where the batch was written, and what does now. Without memory
 * it is forgotten, which few forks would notice.
 */
void fork_repair_remember(struct caller *caller, uint64_t address, const uint8_t *before,
			  const uint8_t *after, const struct batch *batch);

/* Those that no fork is too late for any more. */
void fork_repair_forget(struct recent_writes *writes, uint64_t before_ns);

/*
 * To a child: what its parent's counters did not have any more when it was born, its image does not
 * show, and the parent has not changed since. Where the two overlap in time, as they do when either
 * loses its CPU amid them, a counter was there still if the child got most of it: less is ticks that
 * came after, and they are few.
 */
void fork_repair(struct caller *child, const struct caller *parent,
		 const struct call_engine *engine);

void fork_repair_free(struct recent_writes *writes);

#endif
