// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The parts of a tick as programs for `prog run`, which cannot run programs on perf events. Tests
 * load this with maps of their own; the product never loads it.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "callers.bpf.h"
#include "follow.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A power of two, and more than are kept of a chain. */
enum { SELFTEST_FRAMES = 128 };

/* Set by the test before a run, or read after it. */
__u64 in_pc = 0;
__u64 in_start = 0;
__u64 in_stop = 0;
__u32 in_end = 0;
__u64 in_offset = 0;
__u64 in_inode = 0;
__u32 in_kind = SPACE_FILE;
__u32 in_exec = 1;
__u32 in_target = 0;
__u32 in_ticks = 1;
__u32 in_who = 0;
__u32 in_stamp = 0;
struct text_range out_range = {};
__u32 out_slot = 0;
__u32 out_found = 0;
__u64 out_site = 0;
__u32 out_target = 0;
__u64 in_sites[SELFTEST_FRAMES] = {};
__u32 in_nr = 0;
__u32 in_text = 0;
__u32 in_epoch = 0;
__u64 in_rule_at = 0;
__u32 out_node = 0;
__s32 out_rule = 0;
__u64 in_billed = 0;
__u64 in_now = 0;
__u64 out_fresh = 0;
__u64 in_key = 0;
__u32 out_owner = 0;

static __always_inline struct tick the_tick(void)
{
	return (struct tick){ .pc = in_pc, .who = in_who, .stamp = in_stamp };
}

static __always_inline void set_mapping(struct mapping *mapping)
{
	mapping->start = in_start;
	mapping->end = in_stop;
	mapping->offset = in_offset;
	mapping->exec = in_exec;
	mapping->space.kind = in_kind;
	mapping->space.b = in_inode;
}

/* Makes a range of the mapping, and a site of its pc. */
SEC("raw_tp")
int selftest_range(void *ctx)
{
	u32 epoch = table_state.epoch;
	struct text_range range = {};
	struct mapping mapping = {};

	set_mapping(&mapping);
	out_found = range_of_mapping(&mapping, epoch, &range);
	out_site = out_found ? range_place(&range, in_pc) : 0;
	range.who = in_who;
	range.stamp = in_stamp;
	range.target = in_target;
	out_range = range;
	return 0;
}

/* Puts the last range where the tick's is looked up. */
SEC("raw_tp")
int selftest_put(void *ctx)
{
	struct text_range range = out_range, *place;
	struct tick tick = the_tick();

	out_slot = range_slot(bpf_get_smp_processor_id(), tick.who, tick.pc, RANGE_NEAR);
	place = bpf_map_lookup_elem(&ranges, &out_slot);
	if (place)
		range_put(place, &range);
	return 0;
}

/* Looks up the tick's range as the handler does, and counts a hit. */
SEC("raw_tp")
int selftest_find(void *ctx)
{
	struct tick tick = the_tick();
	struct text_range *range;

	out_slot = range_slot(bpf_get_smp_processor_id(), tick.who, tick.pc, RANGE_NEAR);
	range = bpf_map_lookup_elem(&ranges, &out_slot);
	out_found = range && range_holds(range, tick.who, tick.pc, tick.stamp);
	if (out_found) {
		out_site = range_place(range, tick.pc);
		range_hit(range, in_ticks);
	}
	return 0;
}

SEC("raw_tp")
int selftest_owner(void *ctx)
{
	out_owner = owner_number(in_key);
	return 0;
}

/* Counts ticks at a place of a target, or near it, or as lost. */
SEC("raw_tp")
int selftest_count(void *ctx)
{
	out_found = count_site(in_target, in_end, in_sites[0], in_ticks);
	return 0;
}

/* Finds the target of a tick of the task that runs this. */
SEC("raw_tp")
int selftest_target(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct tick tick = {};
	struct follow *follow =
		follow_at_tick(task, bpf_task_storage_get(&follows, task, NULL, 0), &tick);

	out_target = follow ? follow->target : NO_TARGET;
	return 0;
}

SEC("raw_tp")
int selftest_bill(void *ctx)
{
	out_fresh = bill(&in_billed, in_now);
	return 0;
}

/* Enters a chain, the leaf first, as a walk that has just ended. */
SEC("raw_tp")
int selftest_chain(void *ctx)
{
	u32 cpu = 0, i;
	struct walk *walk = bpf_map_lookup_elem(&walks, &cpu);

	if (!walk)
		return 0;
	for (i = 0; i < SELFTEST_FRAMES && i < in_nr; i++)
		walk->sites[i] = in_sites[i];
	walk->nr = in_nr;
	walk->base = 0;
	walk->owner = NO_OWNER;
	out_node = enter_chain(cpu, in_target);
	return 0;
}

/* Enters the leaf of the chain for which there was no room. */
SEC("raw_tp")
int selftest_leaf(void *ctx)
{
	out_node = enter_leaf(0);
	return 0;
}

/* Looks up the rule of a caller. */
SEC("raw_tp")
int selftest_rule(void *ctx)
{
	out_rule = find_rule(0, in_text, in_epoch, in_rule_at, true);
	return 0;
}
