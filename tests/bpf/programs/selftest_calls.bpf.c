// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The arithmetic of calls as programs for `prog run`, a batch of cases at a time, because starting
 * a run costs more than a thousand cases. Tests load this; the product never loads it.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "shared/abi.h"

/* Room for the table of as many regions as there can be. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 16384);
	__uint(key_size, sizeof(u32));
	__uint(value_size, 64);
} lines SEC(".maps");

#define CALL_LINE(lines, number) ((const struct call_line *)bpf_map_lookup_elem(lines, &(number)))
#include "shared/call_table.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { BATCH = 4096 };

/* Set by the test before a run. */
__u32 in_nr = 0;
__u32 in_table[8] = {};
__u32 in_dialect[BATCH] = {};
__u32 in_width[BATCH] = {};
__u32 in_sprofil[BATCH] = {};
__u64 in_offset[BATCH] = {};
__u64 in_scale[BATCH] = {};
__u64 in_pc[BATCH] = {};
__u64 in_value[BATCH] = {};

/* Read by the test after a run. */
__u32 out_kind[BATCH] = {};
__u32 out_region[BATCH] = {};
__u64 out_bin[BATCH] = {};
__u64 out_number[BATCH] = {};
__u64 out_value[BATCH] = {};

enum { NO_LINE = 99 };

static long bin_one(u32 i, void *data)
{
	struct dialect_factor factor;

	if (i >= BATCH)
		return 1;
	factor = dialect_factor(in_dialect[i], in_width[i], in_scale[i]);
	out_kind[i] = dialect_class(in_dialect[i], in_sprofil[i], in_offset[i], in_scale[i]);
	out_bin[i] = dialect_bin(&factor, in_pc[i] - in_offset[i]);
	out_value[i] = dialect_count(dialect_full(in_dialect[i], in_sprofil[i]), in_width[i],
				     in_value[i], 1);
	return 0;
}

/* Classifies, bins and counts, starting from a dialect's name. */
SEC("raw_tp")
int selftest_bins(void *ctx)
{
	bpf_loop(in_nr, bin_one, NULL, 0);
	return 0;
}

static long find_one(u32 i, void *data)
{
	const struct call_region *region;

	if (i >= BATCH)
		return 1;
	region = call_table_find((const struct call_table *)in_table, &lines, in_pc[i]);
	if (!region) {
		out_kind[i] = NO_LINE;
		return 0;
	}
	out_kind[i] = region->kind;
	out_region[i] = region->number;
	out_bin[i] = call_region_bin(region, in_pc[i]);
	out_number[i] = region->first + out_bin[i];
	return 0;
}

/* Goes from a pc to a counter, as a tick does. */
SEC("raw_tp")
int selftest_find_region(void *ctx)
{
	bpf_loop(in_nr, find_one, NULL, 0);
	return 0;
}
