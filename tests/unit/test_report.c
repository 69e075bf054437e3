// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/report.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/rows.h"
#include "sample.h"

static struct report_options all(enum report_by by)
{
	return (struct report_options){ .by = by, .target = REPORT_ALL_TARGETS };
}

struct want {
	uint64_t ticks;
	uint32_t object;
	uint64_t offset;
	const char *name;
};

static void check_rows(struct report_options options, size_t nr, const struct want *want)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct report_rows rows;
	struct error err = { 0 };
	size_t i;

	cr_assert_eq(rows_build(profile, &options, &rows, &err), 0, "%s", err.text);
	cr_assert_eq(rows.nr, nr, "%zu rows", rows.nr);
	for (i = 0; i < nr; i++) {
		cr_assert_eq(rows.rows[i].own.ticks, want[i].ticks, "row %zu", i);
		cr_assert_eq(rows.rows[i].object, want[i].object, "row %zu", i);
		cr_assert_eq(rows.rows[i].offset, want[i].offset, "row %zu", i);
		cr_assert_eq(!rows.rows[i].name, !want[i].name, "row %zu", i);
		if (want[i].name)
			cr_assert_str_eq(rows.rows[i].name, want[i].name);
	}
	rows_free(&rows);
}

#define ROWS(...)                                                                                  \
	sizeof((struct want[]){ __VA_ARGS__ }) / sizeof(struct want), (const struct want[])        \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

/* clang-format off */
Test(report, functions)
{
	check_rows(all(REPORT_FUNCTIONS),
		   ROWS({ 540, 0, 0x1010, "operator,(A, B)" },
			{ 300, 1, 0x7f0000003800, "late" },
			{ 99, 0, 0x8fff, NULL },
			{ 40, 2, 0xffffffff81000001, NULL },
			{ 21, 0, 0x1000, "main" }));
}

/* The overflow bin of the memory object is not a place. */
Test(report, objects)
{
	check_rows(all(REPORT_OBJECTS),
		   ROWS({ 660, 0, 0, NULL }, { 300, 1, 0, NULL }, { 40, 2, 0, NULL }));
}

Test(report, bins)
{
	check_rows(all(REPORT_BINS),
		   ROWS({ 500, 0, 0x1010, "operator,(A, B)" },
			{ 300, 1, 0x7f0000003000, "late" },
			{ 99, 0, 0x8fff, NULL },
			{ 40, 0, 0x1011, "operator,(A, B)" },
			{ 40, 2, 0xffffffff81000001, NULL },
			{ 20, 0, 0x1008, "main" },
			{ 1, 0, 0x1000, "main" }));
}

/* Without the binaries the nearest thing to a line is the function. */
Test(report, lines_without_binaries)
{
	check_rows(all(REPORT_LINES),
		   ROWS({ 540, 0, 0x1010, "operator,(A, B)" },
			{ 300, 1, 0x7f0000003800, "late" },
			{ 99, 0, 0x8fff, NULL },
			{ 40, 2, 0xffffffff81000001, NULL },
			{ 21, 0, 0x1000, "main" }));
}

/* All ticks are on some CPU, including those in no bin; time is shared evenly. */
Test(report, cpus)
{
	const struct report_options options = all(REPORT_CPUS);
	cleanup_profile struct profile *profile = sample_profile();
	struct report_rows rows;
	struct error err = { 0 };

	cr_assert_eq(rows_build(profile, &options, &rows, &err), -EINVAL);
	cr_assert_str_eq(err.text, "--by cpu: the profile does not tell CPUs apart");
	profile->sampling.delivered = calloc(4, sizeof(uint64_t));
	cr_assert(profile->sampling.delivered);
	profile->sampling.nr_delivered = 4;
	profile->sampling.delivered[0] = 60;
	profile->sampling.delivered[3] = 1000;
	cr_assert_eq(rows_build(profile, &options, &rows, &err), 0, "%s", err.text);
	cr_assert_eq(rows.nr, 2);
	cr_expect_eq(rows.rows[0].pid, 3);
	cr_expect_eq(rows.rows[0].own.ticks, 1000);
	cr_expect_eq(rows.rows[1].pid, 0);
	cr_expect_float_eq(rows.rows[0].own.ns + rows.rows[1].own.ns, rows_ns(profile, &options), 1);
	cr_expect_float_eq(rows.rows[0].own.ns * 60, rows.rows[1].own.ns * 1000, 1000);
	rows_free(&rows);
}

