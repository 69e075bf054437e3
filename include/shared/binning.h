/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BINNING_H
#define BPFPROFIL_BINNING_H

#include "shared/types.h"

/*
 * From an offset in a text to a counter, the only place where it is worked out.
 *
 *     offset ── window ──┬── page ──┬── counter
 *               128 dir  │    1,024 │
 *               entries  │  counters│
 *
 * A bin covers 1 << shift bytes. A page holds 1,024 counters, a window 128 pages: at one byte per
 * bin 1 KiB and 128 KiB of text. Memory follows the pages that were hit. Windows are aligned in
 * the offset, so their number alone says what they cover, whatever mapping was seen first.
 */
enum {
	BIN_SHIFT_MAX = 16, /* --bytes-per-bin 65536, profil's scale 2 */
	PAGE_SHIFT_COUNTERS = 10,
	PAGE_COUNTERS = 1 << PAGE_SHIFT_COUNTERS,
	WINDOW_SHIFT_PAGES = 7,
	WINDOW_PAGES = 1 << WINDOW_SHIFT_PAGES,
	WINDOW_SHIFT_COUNTERS = PAGE_SHIFT_COUNTERS + WINDOW_SHIFT_PAGES,
	/* Text that comes when memory is short is counted in bins this much wider. */
	COARSE_SHIFT = 10,
};

static inline __u64 bin_window(__u64 offset, __u32 shift)
{
	return offset >> (WINDOW_SHIFT_COUNTERS + shift);
}

/* Bytes of text that one window covers. */
static inline __u64 bin_window_size(__u32 shift)
{
	return 1ULL << (WINDOW_SHIFT_COUNTERS + shift);
}

/* From an offset within a window: its page in the window, its counter in the page. */
static inline __u32 bin_page(__u64 in_window, __u32 shift)
{
	return (in_window >> (PAGE_SHIFT_COUNTERS + shift)) & (WINDOW_PAGES - 1);
}

static inline __u32 bin_counter(__u64 in_window, __u32 shift)
{
	return (in_window >> shift) & (PAGE_COUNTERS - 1);
}

/* The way back: the first offset of a counter. */
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
