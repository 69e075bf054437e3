/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COUNT_BPF_H
#define BPFPROFIL_COUNT_BPF_H

/* From a place in a window to its counter, including the memory for the counter. */
#include "config.bpf.h"
#include "maps.bpf.h"

static __noinline struct window_dir *dir_in_chunk(u32 dir)
{
	return in_chunk(&dir_chunks, dir, &base_windows, CHUNK_WINDOWS);
}

static __always_inline struct window_dir *dir_at(u32 dir)
{
	return bpf_map_lookup_elem(&dirs, &dir) ?: dir_in_chunk(dir);
}

/* Sends one request, and no other until user space has answered it. */
static __always_inline void ask_to_grow(void)
{
	struct record *record;

	if (__sync_lock_test_and_set(&pool.asked, 1))
		return;
	record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	if (!record) {
		pool.asked = 0;
		return;
	}
	record->type = RECORD_GROW;
	bpf_ringbuf_submit(record, 0);
}

/* One more of what there is a limit of is in use: user space makes room before there is none. */
static __always_inline void note_used(u32 *used, u32 many)
{
	if (__sync_fetch_and_add(used, 1) >= many)
		ask_to_grow();
}

/* Part of the memory is reserved for wide bins, and part of that for the widest. */
static __always_inline u32 page_limit(u32 shift)
{
	if (shift == bin_shift)
		return pool.fine_limit;
	return shift == BIN_SHIFT_MAX ? pool.page_limit : pool.wide_limit;
}

/* Claims a page for entry `page` of a directory; returns its number + 1, or 0: no memory for such bins. */
__noinline u32 claim_page(struct window_dir *dir, u32 page, u32 shift)
{
	u32 number, held;

	if (!dir)
		return 0;
	number = unused_page(&free_pages, cpu_time.recycled, &pool.next_page, page_limit(shift),
			     &pool.page_low, ask_to_grow);
	if (number == NO_PAGE)
		return 0;
	barrier_var(page); /* the verifier must see the mask here */
	page &= WINDOW_PAGES - 1;
	held = __sync_val_compare_and_swap(&dir->pages[page], 0, number + 1);
	if (!held) {
		note_used(&pool.pages_used, pool.pages_short);
		return number + 1;
	}
	/* Another CPU was first. */
	cpu_time.recycled = true;
	bpf_map_push_elem(&free_pages, &number, BPF_ANY);
	return held;
}

/* The number of a directory that no window has; NO_DIR: there is none below the limit. */
static __always_inline u32 unused_dir(u32 limit)
{
	u32 number;

	if (cpu_time.recycled && !bpf_map_pop_elem(&free_dirs, &number)) {
		if (number < limit && dir_at(number))
			return number;
		bpf_map_push_elem(&free_dirs, &number, BPF_ANY);
	}
	number = pool.next_window;
	if (number >= pool.window_low)
		ask_to_grow();
	if (number >= limit || !dir_at(number))
		return NO_DIR;
	number = __sync_fetch_and_add(&pool.next_window, 1);
	return dir_at(number) ? number : NO_DIR;
}

__noinline u32 claim_dir(u32 limit)
{
	u32 number = unused_dir(limit);

	if (number != NO_DIR)
		note_used(&pool.windows_used, pool.windows_short);
	return number;
}

/* Notes that a counter went past 32 bits: this takes 64 CPUs in one place 18 hours at 997 Hz. */
static __noinline int carry(u64 counter)
{
	u64 key = counter, one = 1, *times;

	times = bpf_map_lookup_elem(&carries, &key);
	if (times)
		__sync_fetch_and_add(times, 1);
	else
		bpf_map_update_elem(&carries, &key, &one, BPF_ANY);
	return 0;
}

static __always_inline u32 window_limit(u32 shift)
{
	if (shift == bin_shift)
		return pool.fine_windows;
	return shift == BIN_SHIFT_MAX ? NO_DIR : pool.wide_windows;
}

/* The number + 1 of the page for an entry of a directory; 0: no memory for bins of this width. */
static __always_inline u32 page_in(u32 dir_number, u32 entry, u32 shift)
{
	struct window_dir *dir = dir_at(dir_number);
	u32 number;

	if (!dir)
		return 0;
	number = dir->pages[entry];
	if (number)
		return number;
	return claim_page(dir, entry, shift);
}

/*
 * The same, but it reads the directory only for another page than the last one's. The directory's
 * line was one of the three lines of a hit that are cold at 1 kHz.
 */
static __always_inline u32 hot_page(struct xlat_entry *xlat, u32 entry, u32 shift)
{
	/* Read once, because user space may clear it. */
	u32 hot = *(volatile u32 *)&xlat->hot, number = hot & XLAT_HOT_MASK;

	if (number && hot >> XLAT_HOT_BITS == entry)
		return number;
	number = page_in(xlat->dir, entry, shift);
	if (number <= XLAT_HOT_MASK)
		xlat->hot = entry << XLAT_HOT_BITS | number;
	return number;
}

/* A counter, and the page and the slot in it by which carries are told apart. */
struct counter {
	u32 *ticks;
	u64 name;
};

/* False: there is no memory for bins of this width. */
static __always_inline bool find_counter(struct xlat_entry *xlat, u32 shift, u64 in_window,
					 struct counter *counter)
{
	u32 number = hot_page(xlat, bin_page(in_window, shift), shift), slot;
	struct counter_page *page;

	if (!number)
		return false;
	page = page_at(number - 1);
	if (!page)
		return false;
	slot = bin_counter(in_window, shift);
	counter->ticks = &page->counters[slot];
	counter->name = (u64)(number - 1) << PAGE_SHIFT_COUNTERS | slot;
	return true;
}

static __always_inline void add_ticks(const struct counter *counter, u32 n)
{
	u32 before = __sync_fetch_and_add(counter->ticks, n);

	if (before + n < before)
		carry(counter->name);
}

/* Adds n ticks; false when there is no memory for bins of this width. */
static __always_inline bool count(struct xlat_entry *xlat, u32 shift, u64 in_window, u32 n)
{
	struct counter counter;

	if (!find_counter(xlat, shift, in_window, &counter))
		return false;
	add_ticks(&counter, n);
	return true;
}

#endif
