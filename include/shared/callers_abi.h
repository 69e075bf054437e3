/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLERS_ABI_H
#define BPFPROFIL_CALLERS_ABI_H

#include "shared/counters.h"
#include "shared/share.h"
#include "shared/types.h"
#include "shared/unwind.h"

/*
 * What host.bpf.c and the engine share for callers: the numbers of texts, their tables of rules, and
 * the tree in which chains of callers are counted.
 */

/*
 * A place as one word: the text's number and the offset in it, which of anonymous and kernel text is the
 * address. The lower half of x86-64's address space has 47 bits, and kernel text is in the upper half. On arm64
 * it has 48; but instructions have 2 or 4 bytes, and the lowest bit of an offset
 * is left out.
 */
#if defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
enum { SITE_OFFSET_SHIFT = 1 };
#else
enum { SITE_OFFSET_SHIFT = 0 };
#endif
enum { SITE_OFFSET_BITS = 47, SITE_KERNEL_BIT = 62 };

#define SITE_OFFSET_MASK ((1ULL << SITE_OFFSET_BITS) - 1)

/* Of the kernel at work for the frame above: in mode charged no more is told of it. */
#define SITE_IN_KERNEL (1ULL << SITE_KERNEL_BIT)

/* Of a leaf below a frame that did not call it: the tree had no room for the frames between them. */
#define SITE_AFTER_GAP (1ULL << 63)

static inline __u32 site_text(__u64 site)
{
	return (__u32)((site & ~SITE_AFTER_GAP) >> SITE_OFFSET_BITS);
}

static inline __u64 make_site(__u32 text, __u64 offset)
{
	return (__u64)text << SITE_OFFSET_BITS | (offset >> SITE_OFFSET_SHIFT & SITE_OFFSET_MASK);
}

/* Of kernel text the bits above are left out too; all are set. */
static inline __u64 site_offset(__u64 site)
{
	return (site & SITE_OFFSET_MASK) << SITE_OFFSET_SHIFT;
}

#define SITE_KERNEL_BITS (~(SITE_OFFSET_MASK << SITE_OFFSET_SHIFT))

/*
 * Numbers of texts, beside those that the programs give to files and processes as they meet them. 0
 * is none, so that no site is 0. Those that no chain names any more are given back.
 */
enum { TEXT_KERNEL = 1, TEXT_VDSO, TEXT_FIRST, TEXTS_MAX = 1 << 15 };

/* Where a text's table is. FULL: there is none for want of memory. */
enum rules_state { RULES_AWAITED, RULES_READY, RULES_NONE, RULES_FULL };

struct rules_of_text {
	__u16 state;
	__u16 owner; /* its number, who is charged for it while the text has a number */
	__u32 index; /* word at which its index begins; that of the granule after its last ends it */
	__u32 first; /* its first granule */
	__u32 granules;
	__u32 go_start; /* Go's part of the text, whose callers have frame pointers where they have no rule */
	__u32 go_size;
};

/* Lines of rows and indices come in chunks of 1 MiB. */
enum { CHUNK_LINES = 1 << 14 };

/* A rule's number is the same for all files. Rule 0 is UNWIND_NONE. */
enum { RULES_MAX = 1 << 14 };

/* A mapping that a CPU's walks have met, and what it was made from: see struct xlat_origin. */
struct text_range {
	__u64 mm; /* 0: empty */
	__u64 start;
	__u64 end;
	__u64 delta; /* offset in the text - address */
	__u64 vma;
	__u64 inode;
	__u32 stamp;
	__u32 text; /* its number */
	__u32 epoch; /* callers_state's, before the number was looked up */
	__u32 seen; /* the mapping's last change before the text was found in place; 0: unknown */
};

enum { RANGES_SHIFT = 9, RANGES = 1 << RANGES_SHIFT };

/* A place whose rule a CPU's walks have looked up; the same few callers come again in each walk. */
struct known_rule {
	__u64 site; /* 0: empty */
	__u32 epoch; /* as in struct text_range */
	__u32 rule;
};

enum { KNOWN_RULES_SHIFT = 9, KNOWN_RULES = 1 << KNOWN_RULES_SHIFT };

/*
 * A calling context: a frame's site below its parent, which is the element of another node + 1, or a
 * root. An empty one has no site. Its count is of ticks that fell in it and in nothing called from it.
 */
struct caller_node {
	__u64 site;
	__u32 parent;
	__u32 count;
};

enum { NODE_IS_ROOT = 1U << 31, NODE_PROBES = 32 };

/* A key of `carries` that stands for a node and not for a counter in a page. */
#define CARRY_OF_NODE (1ULL << 63)

struct caller_root_key {
	__u64 split; /* as in struct window_key */
	__u32 target;
	__u16 end; /* enum walk_end */
	__u16 tree; /* that its chains are in: 1 is the second half */
};

struct caller_root {
	__u32 number; /* odd: in the second half */
	__u32 pad;
	__u64 ticks; /* without any frame */
};

/* The registers that a walk up the stack needs. */
struct frame {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	__u64 scratch; /* see UNWIND_RA_SCRATCH */
	__u32 narrow; /* of a 32-bit program, whose frames are not followed */
	__u32 pad;
};

