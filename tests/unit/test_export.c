// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/export.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "profile/profile_io.h"
#include "sample.h"

/* Exports of the sample (NULL) and of other profiles, as they must be. */
static const struct golden {
	const char *format;
	const char *profile;
	const char *path;
} goldens[] = {
	{ "json", NULL, "tests/golden/profile.json" },
	{ "csv", NULL, "tests/golden/profile.csv" },
	{ "clickhouse", NULL, "tests/golden/profile.clickhouse" },
	{ "callgrind", NULL, "tests/golden/profile.callgrind" },
	{ "callgrind", "tests/golden/split.json", "tests/golden/split.callgrind" },
	{ "callgrind", "tests/golden/callers.json", "tests/golden/callers.callgrind" },
	{ "folded", NULL, "tests/golden/profile.folded" },
	{ "folded", "tests/golden/split.json", "tests/golden/split.folded" },
	{ "speedscope", NULL, "tests/golden/profile.speedscope.json" },
	{ "speedscope", "tests/golden/split.json", "tests/golden/split.speedscope.json" },
	{ "speedscope", "tests/golden/callers.json", "tests/golden/callers.speedscope.json" },
};

#define NR_GOLDENS (sizeof(goldens) / sizeof(*goldens))

static void assert_golden(const struct golden *golden)
{
	static char wanted[16384];
	struct profile *profile = NULL;
	struct error err = { 0 };
	FILE *file = fopen(golden->path, "r");
	char *text;

	cr_assert_not_null(file, "%s", golden->path);
	wanted[fread(wanted, 1, sizeof(wanted) - 1, file)] = '\0';
	fclose(file);
	if (golden->profile)
		cr_assert_eq(profile_load(golden->profile, &profile, &err), 0, "%s", err.text);
	else
		profile = sample_profile();
	text = sample_export(golden->format, profile, NULL, NULL);
	cr_expect_str_eq(text, wanted, "%s: exported: %s", golden->path, text);
	free(text);
	profile_free(profile);
}

Test(export, golden_files)
{
	size_t i;

	for (i = 0; i < NR_GOLDENS; i++)
		assert_golden(&goldens[i]);
}

Test(export, formats)
{
	const struct export_format *format;

	for (format = export_formats; format->name; format++) {
		cr_assert_eq(export_find(format->name), format);
		cr_assert_not_null(format->write);
		cr_assert_gt(strlen(format->description), 0);
	}
	cr_assert_null(export_find("xml"));
	cr_assert_null(export_find(""));
}

static bool is_in_page(const char *name)
{
	cleanup_file FILE *page = fopen("user/man/bpfprofil-export.1", "r");
	char line[256], item[64];
	bool found = false;

	cr_assert_not_null(page);
	snprintf(item, sizeof(item), ".It Cm %s\n", name);
	while (!found && fgets(line, sizeof(line), page))
		found = !strcmp(line, item);
	return found;
}

/* By a golden file or in a test_export_NAME.c. */
static bool is_tested(const char *name)
{
	char path[96];
	size_t i;

	for (i = 0; i < NR_GOLDENS; i++)
		if (!strcmp(goldens[i].format, name))
			return true;
	snprintf(path, sizeof(path), "tests/unit/test_export_%.*s.c", (int)strcspn(name, "-"),
		 name);
	return !access(path, R_OK);
}

Test(export, every_format_has_its_page_and_tests)
{
	const struct export_format *format;

	for (format = export_formats; format->name; format++) {
		cr_assert(is_in_page(format->name), "%s: no item in bpfprofil-export.1",
			  format->name);
		cr_assert(is_tested(format->name), "%s: neither in goldens[] nor a test_export_*.c",
			  format->name);
	}
}

