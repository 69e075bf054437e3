/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RECALL_BPF_H
#define BPFPROFIL_RECALL_BPF_H

/*
 * What a tick that is not in the cache needs not read anew. An entry of the cache is of one process and 16
 * KiB, of which a compiler runs many once; but most of its ticks are in a mapping and in a window that this
 * CPU knows, the mapping from the process's last ticks, the window from any process's. Only ticks come here,
 * and no tick interrupts another, so that each CPU has its own without a lock.
 */
#include "translate.bpf.h"

static __always_inline struct tick_ranges *ranges_of(u64 mm, u64 pc)
{
	u32 hash = ((u32)(pc >> TICK_RANGE_FAR) ^ (u32)mm) * 0x9e3779b1U;
	u32 slot = bpf_get_smp_processor_id() << TICK_RANGES_SHIFT |
		   hash >> (32 - TICK_RANGES_SHIFT);

	return bpf_map_lookup_elem(&tick_ranges, &slot);
}

/* Begins to load what a tick that is not in the cache reads first, or writes last. */
static __always_inline void touch_known(const struct tick *tick)
{
	u32 slot = xlat_slot(tick);
	struct xlat_origins *origins = bpf_map_lookup_elem(&xlat_origins, &slot);
	struct tick_ranges *set = ranges_of(tick->mm, tick->pc);

	if (set) {
		touch(&set->way[0]);
		touch(&set->way[0].space.generation);
	}
	if (origins)
		touch(origins);
}

static __noinline bool range_holds(struct tick_range *range)
{
	bool file = range->space.kind == SPACE_FILE;

	return text_holds((void *)range->vma, BPF_CORE_READ(bpf_get_current_task_btf(), mm),
			  range->start, range->end, file ? range->space.a : 0,
			  range->offset - range->start, &range->seen);
}

static __always_inline u64 place_of(const struct mapping *mapping)
{
	return mapping->pc - mapping->start + mapping->offset;
}

/* Tells spaces and splits apart in the cache's entries of spaces; 64 bits, of which none is chosen by a user. */
static __always_inline u64 space_hash(const struct mapping *mapping)
{
	const struct space *space = &mapping->space;
	u64 hash = space->a;

	hash = hash * 0x9e3779b97f4a7c15ULL + space->b;
	hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15ULL + mapping->split;
	hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15ULL + space->kind;
	hash += (u64)space->generation << 32 | space->dev;
	return (hash ^ hash >> 32) * 0x9e3779b97f4a7c15ULL;
}

static __always_inline struct xlat_set *space_set(u64 hash, u64 place)
{
	u32 at = ((u32)bin_window(place, bin_shift) ^ (u32)hash) * 0x9e3779b1U;
	u32 slot = space_sets + bpf_get_smp_processor_id() * XLAT_SETS +
		   (at >> (32 - XLAT_SETS_SHIFT));

	return bpf_map_lookup_elem(&xlat, &slot);
}

static __always_inline void take_range(const struct tick_range *range, u64 pc,
				       struct mapping *mapping)
{
	mapping->pc = pc;
	mapping->start = range->start;
	mapping->end = range->end;
	mapping->offset = range->offset;
	mapping->vma = range->vma;
	mapping->space = range->space;
	mapping->exec = MAPPING_EXEC;
	mapping->split = split_id();
}

/*
 * Fills in the mapping around the tick's pc; the result must be zero before. False: it is not known, and the
 * result is zero again. What is known of its text is loaded while the mapping is asked whether it has changed.
 */
__noinline int known_mapping(struct mapping *mapping, const struct tick *tick, u64 mm)
{
	struct tick_ranges *set;
	struct xlat_set *windows;
	struct tick_range *range;
	u32 i, tgid = bpf_get_current_pid_tgid() >> 32;

	if (!mapping || !tick || !stamps_ranges())
		return false;
	set = ranges_of(mm, tick->pc);
	if (!set)
		return false;
	for (i = 0; i < TICK_RANGE_WAYS; i++) {
		range = &set->way[i];
		if (range->mm != mm || range->tgid != tgid || range->untold != cpu_time.untold ||
		    tick->pc - range->start >= range->end - range->start)
			continue;
		take_range(range, tick->pc, mapping);
		windows = space_set(space_hash(mapping), place_of(mapping));
		if (windows)
			touch(windows);
		if (range->stamp == tick->stamp || range_holds(range)) {
			range->stamp = tick->stamp;
			return true;
		}
		__builtin_memset(mapping, 0, sizeof(*mapping));
	}
	return false;
}

