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
 * Remembers the values before and after a batch was written to the caller's buffer. Without memory
 * it forgets them, which affects only few forks.
 */
void fork_repair_remember(struct caller *caller, uint64_t address, const uint8_t *before,
			  const uint8_t *after, const struct batch *batch);

/* Forgets writes that are too old to matter for any fork. */
void fork_repair_forget(struct recent_writes *writes, uint64_t before_ns);

/*
 * Gives the child what its parent's counters no longer had when the child was born, unless the
 * child's image shows it or the parent has changed it since. If copy and birth overlap in time, as
 * they do when either loses its CPU, the counter is assumed to have had the count if the child got
 * most of it: a smaller value is ticks that came later, and these are few.
 */
void fork_repair(struct caller *child, const struct caller *parent,
		 const struct call_engine *engine);

void fork_repair_free(struct recent_writes *writes);

#endif
