// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Rows of names, and what tells rows apart. */
#include "base/util.h"
#include "report/diff.h"
#include "report/rows.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

static struct report_options all(enum report_by by)
{
	return (struct report_options){ .by = by, .target = REPORT_ALL_TARGETS };
}

static char *written(const struct profile *profile, struct report_options options)
{
	struct error err = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert_eq(report_write(profile, &options, out, &err), 0, "%s", err.text);
	fclose(out);
	return text;
}

static void check_contains(const char *text, const char *part)
{
	cr_assert(strstr(text, part), "no \"%s\" in:\n%s", part, text);
}

/* All processes of a name are one row. */
Test(report, comms)
{
	struct profile *profile = sample_profile_of_processes();
	struct report_options options = all(REPORT_COMMS);
	struct error err = { 0 };
	char *text;

	profile->histograms[3].pid = 6;
	options.format = REPORT_CSV;
	text = written(profile, options);
	cr_expect_str_eq(text, "ticks,percent,comm,seconds\n"
			       "640,60.3774,one,0.641925760\n"
			       "300,28.3019,\"jit, \"\"one\"\"\",0.300902700\n"
			       "60,5.6604,two,0.060180540\n");
	free(text);
	options.format = REPORT_TEXT;
	text = written(profile, options);
	check_contains(text, "  SHARE     TICKS   SECONDS  COMM\n"
			     " 60.38%       640     0.642  one\n");
	free(text);
	options.format = REPORT_JSON;
	text = written(profile, options);
	check_contains(text, "\"by\": \"comm\"");
	check_contains(text, "\"seconds\": 0.06018054, \"comm\": \"two\" }");
	free(text);
	profile_free(profile);
	profile = sample_profile();
	cr_expect_eq(report_write(profile, &options, stderr, &err), -EINVAL);
	cr_expect_str_eq(err.text, "--by comm: the profile was not split by it");
	cr_expect_str_eq(err.hint, "sudo bpfprofil attach --split process ...");
	profile->nr_targets = 1;
	cr_expect_eq(report_write(profile, &options, stderr, &err), -EINVAL);
	cr_expect_str_eq(err.hint, "sudo bpfprofil run --split process COMMAND");
	profile->nr_targets = 2;
	profile_free(profile);
}

/* A process that used CPU time and had no tick is in tables of processes, and has no functions. */
Test(report, comm_without_ticks)
{
	cleanup_profile struct profile *profile = sample_profile_of_processes();
	struct report_options options = all(REPORT_FUNCTIONS);
	cleanup_free char *text = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile->nr_splits, 0);
	options.comm = "nap*";
	cr_expect_eq(report_write(profile, &options, stderr, &err), -EINVAL);
	profile->splits = calloc(1, sizeof(*profile->splits));
	cr_assert(profile->splits);
	profile->nr_splits = 1;
	profile->splits[0] =
		(struct profile_split){ .pid = 9, .process = strdup("napper"), .cpu_ns = 1000000 };
	text = written(profile, options);
	check_contains(text, "No tick is in a bin that was chosen.");
}

static void set_text(char **text, const char *value)
{
	free(*text);
	*text = strdup(value);
}

Test(report, share_of_the_kernel)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct report_options json = all(REPORT_FUNCTIONS);
	char *text = written(profile, all(REPORT_FUNCTIONS));

	check_contains(text,
		       "\nkernel    counted for its callers; --mode split shows it separately\n");
	free(text);
	profile->targets[0].kernel_known = true;
	profile->targets[0].kernel_ticks = 250;
	text = written(profile, all(REPORT_FUNCTIONS));
	check_contains(text, "\nkernel    counted for its callers; ");
	free(text);
	profile->targets[1].kernel_known = true;
	profile->targets[1].kernel_ticks = 15;
	text = written(profile, all(REPORT_FUNCTIONS));
	check_contains(text,
		       "\nkernel    25.00 % of the time, counted for its callers; "); /* of 1060 */
	free(text);
	/* The share is of the time: ticks of one target may stand for more than those of another. */
	profile->targets[0].cpu_known = true;
	profile->targets[0].cpu_ns = 10 * profile->sampling.period_ns * 1000;
	profile->targets[1].kernel_ticks = 0;
	text = written(profile, all(REPORT_FUNCTIONS));
	check_contains(text, "\nkernel    24.85 % of the time, counted"); /* 2500 of 10060 */
	free(text);
	json.format = REPORT_JSON;
	text = written(profile, json);
	check_contains(text, ", \"kernel_percent\": 24.85");
	free(text);
	profile->targets[0].cpu_known = false;
	profile->targets[0].cpu_ns = 0;
	set_text(&profile->sampling.mode, "split");
	text = written(profile, all(REPORT_FUNCTIONS));
	check_contains(text, "\nkernel    3.77 % of the time\n"); /* 40 of 1060 */
	free(text);
	set_text(&profile->sampling.mode, "user");
	text = written(profile, all(REPORT_FUNCTIONS));
	cr_expect_null(strstr(text, "\nkernel "));
	free(text);
}

/* What a series prints at its end is the sum of its accounts: whose time it was is in its files. */
Test(report, no_share_without_counters)
{
	cleanup_profile struct profile *profile = sample_profile();
	size_t nr = profile->nr_histograms, size;
	cleanup_free char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	set_text(&profile->sampling.mode, "split");
	profile->nr_histograms = 0;
	report_account(profile, out);
	profile->nr_histograms = nr;
	fclose(out);
	check_contains(text, "\n1060 = ");
	cr_expect_null(strstr(text, "kernel: "), "%s", text);
}

