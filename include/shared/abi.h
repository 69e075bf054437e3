/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ABI_H
#define BPFPROFIL_ABI_H

#include "shared/callers_abi.h"
#include "shared/counters.h"
#include "shared/types.h"
#include "shared/waits_abi.h"
#include "shared/weight.h"

/*
 * host.bpf.c and the engine share these in maps. Widths are fixed, padding is named, and every
 * layout is asserted. Both sides are built together. Therefore any commit may change the layout.
 */

/* Where a tick in the kernel counts: at the user's pc, nowhere, or at the kernel's own. */
enum tick_mode { MODE_AT_USER_PC, MODE_USER_ONLY, MODE_KERNEL_APART };

/*
 * The most CPUs that can be marked as having no scheduler tick. Debian's kernels support 8,192
 * CPUs.
 */
enum { TICKLESS_CPUS = 8192 };

/* Whether a target's ticks are separated by process, by cgroup, by thread, or not at all. */
enum split { SPLIT_NONE, SPLIT_PROCESS, SPLIT_CGROUP, SPLIT_THREAD };

/*
 * A bin covers 1 << shift bytes of text. When memory is short, bins become wider by COARSE_SHIFT.
 */
enum { BIN_SHIFT_MAX = 16 /* --bytes-per-bin 65536 */, COARSE_SHIFT = 10 };

static inline __u32 bin_coarser(__u32 shift)
{
	return shift + COARSE_SHIFT < BIN_SHIFT_MAX ? shift + COARSE_SHIFT : BIN_SHIFT_MAX;
}

/* The most targets of a session. In struct text_range a target has 16 bits. */
enum { TARGETS_MAX = 1 << 12 };

#define NO_TARGET 0xffffffff

/* The owner of a text. CGROUP is a cgroup itself, in the records that announce it. */
enum space_kind {
	SPACE_FILE = 1,
	SPACE_ANON,
	SPACE_KERNEL,
	SPACE_VDSO,
	SPACE_CGROUP,
};

/*
 * SPACE_FILE: a = inode's address, b = inode number. While anyone maps or pins the file the address
 * is unique on the host, even where device and number are not (btrfs subvolumes). SPACE_ANON: a =
 * start time of the process, b = its pid; both are 0 for text of an unknown process. SPACE_VDSO: a
 * = 1 below 4 GiB, where 32-bit programs have theirs. SPACE_CGROUP: a = the cgroup's id.
 */
struct space {
	__u64 a;
	__u64 b;
	__u32 generation;
	__u32 dev;
	__u32 kind;
	__u32 pad;
};

enum { GAP_ONE = 256 };

/* The account of one CPU's cache of ranges. */
struct cpu_account {
	__u64 misses;
	__u64 renewed; /* ranges with an old stamp that were still valid */
	__u64 hits; /* ticks of hits, without those that ranges still hold */
	__u64 miss_ticks;
	/* The programs' own cost, while cpu_time.watched is set. */
	__u64 watched_ticks; /* runs for the scheduler's tick */
	__u64 ticking_ns; /* their time */
	__u64 following_ns; /* time of the programs on fork, exec and exit */
	__s64 wait; /* until the next tick that is sampled, in 1/GAP_ONE of a tick */
};

/*
 * A target's ticks, without those that ranges still hold. `ticks` is counted on another path than
 * the other counters. Therefore their sum checks the account.
 */
struct target_account {
	__u64 ticks;
	__u64 outside;
	__u64 filtered;
	__u64 deferred; /* could not be counted when they fell */
	__u64 settled; /* of these, how many were counted later */
	__u64 lost[LOST_CAUSE_COUNT];
	__u64 forks_missed; /* children that could not be followed */
	__u64 cpu_ns; /* runtime of its tasks that is in no spent_cpu */
	__u64 excess; /* sum of n * (n - 1) over samples that stand for n ticks */
	__u64 kernel; /* of `ticks`, those in the kernel, whichever pc they count for */
	__u64 pad[2];
};

/*
 * A split id is the start of a process or thread in us, and its pid. The pair is unique while a
 * host is up, unless a pid is reused in the same microsecond 50 days later.
 */
enum { SPLIT_PID_BITS = 22 /* PID_MAX_LIMIT */ };

/*
 * The state of an announced space. If user space filters cgroups, no tick of a cgroup is cached
 * before its decision. Then the decision applies to the next tick.
 */
enum space_state { SPACE_UNKNOWN, SPACE_ANNOUNCED, SPACE_WANTED, SPACE_FILTERED, SPACE_UNOPENED };

/*
 * RECORD_SPACE announces a file, a process with anonymous text, or the cgroup of a split.
 * RECORD_FULL requests room, because the half that ticks are counted in, its roots or the accounts
 * of splits are nearly full: see table_state.room_requested.
 */
enum { RECORD_SPACE = 1, RECORD_FULL = 2, PATH_BYTES = 1024, PATH_PARTS = 48, NAME_BYTES = 256 };

