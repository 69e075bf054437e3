/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BINNING_H
#define BPFPROFIL_BINNING_H

#include "shared/types.h"

/*
 * From an offset in a text to a counter. This is the only place where it is worked out.
 *
 *     offset ── window ──┬── page ──┬── counter
 *               128 dir  │    1,024 │
 *               entries  │  counters│
 *
 * A bin covers 1 << shift bytes. A page holds 1,024 counters and a window has 128 pages: at one
 * byte per bin these are 1 KiB and 128 KiB of text. Memory is taken only for pages that were hit.
 * Windows are aligned in the offset, so a window's number alone says what it covers, whichever
 * mapping was seen first.
 */
enum {
	BIN_SHIFT_MAX = 16, /* --bytes-per-bin 65536, profil's scale 2 */
	PAGE_SHIFT_COUNTERS = 10,
	PAGE_COUNTERS = 1 << PAGE_SHIFT_COUNTERS,
	WINDOW_SHIFT_PAGES = 7,
	WINDOW_PAGES = 1 << WINDOW_SHIFT_PAGES,
	WINDOW_SHIFT_COUNTERS = PAGE_SHIFT_COUNTERS + WINDOW_SHIFT_PAGES,
	/* Text that is first hit when memory is short is counted in bins wider by this shift. */
	COARSE_SHIFT = 10,
};

/* Pages of counters come in maps of 1 MiB each, which user space adds as they fill. */
enum { CHUNK_PAGES = 256 };

#define NO_PAGE 0xffffffff

struct counter_page {
	__u32 counters[PAGE_COUNTERS];
};

_Static_assert(sizeof(struct counter_page) == 4096, "struct counter_page");

static inline __u64 bin_window(__u64 offset, __u32 shift)
{
	return offset >> (WINDOW_SHIFT_COUNTERS + shift);
}

/* Bytes of text that one window covers. */
static inline __u64 bin_window_size(__u32 shift)
{
	return 1ULL << (WINDOW_SHIFT_COUNTERS + shift);
}

/* Splits an offset within a window into the page in the window and the counter in the page. */
static inline __u32 bin_page(__u64 in_window, __u32 shift)
{
	return (in_window >> (PAGE_SHIFT_COUNTERS + shift)) & (WINDOW_PAGES - 1);
}

static inline __u32 bin_counter(__u64 in_window, __u32 shift)
{
	return (in_window >> shift) & (PAGE_COUNTERS - 1);
}

/* The inverse: the first offset of a counter. */
static inline __u64 bin_offset(__u64 window, __u32 page, __u32 counter, __u32 shift)
{
	return ((window << WINDOW_SHIFT_COUNTERS) + (page << PAGE_SHIFT_COUNTERS) + counter)
	       << shift;
}

static inline __u32 bin_coarser(__u32 shift)
{
	return shift + COARSE_SHIFT < BIN_SHIFT_MAX ? shift + COARSE_SHIFT : BIN_SHIFT_MAX;
}

#endif
