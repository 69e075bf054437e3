/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TESTS_ORACLE_H
#define BPFPROFIL_TESTS_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/call_protocol.h"

/*
 * What profil() and sprofil() do with a pc, implemented a second time: with 128 bits, by a scan
 * over the regions as given, one tick at a time, and from the rules only. It shares nothing with
 * the product except the dialects' numbers and struct call_entry.
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
	ORACLE_OUTSIDE, /* sprofil(): no region takes it, and there is no overflow bin */
};

struct oracle_answer {
	enum oracle_outcome outcome;
	size_t region;
	uint64_t bin;
};

/* What the call itself returns: 0, -EINVAL or -E2BIG. */
int oracle_check(const struct oracle_call *call);

struct oracle_answer oracle_find(const struct oracle_call *call, uint64_t pc);

/* The bin of d = pc - offset by a dialect's formula, for a buffer of any size. */
unsigned __int128 oracle_bin(enum dialect dialect, unsigned int width, uint64_t scale, uint64_t d);

/* Adds a tick to a counter. Returns its new value; *stopped: profiling has ended. */
uint64_t oracle_tick(enum dialect dialect, bool sprofil, unsigned int width, uint64_t value,
		     bool *stopped);

/*
 * Pseudo-random numbers, the same in every run, that prefer edges: where 16, 32, 47 and 64 bits
 * end, and the scales in the manuals.
 */
struct dice {
	uint64_t state; /* never 0 */
};

uint64_t dice_u64(struct dice *dice);
uint64_t dice_below(struct dice *dice, uint64_t limit);
uint64_t dice_scale(struct dice *dice);
uint64_t dice_size(struct dice *dice);
uint64_t dice_address(struct dice *dice);

/* A pc that is probably at an edge of something in the call. */
uint64_t dice_pc(struct dice *dice, const struct oracle_call *call);

/* Makes entries that overlap, touch, begin together, or are far apart. */
void dice_entries(struct dice *dice, struct call_entry *entries, size_t nr);

/* Prints a line to stderr with which the case can be repeated. */
void oracle_print(const struct oracle_call *call, uint64_t pc);

#endif
