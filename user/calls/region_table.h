/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REGION_TABLE_H
#define BPFPROFIL_REGION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "shared/call_protocol.h"
#include "shared/call_table.h"

/* A call of profil() (one entry) or sprofil(). Bases are not used. */
struct region_call {
	uint32_t dialect; /* enum dialect */
	uint32_t width; /* of a counter: 2, 4 or 8 bytes */
	bool sprofil;
	const struct call_entry *entries;
	size_t nr;
};

/*
 * The regions of a call, prepared for the programs. Counters are numbered in the order of entries,
 * up to the last one that a pc can reach.
 */
struct region_table {
	struct call_table table; /* base is 0: the caller decides where the lines are */
	struct call_line *lines;
	uint32_t nr_lines;
	bool stops; /* the call turns profiling off, because no entry has a valid scale */
	size_t overflow; /* entry of the overflow bin; nr: there is none */
	uint64_t counters; /* UINT64_MAX: too many to number */
	uint64_t *firsts; /* number of each entry's first counter; [nr]: of all */
	size_t nr;
};

/*
 * Checks profcnt and flags, as sprofil() does before it checks the regions. Returns the width of a
 * counter, -E2BIG or -EINVAL.
 */
int region_call_width(uint32_t dialect, int64_t count, uint32_t profil_flags);

/* -EINVAL: the dialect rejects a scale, or the place of the overflow bin, of entry *ret_entry. */
int region_call_check(const struct region_call *call, size_t *ret_entry);

/*
 * Fills in *result. On failure leaves it unchanged, and returns the errors of region_call_check()
 * or -ENOMEM.
 */
int region_table_compile(const struct region_call *call, struct region_table *result);
void region_table_free(struct region_table *table);

/* Finds the entry, and the counter in it, with this number, which must be below table->counters. */
size_t region_table_locate(const struct region_table *table, uint64_t number, uint64_t *ret_bin);

/* Prints the line of `bpfprofil bin` for a pc. table must be compiled from call. */
void bin_text_print(FILE *out, const struct region_call *call, const struct region_table *table,
		    uint64_t pc);

#endif
