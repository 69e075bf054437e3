/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WAITS_ABI_H
#define BPFPROFIL_WAITS_ABI_H

#include "shared/callers_abi.h"
#include "shared/counters.h"
#include "shared/types.h"

/*
 * The states of a thread with --waits, which host.bpf.c and the engine share. From WAIT_BLOCKED on,
 * a state is the class of a wait. A system call is WAIT_SYSCALL and its number, or with WAIT_COMPAT
 * a number of the 32-bit table. With the bit WAIT_IO, the kernel had marked the thread as waiting
 * for I/O.
 */
enum wait_state {
	WAIT_OFF, /* not counted: before the start, or in a pause */
	WAIT_RUNNING,
	WAIT_RUNNABLE,
	WAIT_ENDED,
	WAIT_BLOCKED,
	WAIT_FAULT = WAIT_BLOCKED, /* a page fault, or work before the return to user mode */
	WAIT_STOPPED,
	WAIT_TRACED,
	WAIT_FROZEN,
	WAIT_VFORK,
	WAIT_CORE_DUMP,
	WAIT_IO_WORKER,
	WAIT_KTHREAD,
	WAIT_OTHER, /* only in profiles: there was no room for the class */
	WAIT_SYSCALL = 16,
	WAIT_COMPAT = 1 << 10,
	WAIT_SYSCALL_MAX = WAIT_COMPAT - WAIT_SYSCALL - 1,
	WAIT_IO = 1 << 11,
	WAIT_STATE_BITS = 12,
};

/* A root of waits, beside END_FLAT. How a walk ended is in the site below it. */
enum { END_WAIT = END_FLAT + 1 };

/*
 * The first site of each chain of waits: its class and how its walk ended, in a text of this
 * number.
 */
enum { WAIT_END_SHIFT = 16 };

static inline __u64 wait_site(__u32 state, __u32 end)
{
	return (__u64)TEXT_WAIT << SITE_OFFSET_BITS | (__u64)end << WAIT_END_SHIFT | state;
}

static inline __u32 wait_site_state(__u64 site)
{
	return (__u32)site & ((1U << WAIT_STATE_BITS) - 1);
}

static inline __u32 wait_site_end(__u64 site)
{
	return (__u32)site >> WAIT_END_SHIFT;
}

/* A state and the time at which it began, in one word, so that both change at once. */
static inline __u64 wait_word(__u32 state, __u64 ns)
{
	return ns << WAIT_STATE_BITS | state;
}

static inline __u32 wait_word_state(__u64 word)
{
	return (__u32)word & ((1U << WAIT_STATE_BITS) - 1);
}

/* Nanoseconds from one word to a later one. */
static inline __u64 wait_word_distance(__u64 from, __u64 to)
{
	return ((to >> WAIT_STATE_BITS) - (from >> WAIT_STATE_BITS)) << WAIT_STATE_BITS >>
	       WAIT_STATE_BITS;
}

/* Whether a word began after a time. */
static inline __u32 wait_word_is_after(__u64 word, __u64 ns)
{
	return (__s64)(wait_word(0, ns) - wait_word(0, word >> WAIT_STATE_BITS)) < 0;
}

/* The waits at a node. They are counted beside the nodes, which ticks use. */
struct node_waits {
	__u64 ns;
	__u64 runnable_ns; /* from the end of the wait until the thread got a CPU */
	__u64 count; /* waits that began */
};

/* Whether callers of an open wait may still be found: its walk ended late, or was none. */
enum wait_late {
	NOT_LATE,
	LATE, /* and it was counted in the half in use, */
	LATE_MOVED, /* or before */
};

/*
 * The wall time of a followed thread. Times in its state word are compared modulo 2^52 ns, which
 * are 52 days.
 */
