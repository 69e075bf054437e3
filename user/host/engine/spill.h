/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SPILL_H
#define BPFPROFIL_SPILL_H

#include <stddef.h>
#include <stdint.h>

#include "host/engine/counted.h"
#include "shared/abi.h"

/*
 * Counters that were moved out of the kernel before it ran out of memory for them. A page of the
 * kernel has 4 KiB, in which a process of some milliseconds has one or two ticks; here a tick takes at
 * most a bin of 16 bytes and a window of 80. The next take adds them to what the kernel has.
 */
struct spilled_bin {
	uint64_t index; /* in its window */
	uint64_t count;
};

struct spilled_window {
	struct window_key key;
	struct spilled_bin *bins; /* ascending */
	size_t nr;
};

/* There may be several of one window; spill_compact() makes them one. */
struct spill {
	struct spilled_window *list;
	size_t nr;
	size_t capacity;
	size_t bytes; /* what the windows and their bins take */
};

/* Takes the counters of a window's directory; -ENOMEM: what was not taken is still there. */
int spill_window(struct spill *spill, const struct counted *counted, const struct window_key *key,
		 uint32_t dir);

/* Adds up windows that have the same key; -ENOMEM: they are as before. */
int spill_compact(struct spill *spill);

void spill_clear(struct spill *spill);

#endif
