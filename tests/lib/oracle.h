/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TESTS_ORACLE_H
#define BPFPROFIL_TESTS_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/call_protocol.h"

/*
 * What profil() and sprofil() do with a pc, worked out a second time: in 128 bits, by a scan over
 * the regions as they were given, one tick after the other, and from the rules alone. It shares
 * nothing with the product but the numbers of the dialects and the shape of an entry.
 */
struct oracle_call {
	enum dialect dialect;
	bool sprofil;
	unsigned int width; /* 2, 4 or 8 */
	const struct call_entry *entries;
	size_t nr;
};

enum oracle_outcome {
	ORACLE_BIN,
	ORACLE_OVERFLOW, /* the first counter of the overflow bin's buffer */
	ORACLE_OFF, /* profil(): its scale turns it off */
	ORACLE_BELOW, /* profil(): pc < offset */
	ORACLE_BEYOND, /* profil(): behind the last counter */
	ORACLE_OUTSIDE, /* sprofil(): no region took it, and there is no overflow bin */
};

struct oracle_answer {
	enum oracle_outcome outcome;
	size_t region;
	uint64_t bin;
};

/* What the call itself returns: 0, -EINVAL or -E2BIG. */
int oracle_check(const struct oracle_call *call);

struct oracle_answer oracle_find(const struct oracle_call *call, uint64_t pc);

/* The bin of d = pc - offset by a dialect's formula, whatever the buffer. */
unsigned __int128 oracle_bin(enum dialect dialect, unsigned int width, uint64_t scale, uint64_t d);

/* One tick for a counter. Returns what it holds then; *stopped: profiling has ended. */
uint64_t oracle_tick(enum dialect dialect, bool sprofil, unsigned int width, uint64_t value,
		     bool *stopped);

/*
 * Fixed numbers, the same in every run, with a liking for edges: where 16, 32, 47 and 64 bits end,
 * and the scales that the manuals speak of.
 */
struct dice {
	uint64_t state; /* never 0 */
};

uint64_t dice_u64(struct dice *dice);
uint64_t dice_below(struct dice *dice, uint64_t limit);
uint64_t dice_scale(struct dice *dice);
uint64_t dice_size(struct dice *dice);
uint64_t dice_address(struct dice *dice);

/* A pc that is likely to be at the edge of something in the call. */
uint64_t dice_pc(struct dice *dice, const struct oracle_call *call);

/* Entries that overlap, touch, begin together, or are far apart. */
void dice_entries(struct dice *dice, struct call_entry *entries, size_t nr);

/* One line on stderr that tells how to see the case again. */
void oracle_print(const struct oracle_call *call, uint64_t pc);

#endif