Test(report, one_target)
{
	struct report_options options = all(REPORT_FUNCTIONS);

	options.target = 1;
	check_rows(options, ROWS({ 40, 0, 0x1010, "operator,(A, B)" }, { 20, 0, 0x1000, "main" }));
}

static void only(struct report_options *options, const char *name)
{
	static const char *names[1];

	names[0] = name;
	options->objects = names;
	options->nr_objects = 1;
}

Test(report, one_object)
{
	struct report_options options = all(REPORT_BINS);

	only(&options, "[kernel]");
	check_rows(options, ROWS({ 40, 2, 0xffffffff81000001, NULL }));
	only(&options, "work");
	options.by = REPORT_OBJECTS;
	check_rows(options, ROWS({ 660, 0, 0, NULL }));
	only(&options, "/usr/bin/work");
	check_rows(options, ROWS({ 660, 0, 0, NULL }));
}

Test(report, two_objects)
{
	static const char *const two[] = { "[kernel]", "work" };
	struct report_options options = all(REPORT_OBJECTS);

	options.objects = two;
	options.nr_objects = 2;
	check_rows(options, ROWS({ 660, 0, 0, NULL }, { 40, 2, 0, NULL }));
}

Test(report, functions_by_pattern)
{
	struct report_options options = all(REPORT_FUNCTIONS);

	options.target = 1;
	options.function = "m*n";
	check_rows(options, ROWS({ 20, 0, 0x1000, "main" }));
	options.function = "?ain";
	check_rows(options, ROWS({ 20, 0, 0x1000, "main" }));
}
/* clang-format on */

static void check_refused(struct report_options options, const char *text)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct error err = { 0 };

	cr_assert_eq(report_write(profile, &options, stderr, &err), -EINVAL);
	cr_assert_str_eq(err.text, text);
}

Test(report, refused)
{
	struct report_options options = all(REPORT_FUNCTIONS);

	options.target = 1;
	options.function = "m";
	check_refused(options,
		      "--function 'm': no function of that name has a tick; much like it: main");
	options = all(REPORT_FUNCTIONS);
	options.target = 2;
	check_refused(options, "target 2: not in the profile, which has 2");
	options = all(REPORT_FUNCTIONS);
	only(&options, "wor");
	check_refused(options, "object 'wor': not in the profile");
	options = all(REPORT_FUNCTIONS);
	options.comm = "nob*";
	check_refused(options, "--comm 'nob*': no process or thread of this name");
}

static void check_version(const char *path, const char *name, bool fits)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct report_options options = all(REPORT_OBJECTS);
	struct report_rows rows;
	struct error err = { 0 };

	free(profile->objects[0].path);
	profile->objects[0].path = strdup(path);
	only(&options, name);
	cr_expect_eq(rows_build(profile, &options, &rows, &err), fits ? 0 : -EINVAL, "%s is%s %s",
		     path, fits ? " not" : "", name);
	rows_free(&rows);
}

