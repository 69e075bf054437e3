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
 * address. The lower half of the address space has 47 bits on x86-64 and 48 on arm64, and kernel text is in the
 * upper half.
 */
#if defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
enum { SITE_OFFSET_BITS = 48 };
#else
enum { SITE_OFFSET_BITS = 47 };
#endif
enum { SITE_MARK_BIT = 62, SITE_TEXT_BITS = SITE_MARK_BIT - SITE_OFFSET_BITS };

#define SITE_OFFSET_MASK ((1ULL << SITE_OFFSET_BITS) - 1)

/* Of the kernel at work for the frame above, without a text: in mode charged no more is told of it. */
#define SITE_IN_KERNEL (1ULL << SITE_MARK_BIT)

/* The same bit beside a text: the offset is rounded down, because there was no element for the place itself. */
#define SITE_COARSE SITE_IN_KERNEL
enum { COARSE_SITE_SHIFT = 16 };

/* Of a leaf below a frame that did not call it: the tree had no room for the frames between them. */
#define SITE_AFTER_GAP (1ULL << 63)

static inline __u32 site_text(__u64 site)
{
	return (__u32)(site >> SITE_OFFSET_BITS) & ((1U << SITE_TEXT_BITS) - 1);
}

static inline __u32 site_is_coarse(__u64 site)
{
	return site & SITE_COARSE && site_text(site);
}

/*
 * Numbers of texts, beside those that the programs give to files and processes as they meet them. 0
 * is none, so that no site is 0. OTHER is of all that have no number, and its sites are coarse, with offset 0.
 * WAIT is no text: its sites are the classes of waits, see waits_abi.h.
 * Those that no chain names any more are given back.
 */
enum {
	TEXT_KERNEL = 1,
	TEXT_VDSO,
	TEXT_OTHER,
	TEXT_WAIT,
	TEXT_FIRST,
	TEXTS_MAX = 1 << SITE_TEXT_BITS
};

#define SITE_OF_OTHER ((__u64)TEXT_OTHER << SITE_OFFSET_BITS | SITE_COARSE)

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

/*
 * A mapping that a CPU's ticks, or their walks, have met, and what it was made from. It is a cache line: a tick in a
 * known mapping reads no other before that of its element. It holds only for the process, the state of its address
 * space and the epoch that it was made in. What it was made from is read when its stamp is old, because most changes
 * of an address space leave its text alone.
 */
struct text_range {
	__u32 who; /* the address space and process, see texts.bpf.h */
	__u32 stamp; /* state of the address space */
	__u64 start;
	__u64 to_site; /* the site of an address - the address */
	__u64 vma; /* the kernel's mapping; may be freed by now */
	__u64 inode; /* of the mapping's file; 0 for anonymous text */
	__u32 pages; /* of 4 KiB; 0: empty */
	__u32 epoch; /* table_state's, before the text's number was looked up */
	__u32 seen; /* the mapping's last change before the text was found in place; 0: unknown */
	__u32 root; /* of its ticks, with NODE_IS_ROOT; 0: not looked up yet */
	__u16 target; /* whose ticks these are */
	__u16 owner; /* of the process, + 1; 0: not looked up yet */
	__u16 ticks; /* not yet added to the target's */
	__u16 pad;
};

enum {
	RANGES_SHIFT = 9,
	RANGES = 1 << RANGES_SHIFT,
	TEXT_PAGE_SHIFT = 12, /* granule of mappings, whatever page size the processor has */
};

/* A file whose text has a number, and of which user space was told; unless the epoch has changed since. */
struct known_file {
	__u64 inode; /* its address; 0: empty */
	__u64 number; /* the inode's */
	__u32 generation;
	__u32 epoch; /* as in struct text_range */
	__u32 text;
	__u32 device; /* of its file system's address */
};

enum { KNOWN_FILES_SHIFT = 7, KNOWN_FILES = 1 << KNOWN_FILES_SHIFT };

