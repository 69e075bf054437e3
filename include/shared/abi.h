/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ABI_H
#define BPFPROFIL_ABI_H

#include "shared/binning.h"
#include "shared/counters.h"
#include "shared/types.h"
#include "shared/weight.h"

/*
 * What the BPF programs and the engine share in maps. Fixed widths, named padding, every layout
 * asserted. Both sides are built together, so the layout may change with any commit.
 */

/* Whose pc a tick in kernel mode is billed to: the user's, nobody's, the kernel's own. */
enum tick_mode { MODE_CHARGED, MODE_USER, MODE_SPLIT };

/* As many CPUs as may be told to have no scheduler's tick; Debian's kernels know of 8,192. */
enum { TICKLESS_CPUS = 8192 };

/* How finely a target is told apart: not at all, by process, by cgroup, by thread. */
enum split { SPLIT_NONE, SPLIT_PROCESS, SPLIT_CGROUP, SPLIT_THREAD };

/* Pages and windows come from maps of 1 MiB each that user space adds as they fill. */
enum { CHUNK_PAGES = 256, CHUNK_WINDOWS = 2048 };

#define NO_DIR 0xffffffff
#define NO_PAGE 0xffffffff

struct counter_page {
	__u32 counters[PAGE_COUNTERS];
};

/* Where the pages of one window are: page number + 1, or 0 where nothing was hit. */
struct window_dir {
	__u32 pages[WINDOW_PAGES];
};

/*
 * A cached translation: which counters the text around a pc has. Two ways in a cache line, so that
 * a hit costs one. An entry belongs to the process and the state of its address space that made
 * it; either differs, it does not match.
 */
struct xlat_entry {
	__u32 who; /* the address space and process, see xlat.bpf.h */
	__u32 stamp; /* state of the address space */
	__u64 where; /* start of the text, page aligned, with the target in the low bits */
	__u16 span; /* pages of text; 0: empty */
	__u16 ticks; /* hits not yet added to the target's */
	__u32 dir; /* the window's directory */
	__u32 place; /* start's page in the window (27 bits), bin shift (5 bits) */
	__u32 hot; /* number + 1 of the page last counted in (25 bits), its directory entry (7) */
};

enum {
	XLAT_WAYS = 2,
	XLAT_SETS_SHIFT = 8,
	XLAT_SETS = 1 << XLAT_SETS_SHIFT,
	XLAT_PAGE_SHIFT = 12, /* granule of mappings, whatever the processor's page */
	XLAT_TARGET_MASK = (1 << XLAT_PAGE_SHIFT) - 1,
	XLAT_PLACE_BITS = 27,
	XLAT_HOT_BITS = 32 - WINDOW_SHIFT_PAGES,
	XLAT_HOT_MASK = (1 << XLAT_HOT_BITS) - 1, /* a page with a higher number is looked up */
	XLAT_SPAN_MAX = 0xffff,
	TARGETS_MAX = 1 << XLAT_PAGE_SHIFT,
};

#define NO_TARGET 0xffffffff

struct xlat_set {
	struct xlat_entry way[XLAT_WAYS];
};

/*
 * What an entry was made from, read only when its stamp is old: most changes of an address space
 * leave its text alone.
 */
struct xlat_origin {
	__u64 vma; /* the kernel's mapping; may be freed by now */
	__u64 inode; /* its file's, 0 for anonymous text */
	__u64 delta; /* file offset - address, 0 for anonymous text */
	__u64 pad;
};

struct xlat_origins {
	struct xlat_origin way[XLAT_WAYS];
};

/* How one CPU's cache did. */
struct cpu_account {
	__u64 misses;
	__u64 renewed; /* old entries that still held */
	__u64 hits; /* ticks of hits, beside those that entries still hold */
	__u64 missed; /* ticks of misses */
	__u64 pad[4];
};

/*
 * A target's ticks, beside those that entries still hold. `ticks` and the rest are counted on
 * different paths, so that the account is a check and not a sum.
 */
struct target_account {
	__u64 ticks;
	__u64 outside;
	__u64 filtered;
	__u64 deferred; /* put off because the mapping could not be read */
	__u64 settled; /* of these, filed later */
	__u64 lost[LOST_CAUSE_COUNT];
	__u64 coarse; /* filed in wider bins than asked, for want of memory */
	__u64 merged; /* of these, in the widest, and with those of others: see count_shift() */
	__u64 forks_missed; /* children that could not be followed */
	__u64 cpu_ns; /* runtime of its tasks that no spent_cpu has */
	__u64 excess; /* sum of n * (n - 1) over samples that stand for n ticks */
	__u64 pad;
};

/*
 * What a window belongs to. The last two stand for a process and a cgroup themselves, where user
 * space is told of them.
 */
enum space_kind {
	SPACE_FILE = 1,
	SPACE_ANON,
	SPACE_KERNEL,
	SPACE_VDSO,
	SPACE_PROCESS,
	SPACE_CGROUP,
};

/*
 * SPACE_FILE: a = inode's address, b = inode number. While anyone maps or pins the file the
 * address is unique on the host, also where device and number are not (btrfs subvolumes).
 * SPACE_ANON: a = start time of the process, b = its pid; both 0: of processes for which there was no
 * room, by the place in their mappings. SPACE_VDSO: a = the image's address.
 * SPACE_PROCESS, SPACE_CGROUP: a = the split's id.
 */
