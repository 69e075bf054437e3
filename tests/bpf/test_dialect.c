// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "calls/region_table.h"
#include "need.h"
#include "oracle.h"

#include "selftest_calls.skel.h"

TestSuite(dialect_bpf, .init = need_root);

enum { BATCH = 4096, LINES = 16384 };

/* BPF's side, with the map of lines in our own memory. */
struct kernel {
	struct selftest_calls_bpf *skel;
	struct selftest_calls_bpf__bss *bss;
	struct call_line *lines;
};

static void kernel_open(struct kernel *kernel)
{
	struct selftest_calls_bpf *skel = selftest_calls_bpf__open();

	cr_assert(skel);
	cr_assert_eq(selftest_calls_bpf__load(skel), 0);
	kernel->skel = skel;
	kernel->bss = skel->bss;
	kernel->lines = mmap(NULL, LINES * sizeof(*kernel->lines), PROT_READ | PROT_WRITE,
			     MAP_SHARED, bpf_map__fd(skel->maps.lines), 0);
	cr_assert(kernel->lines != MAP_FAILED);
}

static void kernel_close(struct kernel *kernel)
{
	munmap(kernel->lines, LINES * sizeof(*kernel->lines));
	selftest_calls_bpf__destroy(kernel->skel);
}

static void run(struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	cr_assert_eq(bpf_prog_test_run_opts(bpf_program__fd(program), &opts), 0);
}

static void roll_case(struct dice *dice, struct selftest_calls_bpf__bss *bss, uint32_t i)
{
	static const uint64_t values[] = { 0, 32766, 32767, 65534, 65535 };

	bss->in_dialect[i] = dice_below(dice, DIALECT_COUNT);
	bss->in_width[i] = 2U << dice_below(dice, 3);
	bss->in_sprofil[i] = dice_below(dice, 2);
	bss->in_offset[i] = dice_below(dice, 3) ? dice_address(dice) : 0;
	bss->in_scale[i] = dice_scale(dice);
	bss->in_pc[i] = bss->in_offset[i] + dice_address(dice);
	bss->in_value[i] = values[dice_below(dice, 5)];
}

static uint32_t oracle_class(const struct oracle_call *call)
{
	struct oracle_answer answer = oracle_find(call, call->entries[0].offset);

	if (oracle_check(call))
		return CLASS_INVALID;
	if (answer.outcome == ORACLE_OVERFLOW)
		return CLASS_OVERFLOW;
	return answer.outcome == ORACLE_BIN ? CLASS_REGION : CLASS_OFF;
}

static void check_case(const struct selftest_calls_bpf__bss *bss, uint32_t i)
{
	struct call_entry entry = { .offset = bss->in_offset[i],
				    .scale = bss->in_scale[i],
				    .size = 16 };
	struct oracle_call call = { .dialect = bss->in_dialect[i],
				    .sprofil = bss->in_sprofil[i],
				    .width = bss->in_width[i],
				    .entries = &entry,
				    .nr = 1 };
	uint64_t d = bss->in_pc[i] - entry.offset;
	unsigned __int128 bin = oracle_bin(call.dialect, call.width, entry.scale, d);
	bool stopped;

	if (bin > UINT64_MAX)
		bin = UINT64_MAX;
	if (bss->out_bin[i] == (uint64_t)bin && bss->out_kind[i] == oracle_class(&call) &&
	    bss->out_value[i] ==
		    oracle_tick(call.dialect, call.sprofil, call.width, bss->in_value[i], &stopped))
		return;
	oracle_print(&call, bss->in_pc[i]);
	cr_assert_fail("bin %#llx, the oracle's %#" PRIx64 "; class %u; %llu after one more: %llu",
		       bss->out_bin[i], (uint64_t)bin, bss->out_kind[i], bss->in_value[i],
		       bss->out_value[i]);
}

/* Tests more than a million cases. */
Test(dialect_bpf, every_bin_is_the_oracles, .timeout = 120)
{
	struct dice dice = { 0x5eed8 };
	struct kernel kernel;
	uint32_t batch, i;

	kernel_open(&kernel);
	kernel.bss->in_nr = BATCH;
	for (batch = 0; batch < 260; batch++) {
		for (i = 0; i < BATCH; i++)
			roll_case(&dice, kernel.bss, i);
		run(kernel.skel->progs.selftest_bins);
		for (i = 0; i < BATCH; i++)
			check_case(kernel.bss, i);
	}
	kernel_close(&kernel);
}