/* Another reader finds the intended cells, and one line per row. */
Test(export, csv_is_read_by_others)
{
	cr_assert_eq(
		system("/usr/bin/python3 -c '\n"
		       "import csv\n"
		       "lines = open(\"tests/golden/profile.csv\", newline=\"\").readlines()\n"
		       "rows = list(csv.DictReader(lines, strict=True))\n"
		       "assert len(rows) == len(lines) - 1 == 8\n"
		       "assert all(None not in r and None not in r.values() for r in rows)\n"
		       "assert rows[0][\"target_name\"] == \"./work \\\"quoted\\\", twice\"\n"
		       "assert rows[2][\"function\"] == \"operator,(A, B)\"\n"
		       "assert rows[4][\"function\"] == \"\"\n"
		       "assert [r[\"process\"] for r in rows if r[\"pid\"]] == [\"jit, \\\"one\\\"\"]\n"
		       "assert sum(int(r[\"ticks\"]) for r in rows) == 1010\n"
		       "'"),
		0);
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void assert_harmless(const char *format, const char *name)
{
	cleanup_profile struct profile *plain = sample_profile_of_names("x");
	cleanup_profile struct profile *profile = sample_profile_of_names(name);
	cleanup_free char *expected = sample_export(format, plain, NULL, NULL);
	cleanup_free char *text = sample_export(format, profile, NULL, NULL);
	size_t i;

	cr_assert_eq(count_lines(text), count_lines(expected), "%s: '%s'", format, name);
	for (i = 0; text[i]; i++) {
		if (text[i] == '\n')
			text[i] = ' ';
	}
	cr_assert(sample_is_harmless(text), "%s: '%s'", format, name);
}

static bool is_text(const struct export_format *format)
{
	return !format->binary && !format->per_object && !format->reads_programs;
}

Test(export, hostile_names)
{
	const struct export_format *format;
	size_t i;

	for (format = export_formats; format->name; format++) {
		for (i = 0; is_text(format) && sample_names[i]; i++)
			assert_harmless(format->name, sample_names[i]);
	}
}

/* Whatever a format makes of its options, what is not in the profile is refused before it is called. */
Test(export, choice_that_is_not_there)
{
	static const struct export_options choices[] = { { .target = 99 },
							 { .target = EXPORT_ALL_TARGETS,
							   .object = "absent" } };
	cleanup_profile struct profile *profile = sample_profile();
	cleanup_file FILE *null = fopen("/dev/null", "w");
	const struct export_format *format;
	struct error err;
	size_t i;

	for (format = export_formats; format->name; format++) {
		for (i = 0; (format->uses & EXPORT_USES_TARGET) && i < 2; i++) {
			cr_assert_eq(export_write(format, profile, &choices[i], null, &err),
				     -EINVAL, "%s", format->name);
			cr_assert(strstr(err.text, "not in the profile"), "%s", err.text);
		}
	}
}

/* A spreadsheet would compute a cell that begins like this; the rest of the name is unchanged. */
Test(export, csv_of_formulas)
{
	static const char *const names[] = { "=1+1", "+1", "-1", "@sum", "1=1" };
	struct profile *profile;
	char *text, cell[16];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		profile = sample_profile_of_names(names[i]);
		text = sample_export("csv", profile, NULL, NULL);
		snprintf(cell, sizeof(cell), ",%s%s,", i < 4 ? "'" : "", names[i]);
		cr_assert(strstr(text, cell), "%s", text);
		snprintf(cell, sizeof(cell), ",%s,", names[i]);
		cr_assert_eq(!strstr(text, cell), i < 4);
		free(text);
		profile_free(profile);
	}
}

/* Many histograms of one object, in the worst order. */
Test(export, csv_merges_by_offset)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct profile_histogram *h = calloc(50, sizeof(*h));
	unsigned long previous = 0;
	unsigned long offset;
	size_t rows = 0;
	cleanup_free char *text = NULL;
	char *line;
	size_t i;
	size_t j;

	for (i = 0; i < 50; i++) {
		h[i] = (struct profile_histogram){ .pid = -1, .bytes_per_bin = 1, .width = 4 };
		h[i].offset = 50 - i;
		h[i].nr_bins = i % 7;
		h[i].bins = calloc(7, sizeof(*h[i].bins));
		for (j = 0; j < h[i].nr_bins; j++)
			h[i].bins[j] = (struct profile_bin){ j * 13, 1 };
		rows += h[i].nr_bins;
	}
	for (i = 0; i < profile->nr_histograms; i++) {
		free(profile->histograms[i].bins);
		free(profile->histograms[i].process);
		free(profile->histograms[i].dialect);
		free(profile->histograms[i].cgroup);
		free(profile->histograms[i].stopped);
	}
	free(profile->histograms);
	profile->histograms = h;
	profile->nr_histograms = 50;
	text = sample_export("csv", profile, NULL, NULL);
	for (line = strstr(text, ",0x"); line; line = strstr(line + 1, ",0x")) {
		offset = strtoul(line + 1, NULL, 16);
		cr_assert_geq(offset, previous);
		previous = offset;
		rows--;
	}
	cr_assert_eq(rows, 0);
}

Test(export, csv_of_nothing_is_a_header)
{
	cleanup_profile struct profile *profile = profile_new();
	cleanup_free char *text = sample_export("csv", profile, NULL, NULL);

	cr_assert_eq(strncmp(text, "target,", 7), 0);
	cr_assert_eq(strchr(text, '\n')[1], '\0');
}

Test(export, full_device)
{
	cleanup_profile struct profile *profile = sample_profile_of_bins(10000);
	const struct export_format *format;
	struct error err;
	FILE *full;

	for (format = export_formats; format->name; format++) {
		if (format->uses & EXPORT_USES_CALL || format->reads_programs)
			continue;
		full = fopen("/dev/full", "w");
		cr_assert_eq(export_write(format, profile, NULL, full, &err), -ENOSPC, "%s",
			     format->name);
		cr_assert_not_null(strstr(err.text, ": No space left on device"));
		fclose(full);
	}
}
