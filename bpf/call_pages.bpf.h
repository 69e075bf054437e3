/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_PAGES_BPF_H
#define BPFPROFIL_CALL_PAGES_BPF_H

/* The pages of a call. A call has memory only for counters that were hit. */
#include "call_maps.bpf.h"

/* False: the ring buffer is full. Because of `missed`, user space then checks all calls. */
static __always_inline bool send_record(u32 type, u32 slot, u32 serial)
{
	struct call_record *record = bpf_ringbuf_reserve(&call_records, sizeof(*record), 0);

	if (!record) {
		__sync_fetch_and_add(&globals.missed, 1);
		return false;
	}
	record->type = type;
	record->call.slot = slot;
	record->call.serial = serial;
	bpf_ringbuf_submit(record, 0);
	return true;
}

/*
 * It is a function of its own, so that the others stay short: this code is as rarely in the caches
 * as its data.
 */
static __noinline struct counter_page *page_in_chunk(u32 page)
{
	return in_chunk(&page_chunks, page, &base_pages, CHUNK_PAGES);
}

static __always_inline struct counter_page *page_at(u32 ref)
{
	u32 page = page_number(ref);

	return bpf_map_lookup_elem(&pages, &page) ?: page_in_chunk(page);
}

static __always_inline u32 *inline_page(struct call *call, u64 index)
{
	barrier_var(index); /* the verifier must see the mask here */
	return &call->pages[index & (CALL_INLINE_PAGES - 1)];
}

static __always_inline u32 held_page(struct call *call, u32 slot, u64 index)
{
	struct call_page_key key = {};
	u32 *number;

	if (index < CALL_INLINE_PAGES)
		return *inline_page(call, index);
	key.call.slot = slot;
	key.call.serial = call->serial;
	key.index = index;
	number = bpf_map_lookup_elem(&call_pages, &key);
	return number ? *number : NO_PAGE;
}

/* Sends one request. No other one is sent until user space has answered it. */
static __always_inline void request_growth(void)
{
	if (!__sync_lock_test_and_set(&globals.room_requested, 1) && !send_record(CALL_GROW, 0, 0))
		globals.room_requested = 0;
}

/*
 * An unused page: one that was given back, or else the next one. First the next one is tested, so
 * that numbers never exceed the memory. NO_PAGE: there is none.
 */
static __always_inline u32 unused_page(void)
{
	u32 number;

	if (!bpf_map_pop_elem(&free_pages, &number))
		return page_ref(number);
	/* It is read only here, because a failing pop clears the variable. */
	number = *(volatile u32 *)&globals.next_page;
	if (number >= globals.page_low)
		request_growth();
	if (number >= globals.page_limit || !page_at(page_ref(number)))
		return NO_PAGE;
	number = __sync_fetch_and_add(&globals.next_page, 1);
	return page_at(page_ref(number)) ? page_ref(number) : NO_PAGE;
}

/*
 * Enters a page as the call's page at index. If another CPU was first, that one's page is returned.
 */
static __always_inline u32 enter_page(struct call *call, u32 slot, u64 index, u32 page)
{
	struct call_page_key key = {};
	u32 *held;

	if (index < CALL_INLINE_PAGES) {
		u32 before = __sync_val_compare_and_swap(inline_page(call, index), NO_PAGE, page);

		return before ? before : page;
	}
	key.call.slot = slot;
	key.call.serial = call->serial;
	key.index = index;
	if (!bpf_map_update_elem(&call_pages, &key, &page, BPF_NOEXIST))
		return page;
	held = bpf_map_lookup_elem(&call_pages, &key);
	return held ? *held : NO_PAGE;
}

/* Claims a new page for the call at index. NO_PAGE: there is no memory. */
__noinline u32 claim_call_page(struct call *call, u32 slot, u64 index)
{
	struct call_page_info *info;
	struct call_owner *owner;
	u32 page, held, at;

	if (!call)
		return NO_PAGE;
	at = call->owner;
	owner = bpf_map_lookup_elem(&call_owners, &at);
	if (!owner)
		return NO_PAGE;
	if (!call_share_acquire(&owner->pages, owner->page_limit, &globals.pages,
				globals.page_limit))
		return NO_PAGE;
	page = unused_page();
	at = page_number(page);
	info = bpf_map_lookup_elem(&call_page_infos, &at); /* fails for NO_PAGE */
	if (!info)
		goto give_back;
	held = index & CALL_PAGE_INHERITED ? page : enter_page(call, slot, index, page);
	if (held != page) {
		bpf_map_push_elem(&free_pages, &at, 0);
		call_share_release(&owner->pages, &globals.pages);
		return held;
	}
	info->call.slot = slot;
	info->call.serial = call->serial;
	info->index = index;
	info->next = __sync_lock_test_and_set(&call->first_page, page);
	return page;

give_back:
	call_share_release(&owner->pages, &globals.pages);
	return NO_PAGE;
}

static __always_inline struct counter_page *call_page(struct call *call, u32 slot, u64 index)
{
	u32 page = held_page(call, slot, index);

	if (!page)
		page = claim_call_page(call, slot, index);
	return page ? page_at(page) : NULL;
}

#endif
