/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_ABI_H
#define BPFPROFIL_CALL_ABI_H

#include "shared/abi.h"
#include "shared/call_share.h"
#include "shared/call_stop.h"
#include "shared/call_table.h"
#include "shared/types.h"

/*
 * What the BPF programs and user space share of the calls: who called what, and what has been
 * counted since the last copy to the callers' buffers.
 */

/* CALL_RELEASED: the kernel has freed it itself, as user space held nothing of it. */
enum call_known { CALL_UNKNOWN, CALL_KNOWN, CALL_RELEASED };

/* CALL_OFF: ended, by whatever; its counters are still to be copied. */
enum call_phase { CALL_FREE, CALL_ON, CALL_OFF };

enum {
	CALL_IS_FAST = 1U << 0, /* ticks of the fast clock, and of no other */
	CALL_SKIPS_KERNEL = 1U << 1, /* ticks in the kernel are left out */
	CALL_HAS_LIMIT = 1U << 2, /* a full counter ends it; counters hold the caller's values */
	CALL_TAKES_PCS = 1U << 3, /* pcsample() */
};

enum {
	CALL_INLINE_PAGES = 16, /* whose numbers stand in the call: 16,384 counters */
	CALL_PAGE_PCS = 512,
	CALL_CLOCKS = 2, /* normal and fast */
};

/*
 * Set in the index of a page that holds what a forked child's parent had counted and its buffer did
 * not have yet: for the child's buffer, but not the child's ticks. With a limit it holds all that
 * the parent had, as its counters do.
 */
#define CALL_PAGE_INHERITED (1ULL << 63)

/*
 * In such a page, instead of a count: the child has no copy of what its parent's buffer held there,
 * as the buffer is shared, wiped by the fork or not mapped in the child.
 */
#define CALL_NOT_INHERITED 0xffffffffU

/*
 * The child of a fork has its image of the buffer some time before its call: what is copied to the
 * parent's buffer meanwhile the child would lack. So user space looks at those that were born no
 * later than this after a copy.
 */
#define CALL_FORK_NS 100000000ULL

/* Set in a sample, so that one that is still to be written is told from a pc. */
#define CALL_PC_WRITTEN (1ULL << 63)

/* A sample of the parent's for which the same holds. No pc in user space has this bit. */
#define CALL_PC_NOT_INHERITED (1ULL << 62)

struct call_ref {
	__u32 slot; /* CALL_ENDED: none, and rightly so */
	__u32 serial;
};

/*
 * Of a process that has no call because it left it, or because its parent's had ended when it was
 * forked: one that thinks it has, and about which nothing is known, has lost its server.
 */
#define CALL_ENDED 0xffffffffU

/* What a thread's ticks stand for, and which call it is about. */
struct call_weight {
	struct call_ref call;
	struct weight weight;
};

/*
 * One call in force, or the last one of a process. The child of a fork has one of its own, with
 * counters of its own, made in the kernel before its first instruction; threads and children that
 * share the address space share the call.
 */
struct call {
	__u32 phase; /* enum call_phase */
	__u32 serial; /* of the call in this slot; a reference to another is dead */
	__u32 flags;
	__u32 users; /* processes that refer to it */
	struct call_table table;
	__u64 capacity; /* pcsample: how many pcs the buffer holds */
	__u64 next; /* pcsample: how many were taken */
	__u64 copied; /* of these, into the buffer: user space says so, for children */
	__u64 inherited; /* of these, by the parent before the fork */
	__u64 ticks;
	__u64 outside;
	__u64 filtered;
	__u64 no_memory;
	__u64 over_limit; /* hit a counter that stood above the limit */
	__u64 in_exec; /* hit a thread amid an exec */
	__u64 stop_counter; /* which counter ended it */
	__u32 stop; /* enum call_stop, where the kernel ended it */
	__u32 stop_region;
	__u32 dirty; /* user space knows that there is something to copy */
	__u32 known; /* enum call_known: whether user space must be told of the end */
	__u32 spec; /* what it was called with, by number in call_specs */
	__u32 owner; /* in call_owners */
	__u32 tgid; /* as the server sees it; 0: it does not */
	__u32 copying; /* user space is at it */
	__u64 copied_ns; /* when it last found something to copy */
	__u64 born_ns; /* of a fork's child: when its counters began to be made, */
	__u64 born_until_ns; /* and when they were */
	struct call_ref parent; /* and whose they were */
	__u32 hint; /* the line of the last pc's segment; 0: none */
	__u32 first_page; /* of the list through call_page_infos: number + 1, 0 at the end */
	__u32 pages[CALL_INLINE_PAGES]; /* number + 1, or 0 where nothing was hit */
};

/* Of one spec: the processes that were forked with it share it. */
struct call_spec {
	__u32 calls;
	__u32 held; /* user space knows what it is */
};

/* What a user has, and may have; CALL_NO_LIMIT: all there is. */
struct call_owner {
	__u32 calls;
	__u32 call_limit;
	__u32 pages;
	__u32 page_limit;
};

/* Pages beyond those whose numbers stand in the call. */
struct call_page_key {
	struct call_ref call;
	__u64 index;
};

/* What a page belongs to. */
struct call_page_info {
	struct call_ref call;
	__u64 index;
	__u32 next; /* of the call's list */
	__u32 pad;
};

/* Whether a handler is inside: it is while the two differ. A tick may come amid a fork's. */
struct call_cpu {
	__u64 entered;
	__u64 left;
	__u64 fork_entered;
	__u64 fork_left;
	__u64 pad[4];
};

/* Something for user space to do. CALL_DIRTY: to copy. CALL_GONE: to release. */
enum call_event { CALL_DIRTY = 1, CALL_GONE, CALL_GROW };

struct call_record {
	__u32 type; /* enum call_event */
	__u32 pad;
	struct call_ref call;
};

/* Shared as global data. */
struct call_globals {
	__u32 next_page;
	__u32 page_limit;
	__u32 page_low; /* ask for more pages from here on */
	__u32 asked;
	__u32 serial; /* the last one given */
	__u32 missed; /* records that did not fit: look at all calls */
	__u32 unfollowed; /* children without a call, for want of room or by their user's limit */
	__u32 running[CALL_CLOCKS]; /* calls that are on, by clock */
	__u32 calls; /* of all users */
	__u32 pages; /* likewise */
};

ABI_SIZE(struct call_owner, 16);
ABI_SIZE(struct call_ref, 8);
ABI_SIZE(struct call_weight, 48);
ABI_SIZE(struct call_page_key, 16);
ABI_SIZE(struct call_page_info, 24);
ABI_SIZE(struct call_cpu, 64);
ABI_SIZE(struct call_record, 16);
ABI_SIZE(struct call_globals, 44);

#endif
