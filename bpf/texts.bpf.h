/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TEXTS_BPF_H
#define BPFPROFIL_TEXTS_BPF_H

/* Texts by number, and which of them is at a pc, for walks. */
#include "owner.bpf.h"
#include "space.bpf.h"

/* Those from max_texts on are not given out. Set before load. */
const volatile __u32 max_texts = 0;

/* Numbers of files and of processes with anonymous text. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct space);
	__type(value, u32);
} texts SEC(".maps");

/* Numbers of texts that were in use and may be given out again. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, u32);
} free_texts SEC(".maps");

/* RANGES for each of the walks. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct text_range);
} ranges SEC(".maps");

/* One for each possible CPU's ticks, and then one for each one's exits. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct walk);
} walks SEC(".maps");

/* By number of the text. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct rules_of_text);
} rules_of_texts SEC(".maps");

/* 0: there are none left. */
static __always_inline u32 unused_text(void)
{
	u32 number;

	if (!bpf_map_pop_elem(&free_texts, &number))
		return number;
	/* It is tested first, so that the count never wraps. */
	if (callers_state.next_text >= max_texts)
		return 0;
	number = __sync_fetch_and_add(&callers_state.next_text, 1);
	return number < max_texts ? number : 0;
}

/* Whether an owner may have one more number. */
__noinline int may_number(u32 number)
{
	struct owner *owner = bpf_map_lookup_elem(&owners, &number);

	return owner && text_admitted(max_texts, callers_state.texts, owner->texts);
}

/* An unused number that is charged to an owner; 0: there is none, or none for this owner. */
__noinline u32 charge_text(u32 number)
{
	u32 text = may_number(number) ? unused_text() : 0;
	struct rules_of_text *place = bpf_map_lookup_elem(&rules_of_texts, &text);
	struct owner *owner = bpf_map_lookup_elem(&owners, &number);

	if (!text || !place || !owner)
		return 0;
	place->owner = number;
	__sync_fetch_and_add(&owner->texts, 1);
	__sync_fetch_and_add(&callers_state.texts, 1);
	return text;
}

/* User space does the same with what it takes back: see callers_rules_free_text(). */
__noinline int free_text(u32 text, u32 number)
{
	struct owner *owner = bpf_map_lookup_elem(&owners, &number);

	if (owner)
		__sync_fetch_and_sub(&owner->texts, 1);
	__sync_fetch_and_sub(&callers_state.texts, 1);
	return bpf_map_push_elem(&free_texts, &text, BPF_ANY);
}

/* Anonymous text is its process's. */
static __always_inline u32 new_text(const struct space *space, struct task_struct *task)
{
	struct inode *inode = space->kind == SPACE_FILE ? (struct inode *)space->a : NULL;
	u32 owner = owner_of(inode, task);
	u32 number = charge_text(owner), *known;

	if (number && !bpf_map_update_elem(&texts, space, &number, BPF_NOEXIST))
		return number;
	/* Another CPU was first, or there is no memory. */
	if (number)
		free_text(number, owner);
	known = bpf_map_lookup_elem(&texts, space);
	return known ? *known : 0;
}

/* 0: it has none yet. */
static __always_inline u32 known_text(const struct space *space)
{
	u32 *known;

	if (space->kind == SPACE_VDSO)
		return TEXT_VDSO;
	known = bpf_map_lookup_elem(&texts, space);
	return known ? *known : 0;
}

/*
 * Numbers a text that had none when it was announced. It is announced again by the next tick, or its rules would
 * never be read.
 */
static __always_inline u32 number_late(const struct space *space)
{
	u32 number = new_text(space, bpf_get_current_task_btf()), *told;

	told = number ? bpf_map_lookup_elem(&spaces, space) : NULL;
	if (told && __sync_val_compare_and_swap(told, SPACE_TOLD, SPACE_UNOPENED) == SPACE_TOLD)
		__sync_fetch_and_add(&cpu_time.untold, 1);
	return number;
}

static __always_inline u32 text_of(const struct space *space)
{
	return known_text(space) ?: number_late(space);
}

