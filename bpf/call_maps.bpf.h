/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_MAPS_BPF_H
#define BPFPROFIL_CALL_MAPS_BPF_H

/* The maps of the calls. */
#include "map_kinds.bpf.h"

#define CALL_LINE(lines, number) bpf_map_lookup_elem(lines, &(number))
#include "shared/call_abi.h"

/* Calls that are on, and ended ones whose counters must still be copied. */
MAPPED_ARRAY(calls, struct call, 1);

/* Slots that no call uses. */
FREE_NUMBERS(free_calls, 1);

/*
 * The call of a process, stored at its first thread. All threads use it, including older ones. A
 * later process with the same pid does not get it, because it ends with the process.
 */
TASK_STORAGE(call_refs, struct call_ref);

/* One for each thread that had a tick for a call. */
TASK_STORAGE(call_weights, struct call_weight);

/* The lines of all region tables. */
MAPPED_ARRAY(call_lines, struct call_line, 1);

MAPPED_ARRAY(call_specs, struct call_spec, 1);

MAPPED_ARRAY(call_owners, struct call_owner, 1);

HASH(call_pages, struct call_page_key, u32, 1);

MAPPED_ARRAY(call_page_infos, struct call_page_info, 1);

/* The number of pages in the map made at load. Set before load. */
const volatile __u32 base_pages = CHUNK_PAGES;

/* The memory of counters. The first pages are in this map; more come in chunks. */
MAPPED_ARRAY(pages, struct counter_page, CHUNK_PAGES);

ADDED_ARRAYS(page_chunks, page_chunk, 0, struct counter_page, CHUNK_PAGES, 1);

/* Pages that calls gave back, zeroed. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, 1);
	__type(value, u32);
} free_pages SEC(".maps");

/* One for each possible CPU. */
MAPPED_ARRAY(call_cpus, struct call_cpu, 1);

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
