/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RANGES_BPF_H
#define BPFPROFIL_RANGES_BPF_H

/*
 * The cache of mappings: which text is at a pc.
 *
 * Without it, each pc needs the mapping in the maple tree, the mapping's file, its inode, and the
 * number of the text. A range keeps the result for one CPU. It is one cache line that only this CPU
 * writes, and it gives a tick its site by one addition (to_site).
 *
 * A range is looked up by 16 MiB of the address space ("far"). If another range is in use there, it
 * is put by 16 KiB ("near").
 *
 * A range becomes wrong if the process unmaps its text or maps other text there. Therefore it has a
 * stamp, the kernel's count of changes of the address space (mm_lock_seq) when the range was made.
 * A tick with another stamp compares the range with its mapping (range_renew()); most changes do
 * not concern text. The kernel's text has a constant stamp.
 *
 * A range can also refer to a text's number that another text has now, or to a root of the other
 * half. Therefore it also has the epoch, which is counted up at each such event. Ranges of older
 * epochs are looked up again.
 *
 * bpf_find_vma, which finds a mapping too, is only the last resort: from a timer's interrupt it
 * takes 5.4 us if a self-interrupt must drop the mmap lock.
 */
#include "texts.bpf.h"

/* RANGES for each of the walks, or without callers for each CPU's ticks. */
MAPPED_ARRAY(ranges, struct text_range, 1);

/* KNOWN_FILES for each CPU's ticks. */
ARRAY(known_files, struct known_file, 1);

/*
 * log2 of the address space in which ranges share a slot. Small mappings are close together: with
 * 64 KiB instead of 16, 17 % of the ticks of a program with 64 small libraries missed.
 */
enum { RANGE_NEAR = 14, RANGE_FAR = 24 };

/* Kernel text never moves, and an even mm_lock_seq never has this value. */
enum { STAMP_KERNEL = 0xffffffff };

/*
 * A hash of the address space and the process. The tgid is part of it, because a vfork child shares
 * the address space but may have another target.
 */
static __always_inline u32 tick_who(u64 mm_id, u32 tgid)
{
	return (u32)mm_id ^ tgid * 0x9e3779b1U;
}

/*
 * Adds the thread and its cgroup: a process can move between cgroups, and its threads can be in
 * several or be separated by --split. It is a function of its own, because the programs have no
 * stack left for its reads.
 */
__noinline u32 thread_who(u32 who)
{
	if (split == SPLIT_THREAD)
		who ^= (u32)bpf_get_current_pid_tgid() * 0xc2b2ae35U;
	return who ^ (u32)current_cgroup_id() * 0x85ebca6bU;
}

/* The data of a tick so far. */
struct tick {
	u64 pc;
	u64 mm; /* number of the address space; 0: there is none */
	u64 site; /* its place; 0: outside of all text, or not known yet */
	u32 who;
	u32 stamp;
	u16 n; /* how many ticks the sample stands for */
	bool pc_is_kernel;
	bool fell_in_kernel; /* even if it counts for a user's pc */
	bool unclassified; /* user space has not decided yet whether the cgroup is filtered */
	u16 owner; /* of the process; NO_OWNER: not looked up yet */
};

static __always_inline u32 range_slot(u32 cpu, u32 who, u64 pc, u32 shift)
{
	u32 hash = ((u32)(pc >> shift) ^ who) * 0x9e3779b1U;

	return cpu << RANGES_SHIFT | hash >> (32 - RANGES_SHIFT);
}

static __always_inline bool range_covers(const struct text_range *range, u32 who, u64 pc)
{
	return range->who == who && (pc - range->start) >> TEXT_PAGE_SHIFT < range->pages &&
	       range->epoch == *(volatile u32 *)&table_state.epoch;
}

/*
 * If the text of a range with an old stamp is still in place, gives the range the current stamp. It
 * is a function of its own to save stack.
 */
static __noinline bool range_renew(struct text_range *range, u32 stamp)
{
	u64 offset = range->start + range->to_site, delta = 0;
	u32 cpu = bpf_get_smp_processor_id();
	struct cpu_account *account = bpf_map_lookup_elem(&cpu_accounts, &cpu);

	/*
	 * Text without a file has its address as offset, or an offset that does not depend on the
	 * mapping.
	 */
	if (range->inode)
		delta = (offset & SITE_OFFSET_MASK) - range->start;
	if (!text_holds((void *)range->vma, BPF_CORE_READ(bpf_get_current_task_btf(), mm),
			range->start, range->start + ((u64)range->pages << TEXT_PAGE_SHIFT),
			range->inode, delta, &range->seen))
		return false;
	range->stamp = stamp;
	if (account)
		account->renewed++;
	return true;
}