/* A place whose rule a CPU's walks have looked up; the same few callers come again in each walk. */
struct known_rule {
	__u64 site; /* 0: empty */
	__u32 epoch; /* as in struct text_range */
	__u32 rule;
};

enum { KNOWN_RULES_SHIFT = 9, KNOWN_RULES = 1 << KNOWN_RULES_SHIFT };

/*
 * A calling context: a frame's site below its parent, which is the number of another node + 1, or a
 * root. An empty one has no site. Its count is of ticks that fell in it and in nothing called from it. A tick
 * without callers is a frame below its target's root of END_FLAT.
 *
 * Nodes are in two halves, so that user space reads and clears the one while ticks are counted in the other. A
 * node's number is its place in its half, and for the second half NODE_IN_SECOND. A half of no more than base_nodes
 * is a part of `nodes`: the first, or the last base_nodes of them. A larger one is a map of its own in `halves`.
 */
struct table_node {
	__u64 site;
	__u32 parent;
	__u32 count;
};

#define NO_ROOT_NUMBER 0xffffffff

enum {
	NODE_IS_ROOT = 1U
		       << 31, /* the rest is the root's number, and an owner's: see owned_root() */
	NODE_IN_SECOND = 1 << 30,
	NODES_OF_LINE = 4,
	NODE_LINES = 8, /* in which a node may be */
	SWAP_PART = 4, /* a half is full enough to turn when one in so many is in use */
};

/* A cache line of them, which is an element of the maps. */
struct node_line {
	struct table_node node[NODES_OF_LINE];
};

/*
 * The parent of a chain's first frame: the number of its root, and of the owner of its process. Two owners therefore
 * share no node, and user space knows how many nodes each has, although nodes have no owner.
 */
enum { ROOT_OWNER_SHIFT = 20, ROOTS_MAX = 1 << ROOT_OWNER_SHIFT };

static inline __u32 owned_root(__u32 root, __u32 owner)
{
	return root | owner << ROOT_OWNER_SHIFT;
}

static inline __u32 root_number(__u32 parent)
{
	return parent & (ROOTS_MAX - 1);
}

static inline __u32 root_owner(__u32 parent)
{
	return (parent & ~NODE_IS_ROOT) >> ROOT_OWNER_SHIFT;
}

/* The half that a parent is in. */
static inline __u32 half_of(__u32 parent)
{
	return parent & NODE_IS_ROOT ? parent & 1 : !!((parent - 1) & NODE_IN_SECOND);
}

/* A key of `carries` that stands for a node and not for a counter in a page. */
#define CARRY_OF_NODE (1ULL << 63)

struct table_root_key {
	__u64 split; /* id of the process, thread or cgroup; 0: not told apart, or no memory to */
	__u32 target;
	__u16 end; /* enum walk_end */
	__u16 half; /* the half that its chains are in */
};

struct table_root {
	__u32 number; /* odd: in the second half */
	__u32 pad;
	__u64 ticks; /* without any frame */
	/* Of a root of waits: see struct thread_waits. */
	__u64 on_cpu_ns;
	__u64 cpu_ns; /* by the scheduler */
	__u64 unaccounted_ns;
};

/*
 * The number of a root of split 0. User space makes them before the first tick: without callers that of END_FLAT for
 * each target, and with callers those of all other ends.
 */
static inline __u32 fixed_root(__u32 target, __u32 end, __u32 half)
{
	return 2 * (end == END_FLAT ? target : target * WALK_END_COUNT + end) + half;
}

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
	__u64 start; /* the mapping of the last frame; start == stop: none yet */
	__u64 stop;
	__u64 to_site; /* as in struct text_range */
	__u32 who;
	__u32 stamp;
	__u32 target;
	__u32 text; /* its number; 0: none */
	__u32 nr; /* frames, the leaf first */
	__u32 end; /* enum walk_end */
	__u32 guessed; /* frames found by frame pointers */
	__u32 in_call; /* pc is where a call will return to */
	__u32 parent; /* while the chain is entered: the node reached */
	__u32 base; /* the node that the chain begins at instead of a root; 0: none */
	__u32 owner; /* of the process, + 1; 0: not looked up yet; of a wait also OWNER_QUIET */
	__u32 unknown; /* of a wait: it came to text that user space does not know */
	__u64 tick[5]; /* the programs' struct tick */
	__u64 begun; /* of --source tick: see watch_begin() */
	__u64 sites[WALK_FRAMES];
	/* What the chain before began with, from the root on: the next one mostly begins with the same. */
	__u32 entered_root;
	__u32 entered_generation;
	__u32 nr_entered;
	__u32 epoch; /* table_state's, before the text was looked up */
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

