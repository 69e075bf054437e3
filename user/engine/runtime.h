/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RUNTIME_H
#define BPFPROFIL_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "shared/abi.h"

/*
 * The CPU time of the processes or cgroups that targets are split into. The programs add it up in a
 * map. What was already taken of an entry is kept here, because an element of such a map cannot be
 * read and emptied in one step. An entry whose threads are all gone is deleted once all of it was
 * taken.
 */
struct runtime_split {
	struct spent_key key;
	uint64_t ns; /* since the last take */
	uint64_t unbinned;
	uint64_t taken_ns; /* in all takes before */
	uint64_t taken_unbinned;
	uint32_t walk; /* the last walk that found a thread of it */
};

struct runtime {
	struct runtime_split *list; /* ascending by target and split */
	size_t nr;
	size_t capacity;
};

/* By target, then by split, as for qsort(). */
int spent_key_compare(const struct spent_key *a, const struct spent_key *b);

/* Reads the map again. */
int runtime_read(struct runtime *runtime, int map_fd, struct error *err);

/* Marks what was read as taken, and forgets entries that were idle in the walk with that number. */
void runtime_take(struct runtime *runtime, int map_fd, uint32_t walk);

void runtime_free(struct runtime *runtime);

#endif
