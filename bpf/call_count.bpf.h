/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_COUNT_BPF_H
#define BPFPROFIL_CALL_COUNT_BPF_H

/* Counts a tick of a call: finds the counter, adds to it, and ends the call if its rules say so. */
#include "call_pages.bpf.h"
#include "shared/call_stop.h"
#include "shared/dialect.h"
#include "weight.bpf.h"

/* Reports only the first tick after a copy, because user space copies some time later anyway. */
static __always_inline void mark_dirty(struct call *call, u32 slot)
{
	if (call->dirty || __sync_lock_test_and_set(&call->dirty, 1))
		return;
	if (!send_record(CALL_DIRTY, slot, call->serial))
		call->dirty = 0;
}

/* True for the one caller that switched the call off. */
static __always_inline bool switch_off(struct call *call)
{
	if (__sync_val_compare_and_swap(&call->phase, CALL_ON, CALL_OFF) != CALL_ON)
		return false;
	__sync_fetch_and_sub(&globals.running[call->flags & CALL_IS_FAST], 1);
	return true;
}

/* Ends a call at this tick, because its dialect's rules say so. */
static __always_inline void stop(struct call *call, u32 why, u32 region, u64 counter)
{
	if (!switch_off(call))
		return;
	call->stop_region = region;
	call->stop_counter = counter;
	call->stop = why;
}

/*
 * Under solaris' rules, a counter that reaches the limit keeps that count and ends the call. A
 * counter that the program itself set above the limit ends the call too, and keeps its value.
 */
static __always_inline void count_to_limit(struct call *call, u32 *counter, u32 region, u64 bin,
					   u32 n)
{
	u32 before = __sync_fetch_and_add(counter, n), over;
	u64 after = dialect_count(FULL_STOPS, sizeof(*counter), before, n);

	if (after < DIALECT_LIMIT)
		return;
	over = before + n - after;
	__sync_fetch_and_sub(counter, over);
	__sync_fetch_and_add(&call->over_limit, over);
	stop(call, CALL_STOP_LIMIT, region, bin);
}

/*
 * The region of a pc. Most ticks are in the region of the last one, and one cache line shows that.
 */
static __always_inline const struct call_region *find_region(struct call *call, u64 pc)
{
	u32 number = call->hint;
	struct call_line *line = bpf_map_lookup_elem(&call_lines, &number);

	if (line && number && call_region_covers(&line->region, pc))
		return &line->region;
	number = call_table_search(&call->table, &call_lines, pc);
	line = bpf_map_lookup_elem(&call_lines, &number);
	if (!line)
		return NULL;
	call->hint = number;
	return &line->region;
}

static __always_inline void count_pc(struct call *call, u32 slot, u64 pc, u32 n)
{
	const struct call_region *region = find_region(call, pc);
	u64 bin = region ? call_region_bin(region, pc) : 0, flat;
	struct counter_page *page;

	if (!region || bin >= region->counters) {
		__sync_fetch_and_add(&call->outside, n);
		return;
	}
	flat = region->first + bin;
	page = call_page(call, slot, flat >> PAGE_SHIFT_COUNTERS);
	if (!page) {
		__sync_fetch_and_add(&call->no_memory, n);
		return;
	}
	flat &= PAGE_COUNTERS - 1;
	if (call->flags & CALL_HAS_LIMIT)
		count_to_limit(call, &page->counters[flat], region->number, bin, n);
	else
		__sync_fetch_and_add(&page->counters[flat], n);
}

/* Appends the pc to the others, for pcsample(). The last pc that fits ends the call. */
static __always_inline void store_pc(struct call *call, u32 slot, u64 pc)
{
	u64 index = __sync_fetch_and_add(&call->next, 1), *samples;
	struct counter_page *page;

	if (index >= call->capacity) {
		/* Another CPU used the last place. This tick came after the end. */
		__sync_fetch_and_sub(&call->next, 1);
		__sync_fetch_and_sub(&call->ticks, 1);
		return;
	}
	page = call_page(call, slot, index / CALL_PAGE_PCS);
	if (!page) {
		/* Without memory the call ends here, because a gap would shift all later pcs. */
		__sync_fetch_and_add(&call->no_memory, 1);
		stop(call, CALL_STOP_FULL, 0, index);
		return;
	}
	samples = (u64 *)page->counters;
	samples[index & (CALL_PAGE_PCS - 1)] = pc | CALL_PC_WRITTEN;
	if (index + 1 == call->capacity)
		stop(call, CALL_STOP_FULL, 0, index);
}

struct same_pcs {
	struct call *call;
	u64 pc;
	u32 slot;
	u32 n;
};

static long store_another(u32 i, void *data)
{
	struct same_pcs *pcs = data;

	store_pc(pcs->call, pcs->slot, pcs->pc);
	return i + 1 >= pcs->n;
}

/* Stores a pc as many times as its sample stands for ticks. */
static __always_inline void store_pcs(struct call *call, u32 slot, u64 pc, u32 n)
{
	struct same_pcs pcs = { .call = call, .pc = pc, .slot = slot, .n = n };

	bpf_loop(WEIGHT_MAX, store_another, &pcs, 0);
}

/* If a run began long before the call, only its part since the call counts. */
static __always_inline void begin_weight(struct call_weight *weight, const struct call_ref *ref,
					 struct task_struct *task, u64 period)
{
	u64 run = runtime_at_run_begin(task), runtime = task->se.sum_exec_runtime;

	weight->call = *ref;
	weight->weight = (struct weight){
		.run = run,
		.base = runtime - run > 2 * period ? runtime : run,
	};
}

static __always_inline u32 weigh_call_tick(const struct call_ref *ref, struct task_struct *task,
					   u64 period)
{
	struct call_weight *weight;

	weight = bpf_task_storage_get(&call_weights, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!weight || !period)
		return 1;
	if (weight->call.slot != ref->slot || weight->call.serial != ref->serial)
		begin_weight(weight, ref, task, period);
	return weigh_sample(&weight->weight, task, period, 0);
}

#endif
