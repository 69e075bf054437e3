/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PAGES_BPF_H
#define BPFPROFIL_PAGES_BPF_H

/* The memory of counters; each map element is a page of them. */
#include "chunks.bpf.h"
#include "shared/binning.h"

/* The number of pages in the map made at load; further ones come from chunks. Set before load. */
const volatile __u32 base_pages = CHUNK_PAGES;

/* The first pages are in this map; more come in chunks. */
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

/* A function of its own, so that the others stay short: their code is as cold as their data. */
static __noinline struct counter_page *page_in_chunk(u32 page)
{
	return in_chunk(&page_chunks, page, &base_pages, CHUNK_PAGES);
}

static __always_inline struct counter_page *page_at(u32 page)
{
	return bpf_map_lookup_elem(&pages, &page) ?: page_in_chunk(page);
}

/*
 * Takes a page that nobody uses: a freed one, if there are any, or else the next. It looks before it
 * takes, so that numbers never run past memory that is not there yet. From `low` on it asks for more
 * memory. NO_PAGE: there is none below the limit.
 */
static __always_inline u32 unused_page(void *freed, bool any, u32 *next, u32 limit, const u32 *low,
				       void (*ask)(void))
{
	u32 number;

	if (any && !bpf_map_pop_elem(freed, &number)) {
		if (number < limit && page_at(number))
			return number;
		bpf_map_push_elem(freed, &number, BPF_ANY);
	}
	/* This is set only here, because a pop that fails clears it. */
	number = *(volatile u32 *)next;
	if (number >= *low)
		ask();
	if (number >= limit || !page_at(number))
		return NO_PAGE;
	number = __sync_fetch_and_add(next, 1);
	return page_at(number) ? number : NO_PAGE;
}

#endif
