/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_MAPS_BPF_H
#define BPFPROFIL_MAPS_BPF_H

#include "pages.bpf.h"
#include "shared/abi.h"

/*
 * Maps that user space reads are mapped, not looked up: a mapped array starts on a page, so an
 * element of 64 bytes is one cache line. max_entries of 1 are set before load.
 */

/* How often a counter wrapped, by page and counter. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1024);
	__type(key, u64);
	__type(value, u64);
} carries SEC(".maps");

/* Directories of windows, likewise. */
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

/* What has been hit: read only when the translation cache misses, and by user space at the end. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct window_key);
	__type(value, struct window);
} windows SEC(".maps");

/* Files and processes that user space was told of. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct space);
	__type(value, u32);
} spaces SEC(".maps");

/* Numbers of pages and directories that were in use and may be claimed anew. */
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

/* The translation cache, XLAT_SETS for each possible CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xlat_set);
} xlat SEC(".maps");

/* Beside it, where its entries come from. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xlat_origins);
} xlat_origins SEC(".maps");

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

/* Followed threads. Storage lives and dies with the task, so no pid is ever mistaken. */
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

/* The targets of cgroups, by their ids. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u32);
} cgroup_targets SEC(".maps");

/*
 * What the walk up from a cgroup found. No cgroup ever moves under another parent and no id comes
 * again, so that this holds for good.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, u32);
} cgroup_known SEC(".maps");

/* First sights and requests for memory; nothing is sent for a tick. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} records SEC(".maps");

/* BTF has the types of maps and variables alone, and a ring names none: for tests of the layout. */
const struct record *records_hold;

struct pool_state pool = {};
struct cpu_time cpu_time = {};

#endif