/*
 * The walk of the current tick, one for each CPU, and behind them one for each CPU's exits, which a tick
 * may interrupt. It is not on the stack: the stack has no room for it,
 * and 6.1's verifier takes what a loop's body finds there as the loop's only possible state.
 */
enum { WALK_KERNEL_FRAMES = 64, WALK_ENTERED = 64 };

/* A frame of the chain that was entered last, and its element of the tree + 1. */
struct entered_frame {
	__u64 site;
	__u32 node;
	__u32 pad;
};

struct walk {
	struct frame at; /* the frame that it has reached */
	__u64 mm; /* the address space's number */
	__u64 start; /* the mapping of the last frame; start == end: none yet */
	__u64 stop;
	__u64 delta;
	__u32 stamp;
	__u32 text;
	__u32 nr; /* frames, the leaf first */
	__u32 end; /* enum walk_end */
	__u32 guessed; /* frames found by frame pointers */
	__u32 in_call; /* pc is where a call will return to */
	__u32 parent; /* while the chain is entered: the node reached */
	__u32 base; /* the node that the chain begins at instead of a root; 0: none */
	__u32 owner; /* of the chain's elements, + 1; 0: none was new yet */
	__u32 pad1;
	__u64 tick[4]; /* the programs' struct tick */
	__u64 begun; /* of --source tick: see watch_begin() */
	__u64 sites[WALK_FRAMES];
	/* What the chain before began with, from the root on: the next one mostly begins with the same. */
	__u32 entered_root;
	__u32 entered_generation;
	__u32 nr_entered;
	__u32 epoch; /* callers_state's, before the text was looked up */
	struct entered_frame entered[WALK_ENTERED];
};

/*
 * Who is charged for what callers take, so that nobody can use up what others need: for the number of a
 * text, its rules and its lines the owner of the file, and for an element of the tree the owner of the
 * process whose tick made it. An owner is the user who made the outermost user namespace other than the
 * first, else a uid (of subordinate ones the first of the range), and of root's the cgroup that runs it.
 *
 * Owners are numbered as they are met. When there are no more numbers, all further cgroups of root are one
 * owner, and all other further owners are another one.
 */
enum { OWNER_ROOT, OWNER_OTHERS, OWNER_FIRST, OWNERS_MAX = 1 << 10 };

/* The kinds of keys: a uid is itself. */
#define OWNER_OF_CGROUP (1ULL << 63)
#define OWNER_OF_NAMESPACE (1ULL << 32)

/* Uids from there on may be subordinate to others: see subuid(5). */
enum { SUBORDINATE_MIN = 1 << 16, SUBORDINATES_MAX = 64 };

struct uid_range {
	__u32 first;
	__u32 nr;
};

struct owner {
	__u64 key;
	__u32 elements[2]; /* of each tree */
	__u32 texts;
	__u32 pad;
};

/*
 * Whether an owner may have one more element of a tree. Elements do not come back before the tree is
 * emptied, so no more than three eighths are lent. Where more than 13/16 are in use a hash finds no free
 * one in reach; the last of these sixteenths is for leaves after a gap.
 */
static inline __u32 element_admitted(__u32 nr_nodes, __u32 taken, __u32 held, __u32 after_gap)
{
	const __u32 part = nr_nodes / 16;

	return share_admits((12 + after_gap) * part, (6 + after_gap) * part, part, taken, held, 1);
}

/* The same of numbers of texts, which come back only when the tree names the text no more. */
static inline __u32 text_admitted(__u32 max_texts, __u32 taken, __u32 held)
{
	return share_admits(max_texts, max_texts / 2, max_texts / 16, taken, held, 1);
}

/* Shared as global data: what was given out, and which half of the tree new chains are entered into. */
struct callers_state {
	__u32 next_text;
	__u32 next_root[2]; /* by tree */
	__u32 texts_untold; /* that a pass over all mappings could not announce */
	__u32 preloaded_by; /* a process whose mappings count though nobody follows it */
	__u32 generation; /* odd: the tree's second half */
	__u32 epoch; /* ranges from before have numbers of texts that were given back since */
	__u32 next_owner;
	__u32 elements[2]; /* in use, of each tree */
	__u32 texts; /* with a number */
	__u32 nameless; /* no more texts without a number are announced */
};

_Static_assert(sizeof(struct rules_of_text) == 24, "struct rules_of_text");
_Static_assert(sizeof(struct text_range) == 64, "struct text_range");
_Static_assert(sizeof(struct known_rule) == 16, "struct known_rule");
_Static_assert(sizeof(struct caller_node) == 16, "struct caller_node");
_Static_assert(sizeof(struct caller_root_key) == 16, "struct caller_root_key");
_Static_assert(sizeof(struct caller_root) == 16, "struct caller_root");
_Static_assert(sizeof(struct entered_frame) == 16, "struct entered_frame");
_Static_assert(sizeof(struct owner) == 24, "struct owner");
_Static_assert(sizeof(struct walk) == 168 + WALK_FRAMES * 8 + WALK_ENTERED * 16, "struct walk");

#endif
