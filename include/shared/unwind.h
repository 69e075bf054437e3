/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_UNWIND_H
#define BPFPROFIL_UNWIND_H

#include "shared/types.h"

/*
 * From a pc to the rule that finds its frame's caller. User space makes a table of each file's
 * call-frame information (user/unwind): its instructions run from the start of a function, which is
 * too slow for each pc of a walk.
 *
 *     offset in the file ── granule ── index ── rows ── rule
 *                           256 bytes   where a granule's rows begin
 *
 * A row holds from its offset to that of the next one. The first granule of a table has a row at
 * its start. Therefore the last row at or before an offset is in the table even if its granule has
 * none.
 */
enum {
	UNWIND_GRANULE_SHIFT = 8,
	UNWIND_GRANULE = 1 << UNWIND_GRANULE_SHIFT, /* bytes */
	UNWIND_RULE_BITS = 16, /* of a row: a rule, and UNWIND_ROW_EARLY */
	/*
	 * Set in a row that begins at the last byte of padding: the function behind it begins a
	 * byte later.
	 */
	UNWIND_ROW_EARLY = 1 << 15,
	UNWIND_RULES_MAX = 1 << 14, /* of a file; no file of a Debian host has over 881 */
	/*
	 * The most steps of a search among the rows of a granule: there is at most one row a byte.
	 */
	UNWIND_STEPS = UNWIND_GRANULE_SHIFT + 1,
	/* Rows, and the index, come in lines, because elements of maps are padded to 8 bytes. */
	UNWIND_LINE_SHIFT = 4,
	UNWIND_LINE_WORDS = 1 << UNWIND_LINE_SHIFT,
};

struct unwind_line {
	__u32 word[UNWIND_LINE_WORDS];
};

/*
 * The canonical frame address (CFA), which is the stack pointer's value in the caller. SP and FP
 * are the stack pointer and the frame pointer of the frame.
 */
enum unwind_cfa {
	UNWIND_NONE, /* no rule: the file does not describe this place. Rule 0 of each table */
	UNWIND_SP, /* SP + cfa_offset */
	UNWIND_FP, /* FP + cfa_offset */
	UNWIND_PLT, /* SP + cfa_offset, and 8 more from byte `post` of an entry on */
	UNWIND_DEREF_FP, /* what is stored at FP + cfa_offset, plus `post` */
	UNWIND_DEREF_SP, /* what is stored at SP + cfa_offset, plus `post` */
	UNWIND_SIGNAL, /* the kernel's frame for a signal handler, with all registers */
	UNWIND_END, /* there is no caller: the return address is undefined, as in _start */
	UNWIND_REGISTER, /* it needs a register or an expression that is not followed */
};

/* The caller's frame pointer. */
enum unwind_fp {
	UNWIND_FP_SAME, /* not changed by this frame, or not yet */
	UNWIND_FP_CFA, /* stored at CFA + fp_offset */
	UNWIND_FP_AT_FP, /* stored at FP + fp_offset */
	UNWIND_FP_LOST,
};

/* The return address. */
enum unwind_ra {
	UNWIND_RA_STORED, /* at CFA + unwind_ra_offset() */
	UNWIND_RA_SCRATCH, /* in the register of vfork(), on arm64 x30; known for the leaf only */
};

/*
 * How to step from a caller's frame. Go's functions have frame pointers, which stay right where a
 * function switches stacks, though its description does not mention that.
 */
enum unwind_call {
	UNWIND_CALL_RULE, /* by the rule, like the first frame */
	UNWIND_CALL_POINTER, /* by its frame pointer */
	UNWIND_CALL_FRAMELESS, /* it has none: FP is its caller's, and the walk skips the caller */
};

struct unwind_rule {
	__u8 cfa; /* enum unwind_cfa */
	__u8 fp; /* enum unwind_fp */
	__s16 post;
	__s32 cfa_offset;
	__s32 fp_offset;
	__u16 ra; /* enum unwind_ra */
	__u16 call; /* enum unwind_call */
};

_Static_assert(sizeof(struct unwind_line) == 64, "struct unwind_line");
_Static_assert(sizeof(struct unwind_rule) == 16, "struct unwind_rule");

/* On x86-64, an entry of the PLT has 16 bytes and pushes one word. */
enum { UNWIND_PLT_BYTES = 16, UNWIND_PLT_PUSHED = 8 };

/*
 * The distance from the CFA to the return address. On x86-64 the call instruction has stored it
 * right below the CFA. On arm64 the caller has stored it, above its frame pointer if it stored that
 * too.
 */
static inline __s64 unwind_ra_offset(const struct unwind_rule *rule)
{
#if defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
	return (__s64)rule->fp_offset + 8;
#else
	(void)rule;
	return -8;
#endif
}

static inline __u64 unwind_granule(__u64 offset)
{
	return offset >> UNWIND_GRANULE_SHIFT;
}

static inline __u32 unwind_row(__u64 offset, __u32 rule)
{
	return (__u32)(offset & (UNWIND_GRANULE - 1)) << UNWIND_RULE_BITS | rule;
}

static inline __u32 unwind_row_rule(__u32 row)
{
	return row & (UNWIND_ROW_EARLY - 1);
}

/* Whether the row of an offset in the same granule begins at it, a byte before its function. */
static inline __u32 unwind_row_is_early(__u32 row, __u64 offset)
{
	return row & UNWIND_ROW_EARLY && row >> UNWIND_RULE_BITS == (offset & (UNWIND_GRANULE - 1));
}

/* Whether a row of the offset's own granule begins at or before the offset. */
static inline __u32 unwind_row_begins(__u32 row, __u64 offset)
{
	return row >> UNWIND_RULE_BITS <= (offset & (UNWIND_GRANULE - 1));
}

static inline __u32 unwind_line_of(__u32 number)
{
	return number >> UNWIND_LINE_SHIFT;
}

static inline __u32 unwind_word_of(__u32 number)
{
	return number & (UNWIND_LINE_WORDS - 1);
}

#endif
