// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "calls/region_table.h"
#include "export/export.h"
#include "oracle.h"
#include "sample.h"

enum { REGIONS_MAX = 5, BINS_MAX = 400, COUNTERS_MAX = 1024, TEXT = 0x1000 };
enum { ALL_COUNTERS = REGIONS_MAX * COUNTERS_MAX };

/* A call, compiled for the export as the command line does it. */
struct asked {
	struct region_table table;
	uint64_t sizes[REGIONS_MAX];
	struct export_call call;
	char note[EXPORT_NOTE_BYTES];
	struct export_options options;
};

static bool ask(struct asked *asked, const struct oracle_call *call)
{
	const struct region_call typed = {
		.dialect = call->dialect,
		.width = call->width,
		.sprofil = call->sprofil,
		.entries = call->entries,
		.nr = call->nr,
	};
	size_t i;

	memset(asked, 0, sizeof(*asked));
	if (region_table_compile(&typed, &asked->table))
		return false;
	for (i = 0; i < call->nr; i++)
		asked->sizes[i] = call->entries[i].size;
	asked->call = (struct export_call){
		.table = asked->table.table,
		.lines = asked->table.lines,
		.sizes = asked->sizes,
		.nr = call->nr,
		.overflow = asked->table.overflow,
		.width = call->width,
		.full = dialect_full(call->dialect, call->sprofil),
	};
	asked->options.call = &asked->call;
	asked->options.note = asked->note;
	asked->options.target = EXPORT_ALL_TARGETS;
	return true;
}

static char *export_bytes(const struct profile *profile, const struct asked *asked, size_t *size)
{
	return sample_export("raw", profile, &asked->options, size);
}

/* The error with which the export fails. */
static int export_fails(const struct profile *profile, const struct asked *asked, struct error *err)
{
	char *bytes = NULL;
	size_t size;
	FILE *stream = open_memstream(&bytes, &size);
	int ret = export_write(export_find("raw"), profile, &asked->options, stream, err);

	fclose(stream);
	cr_expect_eq(size, 0);
	free(bytes);
	return ret;
}

/* Ticks of each counter by the oracle, without regard to full counters. */
struct totals {
	uint64_t ticks[ALL_COUNTERS]; /* COUNTERS_MAX for each region */
};

static void total(const struct oracle_call *call, uint64_t pc, uint64_t ticks,
		  struct totals *totals)
{
	struct oracle_answer answer = oracle_find(call, pc);

	if (answer.outcome <= ORACLE_OVERFLOW)
		totals->ticks[answer.region * COUNTERS_MAX + answer.bin] += ticks;
}

/* Adds ticks one by one. Returns whether they ended profiling. */
static bool tick(const struct oracle_call *call, uint64_t ticks, uint64_t *value)
{
	bool stopped = false;

	while (ticks-- && !stopped)
		*value = oracle_tick(call->dialect, call->sprofil, call->width, *value, &stopped);
	return stopped;
}

/*
 * solaris: first all that fits without reaching the limit, then the rest of the fullest counter,
 * which ends it.
 */
static void tick_to_limit(const struct oracle_call *call, const struct totals *totals,
			  struct totals *values)
{
	const uint64_t *ticks = totals->ticks;
	uint64_t *value = values->ticks;
	size_t i, hottest = 0;

	for (i = 0; i < ALL_COUNTERS; i++) {
		if (ticks[i] > ticks[hottest])
			hottest = i;
		cr_assert(!tick(call, ticks[i] < 32766 ? ticks[i] : 32766, &value[i]));
	}
	if (ticks[hottest] > 32766)
		cr_assert(tick(call, ticks[hottest] - 32766, &value[hottest]));
}

static void count(const struct oracle_call *call, const struct totals *totals,
		  struct totals *values)
{
	size_t i;

	memset(values, 0, sizeof(*values));
	if (call->dialect == DIALECT_SOLARIS) {
		tick_to_limit(call, totals, values);
		return;
	}
	for (i = 0; i < ALL_COUNTERS; i++)
		tick(call, totals->ticks[i], &values->ticks[i]);
}

