/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ROOM_BPF_H
#define BPFPROFIL_ROOM_BPF_H

/* Requests for room. User space makes room before a table is full. */
#include "maps.bpf.h"

/* Sends a request. No other one is sent until user space has answered it. */
static __noinline int request_room(void)
{
	struct record *record;

	if (table_state.room_requested || __sync_lock_test_and_set(&table_state.room_requested, 1))
		return 0;
	record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	if (!record) {
		table_state.room_requested = 0;
		return 0;
	}
	record->type = RECORD_FULL;
	bpf_ringbuf_submit(record, 0);
	return 0;
}

/* Counts one more as used of something that is limited. */
static __always_inline void note_used(u32 *used, u32 many)
{
	if (__sync_fetch_and_add(used, 1) >= many)
		request_room();
}

#endif
