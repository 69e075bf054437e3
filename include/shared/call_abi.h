/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_ABI_H
#define BPFPROFIL_CALL_ABI_H

#include "shared/abi.h"
#include "shared/call_share.h"
#include "shared/call_stop.h"
#include "shared/call_table.h"
#include "shared/types.h"

/*
 * calls.bpf.c and user space share these: the calls, and their counts since the last copy to the
 * callers' buffers.
 */

/* CALL_RELEASED: the kernel freed the call itself, because user space held nothing of it. */
enum call_known { CALL_UNKNOWN, CALL_KNOWN, CALL_RELEASED };

/* CALL_OFF: it has ended for any reason, and its counters must still be copied. */
enum call_phase { CALL_FREE, CALL_ON, CALL_OFF };

enum {
	CALL_IS_NORMAL = 0, /* without CALL_IS_FAST */
	CALL_IS_FAST = 1U << 0, /* gets ticks of the fast clock only, else of the normal one */
	CALL_SKIPS_KERNEL = 1U << 1, /* ticks in the kernel are left out */
	CALL_HAS_LIMIT = 1U << 2, /* a full counter ends it; counters hold the caller's values */
	CALL_STORES_PCS = 1U << 3, /* pcsample() */
};

/* Counters come in pages. Pages come in maps of 1 MiB, which user space adds as they fill. */
enum {
	PAGE_SHIFT_COUNTERS = 10,
	PAGE_COUNTERS = 1 << PAGE_SHIFT_COUNTERS,
	CHUNK_PAGES = 256,
};

/* Pages are referred to by their number + 1. */
#define NO_PAGE 0

static inline __u32 page_ref(__u32 number)
{
	return number + 1;
}

static inline __u32 page_number(__u32 ref)
{
	return ref - 1;
}

struct counter_page {
	__u32 counters[PAGE_COUNTERS];
};

enum {
	CALL_INLINE_PAGES = 16, /* pages whose numbers are in the call itself: 16,384 counters */
	CALL_PAGE_PCS = 512,
	CALL_CLOCKS = 2, /* normal and fast */
};

/*
 * Set in the index of a page with the counts of a forked child's parent that were not yet in the
 * parent's buffer. They go to the child's buffer without counting as the child's ticks. With a
 * limit the page has all of the parent's counts, because its counters do.
 */
#define CALL_PAGE_INHERITED (1ULL << 63)

/*
 * In such a page, this replaces a count if the child has no copy of the parent's buffer, because it
 * is shared, wiped by the fork, or not mapped in the child.
 */
#define CALL_NOT_INHERITED 0xffffffffU

/*
 * A forked child gets its image of the buffer some time before its call, and would lack counts that
 * are copied to the parent's buffer in between. Therefore after a copy user space checks the
 * children that were born up to this much later.
 */
#define CALL_FORK_NS 100000000ULL

/* Set in a stored sample, to distinguish a pc from one that is not yet written. */
#define CALL_PC_WRITTEN (1ULL << 63)

/* Marks a sample of the parent that the child has no copy of. No user pc has this bit. */
#define CALL_PC_NOT_INHERITED (1ULL << 62)

struct call_ref {
	__u32 slot; /* CALL_ENDED: it has no call, for a known reason */
	__u32 serial;
};

/*
 * The slot of a process that has no call because it left it, or because its parent's call had ended
 * by the fork. A process that believes it has a call, and has no reference at all, has lost its
 * server.
 */
#define CALL_ENDED 0xffffffffU

/* How many ticks a thread's samples stand for, and for which call. */
struct call_weight {
	struct call_ref call;
	struct weight weight;
};

/*
 * A call that is on, or the last one of a process. The child of a fork has a call and counters of
 * its own, made in the kernel before its first instruction. Threads and children that share the
 * address space share the call.
 */
struct call {
	__u32 phase; /* enum call_phase */
	__u32 serial; /* of the call in this slot; a reference with another serial is dead */
	__u32 flags;
	__u32 users; /* processes that refer to it */
	struct call_table table;
	__u64 capacity; /* pcsample: how many pcs the buffer holds */
	__u64 next; /* pcsample: how many were stored */
	__u64 copied; /* of these, how many are in the buffer; set by user space, for children */
	__u64 inherited; /* of these, how many the parent stored before the fork */
	__u64 ticks;
	__u64 outside;
	__u64 filtered;
	__u64 no_memory;
	__u64 over_limit; /* ticks that hit a counter that was above the limit */
	__u64 in_exec; /* ticks that hit a thread during an exec */
	__u64 stop_counter; /* the counter that ended it */
	__u32 stop; /* enum call_stop, if the kernel ended it */
	__u32 stop_region;
	__u32 dirty; /* a record says that there is something to copy */
	__u32 known; /* enum call_known: whether its end needs a record */
	__u32 spec; /* the number in call_specs of what it was called with */
	__u32 owner; /* a number in call_owners */
	__u32 tgid; /* as the server sees it; 0: it cannot see it */
	__u32 copying; /* user space is copying it */
	__u64 copied_ns; /* when user space last found something to copy */
	__u64 born_ns; /* child of a fork: when the kernel began to make its counters, */
	__u64 born_until_ns; /* and when it had made them */
	struct call_ref parent; /* the parent's call */
	__u32 hint; /* the line of the last pc's segment; 0: none */
	__u32 first_page; /* head of the list through call_page_infos, which ends with NO_PAGE */
	__u32 pages[CALL_INLINE_PAGES]; /* NO_PAGE where nothing was hit */
};

/* The processes that were forked with a call share its spec. */
struct call_spec {
	__u32 calls;
	__u32 held; /* user space holds it, and therefore it is not reused */
};

/* The calls, regions and memory of a user, and their limits. CALL_NO_LIMIT: everything there is. */
struct call_owner {
	__u32 calls;
	__u32 call_limit;
	__u32 pages;
	__u32 page_limit;
};

/* The key of pages that do not fit into the call itself. */
struct call_page_key {
	struct call_ref call;
	__u64 index;
};

/* Which call a page belongs to. */
struct call_page_info {
	struct call_ref call;
	__u64 index;
	__u32 next; /* the next page of the call */
	__u32 pad;
};

/* A handler is inside while the two differ. A tick may interrupt a fork's handler. */
struct call_cpu {
	__u64 entered;
	__u64 exited;
	__u64 fork_entered;
	__u64 fork_exited;
	__u64 pad[4];
};

/* The next task of user space. CALL_DIRTY: copy. CALL_GONE: release. CALL_GROW: add memory. */
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
	__u32 page_low; /* from this page on, more memory is requested */
	__u32 room_requested;
	__u32 serial; /* the last serial given */
	__u32 missed; /* records that did not fit; after these all calls are checked */
	__u32 unfollowed; /* children without a call: no room, or their user's limit */
	__u32 running[CALL_CLOCKS]; /* calls that are on, by clock */
	__u32 calls; /* of all users */
	__u32 pages; /* of all users */
};

ABI_SIZE(struct counter_page, 4096);
ABI_SIZE(struct call_owner, 16);
ABI_SIZE(struct call_ref, 8);
ABI_SIZE(struct call_weight, 48);
ABI_SIZE(struct call_page_key, 16);
ABI_SIZE(struct call_page_info, 24);
ABI_SIZE(struct call_cpu, 64);
ABI_SIZE(struct call_record, 16);
ABI_SIZE(struct call_globals, 44);

#endif