static __always_inline bool range_holds(struct text_range *range, u32 who, u64 pc, u32 stamp)
{
	return range_covers(range, who, pc) && (range->stamp == stamp || range_renew(range, stamp));
}

static __always_inline struct text_range *range_at(u32 cpu, u32 who, u64 pc, u32 shift)
{
	u32 slot = range_slot(cpu, who, pc, shift);

	return bpf_map_lookup_elem(&ranges, &slot);
}

/*
 * Returns the range of a pc among those of a CPU; NULL: there is none. If the stamp misses changes,
 * a far range may have been replaced unnoticed, and is not used.
 */
static __always_inline struct text_range *range_find(u32 cpu, u32 who, u64 pc, u32 stamp)
{
	struct text_range *range = range_at(cpu, who, pc, RANGE_FAR);

	if (stamps_ranges() && range && range_holds(range, who, pc, stamp))
		return range;
	range = range_at(cpu, who, pc, RANGE_NEAR);
	return range && range_holds(range, who, pc, stamp) ? range : NULL;
}

/* Where to put a new range of a pc. */
static __always_inline struct text_range *range_place_for(u32 cpu, u32 who, u64 pc)
{
	struct text_range *far = range_at(cpu, who, pc, RANGE_FAR);

	if (!stamps_ranges() || !far ||
	    (far->who == who && far->epoch == table_state.epoch &&
	     (pc - far->start) >> TEXT_PAGE_SHIFT >= far->pages))
		return range_at(cpu, who, pc, RANGE_NEAR);
	return far;
}

/*
 * Adds the hits of this CPU's range to its target's account. It is a function of its own, because
 * on 6.1 slow_tick() has no stack left for the keys.
 */
static __noinline int range_bill(const struct text_range *range, u32 hits)
{
	u32 target = range->target, cpu = bpf_get_smp_processor_id();
	struct target_account *account = bpf_map_lookup_elem(&target_accounts, &target);
	struct cpu_account *cpu_account = bpf_map_lookup_elem(&cpu_accounts, &cpu);

	if (!account || !cpu_account)
		return 0;
	__sync_fetch_and_add(&account->ticks, hits);
	cpu_account->hits += hits;
	return 0;
}

/* Counts n ticks as hits. The 16 bits wrap after a minute in one place at 997 Hz. */
static __always_inline void range_hit(struct text_range *range, u16 n)
{
	u16 before = range->ticks;

	range->ticks = before + n;
	if (range->ticks < before)
		range_bill(range, 1 << 16);
}

/* Replaces a range by another one. */
static __always_inline void range_put(struct text_range *place, const struct text_range *range)
{
	if (place->ticks)
		range_bill(place, place->ticks);
	*place = *range;
	place->ticks = 0;
}

/* Makes a range of a mapping of a text. Text 0 has no number. */
static __always_inline void range_of_text(const struct mapping *mapping, u32 text, u32 epoch,
					  struct text_range *range)
{
	/*
	 * If the text has no number, or user space does not know it yet, the next tick looks it up
	 * again.
	 */
	range->epoch = text && mapping->exec & MAPPING_ANNOUNCED ? epoch : epoch - 1;
	if (!text)
		text = TEXT_OTHER;
	range->start = mapping->start;
	range->pages = (mapping->end - mapping->start) >> TEXT_PAGE_SHIFT;
	range->to_site = ((u64)text << SITE_OFFSET_BITS) + (mapping->offset - mapping->start);
	range->vma = mapping->vma;
	range->inode = mapping->space.kind == SPACE_FILE ? mapping->space.a : 0;
	range->seen = 0;
}

/* Does the same for any mapping; false: it is no text. */
static __always_inline bool range_of_mapping(const struct mapping *mapping, u32 epoch,
					     struct text_range *range)
{
	if (!mapping->exec)
		return false;
	range_of_text(mapping, text_of(&mapping->space), epoch, range);
	return true;
}

static __always_inline u32 range_text(const struct text_range *range)
{
	return site_text(range->start + range->to_site);
}

/*
 * The site of a tick in a range whose text has a number. With callers it is exact, else it is
 * rounded down to its bin.
 */
static __always_inline u64 range_site(const struct text_range *range, u64 pc)
{
	u64 site = pc + range->to_site;

	return with_callers ? site : site & ~((1ULL << bin_shift) - 1);
}

static __always_inline u64 range_place(const struct text_range *range, u64 pc)
{
	return range_text(range) == TEXT_OTHER ? SITE_OF_OTHER : range_site(range, pc);
}

#endif