/* The kernel's ticks are in the accounts. */
Test(report, charged_share_without_counters)
{
	cleanup_profile struct profile *profile = sample_profile();
	size_t nr = profile->nr_histograms, size;
	cleanup_free char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	profile->targets[0].kernel_known = profile->targets[1].kernel_known = true;
	profile->targets[0].kernel_ticks = 106;
	profile->nr_histograms = 0;
	report_account(profile, out);
	profile->nr_histograms = nr;
	fclose(out);
	check_contains(text,
		       "\nkernel: 10.00 % of the time, counted for its callers; --mode split");
}

/* A profile without a command says what was attached to. */
Test(report, names_the_target)
{
	cleanup_profile struct profile *profile = profile_new();
	cleanup_free char *text = NULL;

	profile->targets = calloc(1, sizeof(*profile->targets));
	profile->nr_targets = 1;
	profile->targets->kind = strdup("pid");
	profile->targets->name = strdup("postgres* (14 processes)");
	text = written(profile, all(REPORT_FUNCTIONS));
	check_contains(text, "target    pid postgres* (14 processes)\n");
}

/* The second object is like the first: what tells them apart is shown, and no more. */
static char *with_alike(const char *path, const char *build_id, enum report_by by)
{
	struct profile *profile = sample_profile();
	char *text;

	profile->objects[2].kind = PROFILE_FILE;
	set_text(&profile->objects[2].path, path);
	set_text(&profile->objects[2].build_id, build_id);
	profile->functions = reallocarray(profile->functions, profile->nr_functions + 1,
					  sizeof(*profile->functions));
	profile->functions[profile->nr_functions++] =
		(struct profile_function){ .object = 2,
					   .name = strdup("main"),
					   .offset = profile->histograms[3].offset,
					   .size = 16,
					   .ticks = 40 };
	text = written(profile, all(by));
	profile_free(profile);
	return text;
}

Test(report, rows_alike)
{
	char *text = with_alike("/opt/work", "00ff12ab", REPORT_FUNCTIONS);

	check_contains(text, "  /opt/work                main\n");
	check_contains(text, "  /usr/bin/work            main\n");
	check_contains(text, "  work                     operator,(A, B)\n");
	free(text);
	text = with_alike("/usr/bin/work", "8badf00e11111", REPORT_FUNCTIONS);
	check_contains(text, "  work (8badf00e)          main\n");
	check_contains(text, "  work (00ff12ab)          main\n");
	free(text);
	text = with_alike("/usr/bin/work", "8badf00e11111", REPORT_OBJECTS);
	check_contains(text, "/usr/bin/work (build 8badf00e)\n");
	check_contains(text, "/usr/bin/work (build 00ff12ab)\n");
	free(text);
	text = with_alike("/usr/bin/play", "8badf00e11111", REPORT_OBJECTS);
	check_contains(text, "/usr/bin/play\n");
	free(text);
}

/* Two functions of one name in a file are told apart by their offsets; a JIT's are one. */
Test(report, functions_of_one_name)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct report_options options = all(REPORT_FUNCTIONS);
	char *text;

	set_text(&profile->functions[2].name, "operator,(A, B)");
	text = written(profile, options);
	check_contains(text, "operator,(A, B) (at 0x1000)\n");
	check_contains(text, "operator,(A, B) (at 0x1010)\n");
	free(text);
	profile->objects[0].kind = PROFILE_JIT;
	options.format = REPORT_CSV;
	text = written(profile, options);
	check_contains(text, "\n561,52.9245,/usr/bin/work,,,,\"operator,(A, B)\",");
	check_contains(text, ",0x7f0000003800,"); /* "late", which has one place */
	free(text);
}

/* A function is found without what a language puts around its name, as by --annotate. */
Test(report, functions_by_name)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct report_options options = all(REPORT_FUNCTIONS);
	struct error err = { 0 };
	struct report_rows rows;

	free(profile->functions[0].name);
	profile->functions[0].name = strdup("main.(*Item).score");
	options.function = "score";
	cr_assert_eq(rows_build(profile, &options, &rows, &err), 0, "%s", err.text);
	cr_assert_eq(rows.nr, 1);
	cr_assert_str_eq(rows.rows[0].name, "main.(*Item).score");
	rows_free(&rows);
}

/* What a C++ function has in brackets is left out where it does not fit, in diff's table too. */
Test(report, long_names)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct report_options options = all(REPORT_FUNCTIONS);
	const struct diff_options by_functions = { .by = REPORT_FUNCTIONS };
	cleanup_free char *text = NULL, *table = NULL;
	struct error err = { 0 };
	struct diff diff;
	size_t size;
	FILE *out = open_memstream(&table, &size);

	cr_assert(setlocale(LC_CTYPE, "C.UTF-8"));
	free(profile->functions[0].name);
	profile->functions[0].name =
		strdup("ns::Table<std::pair<int, long>, Hash>::find(Key const&)");
	options.width = 90;
	text = written(profile, options);
	check_contains(text, "  ns::Table<\u2026>::find(Key const&)\n");
	options.width = 100;
	cr_assert_eq(diff_build(profile, profile, &by_functions, &diff, &err), 0, "%s", err.text);
	diff_write(&diff, &options, out);
	diff_free(&diff);
	fclose(out);
	check_contains(table, "  ns::Table<\u2026>::find(Key const&)\n");
}
