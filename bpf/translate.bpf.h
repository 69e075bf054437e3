/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TRANSLATE_BPF_H
#define BPFPROFIL_TRANSLATE_BPF_H

/* From a mapping to a window, and from there to a counter that has memory. */
#include "count.bpf.h"
#include "space.bpf.h"
#include "spent.bpf.h"
#include "xlat.bpf.h"

/*
 * The window's directory, made on first use; NO_DIR without memory. Inline, because the key must be
 * on the caller's stack: 6.1 does not take a pointer argument as a map key.
 */
static __always_inline u32 window_dir(const struct window_key *key)
{
	struct window *found, fresh = {};

	found = bpf_map_lookup_elem(&windows, key);
	if (found)
		return found->dir;
	fresh.dir = claim_dir(window_limit(key->shift));
	if (fresh.dir == NO_DIR)
		return NO_DIR;
	if (!bpf_map_update_elem(&windows, key, &fresh, BPF_NOEXIST))
		return fresh.dir;
	/* Another CPU was first. */
	cpu_time.recycled = true;
	bpf_map_push_elem(&free_dirs, &fresh.dir, BPF_ANY);
	__sync_fetch_and_sub(&pool.windows_used, 1);
	found = bpf_map_lookup_elem(&windows, key);
	return found ? found->dir : NO_DIR;
}

/*
 * Names the window of a mapping. Merged windows are used when memory is short: they do not tell
 * processes or cgroups apart, and hold the anonymous text of all processes by its place in its
 * mapping.
 */
static __always_inline u64 name_window(const struct mapping *mapping, bool merged,
				       struct window_key *key)
{
	key->space = mapping->space;
	key->split = merged ? 0 : mapping->split;
	if (!merged || mapping->space.kind != SPACE_ANON)
		return mapping->offset;
	key->space.a = 0;
	key->space.b = 0;
	return 0;
}

/* Finds the window around the mapping's pc, and makes a cache entry of the mapping's part in it. */
static __always_inline void clip(const struct mapping *mapping, u32 shift, bool merged, u32 target,
				 struct window_key *key, struct xlat_entry *entry)
{
	u64 base = name_window(mapping, merged, key);
	u64 offset = mapping->pc - mapping->start + base, first, last, from, most;

	key->window = bin_window(offset, shift);
	key->target = target;
	key->shift = shift;
	from = key->window * bin_window_size(shift);
	/*
	 * A window of very wide bins is larger than an entry can span, so the entry gets only a
	 * part of it.
	 */
	most = (u64)XLAT_SPAN_MAX << XLAT_PAGE_SHIFT;
	first = from + (offset - from) / most * most;
	last = first + most;
	if (last > from + bin_window_size(shift))
		last = from + bin_window_size(shift);
	if (first < base)
		first = base;
	if (last > base + (mapping->end - mapping->start))
		last = base + (mapping->end - mapping->start);
	entry->where = (mapping->start + (first - base)) | target;
	entry->span = (last - first) >> XLAT_PAGE_SHIFT;
	entry->place = (u32)((first - from) >> XLAT_PAGE_SHIFT) | shift << XLAT_PLACE_BITS;
	entry->hot = 0;
}

/*
 * Narrows an entry to one page, so that wide bins do not take over the text around it that has fine
 * ones.
 */
static __always_inline void narrow(struct xlat_entry *entry, u64 pc)
{
	u32 pages = xlat_offset(entry, pc) >> XLAT_PAGE_SHIFT;

	entry->where += (u64)pages << XLAT_PAGE_SHIFT;
	entry->place += pages;
	entry->span = 1;
}

/* A flag beside the shift. */
enum { COUNT_MERGED = 1 << 8 };

/*
 * Counts n ticks at the mapping's pc in bins of 1 << shift bytes; `how` holds the shift and
 * COUNT_MERGED. False: no memory.
 */
__noinline int count_shift(const struct mapping *mapping, u32 how, u32 target, u32 n,
			   struct xlat_entry *entry)
{
	struct window_key key = {};
	u32 shift = how & (COUNT_MERGED - 1);

	if (!mapping || !entry)
		return false;
	clip(mapping, shift, how & COUNT_MERGED, target, &key, entry);
	entry->dir = window_dir(&key);
	return entry->dir != NO_DIR && count(entry, shift, xlat_in_window(entry, mapping->pc), n);
}

/* Files n ticks, in wider bins if memory has run out, and fills in the entry. False: they are lost. */
__noinline int file_ticks(struct mapping *mapping, u32 target, u32 n, struct xlat_entry *entry)
{
	struct target_account *account = bpf_map_lookup_elem(&target_accounts, &target);

	if (!mapping || !entry || !account)
		return false;
	if (!mapping->exec) {
		__sync_fetch_and_add(&account->outside, n);
		spend_unbinned(target, n);
		return true;
	}
	mapping->split = tick_split(target);
	if (count_shift(mapping, bin_shift, target, n, entry))
		return true;
	if (count_shift(mapping, bin_coarser(bin_shift), target, n, entry)) {
		narrow(entry, mapping->pc);
		return true;
	}
	if (count_shift(mapping, BIN_SHIFT_MAX | COUNT_MERGED, target, n, entry)) {
		narrow(entry, mapping->pc);
		return true;
	}
	entry->span = 0;
	__sync_fetch_and_add(&account->lost[LOST_NO_MEMORY], n);
	spend_unbinned(target, n);
	return false;
}

#endif