/*
 * MAY_BLOCK: opening the file, or walking below the root of its process, may have to wait for a
 * user's program. STACKED: the file was opened in another file system than it is in, as in
 * overlayfs, and has another inode there.
 */
enum { RECORD_MAY_BLOCK = 1, RECORD_STACKED = 2 };

struct record {
	__u32 type;
	__u32 tgid;
	struct space space;
	__u64 start; /* the mapping that it was seen in */
	__u64 end;
	__u64 size; /* of the file */
	char comm[16];
	__u32 path_len; /* names from the file up to the root, each with its NUL */
	__u32 parent; /* of the process, which may be gone before its file is opened */
	__u64 owner; /* key of struct owner */
	union {
		__u32 mount; /* number of the mount in which the file was opened */
		__u32 owner_number; /* of a cgroup: see struct owner */
	};
	__u32 flags;
	char path[PATH_BYTES + NAME_BYTES];
};

/* Deferred ticks of one thread, by pc. */
enum { PENDING_SLOTS = 2 };

struct pending_ticks {
	__u64 pc;
	__u32 count;
	__u32 target;
};

/* A place in text that has been translated. */
struct place {
	struct space space; /* kind 0: none */
	__u64 offset;
};

/* With callers: the chain for ticks after the address space is gone. */
struct exit_chain {
	__u64 split; /* it is valid for these three only */
	__u32 target;
	__u32 generation;
	__u32 node; /* NO_NODE: there is none */
	__u32 pad;
};

enum {
	FOLLOW_FROM_EXEC = 1, /* is followed only from its next exec on */
	FOLLOW_NO_CHILDREN = 2,
	FOLLOW_BY_PLACE = 4, /* its target is that of its cgroup or of the system, and may change */
	FOLLOW_EXITING = 8, /* its remaining runtime is known when the task is freed */
};

/*
 * A followed thread. A hit uses the first cache line of this only, which ends with the weight: the
 * kernel has 8 bytes of its own before it.
 */
struct follow {
	__u32 target;
	__u32 flags;
	__u64 kernel; /* its ticks in the kernel; written by the thread's own ticks only */
	struct weight weight;
	__u64 mm; /* its address space, which a tick amid an exec has not; 0: made amid an exec */
	__u64 split; /* the split that its runtime counts for; 0: none */
	__u64 spent; /* how much of its runtime is in an account already */
	__u64 kernel_billed; /* the same for its ticks in the kernel */
	__u64 moved_ns; /* for a process: when it moved into its cgroup; 0: it began there */
	struct pending_ticks pending[PENDING_SLOTS];
	struct pending_ticks exec; /* ticks from the new address space to its first instruction */
	struct place exit; /* where ticks count once the address space is gone */
	struct exit_chain exit_chain;
};

/*
 * The runtime of a process, thread or cgroup into which a target is split, and its ticks that are
 * in no bin; of a process or thread also its name.
 */
struct spent_key {
	__u64 split;
	__u32 target;
	__u32 pad;
};

struct spent_cpu {
	__u64 ns;
	__u64 unbinned;
	__u32 pass; /* the last pass that found a thread of it */
	__u32 owner; /* the number of its owner */
	char comm[16];
};

/* The purpose of a pass over all threads. */
enum pass_kind {
	PASS_BEGIN, /* runtime counts from here on; none is counted until the pass is over */
	PASS_SETTLE, /* runtime is added to the accounts */
	PASS_AWAIT, /* the same after the end, only for threads that were exiting then */
	PASS_TICKS_OFF, /* no ticks from here on, though CPU time counts on */
	PASS_TICKS_ON, /* ticks again from here on, with another period */
};

/*
 * Global data of the passes and of weights. Data that each tick reads comes first, in another cache
 * line than data that each exit writes.
 */
struct cpu_time {
	__u64 period_ns; /* what one tick stands for */
	__u16 ticks_off; /* ticks count nothing for a while */
	__u16 watched; /* programs measure how long they take */
	__u32 gap; /* between two sampled ticks, in 1/GAP_ONE of a tick; 0: each is sampled */
	__u64 since_ns; /* threads that began before this have runtime from before the session */
	__u32 pass; /* number of this pass */
	__u32 kind; /* enum pass_kind */
	__u32 zombies; /* exiting threads that the pass found */
	__u32 attached; /* threads that the pass began to follow, or tried to */
	__u64 pad[3];
	__u64 exits; /* followed threads that began to exit, and those freed since */
	__u64 freed;
};

/* The target and flags of a running process to follow. */
struct attached {
	__u32 target;
	__u32 flags;
};

#define ABI_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
ABI_SIZE(struct cpu_account, 64);
ABI_SIZE(struct target_account, 128);
ABI_SIZE(struct space, 32);
ABI_SIZE(struct record, 1384);
ABI_SIZE(struct follow, 208);
ABI_SIZE(struct spent_key, 16);
ABI_SIZE(struct spent_cpu, 40);
ABI_SIZE(struct cpu_time, 80);
ABI_SIZE(struct attached, 8);

#endif