struct thread_waits {
	__u64 state_word; /* see wait_word() */
	__u64 runtime_seen; /* the scheduler's, when the thread last got or left a CPU */
	__u32 root; /* of its waits; 0: the thread is in no target now */
	__u32 owner; /* of its process */
	__u32 node; /* of the wait; NO_NODE: there was no room */
	__u32 target;
	__u64 unknown_pc; /* a pc of unknown text at the begin of the wait; 0: it was known */
	__u32 late; /* enum wait_late */
	__u32 sleeper; /* its number + 1 among the sleepers; 0: it is not one */
	/* Sums, and how much of each is in the root's already. */
	__u64 on_cpu_ns; /* by the clock */
	__u64 cpu_base; /* the runtime that the sums begin at */
	__u64 split;
	__u64 tried_ns; /* when a sleeper was last walked */
	__u64 unaccounted_ns;
	__u64 on_cpu_billed;
	__u64 unaccounted_billed;
	__u64 cpu_billed;
	__u16 syscall; /* the last one with a wait; restart_syscall() continues it */
	__u16 unsettled; /* it has run since its account began: see settle_base() */
	__u32 waited_us; /* how long the last wait was, in units of 1,024 ns; 0: there was none */
};

/*
 * A wait that began on this CPU, and its node. With callers, it also has the words that the walk
 * read from the stack: see bpf/wait_memo.bpf.h.
 */
enum { MEMOS_SHIFT = 5, MEMOS = 1 << MEMOS_SHIFT, MEMO_WORDS = 64 };

/*
 * Instead of the address of a word: a register that the walk began with, or a number that never
 * changes.
 */
enum { FROM_FP = 1, FROM_SCRATCH = 2, FROM_NOWHERE = 4 };

struct wait_memo {
	struct frame at; /* where the thread entered the kernel */
	__u32 who;
	__u32 stamp;
	__u32 epoch;
	__u32 root;
	__u32 state;
	__u32 node; /* NO_NODE: the memo is empty */
	__u32 nr; /* words */
	__u32 registers; /* of FROM_FP and FROM_SCRATCH, those that the walk depends on */
	struct memo_word {
		__u64 at;
		__u64 value;
	} words[MEMO_WORDS];
};

/*
 * A thread that sleeps and whose wait is late. Pieces of its stack are read, and then its callers
 * are found: see bpf/sleepers.bpf.h. No wait of less than LATE_NS is looked at.
 */
enum { SLEEPERS = 256, SLEEPER_PIECES = 8, STACK_PIECES = 512, PIECE_WORDS = 512 };
#define LATE_NS 10000000ULL

/* No more stacks are read of an owner who has so many that cannot be. */
enum { SILENT = 2 };

struct sleeper {
	struct frame at; /* where the thread entered the kernel */
	__u64 state_word; /* of its wait */
	__u32 owner;
	__u32 nr; /* pieces; the last one may have been requested only */
	__u32 pieces[SLEEPER_PIECES]; /* their numbers */
};

struct stack_piece {
	__u64 at;
	__u32 wanted; /* bytes to read */
	__u32 size; /* bytes that were read; a whole number of words */
	__u32 tid;
	__u32 owner;
	__u64 ns; /* how long that took */
	__u64 words[PIECE_WORDS];
};

/* The purpose of a pass over all threads. */
enum waits_pass {
	WAITS_BEGIN, /* time counts from here on */
	WAITS_CUT, /* adds the time so far to the closed half; the thread moves to the other */
	WAITS_MOVE, /* moves open waits to the other half */
	WAITS_PLACE, /* announces unknown text, finds the places of open waits in it, and sleepers */
	WAITS_END, /* time does not count from here on */
};

/* Shared as global data. */
struct waits_state {
	__u32 on;
	__u32 half; /* that threads count their waits in */
	__u32 pass; /* enum waits_pass */
	__u32 late; /* a wait that began is late */
	__u64 next_ns; /* in which time a late wait is due for another walk */
	__u32 sleepers; /* in use */
	__u32 pieces; /* likewise */
	__u64 pad[4];
};

_Static_assert(sizeof(struct node_waits) == 24, "struct node_waits");
_Static_assert(sizeof(struct thread_waits) == 120, "struct thread_waits");
_Static_assert(sizeof(struct wait_memo) == 72 + MEMO_WORDS * 16, "struct wait_memo");
_Static_assert(sizeof(struct sleeper) == 56 + SLEEPER_PIECES * 4, "struct sleeper");
_Static_assert(sizeof(struct stack_piece) == 32 + PIECE_WORDS * 8, "struct stack_piece");
_Static_assert(sizeof(struct waits_state) == 64, "struct waits_state");

#endif
