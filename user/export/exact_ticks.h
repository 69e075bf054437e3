/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_EXACT_TICKS_H
#define BPFPROFIL_EXACT_TICKS_H

#include "export/bin_walk.h"
#include "profile/profile_weights.h"

/*
 * Ticks of the instructions of one object, for compilers: they need to know which instruction it
 * was, which only a bin of one byte tells. The ticks of wider bins are left out.
 */
struct exact_tick {
	uint64_t offset;
	uint64_t ticks;
	uint64_t ns; /* CPU time that the ticks stand for */
};

struct exact_ticks {
	struct exact_tick *all; /* ascending by offset, each once */
	size_t nr;
	size_t room;
	uint64_t wide; /* ticks that were left out */
};

/*
 * Gathers those of the walk's current object, and leaves the walk at its end. Replaces what was
 * there before; returns 0 or -ENOMEM.
 */
int exact_ticks_gather(struct exact_ticks *ticks, struct profile_weights *weights,
		       struct bin_walk *walk);

/* The index of the first one at or above offset; nr if there is none. */
size_t exact_ticks_from(const struct exact_ticks *ticks, uint64_t offset);

void exact_ticks_free(struct exact_ticks *ticks);

#endif
