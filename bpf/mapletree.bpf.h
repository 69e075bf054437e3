/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_MAPLETREE_BPF_H
#define BPFPROFIL_MAPLETREE_BPF_H

/*
 * Finds the mapping around a pc without the mmap lock. bpf_find_vma fails while a writer holds the
 * lock, and the interrupted thread often holds it itself, in mmap, brk and exec. From an interrupt
 * it takes 5 us if a self-interrupt must drop the lock.
 *
 * Each read here may hit memory that is being changed or freed. Therefore a result counts only if
 * the mapping itself belongs to this address space and covers the pc. On a kernel with another
 * layout of the tree this finds nothing, and bpf_find_vma is used.
 */
#include "compat.bpf.h"
#include "shared/abi.h"

enum {
	MAPLE_NODE_MASK = 255, /* nodes have 256 bytes; a pointer's low bits are its type */
	MAPLE_TYPE_SHIFT = 3,
	MAPLE_TYPE_MASK = 15,
	MAPLE_LEAF = 1,
	MAPLE_ARANGE = 3,
	MAPLE_DEPTH = 6, /* 10^5 leaves of 15 mappings: more than vm.max_map_count allows */
	MAPLE_PIVOTS = 15,
	MAPLE_HALVINGS = 4,
	MAPLE_ARANGE_PIVOTS = 9,
};

/*
 * The slot of a node that leads to pc: the first one whose pivot is not below pc. A binary search
 * reads four pivots, because reading all of them at once would need 120 bytes of stack. It is a
 * global function, so that the verifier checks it once and not at each level, which took 22 ms.
 */
__noinline u64 maple_step(u64 node, u32 type, u64 pc)
{
	u32 first = 0, last = type == MAPLE_ARANGE ? MAPLE_ARANGE_PIVOTS : MAPLE_PIVOTS, i, half;
	struct maple_arange_64 *arange = (void *)node;
	struct maple_range_64 *range = (void *)node;
	void *slots = range->slot;
	u64 word;

	if (type == MAPLE_ARANGE)
		slots = arange->slot;
	for (i = 0; i < MAPLE_HALVINGS && first < last; i++) {
		half = (first + last) / 2;
		if (bpf_probe_read_kernel(&word, sizeof(word),
					  (void *)range->pivot + half * sizeof(word)))
			return 0;
		/* An unused pivot is 0. Then the slot before it ends with the node. */
		if (pc <= word || (half && !word))
			last = half;
		else
			first = half + 1;
	}
	if (bpf_probe_read_kernel(&word, sizeof(word), slots + first * sizeof(word)))
		return 0;
	return word;
}

static __always_inline bool vma_covers(struct vm_area_struct *vma, struct mm_struct *mm, u64 pc)
{
	return BPF_CORE_READ(vma, vm_start) <= pc && pc < BPF_CORE_READ(vma, vm_end) &&
	       BPF_CORE_READ(vma, vm_mm) == mm;
}

/* NULL: it is not found this way. */
static __always_inline struct vm_area_struct *maple_find_vma(struct mm_struct *mm, u64 pc)
{
	u64 entry = (u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	struct vm_area_struct *vma;
	u32 type, i;

	for (i = 0; i < MAPLE_DEPTH; i++) {
		type = entry >> MAPLE_TYPE_SHIFT & MAPLE_TYPE_MASK;
		if (type < MAPLE_LEAF || type > MAPLE_ARANGE)
			return NULL;
		entry = maple_step(entry & ~(u64)MAPLE_NODE_MASK, type, pc);
		if (type == MAPLE_LEAF)
			break;
	}
	vma = (void *)entry;
	return vma && vma_covers(vma, mm, pc) ? vma : NULL;
}

/*
 * Whether text is still mapped as it was: [first, end), at an offset in a file that is its address
 * + delta. If inode is 0, it was in no file, and its place in the space does not depend on the
 * mapping.
 *
 * Nothing is locked, and any read may be of freed memory. This is safe: a removed mapping is marked
 * until its memory is reused, and then it has another address space, range or file. `seen` is the
 * mapping's last change before the text was found in place, or 0. If there was no change since, the
 * mapping's first cache line is enough.
 */
static __always_inline bool text_holds(struct vm_area_struct *vma, struct mm_struct *mm, u64 first,
				       u64 end, u64 inode, u64 delta, u32 *seen)
{
	u64 start = BPF_CORE_READ(vma, vm_start);
	struct file *file;
	u32 changed;

	if (BPF_CORE_READ(vma, vm_mm) != mm || start > first || BPF_CORE_READ(vma, vm_end) < end)
		return false;
	changed = vma_changed(vma, mm);
	if (changed && changed == *seen)
		return true;
	if (vma_detached(vma))
		return false;
	file = BPF_CORE_READ(vma, vm_file);
	if (file && (BPF_CORE_READ(vma, vm_pgoff) << page_shift) - start != delta)
		return false;
	if ((file ? (u64)BPF_CORE_READ(file, f_inode) : 0) != inode)
		return false;
	*seen = changed;
	return true;
}

#endif
