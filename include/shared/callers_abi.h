/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLERS_ABI_H
#define BPFPROFIL_CALLERS_ABI_H

#include "shared/counters.h"
#include "shared/share.h"
#include "shared/types.h"
#include "shared/unwind.h"

/*
 * host.bpf.c and the engine share these for the table of ticks: sites, the numbers of texts and
 * their tables of rules, nodes and roots, and the owners who are charged for them.
 */

/*
 * A place as one word: the text's number and the offset in it. In anonymous and kernel text the
 * offset is the address. The lower half of the address space has 47 bits on x86-64 and 48 on arm64,
 * and kernel text is in the upper half.
 */
#if defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
enum { SITE_OFFSET_BITS = 48 };
#else
enum { SITE_OFFSET_BITS = 47 };
#endif
enum { SITE_MARK_BIT = 62, SITE_TEXT_BITS = SITE_MARK_BIT - SITE_OFFSET_BITS };

#define SITE_OFFSET_MASK ((1ULL << SITE_OFFSET_BITS) - 1)

/* The kernel at work for the frame above, without a text: mode charged records no more of it. */
#define SITE_IN_KERNEL (1ULL << SITE_MARK_BIT)

/*
 * Beside a text the same bit means that the offset is rounded down, because there was no node for
 * the place itself.
 */
#define SITE_COARSE SITE_IN_KERNEL
enum { COARSE_SITE_SHIFT = 16 };

/*
 * Marks a leaf below a frame that did not call it: the table had no room for the frames between
 * them.
 */
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
 * The programs number files and processes from TEXT_FIRST on. 0 is none, so that no site is 0.
 * OTHER is for all text without a number, and its sites are coarse, with offset 0. WAIT is no text:
 * its sites are the classes of waits, see waits_abi.h. User space frees a number once no chain
 * names its text.
 */
enum {
	TEXT_KERNEL = 1,
	TEXT_VDSO,
	TEXT_VDSO32,
	TEXT_OTHER,
	TEXT_WAIT,
	TEXT_FIRST,
	TEXTS_MAX = 1 << SITE_TEXT_BITS
};

#define SITE_OF_OTHER ((__u64)TEXT_OTHER << SITE_OFFSET_BITS | SITE_COARSE)

/* The state of a text's table. FULL: there is none for want of memory. */
enum rules_state { RULES_AWAITED, RULES_READY, RULES_NONE, RULES_FULL };

struct rules_of_text {
	__u16 state;
	__u16 owner; /* number of the owner who is charged while the text has a number */
	__u32 index; /* its index begins at this word, and has granules + 1 of them */
	__u32 first; /* its first granule */
	__u32 granules;
	__u32 go_start; /* Go's part of the text: callers without a rule have frame pointers */
	__u32 go_size;
};

/* Lines of rows and indices come in chunks of 1 MiB. */
enum { CHUNK_LINES = 1 << 14 };

/* A rule's number is the same for all files. Rule 0 is UNWIND_NONE. */
enum { RULES_MAX = 1 << 14 };

/*
 * A mapping that a CPU's ticks or their walks have used: see ranges.bpf.h. It is one cache line. It
 * is valid only for one process, one state of its address space and one epoch. If its stamp is old,
 * it is compared with its mapping.
 */
struct text_range {
	__u32 who; /* the address space and process: see tick_who() */
	__u32 stamp; /* state of the address space */
	__u64 start;
	__u64 to_site; /* the site of an address - the address */
	__u64 vma; /* the kernel's mapping; may be freed by now */
	__u64 inode; /* of the mapping's file; 0 for anonymous text */
	__u32 pages; /* of 4 KiB; 0: empty */
	__u32 epoch; /* table_state's, before the text's number was looked up */
	__u32 seen; /* the mapping's count of changes when its text was in place; 0: unknown */
	__u32 root; /* of its ticks, with NODE_IS_ROOT; 0: not looked up yet */
	__u16 target; /* of its ticks */
	__u16 owner; /* of the process; NO_OWNER: not looked up yet */
	__u16 ticks; /* not yet added to the target's */
	__u16 pad;
};

enum {
	RANGES_SHIFT = 9,
	RANGES = 1 << RANGES_SHIFT,
	TEXT_PAGE_SHIFT = 12, /* granule of mappings, whatever page size the processor has */
};

/* A file that was announced and has a number. It is valid for one epoch. */
struct known_file {
	__u64 inode; /* its address; 0: empty */
	__u64 number; /* the inode's */
	__u32 generation;
	__u32 epoch; /* as in struct text_range */
	__u32 text;
	__u32 device; /* bits of its superblock's address */
};

