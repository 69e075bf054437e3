/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_MAPS_BPF_H
#define BPFPROFIL_CALL_MAPS_BPF_H

/* The maps of the calls, beside the pages of counters. max_entries of 1 are set before load. */
#include "pages.bpf.h"

#define CALL_LINE(lines, number) bpf_map_lookup_elem(lines, &(number))
#include "shared/call_abi.h"

/* Calls in force and those whose counters are still to be copied. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct call);
} calls SEC(".maps");

/* Slots of calls that are free. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, u32);
} free_calls SEC(".maps");

/*
 * The call of a process, at its first thread: so it holds for all threads, those that already ran
 * too, it is of this process and no later one with its pid, and it goes when the process does.
 */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call_ref);
} call_refs SEC(".maps");

/* Of each thread that had a tick for a call. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call_weight);
} call_weights SEC(".maps");

/* The lines of all tables of regions. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct call_line);
} call_lines SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct call_spec);
} call_specs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct call_owner);
} call_owners SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct call_page_key);
	__type(value, u32);
} call_pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct call_page_info);
} call_page_infos SEC(".maps");

/* Pages that calls gave back, all zero. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, 1);
	__type(value, u32);
} free_pages SEC(".maps");

/* One for each possible CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct call_cpu);
} call_cpus SEC(".maps");

/* A record when a call gets its first tick since the last copy, and when one ends. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} call_records SEC(".maps");

/* BTF has the types of maps and variables alone, and a ring names none: for tests of the layout. */
const struct call_record *call_records_hold;

struct call_globals globals = {};

#endif
