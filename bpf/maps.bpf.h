/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_MAPS_BPF_H
#define BPFPROFIL_MAPS_BPF_H

#include "pages.bpf.h"
#include "shared/abi.h"

/*
 * The maps of host.bpf.c. User space maps those that it reads instead of looking elements up. A
 * mapped array starts on a page, so an element of 64 bytes is one cache line. Where max_entries is
 * 1 it is set before load.
 */

/*
 * How often a counter wrapped, by page and counter, or by element of the tree of callers. User space
 * could also read each counter before it wraps. But at 100 kHz 64 CPUs fill 32 bits in 11 minutes, and
 * a session that is stopped for longer would lose 2^32 ticks unnoticed. Noticing them here costs some
 * ten instructions of a tick and 23 lines.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1024);
	__type(key, u64);
	__type(value, u64);
} carries SEC(".maps");

/* Directories of windows; as with pages, more come in chunks. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CHUNK_WINDOWS);
	__type(key, u32);
	__type(value, struct window_dir);
} dirs SEC(".maps");

struct dir_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CHUNK_WINDOWS);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct window_dir));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct dir_chunk);
} dir_chunks SEC(".maps");

/*
 * The windows that were hit. Read only when the translation cache misses, and by user space at the
 * end.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct window_key);
	__type(value, struct window);
} windows SEC(".maps");

/* Files, processes and cgroups that user space has been told of: enum told. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct space);
	__type(value, u32);
} spaces SEC(".maps");

/* Numbers of pages and directories that were in use and may be claimed again. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, u32);
} free_pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, u32);
} free_dirs SEC(".maps");

/* The translation cache: XLAT_SETS for each possible CPU, and then as many for each one's spaces. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xlat_set);
} xlat SEC(".maps");

/* For each entry of the cache, what it was made from. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xlat_origins);
} xlat_origins SEC(".maps");

/* TICK_RANGES for each possible CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tick_ranges);
} tick_ranges SEC(".maps");

/* One for each possible CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cpu_account);
} cpu_accounts SEC(".maps");

/* One for each target. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct target_account);
} target_accounts SEC(".maps");

/*
 * Followed threads. The storage goes away with its task, so a reused pid is never mistaken for the
 * old one.
 */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct follow);
} follows SEC(".maps");

/* Runtime by process or cgroup; empty where a session does not tell them apart. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct spent_key);
	__type(value, struct spent_cpu);
} spent_cpus SEC(".maps");

/* Running processes to follow, by pid; read once, when the session begins. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct attached);
} attached SEC(".maps");

/* The targets of cgroups, by cgroup id. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u32);
} cgroup_targets SEC(".maps");

/*
 * What the walk up from a cgroup found. A cgroup never moves to another parent and its id is never
 * reused, so the result stays valid.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, u32);
} cgroup_known SEC(".maps");

/* First sights and requests for memory; nothing is sent per tick. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} records SEC(".maps");

/*
 * BTF holds the types of maps and variables only, and a ring buffer names no type. This variable
 * shows the tests the layout of its records.
 */
const struct record *records_hold;

/*
 * Begins to load what a tick needs later. At 99 Hz hardly anything of it is in the caches: the first line of
 * a page takes some 0.35 us in a guest, and those of four pages loaded at once not 0.1 us more.
 */
static __always_inline void touch(const volatile void *data)
{
	(void)*(const volatile u32 *)data;
}

/* See keep_stack(). */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} no_programs SEC(".maps");

struct pool_state pool = {};
struct cpu_time cpu_time = {};

#endif
