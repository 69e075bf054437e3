// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/export.h"
#include "sample.h"

enum { HEADER = 20, RECORD = 41, COUNTERS = 2048 };

struct file {
	unsigned char *bytes;
	size_t size;
};

static int try_gmon(const struct profile *profile, const struct export_options *options,
		    struct file *result, struct error *err)
{
	FILE *stream = open_memstream((char **)&result->bytes, &result->size);
	int ret;

	cr_assert_not_null(stream);
	ret = export_write(export_find("gmon"), profile, options, stream, err);
	fclose(stream);
	return ret;
}

static struct file gmon(const struct profile *profile, const struct export_options *options)
{
	struct error err = { 0 };
	struct file file;

	cr_assert_eq(try_gmon(profile, options, &file, &err), 0, "%s", err.text);
	cr_assert_eq(memcmp(file.bytes, "gmon\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", HEADER), 0);
	cr_assert_eq((file.size - HEADER) % (RECORD + 2 * COUNTERS), 0);
	return file;
}

static uint64_t number(const unsigned char *bytes, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, bytes, size);
	return value;
}

/* The ticks at an address in all records; records with equal bounds are added up. */
static uint64_t ticks_at(const struct file *file, uint64_t address)
{
	const unsigned char *record = file->bytes + HEADER;
	uint64_t low, sum = 0;

	for (; record < file->bytes + file->size; record += RECORD + 2 * COUNTERS) {
		low = number(record + 1, 8);
		cr_assert_eq(record[0], 0);
		cr_assert_eq(number(record + 9, 8), low + 2 * COUNTERS);
		cr_assert_eq(number(record + 17, 4), COUNTERS);
		cr_assert_eq(number(record + 21, 4), 997);
		cr_assert_str_eq((const char *)record + 25, "seconds");
		cr_assert_eq(record[40], 's');
		if (address - low < 2 * COUNTERS)
			sum += number(record + RECORD + (address - low) / 2 * 2, 2);
	}
	return sum;
}

static uint64_t all_ticks(const struct file *file)
{
	size_t at, i;
	uint64_t sum = 0;

	for (at = HEADER; at < file->size; at += RECORD + 2 * COUNTERS)
		for (i = 0; i < COUNTERS; i++)
			sum += number(file->bytes + at + RECORD + 2 * i, 2);
	return sum;
}

Test(export_gmon, adds_up_an_object)
{
	cleanup_profile struct profile *profile = sample_profile();
	const struct export_options every = { .target = EXPORT_ALL_TARGETS };
	const struct export_options second = { .target = 1 };
	struct file file = gmon(profile, &every);

	cr_assert_eq(file.size, HEADER + 2 * (RECORD + 2 * COUNTERS));
	cr_assert_eq(ticks_at(&file, 0x401000), 1);
	cr_assert_eq(ticks_at(&file, 0x401008), 20);
	cr_assert_eq(ticks_at(&file, 0x401010), 540);
	cr_assert_eq(ticks_at(&file, 0x408fff), 99);
	cr_assert_eq(all_ticks(&file), 660);
	free(file.bytes);
	file = gmon(profile, &second);
	cr_assert_eq(all_ticks(&file), 60);
	free(file.bytes);
}

Test(export_gmon, counts_beyond_16_bits)
{
	static const uint64_t counts[] = { 65534, 65535, 65536, 131070, 180000, INT32_MAX };
	cleanup_profile struct profile *profile = sample_profile();
	struct error err;
	struct file file;
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		profile->histograms[0].bins[0].count = counts[i];
		file = gmon(profile, NULL);
		cr_assert_eq(ticks_at(&file, 0x401000), counts[i]);
		cr_assert_eq(all_ticks(&file), counts[i] + 659);
		free(file.bytes);
	}
	profile->histograms[0].bins[0].count++;
	cr_assert_eq(try_gmon(profile, NULL, &file, &err), -EOVERFLOW);
	cr_assert_str_eq(err.text, "gmon: /usr/bin/work: more than 2147483647 ticks at 0x401000, "
				   "and gprof counts no further");
	cr_assert_str_eq(err.hint, "--target ID, or a sum of fewer files");
	free(file.bytes);
}

