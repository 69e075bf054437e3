// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/region_table.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/util.h"
#include "oracle.h"

static int compile(const struct oracle_call *call, struct region_table *result)
{
	const struct region_call asked = {
		.dialect = call->dialect,
		.width = call->width,
		.sprofil = call->sprofil,
		.entries = call->entries,
		.nr = call->nr,
	};

	return region_table_compile(&asked, result);
}

static bool same(const struct call_region *region, const struct oracle_answer *answer, uint64_t pc)
{
	uint64_t bin = call_region_bin(region, pc);

	if (pc < region->start || pc > region->last)
		return false;
	switch (answer->outcome) {
	case ORACLE_BIN:
		return region->kind == CALL_REGION && region->number == answer->region &&
		       bin == answer->bin && bin < region->counters;
	case ORACLE_OVERFLOW:
		return region->kind == CALL_OVERFLOW && region->number == answer->region &&
		       bin == 0 && region->counters == 1;
	default:
		return region->kind == CALL_NOBODY && bin >= region->counters;
	}
}

/* The number of a counter leads back to it, and is below the total. */
static bool numbered(const struct region_table *table, const struct call_region *region,
		     uint64_t pc)
{
	uint64_t bin = call_region_bin(region, pc), number, back;

	if (region->kind == CALL_NOBODY || table->counters == UINT64_MAX)
		return true;
	number = region->first + bin;
	return number < table->counters &&
	       region_table_locate(table, number, &back) == region->number && back == bin;
}

static void check_pc(const struct oracle_call *call, const struct region_table *table, uint64_t pc)
{
	const struct call_region *region = call_table_find(&table->table, table->lines, pc);
	struct oracle_answer answer = oracle_find(call, pc);

	if (same(region, &answer, pc) && numbered(table, region, pc))
		return;
	oracle_print(call, pc);
	cr_assert_fail("pc %#" PRIx64 ": kind %u region %u bin %#llx; the oracle: %d %zu %#" PRIx64,
		       pc, region->kind, region->number, call_region_bin(region, pc),
		       (int)answer.outcome, answer.region, answer.bin);
}

/* Returns the number of compared pcs; 0 if both refuse the call. */
static size_t check_call(struct dice *dice, const struct oracle_call *call, size_t pcs)
{
	struct region_table table;
	size_t i;
	int ret = compile(call, &table);

	cr_assert_eq(ret, oracle_check(call), "%d", ret);
	if (ret)
		return 0;
	for (i = 0; i < pcs; i++)
		check_pc(call, &table, dice_pc(dice, call));
	/* Where one segment ends and the next begins. */
	for (i = table.table.level[table.table.depth]; i < table.nr_lines; i++) {
		check_pc(call, &table, table.lines[i].region.start);
		check_pc(call, &table, table.lines[i].region.last);
	}
	region_table_free(&table);
	return pcs;
}

/* Makes calls of up to `most` regions until this many pcs were compared for each dialect. */
static void check_calls(uint64_t seed, size_t most, size_t pcs_each, size_t wanted)
{
	struct dice dice = { seed };
	cleanup_free struct call_entry *entries = calloc(most, sizeof(*entries));
	unsigned int dialect;
	size_t done;

	for (dialect = 0; dialect < DIALECT_COUNT; dialect++) {
		for (done = 0; done < wanted;) {
			struct oracle_call call = {
				.dialect = dialect,
				.sprofil = true,
				.width = 2U << dice_below(&dice, 3),
				.entries = entries,
				.nr = 1 + dice_below(&dice, most),
			};

			dice_entries(&dice, entries, call.nr);
			done += check_call(&dice, &call, pcs_each);
		}
	}
}

Test(region_table, profil)
{
	struct dice dice = { 0x5eed3 };
	struct call_entry entry;
	unsigned int dialect, i;

	for (dialect = 0; dialect < DIALECT_COUNT; dialect++) {
		for (i = 0; i < 20000; i++) {
			struct oracle_call call = {
				.dialect = dialect,
				.width = 2U << dice_below(&dice, 3),
				.entries = &entry,
				.nr = 1,
			};

			entry = (struct call_entry){ .offset = dice_address(&dice),
						     .size = dice_size(&dice),
						     .scale = dice_scale(&dice) };
			check_call(&dice, &call, 10);
		}
	}
}

Test(region_table, few_regions)
{
	check_calls(0x5eed4, 4, 10, 150000);
}

Test(region_table, some_regions)
{
	check_calls(0x5eed5, 70, 50, 50000);
}

Test(region_table, many_regions, .timeout = 120)
{
	check_calls(0x5eed6, 600, 200, 4000);
}

/* As many regions as possible, each inside another, which gives the most segments. */
Test(region_table, most_regions, .timeout = 120)
{
	static struct call_entry entries[DIALECT_REGIONS_MAX];
	struct oracle_call call = { .dialect = DIALECT_GLIBC,
				    .sprofil = true,
				    .width = 2,
				    .entries = entries,
				    .nr = DIALECT_REGIONS_MAX };
	struct dice dice = { 0x5eed7 };
	struct region_table table;
	size_t i;

	for (i = 0; i < DIALECT_REGIONS_MAX; i++)
		entries[i] = (struct call_entry){ .offset = 0x10000 + 16 * i,
						  .size = (8192 - 2 * i) * 16,
						  .scale = 0x10000 };
	cr_assert_eq(compile(&call, &table), 0);
	cr_assert_eq(table.table.depth, CALL_LEVELS);
	cr_assert_eq(table.nr_lines - table.table.level[CALL_LEVELS], CALL_SEGMENTS_MAX);
	/* The oracle takes 20 ms for each, because it tries the regions one after the other. */
	for (i = 0; i < 100; i++)
		check_pc(&call, &table, 0x10000 + dice_below(&dice, 8200 * 16));
	region_table_free(&table);
	dice_entries(&dice, entries, DIALECT_REGIONS_MAX);
	cr_assert_eq(check_call(&dice, &call, 500), 500);
	call.nr++;
	cr_assert_eq(compile(&call, &table), -E2BIG);
}

