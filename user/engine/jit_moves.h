/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JIT_MOVES_H
#define BPFPROFIL_JIT_MOVES_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * Which of a process's counts are not of the code that lies there now. Counters go on counting;
 * what they held when other code took a place is noted, and goes to a place of its own when a
 * profile is made.
 */

/* A bin of a histogram: its number counts from address 0. */
struct jit_bin {
	uint64_t split;
	uint64_t number;
	uint32_t target;
	uint32_t shift;
};

struct jit_move {
	struct jit_bin from;
	uint64_t to; /* number of the bin that they go to */
	uint64_t ticks;
};

/* All zero: none. */
struct jit_moves {
	struct jit_move *list;
	size_t nr;
	size_t capacity;
	void *noted; /* by bin: the sum of its moves */
};

/* Of what a counter holds, how many ticks no move has taken yet. */
uint64_t jit_moves_left(const struct jit_moves *moves, const struct jit_bin *bin, uint64_t ticks);

int jit_moves_add(struct jit_moves *moves, const struct jit_move *move); /* -ENOMEM */

/*
 * Takes what moved out of histogram i, whose bins are of split; a new one at the profile's end has it.
 * 1: there is one; 0: nothing moved; -ENOMEM. No tick is lost or made, whatever the moves say.
 */
int jit_moves_apply(const struct jit_moves *moves, uint64_t split, struct profile *profile,
		    size_t i);

void jit_moves_clear(struct jit_moves *moves);

#endif
