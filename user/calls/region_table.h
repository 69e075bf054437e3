/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REGION_TABLE_H
#define BPFPROFIL_REGION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/call_protocol.h"
#include "shared/call_table.h"

/* A call of profil() (one entry) or sprofil() as it was made; the bases do not matter here. */
struct region_call {
	uint32_t dialect; /* enum dialect */
	uint32_t width; /* of a counter: 2, 4 or 8 bytes */
	bool sprofil;
	const struct call_entry *entries;
	size_t nr;
};

/*
 * The regions of a call, made ready for the handler. Counters have one number each: those of the
 * first entry come first, then those of the second, and so on, each as far as any pc can reach.
 */
struct region_table {
	struct call_table table; /* base is 0: where the lines go is the caller's to say */
	struct call_line *lines;
	uint32_t nr_lines;
	bool stops; /* the call turns profiling off: no scale in it is a scale */
	size_t overflow; /* the entry that is the overflow bin; nr: there is none */
	uint64_t counters; /* all of the call's; UINT64_MAX: more than have a number */
	uint64_t *firsts; /* number of each entry's first counter; of entry nr: all counters */
	size_t nr;
};

/*
 * What sprofil() checks before it looks at the regions: profcnt and flags. Returns the width of a
 * counter, -E2BIG or -EINVAL.
 */
int region_call_width(uint32_t dialect, int64_t count, uint32_t profil_flags);

/* -EINVAL: the dialect refuses a scale, or the place of the overflow bin. *ret_entry: which. */
int region_call_check(const struct region_call *call, size_t *ret_entry);

/* Fills in *ret, or leaves it alone: as region_call_check(), and -ENOMEM. */
int region_table_compile(const struct region_call *call, struct region_table *ret);
void region_table_free(struct region_table *table);

/* The entry and its counter that have this number, which is below table->counters. */
size_t region_table_locate(const struct region_table *table, uint64_t number, uint64_t *ret_bin);

#endif
