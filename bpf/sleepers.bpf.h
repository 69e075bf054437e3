/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SLEEPERS_BPF_H
#define BPFPROFIL_SLEEPERS_BPF_H

/*
 * The stacks of threads that sleep. A program can read only the stack of the current task. For
 * another one a helper process copies pieces of it (engine/stack_copies.c), and then the same walk
 * reads its words from these.
 *
 * A sleepable program could read it with bpf_copy_from_user_task(). But a user can make such a read
 * wait for ever, for instance by a lock on the address space, and until a sleepable program ends
 * the host frees no memory of any BPF map.
 */
#include "config.bpf.h"
#include "map_kinds.bpf.h"
#include "shared/waits_abi.h"

struct waits_state waits_state __attribute__((aligned(64))) = {};

ARRAY(sleepers, struct sleeper, 1);

MAPPED_ARRAY(stack_pieces, struct stack_piece, 1);

/* Whether a walk is of another task than the current one. */
static __always_inline bool is_copy(const struct walk *walk)
{
	return waits && walk->copy;
}

static __always_inline struct task_struct *walked_task(const struct walk *walk)
{
	return is_copy(walk) ? (void *)walk->task : bpf_get_current_task_btf();
}

/* It is global, so that the verifier checks the loop once. */
__noinline int copied_word(u32 number, u64 at, u64 *word)
{
	struct sleeper *sleeper = bpf_map_lookup_elem(&sleepers, &number);
	struct stack_piece *piece;
	u64 above;
	u32 i;

	if (!sleeper || !word)
		return false;
	for (i = 0; i < SLEEPER_PIECES && i < sleeper->nr; i++) {
		piece = bpf_map_lookup_elem(&stack_pieces, &sleeper->pieces[i]);
		above = piece ? at - piece->at : 0;
		if (!piece || above % sizeof(u64) || above >= piece->size)
			continue;
		*word = piece->words[above / sizeof(u64) & (PIECE_WORDS - 1)];
		return true;
	}
	return false;
}

static __always_inline bool read_word(struct walk *walk, u64 *word, u64 at)
{
	if (!is_copy(walk))
		return !bpf_probe_read_user(word, sizeof(*word), (void *)at);
	if (copied_word(walk->copy - 1, at, word))
		return true;
	if (!walk->missing)
		walk->missing = at;
	return false;
}

/* The two words that a frame pointer points to. */
static __always_inline bool read_frame(struct walk *walk, u64 frame[2], u64 at)
{
	if (!is_copy(walk))
		return !bpf_probe_read_user(frame, 2 * sizeof(u64), (void *)at);
	return read_word(walk, &frame[0], at) && read_word(walk, &frame[1], at + sizeof(u64));
}

#endif