/* The buffers, one after the other, including the bytes that no counter fills. */
static size_t buffers(const struct oracle_call *call, const struct totals *values, char *bytes)
{
	size_t region, bin, at = 0;

	for (region = 0; region < call->nr; region++) {
		memset(bytes + at, 0, call->entries[region].size);
		for (bin = 0; bin < call->entries[region].size / call->width; bin++)
			memcpy(bytes + at + bin * call->width,
			       &values->ticks[region * COUNTERS_MAX + bin], call->width);
		at += call->entries[region].size;
	}
	return at;
}

/* A profile of one object, with bins of one byte. */
static struct profile *profile_of(const struct profile_bin *bins, size_t nr)
{
	struct profile *profile = sample_profile_of_bins(nr);
	struct profile_histogram *histogram = profile->histograms;

	memcpy(histogram->bins, bins, nr * sizeof(*bins));
	histogram->nr_bins = nr;
	histogram->offset = TEXT;
	return profile;
}

static void roll_bins(struct dice *dice, struct profile_bin *bins)
{
	uint64_t index = 0;
	size_t i;

	for (i = 0; i < BINS_MAX; i++) {
		index += 1 + dice_below(dice, 20);
		bins[i].index = index;
		bins[i].count = 1 + dice_below(dice, 9);
		if (!dice_below(dice, 400))
			bins[i].count = 32760 + dice_below(dice, 20);
		if (!dice_below(dice, 400))
			bins[i].count = 65530 + dice_below(dice, 70000);
	}
}

static void roll_entries(struct dice *dice, struct call_entry *entries, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		entries[i] = (struct call_entry){
			.offset = TEXT - 8 + dice_below(dice, 4000),
			.scale = dice_below(dice, 2) ? 0x20000ULL >> dice_below(dice, 8) :
						       dice_scale(dice),
			.size = dice_below(dice, COUNTERS_MAX * 2),
		};
	if (!dice_below(dice, 2))
		entries[nr - 1] = (struct call_entry){ .scale = 2, .size = dice_below(dice, 9) };
}

static void check(struct dice *dice, const struct oracle_call *call)
{
	static struct totals totals, values;
	static char wanted[ALL_COUNTERS * 2];
	struct profile_bin bins[BINS_MAX];
	struct profile *profile;
	struct asked asked;
	size_t i, size;
	char *bytes;

	if (!ask(&asked, call)) {
		cr_assert(oracle_check(call));
		return;
	}
	roll_bins(dice, bins);
	profile = profile_of(bins, BINS_MAX);
	memset(&totals, 0, sizeof(totals));
	for (i = 0; i < BINS_MAX; i++)
		total(call, TEXT + bins[i].index, bins[i].count, &totals);
	count(call, &totals, &values);
	asked.options.object = "large";
	bytes = export_bytes(profile, &asked, &size);
	if (size != buffers(call, &values, wanted) || memcmp(bytes, wanted, size) != 0) {
		oracle_print(call, TEXT);
		for (i = 0; i < size && bytes[i] == wanted[i];)
			i++;
		cr_assert_fail("not as the oracle from byte %zu of %zu on", i, size);
	}
	free(bytes);
	profile_free(profile);
	region_table_free(&asked.table);
}

/* More than a million bins of profiles. */
Test(export_raw, bytes_are_the_oracles, .timeout = 300)
{
	struct call_entry entries[REGIONS_MAX];
	struct dice dice = { 0x5eee4 };
	size_t i;

	for (i = 0; i < 3200; i++) {
		struct oracle_call call = {
			.dialect = i % DIALECT_COUNT,
			.sprofil = dice_below(&dice, 2),
			.width = 2U << dice_below(&dice, 2),
			.entries = entries,
			.nr = 1,
		};

		if (call.sprofil)
			call.nr += dice_below(&dice, REGIONS_MAX);
		roll_entries(&dice, entries, call.nr);
		check(&dice, &call);
	}
}