/* gprof rounds the start of a function down to two bytes, so it would take the neighbour's tick. */
Test(export_gmon, odd_bounds)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct file file;

	profile->functions[2].size = 0xd;
	profile->histograms[0].bins[0].index = 0xc;
	profile->histograms[1].bins[0].index = 0xb;
	file = gmon(profile, NULL);
	cr_assert_eq(ticks_at(&file, 0x40100a), 21);
	cr_assert_eq(ticks_at(&file, 0x40100c), 0);
	free(file.bytes);
}

/* A bin that begins before its function is counted where the function begins. */
Test(export_gmon, wide_bins)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct file file;

	profile->histograms[0].bytes_per_bin = 64;
	profile->histograms[0].bins[1].index = 1;
	profile->functions[0].offset = 0x1050;
	file = gmon(profile, NULL);
	cr_assert_eq(ticks_at(&file, 0x401050), 500);
	free(file.bytes);
}

/* A bin in several functions, which report lists as a place, is spread evenly. */
Test(export_gmon, bins_of_several_functions)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct file file;
	uint64_t at;

	profile->histograms[0].bytes_per_bin = 4096;
	profile->histograms[0].bins[0] = (struct profile_bin){ 1, 2 * COUNTERS + 1 };
	profile->histograms[0].nr_bins = 1;
	profile->functions[2].offset = 0x2000;
	profile->functions[2].size = 4096;
	file = gmon(profile, NULL);
	for (at = 0x402000; at < 0x403000 - 2; at += 2)
		cr_assert_eq(ticks_at(&file, at), 2);
	cr_assert_eq(ticks_at(&file, at), 3);
	cr_assert_eq(all_ticks(&file), 2 * COUNTERS + 1 + 60);
	free(file.bytes);
}

/* A bin that begins before the text and ends after it has no ticks outside of it. */
Test(export_gmon, bins_beyond_the_text)
{
	cleanup_profile struct profile *profile = sample_profile();
	const struct export_options first = { .target = 0 };
	struct file file;
	uint64_t at;

	profile->histograms[0].offset = 0;
	profile->histograms[0].bytes_per_bin = 65536;
	profile->histograms[0].bins[0] = (struct profile_bin){ 0, 0x8001 };
	profile->histograms[0].nr_bins = 1;
	profile->functions[2].offset = 0;
	profile->functions[2].size = 65536;
	file = gmon(profile, &first);
	for (at = 0x401000; at < 0x409000 - 2; at += 2)
		cr_assert_eq(ticks_at(&file, at), 2);
	cr_assert_eq(ticks_at(&file, at), 3);
	cr_assert_eq(all_ticks(&file), 0x8001);
	free(file.bytes);
}

Test(export_gmon, rates)
{
	cleanup_profile struct profile *profile = sample_profile();
	char note[EXPORT_NOTE_BYTES] = "";
	const struct export_options options = { .target = EXPORT_ALL_TARGETS, .note = note };
	static const struct {
		uint64_t period;
		uint64_t rate;
		const char *note;
	} rates[] = {
		{ 1000000000, 1, "" },
		{ 1003009, 997, "" },
		{ 10000, 100000, "" },
		{ 3000000, 333, "gprof knows whole rates only: its seconds are off by +0.1 %" },
		{ 800000000, 1, "gprof knows whole rates only: its seconds are off by +25.0 %" },
		{ 4000000000, 1, "gprof knows whole rates only: its seconds are off by -75.0 %" },
	};
	struct error err;
	struct file file;
	size_t i;

	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		profile->sampling.period_ns = rates[i].period;
		note[0] = '\0';
		cr_assert_eq(try_gmon(profile, &options, &file, &err), 0);
		cr_assert_eq(number(file.bytes + HEADER + 21, 4), rates[i].rate);
		cr_assert_str_eq(note, rates[i].note);
		free(file.bytes);
	}
}

