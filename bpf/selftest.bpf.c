// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The sampling logic as programs that `prog run` can start, which it cannot do for perf_event
 * programs. Tests load this with maps of their own; the product never loads it.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "follow.bpf.h"
#include "recall.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A power of two, and more than are kept of a chain. */
enum { SELFTEST_FRAMES = 128 };

/* Set by the test before a run, or read after it. */
__u64 in_pc = 0;
__u64 in_start = 0;
__u64 in_end = 0;
__u64 in_offset = 0;
__u64 in_inode = 0;
__u32 in_kind = SPACE_FILE;
__u32 in_exec = 1;
__u32 in_target = 0;
__u32 in_ticks = 1;
__u32 in_who = 0;
__u32 in_stamp = 0;
struct xlat_entry out_entry = {};
__u32 out_slot = 0;
__u32 out_found = 0;
__u64 out_in_window = 0;
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

static __always_inline struct tick the_tick(void)
{
	return (struct tick){ .pc = in_pc, .who = in_who, .stamp = in_stamp };
}

static __always_inline void set_mapping(struct mapping *mapping)
{
	mapping->pc = in_pc;
	mapping->start = in_start;
	mapping->end = in_end;
	mapping->offset = in_offset;
	mapping->exec = in_exec;
	mapping->space.kind = in_kind;
	mapping->space.b = in_inode;
}

/* Files a tick whose mapping is known: window, page and counter, or a coarser bin, or lost. */
SEC("raw_tp")
int selftest_file(void *ctx)
{
	struct mapping mapping = {};
	struct xlat_entry entry = {};

	set_mapping(&mapping);
	file_ticks(&mapping, in_target, in_ticks, &entry);
	out_entry = entry;
	return 0;
}

/* Remembers the window of the last entry, which must be the mapping's. */
SEC("raw_tp")
int selftest_remember(void *ctx)
{
	struct mapping mapping = {};
	struct xlat_entry entry = out_entry;

	set_mapping(&mapping);
	remember_window(&mapping, in_target, &entry);
	return 0;
}

/* Counts ticks in a window that is remembered. */
SEC("raw_tp")
int selftest_recall(void *ctx)
{
	struct mapping mapping = {};
	struct xlat_entry entry = {};

	set_mapping(&mapping);
	out_found = count_known(&mapping, in_target, in_ticks, &entry);
	out_entry = entry;
	return 0;
}

/* Puts the last entry into the cache as the tick's. */
SEC("raw_tp")
int selftest_insert(void *ctx)
{
	struct xlat_entry entry = out_entry;
	struct xlat_origin origin = {};
	struct tick tick = the_tick();

	entry.who = tick.who;
	entry.stamp = tick.stamp;
	out_slot = xlat_slot(&tick);
	xlat_insert(out_slot, &entry, &origin);
	return 0;
}

/* Looks the tick up as the handler does, and counts a hit. */
SEC("raw_tp")
int selftest_find(void *ctx)
{
	struct tick tick = the_tick();
	struct xlat_set *set;
	u32 i;

	out_slot = xlat_slot(&tick);
	out_found = 0;
	set = bpf_map_lookup_elem(&xlat, &out_slot);
	if (!set)
		return 0;
	for (i = 0; i < XLAT_WAYS; i++) {
		struct xlat_entry *entry = &set->way[i];

		if (!xlat_covers(entry, &tick))
			continue;
		if (entry->stamp != tick.stamp && !xlat_renew(&tick, out_slot, i))
			continue;
		out_found = i + 1;
		out_in_window = xlat_in_window(entry, tick.pc);
		entry->ticks++;
		return 0;
	}
	return 0;
}

/* Finds the target that a tick of the task running this would have. */
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