/*
 * The owner that a CPU looked up last. Most new processes belong to the same user and cgroup as the
 * ones before them. It is valid for one epoch, because addresses are used again.
 */
struct known_owner {
	__u64 cgroups; /* address of the css_set; 0: empty */
	__u64 user_ns; /* its address */
	__u32 ns_number; /* of that namespace */
	__u32 uid;
	__u32 epoch;
	__u32 number;
};

enum { KNOWN_FILES_SHIFT = 7, KNOWN_FILES = 1 << KNOWN_FILES_SHIFT };

/*
 * A place whose rule a CPU's walks have looked up. Walks have the same few callers again and again.
 */
struct known_rule {
	__u64 site; /* 0: empty */
	__u32 epoch; /* as in struct text_range */
	__u32 rule;
};

enum { KNOWN_RULES_SHIFT = 9, KNOWN_RULES = 1 << KNOWN_RULES_SHIFT };

/*
 * A calling context: a frame's site below its parent, which is a reference to another node, or a
 * root. An empty one has no site. It counts the ticks in the frame itself, without those in its
 * callees. A tick without callers is a frame below its target's root of END_FLAT.
 *
 * Nodes are in two halves: user space reads and clears one while ticks are counted in the other. A
 * node's number is its place in its half, and for the second half NODE_IN_SECOND. If halves have no
 * more than base_nodes, half 0 is nodes[0 ... base_nodes) and half 1 the next base_nodes. Larger
 * halves are maps of their own in `halves`.
 */
struct table_node {
	__u64 site;
	__u32 parent;
	__u32 count;
};

#define NO_ROOT_NUMBER 0xffffffff

enum {
	NO_NODE = 0, /* a reference to no node */
	NODE_IS_ROOT = 1U
		       << 31, /* the rest is the root's number, and an owner's: see owned_root() */
	NODE_IN_SECOND = 1 << 30,
	NODES_OF_LINE = 4,
	NODE_LINES = 8, /* lines in which a node may be */
	SWAP_PART = 4, /* a half is swapped when 1/SWAP_PART of its nodes is in use */
};

/* A node's reference is never NO_NODE, though its number may be 0. */
static inline __u32 node_ref(__u32 number)
{
	return number + 1;
}

static inline __u32 node_number(__u32 ref)
{
	return ref - 1;
}

/* A cache line of nodes, which is an element of the maps. */
struct node_line {
	struct table_node node[NODES_OF_LINE];
};

/*
 * The parent of a chain's first frame: the number of its root, and of the owner of its process. Two
 * owners therefore share no node, and user space knows how many nodes each has, although nodes have
 * no owner. The nodes of ticks without a place belong to no owner.
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

static inline __u32 half_of(__u32 parent)
{
	return parent & NODE_IS_ROOT ? parent & 1 : !!(node_number(parent) & NODE_IN_SECOND);
}

struct table_root_key {
	__u64 split; /* id of the process, thread or cgroup; 0: no split, or no memory for it */
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
 * The number of a root of split 0. User space makes these roots before the first tick: without
 * callers that of END_FLAT for each target, and with callers those of all other ends.
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
	__u32 is_32bit; /* of a 32-bit program, whose frames are not followed */
	__u32 pad;
};

/*
 * The walk of the current tick: see `walks`. The stack has no room for it. Besides, 6.1's verifier
 * assumes that values on the stack never change in a loop's body.
 */
enum { WALK_KERNEL_FRAMES = 64, WALK_ENTERED = 64 };

/* How much time walks may still take; see shared/walk_credit.h. */
struct walk_credit {
	__u64 since_ns; /* up to when it was earned */
	__s64 ns;
};

/* A frame of the chain that was entered last, and the reference of its node. */
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
	__u32 owner; /* of the process; NO_OWNER: not looked up yet; of a wait also OWNER_QUIET */
	__u32 unknown; /* of a wait: it came to text that user space does not know */
	__u64 tick[5]; /* the programs' struct tick */
	__u64 begun; /* of --source tick: see watch_begin() */
	struct walk_credit credit; /* of this CPU, for waits */
	__u32 memo; /* of a wait: memo_ref() of its memo, or NO_MEMO: see bpf/wait_memo.bpf.h */
	/*
	 * Of a thread that sleeps: its number + 1 among the sleepers, the address of its task, and
	 * the first word that is in no piece of its stack. See bpf/sleepers.bpf.h.
	 */
	__u32 copy;
	__u64 task;
	__u64 missing;
	__u64 fp_at; /* of a wait: where the frame pointer was read, or FROM_FP */
	__u64 sites[WALK_FRAMES];
	/*
	 * The first frames of the last chain, from the root on. Most chains begin like the one
	 * before.
	 */
	__u32 entered_root;
	__u32 entered_generation;
	__u32 nr_entered;
	__u32 epoch; /* table_state's, before the text was looked up */
	struct entered_frame entered[WALK_ENTERED];
};

