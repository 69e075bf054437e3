/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TEXTS_BPF_H
#define BPFPROFIL_TEXTS_BPF_H

/*
 * Numbers of texts. A site has few bits for its text. Therefore each file, and each process with
 * anonymous text, gets a number when it is first seen. User space frees the number once no node
 * uses it.
 */
#include "owner.bpf.h"
#include "space.bpf.h"

/* Numbers from max_texts on are not used. Set before load. */
const volatile __u32 max_texts = 0;

/* The numbers of files, and of processes with anonymous text. */
HASH(texts, struct space, u32, 1);

/* Numbers of texts that were in use and are free again. */
FREE_NUMBERS(free_texts, 1);

/* By the number of the text. */
MAPPED_ARRAY(rules_of_texts, struct rules_of_text, 1);

/* 0: there are none left. */
static __always_inline u32 unused_text(void)
{
	u32 number;

	if (!bpf_map_pop_elem(&free_texts, &number))
		return number;
	/* It is tested first, so that the count never wraps. */
	if (table_state.next_text >= max_texts)
		return 0;
	number = __sync_fetch_and_add(&table_state.next_text, 1);
	return number < max_texts ? number : 0;
}

__noinline int may_number(u32 number)
{
	struct owner *owner = bpf_map_lookup_elem(&owners, &number);

	return owner && text_admitted(max_texts, table_state.texts, owner->texts);
}

/* Returns an unused number and charges it to an owner; 0: there is none, or none for this owner. */
__noinline u32 charge_text(u32 number)
{
	u32 text = may_number(number) ? unused_text() : 0;
	struct rules_of_text *place = bpf_map_lookup_elem(&rules_of_texts, &text);
	struct owner *owner = bpf_map_lookup_elem(&owners, &number);

	if (!text || !place || !owner)
		return 0;
	place->owner = number;
	__sync_fetch_and_add(&owner->texts, 1);
	__sync_fetch_and_add(&table_state.texts, 1);
	return text;
}

/* text_numbers_give() does the same for numbers that user space frees. */
__noinline int free_text(u32 text, u32 number)
{
	struct owner *owner = bpf_map_lookup_elem(&owners, &number);

	if (owner)
		__sync_fetch_and_sub(&owner->texts, 1);
	__sync_fetch_and_sub(&table_state.texts, 1);
	return bpf_map_push_elem(&free_texts, &text, BPF_ANY);
}

/* Numbers a text. Anonymous text is charged to its process's owner. */
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

/* 0: it has no number yet. */
static __always_inline u32 known_text(const struct space *space)
{
	u32 *known;

	if (space->kind == SPACE_VDSO)
		return space->a ? TEXT_VDSO32 : TEXT_VDSO;
	if (space->kind == SPACE_KERNEL)
		return TEXT_KERNEL;
	known = bpf_map_lookup_elem(&texts, space);
	return known ? *known : 0;
}

/*
 * Numbers a text that got no number when it was announced. The next tick announces it again.
 * Otherwise user space would never read its rules.
 */
static __always_inline u32 number_late(const struct space *space)
{
	u32 number = new_text(space, bpf_get_current_task_btf()), *state;

	state = number ? bpf_map_lookup_elem(&spaces, space) : NULL;
	if (state &&
	    __sync_val_compare_and_swap(state, SPACE_ANNOUNCED, SPACE_UNOPENED) == SPACE_ANNOUNCED)
		__sync_fetch_and_add(&table_state.epoch, 1);
	return number;
}

static __always_inline u32 text_of(const struct space *space)
{
	return known_text(space) ?: number_late(space);
}

/*
 * Numbers a text before it is announced, so that user space finds the number. False: the text must
 * not be announced.
 */
static __always_inline bool number_text(const struct space *space, struct task_struct *task)
{
	return known_text(space) || new_text(space, task);
}

static __always_inline u64 make_site(u32 text, u64 offset)
{
	return (u64)text << SITE_OFFSET_BITS | (offset & SITE_OFFSET_MASK);
}

#endif
