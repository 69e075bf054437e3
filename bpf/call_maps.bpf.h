/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_MAPS_BPF_H
#define BPFPROFIL_CALL_MAPS_BPF_H

/* The maps of the calls. Where max_entries is 1 it is set before load. */
#include "chunks.bpf.h"

#define CALL_LINE(lines, number) bpf_map_lookup_elem(lines, &(number))
#include "shared/call_abi.h"

/* Calls in force, and ended ones whose counters are still to be copied. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct call);
} calls SEC(".maps");

/* Slots that no call uses. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, u32);
} free_calls SEC(".maps");

/*
 * The call of a process, stored at its first thread. So it holds for all threads, including those
 * that already ran; it cannot be taken for that of a later process with the same pid; and it goes
 * away with the process.
 */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call_ref);
} call_refs SEC(".maps");

/* One for each thread that had a tick for a call. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call_weight);
} call_weights SEC(".maps");

/* The lines of all region tables. */
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

/* The number of pages in the map made at load. Set before load. */
const volatile __u32 base_pages = CHUNK_PAGES;

/* The memory of counters. The first pages are in this map; more come in chunks. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CHUNK_PAGES);
	__type(key, u32);
	__type(value, struct counter_page);
} pages SEC(".maps");

/*
 * Key and value are given by size and not by type, because 6.1 treats a map with BTF and one
 * without as different.
 */
struct page_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CHUNK_PAGES);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct counter_page));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct page_chunk);
} page_chunks SEC(".maps");

/* Pages that calls gave back, zeroed. */
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

/* Gets a record when a call has its first tick since the last copy, and when a call ends. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} call_records SEC(".maps");

/*
 * BTF holds the types of maps and variables only, and a ring buffer names no type. This variable
 * shows the tests the layout of its records.
 */
const struct call_record *call_records_hold;

struct call_globals globals = {};

#endif