/*
 * Beside the number of an owner: the run queue is locked, so that nothing may be made but nodes, and nobody is notified.
 */
#define OWNER_QUIET (1U << 31)

/* Uids from there on may be subordinate to others: see subuid(5). */
enum { SUBORDINATE_MIN = 1 << 16, SUBORDINATES_MAX = 64 };

struct uid_range {
	__u32 first;
	__u32 nr;
};

struct owner {
	__u64 key;
	__u32 nodes_used[2]; /* of each half */
	__u32 texts;
	__u32 pad;
};

/*
 * Whether an owner may have one more element of a tree. Elements do not come back before the tree is
 * emptied, so no more than nine sixteenths are lent. Where more than 13/16 are in use a hash finds no free
 * one in reach; the last of these sixteenths is for leaves after a gap.
 */
static inline __u32 node_admitted(__u32 nr_nodes, __u32 taken, __u32 held, __u32 after_gap)
{
	const __u32 part = nr_nodes / 16;

	return share_admits((12 + after_gap) * part, (9 + after_gap) * part, part, taken, held, 1);
}

/* The same of numbers of texts, which come back only when the tree names the text no more. */
static inline __u32 text_admitted(__u32 max_texts, __u32 taken, __u32 held)
{
	return share_admits(max_texts, max_texts / 2, max_texts / 16, taken, held, 1);
}

/* Shared as global data: which half ticks are counted in, and what was given out. What each tick reads comes first. */
struct table_state {
	__u32 epoch; /* counted up at each turn, and when numbers of texts or owners were given back */
	__u32 generation; /* counted up at each turn, before the epoch; odd: the second half */
	__u32 node_mask[2]; /* nodes of each half - 1; there is a power of two of them */
	__u32 preloaded_by; /* a process whose mappings count though nobody follows it */
	__u32 splits_low; /* with this many in use, user space is asked to make room */
	__u32 pad[10];
	__u32 room_requested; /* a RECORD_FULL was sent; user space clears it when it has made room */
	__u32 next_text;
	__u32 next_root[2]; /* by half */
	__u32 next_owner;
	__u32 nodes_used[2]; /* in use, of each half */
	__u32 texts; /* with a number */
	__u32 texts_unannounced; /* that a pass over all mappings could not announce */
	__u32 splits_used; /* elements of spent_cpus */
	__u32 pad1[6];
};

_Static_assert(sizeof(struct rules_of_text) == 24, "struct rules_of_text");
_Static_assert(sizeof(struct text_range) == 64, "struct text_range");
_Static_assert(sizeof(struct known_file) == 32, "struct known_file");
_Static_assert(sizeof(struct known_rule) == 16, "struct known_rule");
_Static_assert(sizeof(struct table_node) == 16, "struct table_node");
_Static_assert(sizeof(struct node_line) == 64, "struct node_line");
_Static_assert(sizeof(struct table_root_key) == 16, "struct table_root_key");
_Static_assert(sizeof(struct table_root) == 40, "struct table_root");
_Static_assert(sizeof(struct entered_frame) == 16, "struct entered_frame");
_Static_assert(sizeof(struct owner) == 24, "struct owner");
_Static_assert(sizeof(struct table_state) == 128, "struct table_state");
_Static_assert(sizeof(struct walk) == 176 + WALK_FRAMES * 8 + WALK_ENTERED * 16, "struct walk");

#endif