/* Numbers a text that is about to be announced, so that user space finds its number; false: it is not to be. */
static __always_inline bool number_text(const struct space *space, struct task_struct *task)
{
	return known_text(space) || new_text(space, task) || !callers_state.nameless;
}

/* Whether the text of a range is still there. A function of its own, for find_text()'s stack. */
static __noinline bool text_range_holds(struct text_range *range)
{
	return text_holds((void *)range->vma, BPF_CORE_READ(bpf_get_current_task_btf(), mm),
			  range->start, range->end, range->inode, range->delta, &range->seen);
}

/*
 * Looks the mapping around a pc up and enters it into the range. A function of its own for its stack,
 * which has no room for bpf_find_vma's callback: where the tree cannot be read the walk ends.
 */
static __noinline int read_range(u64 pc, u32 epoch, struct text_range *range)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct mapping mapping = {};
	struct vm_area_struct *vma;

	range->epoch = epoch;
	vma = maple_find_vma(mm, pc);
	if (!vma)
		return false;
	take_mapping(task, vma, &mapping);
	if (!mapping.exec)
		return false;
	range->text = text_of(&mapping.space);
	/* The next walk tries again what user space could not be told of, or had no number left for. */
	if (!range->text || !(mapping.exec & MAPPING_TOLD))
		range->epoch--;
	range->start = mapping.start;
	range->end = mapping.end;
	/* The offset of anonymous text is its address. */
	range->delta = mapping.offset - mapping.start;
	range->vma = mapping.vma;
	range->seen = 0;
	range->inode = mapping.space.kind == SPACE_FILE ? mapping.space.a : 0;
	return true;
}

/*
 * This CPU's range for a part of an address space. Small mappings lie close together and are found by 64 KiB
 * of it; large ones are known to few of these, and are found by 16 MiB. With the small parts alone half of
 * the lookups for gcc read the kernel's tree.
 */
enum { RANGE_NEAR = 16, RANGE_FAR = 24 };

static __always_inline struct text_range *range_of(const struct walk *walk, u32 cpu, u32 shift)
{
	u32 part = walk->at.pc >> shift;
	u32 hash = ((part + shift) ^ (u32)walk->mm * 0x9e3779b1U) * 0x85ebca6bU;
	u32 slot = cpu << RANGES_SHIFT | hash >> (32 - RANGES_SHIFT);

	return bpf_map_lookup_elem(&ranges, &slot);
}

/* Whether a range is of the walk's pc; its stamp is the walk's then. */
static __always_inline bool is_range_of(const struct walk *walk, struct text_range *range)
{
	if (range->mm != walk->mm || walk->at.pc < range->start || walk->at.pc >= range->end ||
	    range->epoch != walk->epoch ||
	    (range->stamp != walk->stamp && !text_range_holds(range)))
		return false;
	range->stamp = walk->stamp;
	return true;
}

static __always_inline bool fill_range(const struct walk *walk, struct text_range *range)
{
	range->mm = 0;
	if (!read_range(walk->at.pc, walk->epoch, range))
		return false;
	range->mm = walk->mm;
	/* It was read first, so a range that has changed since is old. */
	range->stamp = walk->stamp;
	return true;
}

/* The text around the walk's pc, from this CPU's ranges, and its number, if it has one; false: none. */
__noinline int find_text(u32 cpu)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &cpu);
	struct text_range *range, *far;

	if (!walk)
		return false;
	/* Before the number, so that what is looked up by an old number stays in an old epoch. */
	walk->epoch = *(volatile u32 *)&callers_state.epoch;
	range = range_of(walk, cpu, RANGE_NEAR);
	far = range_of(walk, cpu, RANGE_FAR);
	if (!range || !far)
		return false;
	if (!is_range_of(walk, range)) {
		if (!is_range_of(walk, far) && !fill_range(walk, far))
			return false;
		*range = *far;
	}
	walk->start = range->start;
	walk->stop = range->end;
	walk->delta = range->delta;
	walk->text = range->text;
	return true;
}

#endif
