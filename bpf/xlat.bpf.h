/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_XLAT_BPF_H
#define BPFPROFIL_XLAT_BPF_H

/*
 * The translation cache. bpf_find_vma from a timer interrupt costs 5.4 us where the mmap lock must
 * be dropped through a self-interrupt; a hit here reads one cache line that only this CPU writes.
 */
#include "arch.bpf.h"
#include "cgroup.bpf.h"
#include "compat.bpf.h"
#include "config.bpf.h"
#include "mapletree.bpf.h"
#include "maps.bpf.h"

/*
 * Kernel text never moves, and an even mm_lock_seq never has this value. Small libraries lie some
 * 20 KiB apart: with granules of 64 KiB three of them shared two ways, and 17 % of the ticks of a
 * program with 64 such objects missed.
 */
enum { STAMP_KERNEL = 0xffffffff, TEXT_GRANULE_SHIFT = 14 };

/* Instead of a target + 1: of a tick that counts as nothing. */
#define TICK_WEIGHTLESS 0xffffffff

/* What is known of a tick so far. */
struct tick {
	u64 pc;
	u64 mm; /* the number of the address space; 0: there is none */
	u32 who;
	u32 stamp;
	u16 n; /* how many ticks the sample stands for */
	bool kernel; /* pc is in the kernel */
	bool in_kernel; /* it fell in the kernel, whichever pc it is billed to */
	bool unjudged; /* it is not known yet whether its cgroup is wanted */
};

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

static __always_inline u32 xlat_slot(const struct tick *tick)
{
	u32 hash = ((u32)(tick->pc >> TEXT_GRANULE_SHIFT) ^ tick->who) * 0x9e3779b1U;

	return bpf_get_smp_processor_id() * XLAT_SETS + (hash >> (32 - XLAT_SETS_SHIFT));
}

static __always_inline u64 xlat_offset(const struct xlat_entry *entry, u64 pc)
{
	return pc - (entry->where & ~(u64)XLAT_TARGET_MASK);
}

static __always_inline bool xlat_covers(const struct xlat_entry *entry, const struct tick *tick)
{
	return entry->who == tick->who &&
	       xlat_offset(entry, tick->pc) >> XLAT_PAGE_SHIFT < entry->span;
}

static __always_inline u32 xlat_shift(const struct xlat_entry *entry)
{
	return entry->place >> XLAT_PLACE_BITS;
}

static __always_inline u64 xlat_in_window(const struct xlat_entry *entry, u64 pc)
{
	u64 first = (u64)(entry->place & ((1U << XLAT_PLACE_BITS) - 1)) << XLAT_PAGE_SHIFT;

	return first + xlat_offset(entry, pc);
}

/*
 * Adds the hits of this CPU's entry to its target's. A function of its own, because on 6.1
 * slow_tick() has no stack left for the keys.
 */
static __noinline int xlat_bill(const struct xlat_entry *entry, u32 hits)
{
	u32 target = entry->where & XLAT_TARGET_MASK, cpu = bpf_get_smp_processor_id();
	struct target_account *account = bpf_map_lookup_elem(&target_accounts, &target);
	struct cpu_account *cpu_account = bpf_map_lookup_elem(&cpu_accounts, &cpu);

	if (!account || !cpu_account)
		return 0;
	__sync_fetch_and_add(&account->ticks, hits);
	cpu_account->hits += hits;
	return 0;
}

static __always_inline void xlat_flush(struct xlat_entry *entry)
{
	if (entry->ticks)
		xlat_bill(entry, entry->ticks);
	entry->ticks = 0;
}

/* Counts n ticks as hits; 16 bits of them wrap after a minute in one place at 997 Hz. */
static __always_inline void xlat_hit(struct xlat_entry *entry, u16 n)
{
	u16 before = entry->ticks;

	entry->ticks = before + n;
	if (entry->ticks < before)
		xlat_bill(entry, 1 << 16);
}

static __always_inline void xlat_insert(u32 slot, const struct xlat_entry *entry,
					const struct xlat_origin *origin)
{
	struct xlat_set *set = bpf_map_lookup_elem(&xlat, &slot);
	struct xlat_origins *origins = bpf_map_lookup_elem(&xlat_origins, &slot);

	if (!set || !origins)
		return;
	/*
	 * An entry of the same text is replaced first, because its stamp is old or its bins were
	 * full.
	 */
	if (set->way[0].who != entry->who || set->way[0].where != entry->where) {
		xlat_flush(&set->way[1]);
		set->way[1] = set->way[0];
		origins->way[1] = origins->way[0];
	} else {
		xlat_flush(&set->way[0]);
	}
	set->way[0] = *entry;
	origins->way[0] = *origin;
}

/* Whether the text that an entry was made from is still there. */
static __always_inline bool origin_holds(const struct xlat_entry *entry, struct xlat_origin *origin,
					 struct mm_struct *mm)
{
	u64 first = entry->where & ~(u64)XLAT_TARGET_MASK;

	return text_holds((void *)origin->vma, mm, first,
			  first + ((u64)entry->span << XLAT_PAGE_SHIFT), origin->inode,
			  origin->delta, &origin->seen);
}

/* Gives an entry whose stamp is old the current one, if its text has not changed. */
static __noinline bool xlat_renew(struct tick *tick, u32 slot, u32 way)
{
	struct mm_struct *mm = BPF_CORE_READ(bpf_get_current_task_btf(), mm);
	struct xlat_origins *origins = bpf_map_lookup_elem(&xlat_origins, &slot);
	struct xlat_set *set = bpf_map_lookup_elem(&xlat, &slot);
	u32 cpu = bpf_get_smp_processor_id();
	struct cpu_account *account = bpf_map_lookup_elem(&cpu_accounts, &cpu);

	if (!set || !origins || !account || !mm || way >= XLAT_WAYS)
		return false;
	if (!origin_holds(&set->way[way], &origins->way[way], mm))
		return false;
	set->way[way].stamp = tick->stamp;
	account->renewed++;
	return true;
}

#endif