static struct oracle_answer find(enum dialect dialect, const struct call_entry *entries, size_t nr,
				 uint64_t pc)
{
	struct oracle_call call = { .dialect = dialect,
				    .sprofil = true,
				    .width = 2,
				    .entries = entries,
				    .nr = nr };
	struct region_table table;

	cr_assert_eq(compile(&call, &table), 0);
	check_pc(&call, &table, pc);
	region_table_free(&table);
	return oracle_find(&call, pc);
}

/* The only real ambiguity of the manuals: a pc behind the end of the region that begins last. */
Test(region_table, beyond_the_inner_region)
{
	static const struct call_entry entries[] = {
		{ .offset = 0x1000, .size = 0x4000, .scale = 0x10000 },
		{ .offset = 0x2000, .size = 0x100, .scale = 0x10000 },
		{ .size = 2, .scale = 2 },
	};
	struct oracle_answer answer = find(DIALECT_GLIBC, entries, 3, 0x2200);

	cr_expect(answer.outcome == ORACLE_BIN && answer.region == 0 && answer.bin == 0x900);
	answer = find(DIALECT_IRIX, entries, 3, 0x2200);
	cr_expect(answer.outcome == ORACLE_OVERFLOW && answer.region == 2);
	answer = find(DIALECT_IRIX, entries, 2, 0x2200);
	cr_expect(answer.outcome == ORACLE_OUTSIDE);
	answer = find(DIALECT_IRIX, entries, 2, 0x2000);
	cr_expect(answer.outcome == ORACLE_BIN && answer.region == 1 && answer.bin == 0);
	answer = find(DIALECT_IRIX, entries, 2, 0x1fff);
	cr_expect(answer.outcome == ORACLE_BIN && answer.region == 0 && answer.bin == 0x7ff);
}

Test(region_table, equal_offsets_first_listed)
{
	static const struct call_entry entries[] = {
		{ .offset = 0x1000, .size = 0x10, .scale = 1 }, /* skipped */
		{ .offset = 0x1000, .size = 0, .scale = 0x10000 }, /* also skipped */
		{ .offset = 0x1000, .size = 0x10, .scale = 0x10000 },
		{ .offset = 0x1000, .size = 0x1000, .scale = 0x10000 },
	};
	struct oracle_answer answer = find(DIALECT_GLIBC, entries, 4, 0x1000);

	cr_expect(answer.outcome == ORACLE_BIN && answer.region == 2);
	answer = find(DIALECT_GLIBC, entries, 4, 0x1010);
	cr_expect(answer.outcome == ORACLE_OUTSIDE, "only smaller offsets are looked at");
}

Test(region_table, refusals)
{
	static const struct call_entry entries[] = {
		{ .size = 2, .scale = 2 },
		{ .offset = 0x1000, .size = 0x10, .scale = 0x10001 },
	};
	struct oracle_call call = { .sprofil = true, .width = 2, .entries = entries, .nr = 2 };
	struct region_table table;

	call.dialect = DIALECT_IRIX;
	cr_expect_eq(compile(&call, &table), -EINVAL, "overflow bin not last");
	call.dialect = DIALECT_GLIBC;
	cr_expect_eq(compile(&call, &table), 0);
	cr_expect_not(table.stops);
	region_table_free(&table);
	call.dialect = DIALECT_BSD44;
	cr_expect_eq(compile(&call, &table), -EINVAL, "scale");
	cr_expect_eq(region_call_width(DIALECT_IRIX, 0, 0), -E2BIG);
	cr_expect_eq(region_call_width(DIALECT_IRIX, -1, 0), -E2BIG);
	cr_expect_eq(region_call_width(DIALECT_GLIBC, -1, 0), -E2BIG);
	cr_expect_eq(region_call_width(DIALECT_GLIBC, 0, 0), 2);
	cr_expect_eq(region_call_width(DIALECT_IRIX, 4097, 0), -E2BIG);
	cr_expect_eq(region_call_width(DIALECT_IRIX, 4096, 3), 4);
	cr_expect_eq(region_call_width(DIALECT_IRIX, 1, 2), 2);
	cr_expect_eq(region_call_width(DIALECT_GLIBC, 1, 4), -EINVAL);
}

Test(region_table, stops)
{
	static const struct call_entry off = { .offset = 0x1000, .size = 0x10, .scale = 1 },
				       empty = { .offset = 0x1000, .scale = 0x8000 };
	struct oracle_call call = { .dialect = DIALECT_V7, .width = 2, .entries = &off, .nr = 1 };
	struct region_table table;

	cr_assert_eq(compile(&call, &table), 0);
	cr_expect(table.stops);
	cr_expect_eq(table.counters, 0);
	region_table_free(&table);
	call.entries = &empty;
	cr_assert_eq(compile(&call, &table), 0);
	cr_expect_not(table.stops, "on, and counts nothing");
	region_table_free(&table);
	call.nr = 0;
	call.sprofil = true;
	cr_assert_eq(compile(&call, &table), 0);
	cr_expect(table.stops);
	cr_expect_eq(table.table.depth, 0);
	region_table_free(&table);
}