/* Remembers the mapping of a tick, whose stamp and `untold` were read before it. */
__noinline int remember_mapping(const struct mapping *mapping, const struct tick *tick, u64 mm,
				u32 untold)
{
	struct tick_ranges *set;
	struct tick_range *range;

	if (!mapping || !tick || !stamps_ranges() || !(mapping->exec & MAPPING_TOLD))
		return 0;
	set = ranges_of(mm, tick->pc);
	if (!set)
		return 0;
	range = &set->way[0];
	/* The same mapping is replaced first, because it has changed. */
	if (range->mm != mm || range->start != mapping->start)
		set->way[1] = *range;
	range->mm = mm;
	range->start = mapping->start;
	range->end = mapping->end;
	range->offset = mapping->offset;
	range->vma = mapping->vma;
	range->space = mapping->space;
	range->stamp = tick->stamp;
	range->tgid = bpf_get_current_pid_tgid() >> 32;
	range->untold = untold;
	range->seen = 0;
	return 0;
}

/* Makes of a space's entry the part of it that a mapping has. */
static __always_inline void clip_known(const struct mapping *mapping,
				       const struct xlat_entry *known, u32 target,
				       struct xlat_entry *entry)
{
	u64 begin = known->where & ~(u64)XLAT_TARGET_MASK, first = begin;
	u64 last = begin + ((u64)known->span << XLAT_PAGE_SHIFT);

	if (first < mapping->offset)
		first = mapping->offset;
	if (last > mapping->offset + (mapping->end - mapping->start))
		last = mapping->offset + (mapping->end - mapping->start);
	entry->where = (mapping->start + (first - mapping->offset)) | target;
	entry->span = (last - first) >> XLAT_PAGE_SHIFT;
	entry->dir = known->dir;
	entry->place = known->place + ((first - begin) >> XLAT_PAGE_SHIFT);
	entry->hot = known->hot;
}

/* Counts n ticks in a window that this CPU knows, and fills in the entry. False: it does not know it. */
__noinline int count_known(struct mapping *mapping, u32 target, u32 n, struct xlat_entry *entry)
{
	struct xlat_entry *known;
	struct xlat_set *set;
	u64 hash, place;
	u32 i;

	if (!mapping || !entry || !mapping->exec)
		return false;
	mapping->split = split_id();
	place = place_of(mapping);
	hash = space_hash(mapping);
	set = space_set(hash, place);
	if (!set)
		return false;
	for (i = 0; i < XLAT_WAYS; i++) {
		known = &set->way[i];
		if (known->who != (u32)(hash >> 32) || known->stamp != (u32)hash ||
		    (known->where & XLAT_TARGET_MASK) != target ||
		    xlat_offset(known, place) >> XLAT_PAGE_SHIFT >= known->span)
			continue;
		if (!count(known, xlat_shift(known), xlat_in_window(known, place), n))
			return false;
		clip_known(mapping, known, target, entry);
		return true;
	}
	return false;
}

/*
 * Remembers the window of ticks that were filed, from the process's entry. Not one of wider bins than asked,
 * which is for as long as memory is short: it would be found before the window of fine bins that can be had
 * again, by each new process.
 */
static __noinline int remember_window(const struct mapping *mapping, u32 target,
				      const struct xlat_entry *entry)
{
	u64 hash = space_hash(mapping);
	struct xlat_set *set = space_set(hash, place_of(mapping));
	u64 first = entry->where & ~(u64)XLAT_TARGET_MASK;

	if (!set || xlat_shift(entry) != bin_shift)
		return 0;
	set->way[1] = set->way[0];
	set->way[0] = *entry;
	set->way[0].who = hash >> 32;
	set->way[0].stamp = hash;
	set->way[0].where = (first - mapping->start + mapping->offset) | target;
	set->way[0].ticks = 0;
	return 0;
}

#endif