/*
 * Who is charged for memory, so that nobody can use up memory that others need. The number of a
 * text, its rules and its lines are charged to the owner of the file, and a node to the owner of
 * the process whose tick made it. An owner is the user who made the outermost user namespace other
 * than the first one, else a uid (for subordinate uids the first of the range), and for root the
 * cgroup that runs it.
 *
 * Owners are numbered in the order of their first use. When there are no more numbers, each further
 * owner shares one.
 */
enum { OWNER_ROOT, OWNER_FIRST, OWNERS_MAX = 1 << 10, NO_OWNER = 0xffff };

/* The kinds of keys: a uid is itself. */
#define OWNER_OF_CGROUP (1ULL << 63)
#define OWNER_OF_NAMESPACE (1ULL << 32)

/*
 * A flag beside an owner's number: the run queue is locked. Only nodes may be made, and user space
 * is not notified.
 */
#define OWNER_QUIET (1U << 31)

/* Uids from there on may be subordinate to others: see subuid(5). */
enum { SUBORDINATE_MIN = 1 << 16, SUBORDINATES_MAX = 64 };

struct uid_range {
	__u32 first;
	__u32 nr;
};

struct owner {
	__u32 nodes_used[2]; /* of each half */
	__u32 texts;
	__u32 unread; /* how often reading a stack of its did not end: see SILENT */
	__u32 splits; /* elements of spent_cpus */
	__u32 cgroups; /* that are announced */
	struct walk_credit credit; /* for waits */
};

/*
 * Whether an owner may have one more node of a half. Nodes are freed only when the half is cleared,
 * and therefore at most nine sixteenths are lent (see share_admits()). If more than 13/16 are in
 * use, a hash finds no free node in reach. The last of these sixteenths is for leaves after a gap.
 */
static inline __u32 node_admitted(__u32 nr_nodes, __u32 taken, __u32 held, __u32 after_gap)
{
	const __u32 part = nr_nodes / 16;

	return share_admits((12 + after_gap) * part, (9 + after_gap) * part, part, taken, held, 1);
}

/* Does the same for numbers of texts, which are freed only when no node names the text. */
static inline __u32 text_admitted(__u32 max_texts, __u32 taken, __u32 held)
{
	return share_admits(max_texts, max_texts / 2, max_texts / 16, taken, held, 1);
}

/* How many accounts of splits one owner may have, while others have hardly any. */
static inline __u32 splits_lent(__u32 max_splits)
{
	return max_splits / 4 * 3;
}

/*
 * Does the same for accounts of splits, which are freed some time after the split has ended, and
 * for announced cgroups.
 */
static inline __u32 split_admitted(__u32 max_splits, __u32 taken, __u32 held)
{
	return share_admits(max_splits, splits_lent(max_splits), max_splits / 16, taken, held, 1);
}

/*
 * Shared as global data: which half counts, and how much is in use. Data that each tick reads comes
 * first.
 */
struct table_state {
	__u32 epoch; /* counted up at each swap, and when numbers of texts were freed */
	__u32 generation; /* counted up at each swap, before the epoch; odd: the second half */
	__u32 node_mask[2]; /* nodes of each half - 1; their number is a power of two */
	__u32 preloaded_by; /* a process whose mappings count though it is not followed */
	__u32 splits_low; /* with this many in use, room is requested */
	__u32 pad[10];
	__u32 room_requested; /* a RECORD_FULL was sent; user space clears it after making room */
	__u32 next_text;
	__u32 next_root[2]; /* by half */
	__u32 next_owner;
	__u32 nodes_used[2]; /* in use, of each half */
	__u32 texts; /* with a number */
	__u32 texts_unannounced; /* which a pass over all mappings could not announce */
	__u32 splits_used; /* elements of spent_cpus */
	__u32 cgroups; /* that are announced */
	__u32 pad1[5];
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
_Static_assert(sizeof(struct owner) == 40, "struct owner");
_Static_assert(sizeof(struct table_state) == 128, "struct table_state");
_Static_assert(sizeof(struct walk) == 224 + WALK_FRAMES * 8 + WALK_ENTERED * 16, "struct walk");

#endif