static bool same(const struct selftest_calls_bpf__bss *bss, const struct region_table *table,
		 const struct oracle_answer *answer, uint32_t i)
{
	uint64_t bin;

	if (answer->outcome > ORACLE_OVERFLOW)
		return bss->out_kind[i] == CALL_NOBODY;
	if (bss->out_kind[i] != (answer->outcome == ORACLE_BIN ? CALL_REGION : CALL_OVERFLOW) ||
	    bss->out_region[i] != answer->region || bss->out_bin[i] != answer->bin)
		return false;
	return table->counters == UINT64_MAX ||
	       (region_table_locate(table, bss->out_number[i], &bin) == answer->region &&
		bin == answer->bin);
}

static void check_pcs(struct kernel *kernel, const struct oracle_call *call,
		      const struct region_table *table, uint32_t nr)
{
	const struct selftest_calls_bpf__bss *bss = kernel->bss;
	struct oracle_answer answer;
	uint32_t i;

	kernel->bss->in_nr = nr;
	run(kernel->skel->progs.selftest_find_region);
	for (i = 0; i < nr; i++) {
		answer = oracle_find(call, bss->in_pc[i]);
		if (same(bss, table, &answer, i))
			continue;
		oracle_print(call, bss->in_pc[i]);
		cr_assert_fail("kind %u region %u bin %#llx; the oracle: %d %zu %#" PRIx64,
			       bss->out_kind[i], bss->out_region[i], bss->out_bin[i],
			       (int)answer.outcome, answer.region, answer.bin);
	}
}

/* Puts a table at some place among the lines, as the server does. */
static void check_call(struct kernel *kernel, struct dice *dice, const struct oracle_call *call,
		       uint32_t nr)
{
	const struct region_call asked = {
		.dialect = call->dialect,
		.width = call->width,
		.sprofil = call->sprofil,
		.entries = call->entries,
		.nr = call->nr,
	};
	struct region_table table;
	uint32_t i;

	if (region_table_compile(&asked, &table)) {
		cr_assert(oracle_check(call));
		return;
	}
	table.table.base = dice_below(dice, LINES - table.nr_lines + 1);
	memcpy(&kernel->lines[table.table.base], table.lines,
	       table.nr_lines * sizeof(*table.lines));
	memcpy(kernel->bss->in_table, &table.table, sizeof(table.table));
	for (i = 0; i < nr; i++)
		kernel->bss->in_pc[i] = dice_pc(dice, call);
	check_pcs(kernel, call, &table, nr);
	region_table_free(&table);
}

static void check_calls(uint64_t seed, size_t most, uint32_t calls, uint32_t pcs)
{
	struct call_entry *entries = calloc(most, sizeof(*entries));
	struct dice dice = { seed };
	struct kernel kernel;
	uint32_t i;

	kernel_open(&kernel);
	for (i = 0; i < calls; i++) {
		struct oracle_call call = {
			.dialect = i % DIALECT_COUNT,
			.sprofil = true,
			.width = 2U << dice_below(&dice, 3),
			.entries = entries,
			.nr = 1 + dice_below(&dice, most),
		};

		if (most == 1)
			call.sprofil = dice_below(&dice, 2);
		dice_entries(&dice, entries, call.nr);
		check_call(&kernel, &dice, &call, pcs);
	}
	kernel_close(&kernel);
	free(entries);
}

Test(dialect_bpf, one_region, .timeout = 120)
{
	check_calls(0x5eed9, 1, 20000, 25);
}

Test(dialect_bpf, some_regions, .timeout = 120)
{
	check_calls(0x5eeda, 70, 5000, 100);
}

Test(dialect_bpf, many_regions, .timeout = 120)
{
	check_calls(0x5eedb, DIALECT_REGIONS_MAX, 32, 200);
}

/* If the lines of a table are missing, nothing else may be read. */
Test(dialect_bpf, lines_that_are_not_there)
{
	struct call_table table = { .base = LINES - 1, .depth = 1, .level = { 0, 1 } };
	struct kernel kernel;

	kernel_open(&kernel);
	memcpy(kernel.bss->in_table, &table, sizeof(table));
	kernel.bss->in_nr = 1;
	run(kernel.skel->progs.selftest_find_region);
	cr_assert_eq(kernel.bss->out_kind[0], 99);
	table = (struct call_table){ .base = UINT32_MAX, .depth = UINT32_MAX };
	memcpy(kernel.bss->in_table, &table, sizeof(table));
	run(kernel.skel->progs.selftest_find_region);
	cr_assert_eq(kernel.bss->out_kind[0], 99);
	kernel_close(&kernel);
}