Test(report, object_without_version)
{
	check_version("/lib/libz.so.1.2.13", "libz.so.1", true);
	check_version("/lib/libz.so.1.2.13", "libz.so", true);
	check_version("/lib/libz.so.1.2.13", "libz", true);
	check_version("/lib/libz-1.2.so", "libz", true);
	check_version("/usr/bin/python3.11", "python", true);
	check_version("/usr/bin/gcc-12", "gcc", true);
	check_version("/usr/libexec/cc1plus", "cc1", false);
	check_version("/lib/libz.so.10", "libz.so.1", false);
	check_version("/lib/libzstd.so.1", "libz", false);
	check_version("/lib/libz.so", "libz.so.1", false);
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

static char *sample_text(struct report_options options)
{
	struct profile *profile = sample_profile();
	char *text = written(profile, options);

	profile_free(profile);
	return text;
}

static void check_contains(const char *text, const char *part)
{
	cr_assert(strstr(text, part), "no \"%s\" in:\n%s", part, text);
}

Test(report, identity)
{
	cleanup_free char *text = sample_text(all(REPORT_FUNCTIONS));

	check_contains(text, "1060 = 1000 binned + 10 overflow + 20 outside + 25 filtered + 5 lost "
			     "(exit 5)\n");
	check_contains(text,
		       "1060 ticks, 1.063 s of CPU time at 997 Hz, in 1.060 s (100.3 % of a CPU)");
}

/* Whoever sees a server at 4 % of a CPU may look for its waits. */
Test(report, waits)
{
	cleanup_profile struct profile *profile = sample_profile();
	cleanup_free char *busy = written(profile, all(REPORT_FUNCTIONS)), *idle, *host;

	cr_expect(!strstr(busy, "--waits shows where"));
	profile->duration_ns = 26575000000;
	idle = written(profile, all(REPORT_FUNCTIONS));
	check_contains(idle, "note      it used 4.0 % of a CPU and waited for the rest: --waits "
			     "shows where");
	free(profile->targets[0].kind);
	profile->targets[0].kind = strdup("system");
	host = written(profile, all(REPORT_FUNCTIONS));
	cr_expect(!strstr(host, "--waits shows where"));
}

Test(report, limit)
{
	struct report_options options = all(REPORT_FUNCTIONS);
	char *text;

	options.limit = 1;
	text = sample_text(options);
	check_contains(text, "\n1 of 5 functions; --limit 0 shows all.\n");
	cr_assert_null(strstr(text, "late"));
	free(text);
	options.limit = 5;
	text = sample_text(options);
	cr_assert_null(strstr(text, "--limit"));
	free(text);
}

/* No line is wider than the terminal, whatever the names. */
Test(report, width)
{
	struct report_options options = all(REPORT_BINS);
	char *text, *line, *rest;

	options.width = 60;
	text = sample_text(options);
	rest = strstr(text, "  SHARE");
	cr_assert(rest);
	while ((line = strsep(&rest, "\n"))) {
		size_t columns = 0;

		for (; *line; line++)
			columns += (*line & 0xc0) != 0x80;
		cr_assert_leq(columns, 60);
	}
	free(text);
}

/* A column of names gets what the other one does not need. */
Test(report, nothing_is_cut_where_there_is_room)
{
	struct report_options options = all(REPORT_FUNCTIONS);
	cleanup_profile struct profile *profile = sample_profile();
	char *text;

	free(profile->objects[0].path);
	profile->objects[0].path =
		strdup("/usr/lib/libone-whose-name-is-of-fifty-columns-exactly.so");
	options.width = 120;
	options.limit = 1;
	text = written(profile, options);
	check_contains(text,
		       "  libone-whose-name-is-of-fifty-columns-exactly.so  operator,(A, B)\n");
	free(text);
	options.by = REPORT_OBJECTS;
	options.width = 70;
	text = written(profile, options);
	check_contains(text, "-is-of-fifty-columns-exactly.so\n");
	free(text);
}

/* Checks the first line of the heading, on a terminal of this width. */
static void check_command(unsigned int width, char *const *command, const char *row)
{
	struct report_options options = all(REPORT_FUNCTIONS);
	cleanup_profile struct profile *profile = sample_profile();
	char *text;

	profile_command_free(profile->command);
	profile->command = (char **)command;
	options.width = width;
	text = written(profile, options);
	cr_expect_eq(strncmp(text, row, strlen(row)), 0, "%u: %.80s", width, text);
	free(text);
	profile->command = NULL;
}

Test(report, command_has_one_row)
{
	char *const command[] = { "cc", "-O2", "a.c", NULL };

	cr_assert(setlocale(LC_CTYPE, "C.UTF-8"));
	check_command(0, command, "command   cc -O2 a.c\n");
	check_command(20, command, "command   cc -O2 a.c\n");
	check_command(19, command, "command   cc -O2 a\u2026\n");
	check_command(18, command, "command   cc -O2 \u2026\n");
}

Test(report, color_only_when_asked)
{
	struct report_options options = all(REPORT_FUNCTIONS);
	char *text = sample_text(options);

	cr_assert_null(strchr(text, '\033'));
	free(text);
	options.color = true;
	text = sample_text(options);
	check_contains(text, "\033[1;31m 50.94%\033[0m");
	free(text);
}

Test(report, csv)
{
	struct report_options options = all(REPORT_FUNCTIONS);
	cleanup_free char *text = NULL;

	options.format = REPORT_CSV;
	options.limit = 2;
	text = sample_text(options);
	cr_assert_str_eq(text, "ticks,percent,object,offset,address,size,function,seconds\n"
			       "540,50.9434,/usr/bin/work,0x1010,0x401010,32,\"operator,(A, B)\","
			       "0.541624860\n"
			       "300,28.3019,[jit 77]\\x0asecond line,0x7f0000003800,0x7f0000003800,"
			       "256,late,0.300902700\n");
}

/* A spreadsheet would compute such a cell, and a terminal would obey a C1 control character. */
Test(report, csv_of_hostile_names)
{
	struct report_options options = all(REPORT_OBJECTS);
	cleanup_profile struct profile *profile =
		sample_profile_of_names("=c\xc2\x9b\xe2\x80\xaep");
	cleanup_free char *text = NULL;

	options.format = REPORT_CSV;
	text = written(profile, options);
	cr_assert(strstr(text, ",'=c\\xc2\\x9b\\xe2\\x80\\xaep,"), "%s", text);
}

/* A later version may have other causes of lost ticks, and a hostile file any. */
Test(report, account_of_hostile_cause)
{
	cleanup_profile struct profile *profile = sample_profile();
	cleanup_free char *text = NULL;

	cr_assert_eq(profile->ticks.nr_lost, 1);
	free(profile->ticks.lost[0].cause);
	profile->ticks.lost[0].cause = strdup("\x1b[2J");
	text = written(profile, all(REPORT_FUNCTIONS));
	cr_assert(strstr(text, "(\\x1b[2J "), "%s", text);
}

static char *split_text(enum report_format format)
{
	struct profile *profile = sample_profile_of_processes();
	struct report_options options = all(REPORT_PROCESSES);
	char *text;

	options.format = format;
	text = written(profile, options);
	profile_free(profile);
	return text;
}

/* Processes with the same pid are told apart by their names; an overflow bin is not a place. */
Test(report, processes)
{
	char *text = split_text(REPORT_CSV);

	cr_expect_str_eq(text, "ticks,percent,pid,process,seconds\n"
			       "640,60.3774,5,one,0.641925760\n"
			       "300,28.3019,77,\"jit, \"\"one\"\"\",0.300902700\n"
			       "60,5.6604,5,two,0.060180540\n");
	free(text);
	text = split_text(REPORT_TEXT);
	check_contains(text, "  SHARE     TICKS   SECONDS  PID  PROCESS\n"
			     " 60.38%       640     0.642  5    one\n");
	free(text);
	text = split_text(REPORT_JSON);
	check_contains(text, "\"by\": \"process\"");
	check_contains(text, "{ \"ticks\": 60, \"percent\": 5.660377358490566, "
			     "\"seconds\": 0.06018054, \"pid\": 5, \"process\": \"two\" }");
	free(text);
}

Test(report, processes_of_one_object)
{
	cleanup_profile struct profile *profile = sample_profile_of_processes();
	struct report_options options = all(REPORT_PROCESSES);
	cleanup_free char *text = NULL;

	options.format = REPORT_CSV;
	only(&options, "[kernel]");
	text = written(profile, options);
	cr_expect_str_eq(text, "ticks,percent,pid,process,seconds\n40,3.7736,5,one,0.040120360\n");
}

/* A profile that is split by thread is not split by process. */
Test(report, threads)
{
	cleanup_profile struct profile *profile = sample_profile_of_processes();
	struct report_options options = all(REPORT_THREADS);
	struct error err = { 0 };
	char *text;

	profile->sampling.split = strdup("thread");
	options.format = REPORT_CSV;
	options.comm = "o?e";
	only(&options, "[kernel]");
	text = written(profile, options);
	cr_expect_str_eq(text, "ticks,percent,tid,thread,seconds\n40,3.7736,5,one,0.040120360\n");
	free(text);
	options.by = REPORT_PROCESSES;
	cr_expect_eq(report_write(profile, &options, stderr, &err), -EINVAL);
	cr_expect_str_eq(err.text, "--by process: the profile was not split by it");
}

/* Even if all its text is a JIT's, which has a process in every profile. */
Test(report, threads_of_a_jit)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct report_options options = all(REPORT_THREADS);
	cleanup_free char *text = NULL;

	options.format = REPORT_CSV;
	only(&options, "[jit 77]\nsecond line");
	profile->sampling.split = strdup("thread");
	text = written(profile, options);
	cr_expect_str_eq(text, "ticks,percent,tid,thread,seconds\n"
			       "300,28.3019,77,\"jit, \"\"one\"\"\",0.300902700\n");
}