struct space {
	__u64 a;
	__u64 b;
	__u32 generation;
	__u32 dev;
	__u32 kind;
	__u32 pad;
};

/*
 * A process or thread by its start in us and its pid, which together no two have in a host's life, bar one
 * chance in 50 days to the microsecond.
 */
enum { SPLIT_PID_BITS = 22 /* PID_MAX_LIMIT */ };

struct window_key {
	struct space space;
	__u64 window;
	__u64 split; /* id of the process or cgroup; 0: not told apart */
	__u32 target;
	__u32 shift;
};

struct window {
	__u32 dir; /* number of its window_dir */
	__u32 pad;
};

/*
 * The first sight of a file, of a process with anonymous text, or of the process or cgroup of a
 * split, told to user space.
 */
enum { RECORD_SPACE = 1, RECORD_GROW = 2, PATH_BYTES = 1024, PATH_PARTS = 48, NAME_BYTES = 256 };

struct record {
	__u32 type;
	__u32 tgid;
	struct space space;
	__u64 start; /* the mapping it was seen in */
	__u64 end;
	__u64 size; /* of the file */
	char comm[16];
	__u32 path_len; /* names from the file up to the root, each with its NUL */
	__u32 pad;
	char path[PATH_BYTES + NAME_BYTES];
};

/* Shared as global data: what user space tells the programs and what it watches. */
struct pool_state {
	__u32 next_page;
	__u32 next_window;
	__u32 page_limit; /* --memory: no page from here on */
	__u32 fine_limit; /* nor, from here on, one for bins as fine as asked */
	__u32 fine_windows; /* nor a window for them; the others are for wide bins */
	__u32 wide_limit; /* nor, from here on, a page for bins but the widest */
	__u32 wide_windows; /* nor a window for them */
	__u32 page_low; /* ask for more pages from here on */
	__u32 window_low;
	__u32 asked; /* a request is under way */
};

/* Ticks of one thread that could not be filed when they fell, by pc. */
enum { PENDING_SLOTS = 2 };

struct pending {
	__u64 pc;
	__u32 count;
	__u32 target;
};

/* A place in text, once translated. */
struct place {
	struct space space; /* kind 0: none */
	__u64 offset;
};

enum {
	FOLLOW_FROM_EXEC = 1, /* not before its next exec */
	FOLLOW_NO_CHILDREN = 2,
	FOLLOW_BY_PLACE = 4, /* its target is that of the place it is in, and may change */
	FOLLOW_EXITING = 8, /* its last runtime is told when the task is freed */
};

/* A followed thread. A tick reads its first cache line. */
struct follow {
	__u32 target;
	__u32 flags;
	__u64 mm; /* id of its address space; another at a tick: it is in an exec. 0: it was in one
		     when it was first seen */
	struct weight weight;
	__u64 split; /* the process or cgroup that its runtime is of; 0: not told apart */
	__u64 spent; /* its runtime as far as it is in an account */
	__u64 moved_ns; /* of a process: when it came into its cgroup; 0: it began there */
	struct pending pending[PENDING_SLOTS];
	struct pending exec; /* ticks between the new address space and its first instruction */
	struct place exit; /* where to file ticks once the address space is gone */
};

/* The runtime of a process or cgroup of a split, and its ticks that are in no bin. */
struct spent_key {
	__u64 split;
	__u32 target;
	__u32 pad;
};

struct spent_cpu {
	__u64 ns;
	__u64 unbinned;
	__u32 walk; /* the last one that found a thread of it */
	__u32 pad;
};

/* What a walk over all threads is for. */
enum walk_kind {
	WALK_BEGIN, /* their runtime is to count from here on; until the walk is over none does */
	WALK_SETTLE, /* it is brought to account */
	WALK_AWAIT, /* the same, after the end, of those alone that were exiting then */
};

/* Shared as global data, beside pool_state: between user space and the walks, and for weights. */
struct cpu_time {
	__u64 period_ns; /* what a tick stands for */
	__u64 since_ns; /* threads that began before have runtime that is not ours */
	__u32 walk; /* number of this walk */
	__u32 kind; /* enum walk_kind */
	__u32 zombies; /* exiting threads that it found */
	__u32 attached; /* threads that are followed since it came by */
	__u64 exits; /* followed threads that began to exit, and that were freed since */
	__u64 freed;
};

/* What a running process is to be followed as. */
struct attached {
	__u32 target;
	__u32 flags;
};

#define ABI_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
ABI_SIZE(struct counter_page, 4096);
ABI_SIZE(struct window_dir, 512);
ABI_SIZE(struct xlat_entry, 32);
ABI_SIZE(struct xlat_set, 64);
ABI_SIZE(struct xlat_origins, 64);
ABI_SIZE(struct cpu_account, 64);
ABI_SIZE(struct target_account, 128);
ABI_SIZE(struct space, 32);
ABI_SIZE(struct window_key, 56);
ABI_SIZE(struct window, 8);
ABI_SIZE(struct record, 1368);
ABI_SIZE(struct pool_state, 40);
ABI_SIZE(struct follow, 168);
ABI_SIZE(struct spent_key, 16);
ABI_SIZE(struct spent_cpu, 24);
ABI_SIZE(struct cpu_time, 48);
ABI_SIZE(struct attached, 8);

#endif
