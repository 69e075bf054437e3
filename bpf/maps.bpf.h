/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_MAPS_BPF_H
#define BPFPROFIL_MAPS_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "map_kinds.bpf.h"
#include "shared/abi.h"

/* The maps of host.bpf.c that several files use. */

/* The files, processes and cgroups that were announced to user space: enum space_state. */
HASH(spaces, struct space, u32, 1);

/* One for each possible CPU. */
MAPPED_ARRAY(cpu_accounts, struct cpu_account, 1);

/* One for each target. */
MAPPED_ARRAY(target_accounts, struct target_account, 1);

TASK_STORAGE(follows, struct follow);

/* Runtime by process, thread or cgroup; empty without --split. */
HASH(spent_cpus, struct spent_key, struct spent_cpu, 1);

/* Running processes to follow, by pid. They are read once, when the session begins. */
HASH(attached, u32, struct attached, 1);

HASH(cgroup_targets, u64, u32, 1);

/*
 * The result of the walk up from a cgroup. It stays valid, because a cgroup never gets another
 * parent and its id is never reused.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, u32);
} cgroup_known SEC(".maps");

/* Announcements, and requests for room. Ticks send nothing. */
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
 * Begins to load data that a tick needs later. At 99 Hz hardly any of it is in the caches. In a
 * guest, the first line of a page takes some 0.35 us, but four pages that are loaded at once take
 * less than 0.1 us more.
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