/* Counts divided by the rate are the CPU time, whatever a tick stands for. */
Test(export_gmon, cpu_time)
{
	cleanup_profile struct profile *profile = sample_profile();
	char note[EXPORT_NOTE_BYTES] = "";
	const struct export_options options = { .target = EXPORT_ALL_TARGETS, .note = note };
	struct error err;
	struct file file;

	/* 2.5 s for 1,000 ticks; the other target's 60 ticks are 10 ms each. */
	profile->targets[0].cpu_known = true;
	profile->targets[0].cpu_ns = 2500000000;
	profile->targets[1].period_ns = 10000000;
	cr_assert_eq(try_gmon(profile, &options, &file, &err), 0, "%s", err.text);
	cr_assert_eq(number(file.bytes + HEADER + 21, 4), 10000);
	cr_assert_eq(all_ticks(&file), 600 * 25 + 60 * 100);
	cr_assert_str_eq(note, "", "it is less than gprof shows");
	free(file.bytes);
	/* Fractions of a count are not lost: 1.00005 s, less 50 us. */
	profile->targets[0].cpu_ns = 1666750000;
	profile->targets[1].cpu_known = true;
	cr_assert_eq(try_gmon(profile, &options, &file, &err), 0, "%s", err.text);
	cr_assert_eq(all_ticks(&file), 10000);
	free(file.bytes);
	/* Ticks of 10 us need a higher rate. */
	profile->sampling.period_ns = 10000;
	cr_assert_eq(try_gmon(profile, &options, &file, &err), 0, "%s", err.text);
	cr_assert_eq(number(file.bytes + HEADER + 21, 4), 1000000);
	cr_assert_eq(all_ticks(&file), 1000050);
	free(file.bytes);
	/* With a million seconds, a place could have more counts than gprof adds up. */
	profile->targets[0].cpu_ns = 1000000 * SECOND_NS;
	profile->targets[1].cpu_ns = 0;
	cr_assert_eq(try_gmon(profile, &options, &file, &err), 0, "%s", err.text);
	cr_assert_eq(number(file.bytes + HEADER + 21, 4), 1000);
	cr_assert_eq(all_ticks(&file), 600000000);
	free(file.bytes);
	profile->targets[0].cpu_ns = UINT64_MAX;
	cr_assert_eq(try_gmon(profile, &options, &file, &err), -EOVERFLOW);
	cr_assert(strstr(err.text, "more than 2147483647 counts at "), "%s", err.text);
	free(file.bytes);
}

/* gprof can only name the text of files. */
Test(export_gmon, objects)
{
	const struct export_options every = { .target = EXPORT_ALL_TARGETS };
	const struct export_options other = { .target = EXPORT_ALL_TARGETS, .object = "[kernel]" };
	cleanup_profile struct profile *profile = sample_profile();

	cr_assert(export_has_file(profile, &every, 0));
	cr_assert(!export_has_file(profile, &every, 1));
	cr_assert(!export_has_file(profile, &every, 2));
	cr_assert(!export_has_file(profile, &every, 3));
	cr_assert(!export_has_file(profile, &other, 0));
}

/* A 32-bit program has pointers of four bytes. A sum of several architectures has none. */
Test(export_gmon, pointers_of_four_bytes)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct error err;
	struct file file;

	free(profile->host.arch);
	profile->host.arch = strdup("i686");
	cr_assert_eq(try_gmon(profile, NULL, &file, &err), 0);
	cr_assert_eq(number(file.bytes + HEADER + 1, 4), 0x401000);
	cr_assert_eq(number(file.bytes + HEADER + 5, 4), 0x402000);
	cr_assert_eq(number(file.bytes + HEADER + 9, 4), COUNTERS);
	free(file.bytes);
	*profile->host.arch = '\0';
	file = gmon(profile, NULL);
	cr_assert_eq(number(file.bytes + HEADER + 1, 8), 0x401000);
	cr_assert_eq(number(file.bytes + HEADER + 9, 8), 0x402000);
	free(file.bytes);
}