/* The sample has one histogram with a pid, of a JIT, and one with a cgroup. */
Test(report, processes_need_a_split)
{
	cleanup_profile struct profile *profile = sample_profile();

	check_refused(all(REPORT_PROCESSES), "--by process: the profile was not split by it");
	check_rows(all(REPORT_CGROUPS), ROWS({ 940, 0, 0, NULL }, { 60, 0, 0, NULL }));
}

Test(report, empty_profile)
{
	cleanup_profile struct profile *profile = profile_new();
	char *text;

	cr_assert(profile);
	profile->sampling.period_ns = 1003009;
	text = written(profile, all(REPORT_FUNCTIONS));
	check_contains(text,
		       "No tick: less CPU time was used than one tick stands for, 1.00301 ms. "
		       "Try a higher --frequency or more work.\n");
	free(text);
	profile->sampling.source = strdup("tick");
	text = written(profile, all(REPORT_FUNCTIONS));
	check_contains(text, " Try --source clock or more work.\n");
	free(text);
}

Test(report, summary)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct error err = { 0 };
	cleanup_free char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert_eq(report_summary(profile, false, 0, out, &err), 0, "%s", err.text);
	fclose(out);
	check_contains(text, "1060 ticks, 1.063 s of CPU time");
	check_contains(text, "1060 = 1000 binned");
	check_contains(text, "note: [jit 77] has bins of 4096 bytes");
	check_contains(text, " 50.94%       540     0.542  work  ");
	cr_expect_null(strstr(text, " more function"), "%s", text);
}

