/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JIT_MOVES_H
#define BPFPROFIL_JIT_MOVES_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * Which of a process's counts do not belong to the code that lies there now. Counters are not reset
 * when other code takes a place; what they held then is noted here, and goes to a place of its own
 * when a profile is made.
 */

/* A bin of a histogram; its number counts from address 0. */
struct jit_bin {
	uint64_t split;
	uint64_t number;
	uint32_t target;
	uint32_t shift;
};

struct jit_move {
	struct jit_bin from;
	uint64_t to; /* number of the bin that the ticks go to */
	uint64_t ticks;
};

/* All zero: no moves. */
struct jit_moves {
	struct jit_move *list;
	size_t nr;
	size_t capacity;
	void *noted; /* tree by bin: the sum of its moves */
};

/* How many of a counter's ticks have not been moved yet. */
uint64_t jit_moves_left(const struct jit_moves *moves, const struct jit_bin *bin, uint64_t ticks);

int jit_moves_add(struct jit_moves *moves, const struct jit_move *move); /* -ENOMEM */

/*
 * Moves ticks out of histogram i, whose bins are of split, to a new histogram at the profile's end.
 * Returns 1 if there is one, 0 if nothing moved, or -ENOMEM. The sum of ticks stays the same,
 * whatever the moves say.
 */
int jit_moves_apply(const struct jit_moves *moves, uint64_t split, struct profile *profile,
		    size_t i);

void jit_moves_clear(struct jit_moves *moves);

#endif