/* One region of profil(), 64 bins, the pcs of /usr/bin/work. */
static struct oracle_call sample_call(struct call_entry *entry, enum dialect dialect)
{
	*entry = (struct call_entry){ .offset = 0x1000, .scale = 0x10000, .size = 64 };
	return (struct oracle_call){ .dialect = dialect, .width = 2, .entries = entry, .nr = 1 };
}

/* Ticks of both targets; the object need not be named if no other one has ticks there. */
Test(export_raw, object_that_fits)
{
	cleanup_profile struct profile *profile = sample_profile();
	uint16_t wanted[32] = { [0] = 1, [4] = 20, [8] = 540 };
	struct call_entry entry;
	struct oracle_call call = sample_call(&entry, DIALECT_BSD44);
	struct asked asked;
	size_t size;
	char *bytes;

	cr_assert(ask(&asked, &call));
	bytes = export_bytes(profile, &asked, &size);
	cr_assert_eq(size, 64);
	cr_assert_eq(memcmp(bytes, wanted, 64), 0);
	cr_expect_eq(asked.note[0], '\0');
	free(bytes);
	asked.options.object = "/usr/bin/work";
	bytes = export_bytes(profile, &asked, &size);
	cr_assert_eq(memcmp(bytes, wanted, 64), 0);
	free(bytes);
	region_table_free(&asked.table);
}

/* A program's own calls may be in another object of the same path. Samples have all of its time. */
Test(export_raw, calls_beside_samples)
{
	static const char *const names[] = { NULL, "work", "/usr/bin/work" };
	cleanup_profile struct profile *profile = sample_profile();
	uint16_t wanted[32] = { [0] = 1, [8] = 500 };
	struct call_entry entry;
	struct oracle_call call = sample_call(&entry, DIALECT_BSD44);
	struct asked asked;
	size_t size, i;
	char *bytes;

	free(profile->targets[1].kind);
	profile->targets[1].kind = strdup("call");
	cr_assert(ask(&asked, &call));
	bytes = export_bytes(profile, &asked, &size);
	cr_assert_eq(memcmp(bytes, wanted, 64), 0, "in the same object");
	free(bytes);
	free(profile->objects[1].path);
	profile->objects[1].path = strdup("/usr/bin/work");
	profile->histograms[1].object = 1;
	profile->histograms[2].target = 1;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		asked.options.object = names[i];
		bytes = export_bytes(profile, &asked, &size);
		cr_assert_eq(memcmp(bytes, wanted, 64), 0, "%s", names[i] ?: "no name");
		free(bytes);
	}
	region_table_free(&asked.table);
}

/* All pcs that no region took, including those of other objects and of none. */
Test(export_raw, overflow_bin)
{
	static const struct call_entry entries[] = {
		{ .offset = 0x1000, .scale = 0x10000, .size = 64 },
		{ .scale = 2, .size = 5 },
	};
	struct oracle_call call = { .dialect = DIALECT_IRIX,
				    .sprofil = true,
				    .width = 4,
				    .entries = entries,
				    .nr = 2 };
	cleanup_profile struct profile *profile = sample_profile();
	struct asked asked;
	uint32_t overflow;
	size_t size;
	char *bytes;

	cr_assert(ask(&asked, &call));
	bytes = export_bytes(profile, &asked, &size);
	cr_assert_eq(size, 69);
	memcpy(&overflow, bytes + 64, 4);
	/*
	 * work behind the region, the JIT's, the program's own overflow bin, outside; without the
	 * kernel
	 */
	cr_assert_eq(overflow, 99 + 300 + 10 + 20, "%u", overflow);
	cr_assert_eq(bytes[68], 0);
	free(bytes);
	region_table_free(&asked.table);
}

