/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RANGES_BPF_H
#define BPFPROFIL_RANGES_BPF_H

/*
 * Which text is at a pc, from the mappings that a CPU's ticks have met, or from the kernel. bpf_find_vma from a timer
 * interrupt costs 5.4 us where the mmap lock must be dropped through a self-interrupt; what is known here is one
 * cache line that only this CPU writes.
 */
#include "texts.bpf.h"

/* RANGES for each CPU's ticks and, with callers, then as many for each one's exits. */
MAPPED_ARRAY(ranges, struct text_range, 1);

/* KNOWN_FILES for each CPU's ticks. */
ARRAY(known_files, struct known_file, 1);

/*
 * A mapping is found by 16 MiB of the address space, and where another one of these that is in use was there first by 16 KiB,
 * as small ones lie close together: with 64 KiB three libraries shared an element, and 17 % of the ticks of a program
 * with 64 such objects missed.
 */
enum { RANGE_NEAR = 14, RANGE_FAR = 24 };

/* Kernel text never moves, and an even mm_lock_seq never has this value. */
enum { STAMP_KERNEL = 0xffffffff };

/*
 * The tgid is part of it, because a vfork child shares the address space but may have another
 * target.
 */
static __always_inline u32 tick_who(u64 mm_id, u32 tgid)
{
	return (u32)mm_id ^ tgid * 0x9e3779b1U;
}

/*
 * Adds the thread and its cgroup, because a process may move between cgroups, and its threads may
 * be in several or be told apart. A function of its own, because the programs have no stack left for
 * what it reads.
 */
__noinline u32 thread_who(u32 who)
{
	if (split == SPLIT_THREAD)
		who ^= (u32)bpf_get_current_pid_tgid() * 0xc2b2ae35U;
	return who ^ (u32)current_cgroup_id() * 0x85ebca6bU;
}

/* What is known of a tick so far. */
struct tick {
	u64 pc;
	u64 mm; /* the number of the address space; 0: there is none */
	u64 site; /* its place, if it is to be walked; 0: outside of all text */
	u32 who;
	u32 stamp;
	u16 n; /* how many ticks the sample stands for */
	bool kernel; /* pc is in the kernel */
	bool in_kernel; /* it fell in the kernel, whichever pc it is billed to */
	bool unclassified; /* it is not known yet whether its cgroup is wanted */
	u16 owner; /* of the process, + 1, if it is to be walked; 0: not looked up yet */
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

/* Gives a range whose stamp is old the current one, if its text is still there. A function of its own, for its stack. */
static __noinline bool range_renew(struct text_range *range, u32 stamp)
{
	u64 offset = range->start + range->to_site, delta = 0;
	u32 cpu = bpf_get_smp_processor_id();
	struct cpu_account *account = bpf_map_lookup_elem(&cpu_accounts, &cpu);

	/* The offset of text that is in no file is its address, or does not depend on the mapping. */
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
 * The range of a pc among those of a CPU; NULL: there is none. Where not every change of an address space has another
 * stamp, what is far may have been replaced unseen.
 */
static __always_inline struct text_range *range_find(u32 cpu, u32 who, u64 pc, u32 stamp)
{
	struct text_range *range = range_at(cpu, who, pc, RANGE_FAR);

	if (stamps_ranges() && range && range_holds(range, who, pc, stamp))
		return range;
	range = range_at(cpu, who, pc, RANGE_NEAR);
	return range && range_holds(range, who, pc, stamp) ? range : NULL;
}

/* Where to put the range of a pc for which none was found. */
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
 * Adds the hits of this CPU's range to its target's. A function of its own, because on 6.1
 * slow_tick() has no stack left for the keys.
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

/* Counts n ticks as hits; 16 bits of them wrap after a minute in one place at 997 Hz. */
static __always_inline void range_hit(struct text_range *range, u16 n)
{
	u16 before = range->ticks;

	range->ticks = before + n;
	if (range->ticks < before)
		range_bill(range, 1 << 16);
}

/* Another range takes the place of one. */
static __always_inline void range_put(struct text_range *place, const struct text_range *range)
{
	if (place->ticks)
		range_bill(place, place->ticks);
	*place = *range;
	place->ticks = 0;
}

/* Makes a range of a mapping of a text; 0: the text has no number. */
static __always_inline void range_of_text(const struct mapping *mapping, u32 text, u32 epoch,
					  struct text_range *range)
{
	/* Text that could not be announced to user space, or has no number, is looked up again. */
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

/* The same of any mapping; false: it is no text. */
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

/* The site of a tick in a range that has a number; its callers' sites, and its own below them, are exact. */
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
