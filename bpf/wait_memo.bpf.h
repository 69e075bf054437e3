/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WAIT_MEMO_BPF_H
#define BPFPROFIL_WAIT_MEMO_BPF_H

/*
 * The last waits of each CPU. Threads mostly wait where they waited before, and with the same
 * callers.
 *
 * A memo holds all that a walk depends on: registers, the address space and its stamp, the epoch of
 * texts and rules, and the words of the stack that led to a caller. If these are the same, a walk
 * would find the same chain again, and with the same root and state the wait has the same node.
 * Code is not compared, because it does not change below an active frame. Comparing the words costs
 * less than a walk and needs no credit (walk_credit.h), because a memo has few of them.
 */
#include "map_kinds.bpf.h"
#include "shared/waits_abi.h"

/*
 * By CPU: first the walks for ticks. With callers, those for exits follow, and with waits those for
 * waits and for copies of chains.
 */
ARRAY(walks, struct walk, 1);

/* MEMOS for each CPU. */
ARRAY(wait_memos, struct wait_memo, 1);

/* Walks refer to memos by their slot + 1. */
#define NO_MEMO 0

static __always_inline u32 memo_ref(u32 slot)
{
	return slot + 1;
}

static __always_inline u32 memo_number(u32 ref)
{
	return ref - 1;
}

/*
 * Notes a word on which a walk depends in the memo of a slot. A memo with too many words is not
 * used.
 */
__noinline int note_word(u32 slot, u64 at, u64 value)
{
	struct wait_memo *memo = bpf_map_lookup_elem(&wait_memos, &slot);
	u32 nr;

	if (!memo)
		return 0;
	if (at <= FROM_NOWHERE) {
		memo->registers |= at;
		return 0;
	}
	nr = memo->nr;
	memo->words[nr & (MEMO_WORDS - 1)].at = at;
	memo->words[nr & (MEMO_WORDS - 1)].value = value;
	memo->nr = nr + 1;
	return 0;
}

/* The stack is read in pieces of this many words: a read takes as long as some ten comparisons. */
enum { PIECE = 32 };

/*
 * Whether the words of a memo have not changed. It is global, so that the verifier checks the loop
 * once.
 */
__noinline int words_hold(u32 slot, u32 walk_slot)
{
	struct wait_memo *memo = bpf_map_lookup_elem(&wait_memos, &slot);
	struct walk *walk = bpf_map_lookup_elem(&walks, &walk_slot);
	u64 from = 0, place;
	u32 nr = 0, i;

	if (!memo || !walk)
		return false;
	for (i = 0; i < MEMO_WORDS && i < memo->nr; i++) {
		place = memo->words[i].at - from;
		if (place / sizeof(u64) >= nr || place % sizeof(u64)) {
			from += place;
			place = 0;
			nr = PIECE;
			if (bpf_probe_read_user(walk->sites, PIECE * sizeof(u64), (void *)from)) {
				nr = 1;
				if (bpf_probe_read_user(walk->sites, sizeof(u64), (void *)from))
					return false;
			}
		}
		if (walk->sites[place / sizeof(u64) & (PIECE - 1)] != memo->words[i].value)
			return false;
	}
	return true;
}

/* The slot of a wait that begins at the walk's registers. */
static __always_inline u32 memo_slot(const struct walk *walk, u32 state)
{
	u64 hash = walk->at.pc ^ (u64)walk->who << 32 ^ state;

	if (with_callers)
		hash ^= walk->at.sp << 16;
	return bpf_get_smp_processor_id() << MEMOS_SHIFT |
	       (u32)(hash * 0x9e3779b97f4a7c15ULL >> (64 - MEMOS_SHIFT));
}

/* The node of a wait that begins at the walk's registers. NO_NODE: it must be walked. */
static __always_inline u32 remembered_node(u32 slot, u32 walk_slot, const struct walk *walk,
					   u32 root, u32 state)
{
	struct wait_memo *memo = bpf_map_lookup_elem(&wait_memos, &slot);

	if (!memo || memo->at.pc != walk->at.pc || memo->who != walk->who ||
	    memo->stamp != walk->stamp || memo->epoch != walk->epoch || memo->root != root ||
	    memo->state != state)
		return NO_NODE;
	if (with_callers &&
	    (memo->at.sp != walk->at.sp ||
	     (memo->registers & FROM_FP && memo->at.fp != walk->at.fp) ||
	     (memo->registers & FROM_SCRATCH && memo->at.scratch != walk->at.scratch) ||
	     !words_hold(slot, walk_slot)))
		return NO_NODE;
	return memo->node;
}

/* Empties a slot for the walk that begins now. */
static __always_inline void begin_memo(u32 slot, struct walk *walk, u32 state)
{
	struct wait_memo *memo = bpf_map_lookup_elem(&wait_memos, &slot);

	if (!memo)
		return;
	memo->node = NO_NODE;
	memo->nr = 0;
	memo->registers = 0;
	memo->at = walk->at;
	memo->who = walk->who;
	memo->stamp = walk->stamp;
	memo->epoch = walk->epoch;
	memo->state = state;
	walk->memo = memo_ref(slot);
}

/* Fills it in. If a later walk may find more callers, there is no memo. */
static __always_inline void end_memo(const struct walk *walk, u32 node)
{
	u32 slot = memo_number(walk->memo);
	struct wait_memo *memo = bpf_map_lookup_elem(&wait_memos, &slot);

	if (walk->memo == NO_MEMO || !memo || memo->nr > MEMO_WORDS ||
	    (with_callers && walk->end != END_COMPLETE && walk->end != END_GUESSED))
		return;
	memo->root = walk->base;
	memo->node = node;
}

#endif