Test(export_raw, objects_that_do_not_fit)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct call_entry entry;
	struct oracle_call call = sample_call(&entry, DIALECT_GLIBC);
	struct asked asked;
	struct error err;

	cr_assert(ask(&asked, &call));
	asked.options.object = "wor";
	cr_assert_eq(export_fails(profile, &asked, &err), -EINVAL);
	cr_expect_str_eq(err.text, "raw: --object 'wor': not in the profile");
	free(profile->objects[1].path);
	profile->objects[1].path = strdup("/opt/work");
	asked.options.object = "work";
	cr_assert_eq(export_fails(profile, &asked, &err), -EINVAL);
	cr_expect_str_eq(err.text, "raw: --object 'work': more than one object");
	cr_expect_str_eq(err.hint, "the whole path of one of them");
	profile->histograms[2].offset = 0;
	profile->histograms[2].bytes_per_bin = 2;
	profile->histograms[2].bins[0].index = 0x800;
	asked.options.object = NULL;
	cr_assert_eq(export_fails(profile, &asked, &err), -EINVAL);
	cr_expect_str_eq(err.text, "raw: --object: not given, and both /usr/bin/work and "
				   "/opt/work have ticks at these offsets");
	cr_expect_str_eq(err.hint, "--object /usr/bin/work");
	region_table_free(&asked.table);
}

/* A bin of 4096 bytes fits a counter of as many, if they begin at the same place. */
Test(export_raw, wide_bins)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct call_entry entry;
	struct oracle_call call = sample_call(&entry, DIALECT_BSD44);
	struct asked asked;
	struct error err;
	uint16_t counter;
	size_t size;
	char *bytes;

	entry = (struct call_entry){ .offset = 0x7f0000002000, .scale = 32, .size = 4 };
	cr_assert(ask(&asked, &call));
	bytes = export_bytes(profile, &asked, &size);
	memcpy(&counter, bytes + 2, 2);
	cr_assert_eq(counter, 300);
	free(bytes);
	region_table_free(&asked.table);
	entry.offset -= 8;
	entry.size = 16;
	cr_assert(ask(&asked, &call));
	cr_assert_eq(export_fails(profile, &asked, &err), -EINVAL);
	cr_expect(strstr(err.text, "its bin of 4096 bytes at 0x7f0000003000 falls into more than "
				   "one counter"));
	region_table_free(&asked.table);
}

Test(export_raw, limit)
{
	static const struct profile_bin bins[] = { { 0, 40000 }, { 2, 5 },     { 4, 50000 },
						   { 6, 50000 }, { 8, 32766 }, { 10, 32767 } };
	static const uint16_t wanted[] = { 32766, 5, 32767, 32766, 32766, 32766 };
	cleanup_profile struct profile *profile = profile_of(bins, 6);
	struct call_entry entry;
	struct oracle_call call = sample_call(&entry, DIALECT_SOLARIS);
	struct asked asked;
	size_t size;
	char *bytes;

	cr_assert(ask(&asked, &call));
	bytes = export_bytes(profile, &asked, &size);
	cr_assert_eq(memcmp(bytes, wanted, sizeof(wanted)), 0);
	cr_expect_str_eq(asked.note,
			 "the counter at byte 4 of the buffer reached 32767 and ended it; 3 more "
			 "would have: a profile knows no order of ticks");
	free(bytes);
	region_table_free(&asked.table);
}

Test(export_raw, failures)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct call_entry entry;
	struct oracle_call call = sample_call(&entry, DIALECT_GLIBC);
	FILE *full = fopen("/dev/full", "w");
	struct asked asked;
	struct error err;

	cr_assert(ask(&asked, &call));
	cr_expect_eq(export_write(export_find("raw"), profile, &asked.options, full, &err),
		     -ENOSPC);
	cr_expect_str_eq(err.text, "writing the buffer: No space left on device");
	fclose(full);
	cr_expect_eq(export_write(export_find("raw"), profile, NULL, NULL, &err), -EINVAL);
	region_table_free(&asked.table);
	entry.size = UINT64_MAX;
	cr_assert(ask(&asked, &call));
	cr_expect_eq(export_fails(profile, &asked, &err), -EFBIG);
	region_table_free(&asked.table);
}
