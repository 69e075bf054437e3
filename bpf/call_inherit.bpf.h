/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_INHERIT_BPF_H
#define BPFPROFIL_CALL_INHERIT_BPF_H

/*
 * The child of a fork inherits the parent's counts that were not yet in the parent's buffer when
 * the fork copied it. They belong in the child's copy, as if they had been written before the fork.
 * Therefore only those parts of the buffer get them that are private copies of the child.
 */
#include <bpf/bpf_core_read.h>

#include "call_pages.bpf.h"

enum { CALL_FORK_PAGES = 4096, OS_PAGE = 4096 };

/* linux/mm.h */
enum { MAPPING_SHARED = 0x8, MAPPING_WIPED = 0x2000000 };

enum { NOT_FOUND = -2 }; /* -ENOENT */

struct page_copy {
	struct call *child;
	struct task_struct *task; /* of the child */
	u32 slot;
	u32 next; /* page of the parent */
};

/* The counters of one page, and how far they were checked. */
struct inherited_run {
	const struct call *child;
	struct task_struct *task;
	u64 at; /* the next counter, by its number in the call */
	u64 until; /* the end of the range that shares one mapping */
	u64 end; /* the end of the page */
	u32 own; /* the child's own page, or NO_PAGE */
	u32 inherited;
};

struct seen_buffer {
	u64 end;
	bool is_copy;
};

static long see_buffer(struct task_struct *task, struct vm_area_struct *vma, void *data)
{
	struct seen_buffer *seen = data;

	seen->end = BPF_CORE_READ(vma, vm_end);
	seen->is_copy = !(BPF_CORE_READ(vma, vm_flags) & (MAPPING_SHARED | MAPPING_WIPED));
	return 0;
}

static __always_inline const struct call_buffer *buffer_at(u32 lines, u32 i)
{
	u32 number = lines + i / CALL_LINE_BUFFERS;
	struct call_line *line = bpf_map_lookup_elem(&call_lines, &number);

	return line ? &line->buffers[i % CALL_LINE_BUFFERS] : NULL;
}

/*
 * The buffer that a counter is in, of nr buffers: the last one whose first counter is not above it.
 * It is a global function, so that the verifier checks it once, and has no branch that the verifier
 * would follow both ways.
 */
__noinline u32 call_buffer_of(u32 lines, u64 nr, u64 at)
{
	const struct call_buffer *buffer;
	u64 step, there, low = 0;

	for (step = DIALECT_REGIONS_MAX; step; step >>= 1) {
		there = -call_less(low + step, nr);
		buffer = buffer_at(lines, low + (step & there));
		if (!buffer)
			return 0;
		there &= call_less(at, buffer->first) - 1;
		low += step & there;
	}
	return low;
}

static long leave_out(u32 i, void *data)
{
	struct inherited_run *run = data;
	struct counter_page *page = run->own ? page_at(run->own) : NULL;
	bool pcs = run->child->flags & CALL_STORES_PCS;
	u64 at = run->at + i; /* no ++ in memory, because the verifier would track its value */

	if (page && pcs)
		((u64 *)page->counters)[at & (CALL_PAGE_PCS - 1)] = CALL_PC_WRITTEN |
								    CALL_PC_NOT_INHERITED;
	else if (page)
		page->counters[at & (PAGE_COUNTERS - 1)] = 0;
	page = run->inherited ? page_at(run->inherited) : NULL;
	if (page)
		page->counters[at & (PAGE_COUNTERS - 1)] = CALL_NOT_INHERITED;
	return at + 1 >= run->until;
}

/* Checks the counters that are in one mapping of the child, or in one page that it lacks. */
static long look_at_run(u32 i, void *data)
{
	struct inherited_run *run = data;
	const struct call_table *table = &run->child->table;
	u32 lines = table->base + table->buffers, index, nr = table->nr_buffers;
	u64 address, behind = ~0ULL, width = table->width;
	const struct call_buffer *buffer;
	struct seen_buffer seen = {};
	long ret;

	index = call_buffer_of(lines, nr, run->at);
	buffer = buffer_at(lines, index + 1);
	if (buffer && index + 1 < nr)
		behind = buffer->first;
	buffer = buffer_at(lines, index);
	if (!buffer || !width)
		return 1;
	address = buffer->base + (run->at - buffer->first) * width;
	seen.end = (address | (OS_PAGE - 1)) + 1;
	ret = bpf_find_vma(run->task, address, see_buffer, &seen, 0);
	run->until = run->at + (seen.end - address + width - 1) / width;
	if (run->until > behind)
		run->until = behind;
	if (run->until > run->end)
		run->until = run->end;
	/*
	 * If the child's mappings cannot be read, the counts stay: almost all buffers are copied.
	 */
	if (!seen.is_copy && (!ret || ret == NOT_FOUND))
		bpf_loop(PAGE_COUNTERS, leave_out, run, 0);
	run->at = run->until;
	return run->at >= run->end;
}

static __always_inline void leave_out_of_page(const struct page_copy *copy, u64 index, u32 own,
					      u32 inherited)
{
	struct inherited_run run = {
		.child = copy->child,
		.task = copy->task,
		.own = own,
		.inherited = inherited,
	};
	u64 counters = copy->child->flags & CALL_STORES_PCS ? CALL_PAGE_PCS : PAGE_COUNTERS;

	run.at = (index & ~CALL_PAGE_INHERITED) * counters;
	run.end = run.at + counters;
	bpf_loop(PAGE_COUNTERS, look_at_run, &run, 0);
}

static __always_inline u32 copy_to(const struct page_copy *copy, u64 index,
				   const struct counter_page *from)
{
	u32 page = claim_call_page(copy->child, copy->slot, index);
	struct counter_page *to = page ? page_at(page) : NULL;

	if (!to)
		return NO_PAGE;
	bpf_probe_read_kernel(to, sizeof(*to), from);
	return page;
}

static long copy_page(u32 i, void *data)
{
	struct page_copy *copy = data;
	struct call_page_info *info;
	struct counter_page *from;
	u32 number = page_number(copy->next), own = NO_PAGE, inherited = NO_PAGE;

	info = bpf_map_lookup_elem(&call_page_infos, &number);
	from = page_at(copy->next);
	if (!info || !from)
		return 1;
	/* If counters stay in the kernel, the child continues the parent's. */
	if (!(info->index & CALL_PAGE_INHERITED) &&
	    copy->child->flags & (CALL_HAS_LIMIT | CALL_STORES_PCS))
		own = copy_to(copy, info->index, from);
	if (!(copy->child->flags & CALL_STORES_PCS))
		inherited = copy_to(copy, info->index | CALL_PAGE_INHERITED, from);
	if (own || inherited)
		leave_out_of_page(copy, info->index, own, inherited);
	copy->next = info->next;
	return !copy->next;
}

#endif