/* What a summary leaves out is counted, and where it is said. */
Test(report, summary_of_many)
{
	cleanup_profile struct profile *profile = sample_profile_of_services(1, 200);
	struct report_options options = all(REPORT_FUNCTIONS);
	struct error err = { 0 };
	cleanup_free char *text = NULL, *want = NULL;
	struct report_rows rows;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert_eq(rows_build(profile, &options, &rows, &err), 0);
	cr_assert_gt(rows.nr, 11);
	cr_assert_eq(report_summary(profile, false, 0, out, &err), 0, "%s", err.text);
	fclose(out);
	cr_assert_gt(asprintf(&want, "and %zu more functions; bpfprofil report shows them\n",
			      rows.nr - 10),
		     0);
	check_contains(text, want);
	rows_free(&rows);
}

/* Bins of several histograms at one place are one row, and no tick is lost. */
Test(report, many_bins)
{
	cleanup_profile struct profile *profile = sample_profile_of_bins(100000);
	struct report_options options = all(REPORT_OBJECTS);
	struct report_rows rows;
	struct error err = { 0 };

	cr_assert_eq(rows_build(profile, &options, &rows, &err), 0);
	cr_assert_eq(rows.nr, 1);
	cr_assert_eq(rows.rows[0].own.ticks, profile->ticks.binned);
	rows_free(&rows);
}

/* A target's own period weighs its ticks: ten of these are a hundred of the profile's. */
Test(report, periods_weigh)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct report_options options = all(REPORT_OBJECTS);
	char *text;

	profile->targets[1].period_ns = 10 * profile->sampling.period_ns;
	options.format = REPORT_CSV;
	options.limit = 1;
	text = written(profile, options);
	/* (600 + 60 * 10) / (1000 + 60 * 10) */
	cr_expect_str_eq(text, "ticks,percent,object,kind,build_id,seconds\n"
			       "660,75.0000,/usr/bin/work,file,00ff12ab,1.203610800\n");
	free(text);
	options.format = REPORT_TEXT;
	text = written(profile, options);
	check_contains(text, "1060 ticks, 1.605 s of CPU time at several rates, in 1.060 s");
	free(text);
}
