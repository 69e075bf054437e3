/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_MAPS_BPF_H
#define BPFPROFIL_MAPS_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "shared/abi.h"

/*
 * The maps of host.bpf.c. User space maps those that it reads instead of looking elements up. A
 * mapped array starts on a page, so an element of 64 bytes is one cache line. Where max_entries is
 * 1 it is set before load.
 */

/* Files, processes and cgroups that user space has been told of: enum space_state. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct space);
	__type(value, u32);
} spaces SEC(".maps");

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

/* Ticks read the first cache line of both. */
struct cpu_time cpu_time __attribute__((aligned(64))) = {};
struct table_state table_state __attribute__((aligned(64))) = {};

#endif
