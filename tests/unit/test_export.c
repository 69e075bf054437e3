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

static void assert_golden_of(struct profile *profile, const char *format, const char *path)
{
	static char golden[16384];
	char *text = sample_export(format, profile, NULL, NULL);
	FILE *file = fopen(path, "r");

	cr_assert_not_null(file);
	golden[fread(golden, 1, sizeof(golden) - 1, file)] = '\0';
	fclose(file);
	cr_assert_str_eq(text, golden);
	free(text);
	profile_free(profile);
}

static void assert_golden(const char *format, const char *path)
{
	assert_golden_of(sample_profile(), format, path);
}

/* For the profile that knows the CPU time of each process. */
static void assert_split_golden(const char *format, const char *path)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile_load("tests/golden/split.json", &profile, &err), 0, "%s", err.text);
	assert_golden_of(profile, format, path);
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

/* A golden file, or a test of its own. */
static bool is_tested(const char *name)
{
	char path[3][96];
	size_t i;

	snprintf(path[0], sizeof(path[0]), "tests/golden/profile.%s", name);
	snprintf(path[1], sizeof(path[1]), "tests/golden/profile.%s.json", name);
	snprintf(path[2], sizeof(path[2]), "tests/unit/test_export_%.*s.c", (int)strcspn(name, "-"),
		 name);
	for (i = 0; i < 3; i++)
		if (!access(path[i], R_OK))
			return true;
	return false;
}

Test(export, every_format_has_its_page_and_tests)
{
	const struct export_format *format;

	for (format = export_formats; format->name; format++) {
		cr_assert(is_in_page(format->name), "%s: no item in bpfprofil-export.1",
			  format->name);
		cr_assert(is_tested(format->name),
			  "%s: neither a golden file nor a test_export_*.c", format->name);
	}
}

static void assert_callers_golden(const char *format, const char *path)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile_load("tests/golden/callers.json", &profile, &err), 0, "%s", err.text);
	assert_golden_of(profile, format, path);
}

Test(export, json)
{
	assert_golden("json", "tests/golden/profile.json");
}

Test(export, csv)
{
	assert_golden("csv", "tests/golden/profile.csv");
}

Test(export, clickhouse)
{
	assert_golden("clickhouse", "tests/golden/profile.clickhouse");
}

Test(export, callgrind)
{
	assert_golden("callgrind", "tests/golden/profile.callgrind");
	assert_split_golden("callgrind", "tests/golden/split.callgrind");
	assert_callers_golden("callgrind", "tests/golden/callers.callgrind");
}

Test(export, folded)
{
	assert_golden("folded", "tests/golden/profile.folded");
	assert_split_golden("folded", "tests/golden/split.folded");
}

Test(export, speedscope)
{
	assert_golden("speedscope", "tests/golden/profile.speedscope.json");
	assert_split_golden("speedscope", "tests/golden/split.speedscope.json");
	assert_callers_golden("speedscope", "tests/golden/callers.speedscope.json");
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
