// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Options that change what is counted, and how finely. */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "cgroup.h"
#include "live.h"
#include "need.h"

#define FIVE_THREE_TWO SHARES({ "alpha", 5 }, { "beta", 3 }, { "delta", 2 })

TestSuite(live_options, .init = need_root, .timeout = 60);

/* Only the region's ticks are binned, and the others are filtered; none is missing. */
LIVE_TEST(live_options, region_of_a_function)
{
	uint64_t alpha;

	live_run_timed(live, ARGS(FAST, "--region", "three:alpha"),
		       ARGS(WORKLOAD("three"), "15000"));
	alpha = doc_function(live->doc, "alpha", NULL);
	cr_expect_eq(alpha, doc_number(live->doc, "ticks.binned"));
	assert_ratio(SHARES({ "alpha", 5 }, { "the others", 5 }),
		     (uint64_t[]){ alpha, doc_number(live->doc, "ticks.filtered") });
}

LIVE_TEST(live_options, regions_add_up)
{
	live_run_timed(live, ARGS(FAST, "--region", "three:beta", "--region", "three:delta"),
		       ARGS(WORKLOAD("three"), "15000"));
	cr_expect_eq(doc_function(live->doc, "alpha", NULL), 0);
	assert_ratio(SHARES({ "beta", 3 }, { "delta", 2 }, { "the others", 5 }),
		     (uint64_t[]){ doc_function(live->doc, "beta", NULL),
				   doc_function(live->doc, "delta", NULL),
				   doc_number(live->doc, "ticks.filtered") });
}

LIVE_TEST(live_options, region_of_an_object)
{
	live_run_timed(live, ARGS(FAST, "--region", "plugin_b.so"),
		       ARGS(WORKLOAD("plugins"), "100", "20", WORKLOAD("plugin_a.so"),
			    WORKLOAD("plugin_b.so")));
	cr_expect_eq(doc_object(live->doc, NULL, "plugin_b.so"),
		     doc_number(live->doc, "ticks.binned"));
	cr_expect_gt(doc_number(live->doc, "ticks.binned"), 0);
	cr_expect_gt(doc_number(live->doc, "ticks.filtered"),
		     doc_number(live->doc, "ticks.binned"));
}

/*
 * What runs on other CPUs is in no account. The scheduler's accounts are of all CPUs, so the CPU
 * time on the chosen ones is unknown.
 */
static void run_on_cpu_1(const char *source)
{
	struct json_object *ignored;
	struct live live;

	live_begin(&live);
	live_run(&live, ARGS("--source", source, "--cpu", "1", "--split", "process"),
		 ARGS("sh", "-c", "taskset -c 0 $1 8000 & taskset -c 1 $2 8000; wait", "-",
		      WORKLOAD("one"), WORKLOAD("three")));
	cr_expect_eq(doc_object(live.doc, NULL, "workloads/one"), 0);
	doc_assert_shares(live.doc, FIVE_THREE_TWO, 0.9);
	cr_expect_eq(doc_number(live.doc, "ticks.total"),
		     json_object_get_uint64(json_object_array_get_idx(
			     doc_get(live.doc, "sampling.delivered"), 1)));
	cr_expect_str_eq(json_object_get_string(doc_get(live.doc, "sampling.cpus")), "1");
	cr_expect_not(json_object_object_get_ex(live.doc, "cpu_ns", &ignored));
	cr_expect_not(json_object_object_get_ex(live.doc, "splits", &ignored));
	live_end(&live);
}

Test(live_options, cpu)
{
	NEED(sysconf(_SC_NPROCESSORS_ONLN) > 1, "one CPU");
	run_on_cpu_1("clock");
	run_on_cpu_1("tick");
}

LIVE_TEST(live_options, cpu_that_is_not_there)
{
	live_try(live, ARGS("--cpu", "0,9999"), ARGS("true"));
	cr_expect_eq(live->end.status, 1);
	cr_expect(strstr(live->end.err,
			 "bpfprofil: run: --cpu 0,9999: there is no CPU 9999\ntry: "),
		  "%s", live->end.err);
	cr_expect_null(live->doc);
}

/* Every histogram has bins of this size, and the corresponding scale. */
static void expect_bytes_per_bin(struct json_object *doc, uint64_t bytes)
{
	struct json_object *histograms = doc_get(doc, "histograms");
	size_t i, n = json_object_array_length(histograms);

	cr_assert_gt(n, 0);
	for (i = 0; i < n; i++) {
		struct json_object *histogram = json_object_array_get_idx(histograms, i);

		cr_expect_eq(doc_number(histogram, "bytes_per_bin"), bytes);
		cr_expect_eq(doc_number(histogram, "scale"), 131072 / bytes);
	}
}

LIVE_TEST(live_options, bytes_per_bin)
{
	live_run_timed(live, ARGS(FAST, "--bytes-per-bin", "16"), ARGS(WORKLOAD("three"), "15000"));
	expect_bytes_per_bin(live->doc, 16);
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.95);
	live_run(live, ARGS(FAST, "--scale", "32768"), ARGS(WORKLOAD("three"), "2000"));
	expect_bytes_per_bin(live->doc, 4);
	live_run(live, ARGS(FAST, "--bytes-per-bin", "65536"), ARGS(WORKLOAD("three"), "2000"));
	expect_bytes_per_bin(live->doc, 65536);
}

/* Each process has its own histogram of a file; together they are what a single one would be. */
LIVE_TEST(live_options, split_by_process)
{
	struct json_object *histograms;
	size_t i, own = 0;

	live_run_timed(live, ARGS(FAST, "--split", "process"), ARGS(WORKLOAD("forktree"), "1000"));
	doc_assert_shares(live->doc, SHARES({ "alpha", 1 }, { "beta", 3 }, { "delta", 9 }), 0.95);
	histograms = doc_get(live->doc, "histograms");
	for (i = 0; i < json_object_array_length(histograms); i++) {
		struct json_object *histogram = json_object_array_get_idx(histograms, i);
		struct json_object *object = json_object_array_get_idx(
			doc_get(live->doc, "objects"), doc_number(histogram, "object"));
		const char *path = json_object_get_string(doc_get(object, "path"));

		cr_expect(json_object_is_type(doc_get(histogram, "pid"), json_type_int));
		own += strstr(path, "forktree") != NULL;
	}
	cr_expect_eq(own, 13, "%zu histograms of the program, for 13 processes", own);
}

/* The ticks of a cgroup are the CPU time of what ran in it, by the kernel's account. */
static void expect_cgroup(struct live *live, const char *cgroup, const char *usage)
{
	uint64_t ticks = doc_cgroup(live->doc, cgroup);
	FILE *file = fopen(live_path(live, usage), "re");
	double cpu_ns = 0, turns = 0, expected;

	cr_assert(file && fscanf(file, "%lf %lf", &cpu_ns, &turns) == 2, "%s", live->end.err);
	fclose(file);
	expected = cpu_ns / (double)doc_number(live->doc, "sampling.period_ns");
	/* As in live_run_timed(). */
	cr_expect_leq(fabs((double)ticks - expected),
		      expected * (0.01 + live_allowed_part(expected, turns)),
		      "%s: %lu ticks, by CPU time %.0f", cgroup, ticks, expected);
}

/*
 * Two cgroups, one inside the other. The command makes them and removes them at its end, so their
 * names are from when they existed.
 */
Test(live_options, split_by_cgroup)
{
	static const char script[] =
		"cd \"$0\" && mkdir $1 $1/in $2 || exit 1;"
		"(sh -c 'echo $PPID' >$1/in/cgroup.procs; exec \"$3\" \"$5/one\" \"$4\" 5000) & "
		"(sh -c 'echo $PPID' >$2/cgroup.procs; exec \"$3\" \"$5/two\" \"$4\" 15000) & "
		"wait; rmdir $1/in $1 $2";
	char mount[256], holder[320], one[32], two[32], name[48];
	struct live live;

	NEED(cgroup_mount(NULL, mount, sizeof(mount)) || cgroup_mount("cpu", mount, sizeof(mount)),
	     "no cgroups are mounted");
	/* A hierarchy in which nobody is told apart is not chosen. */
	snprintf(holder, sizeof(holder), "%s/bpfprofil-holder-%d", mount, getpid());
	cgroup_make(holder);
	cgroup_enter(holder, getpid());
	snprintf(one, sizeof(one), "bpfprofil-one-%d", getpid());
	snprintf(two, sizeof(two), "bpfprofil-two-%d", getpid());
	snprintf(name, sizeof(name), "/%s/in", one);
	live_begin(&live);
	live_run_timed(&live, ARGS(FAST, "--split", "cgroup"),
		       ARGS("sh", "-c", script, mount, one, two, WORKLOAD("treetime"),
			    WORKLOAD("three"), live.dir));
	expect_cgroup(&live, name, "one");
	expect_cgroup(&live, two, "two");
	doc_assert_shares(live.doc, FIVE_THREE_TWO, 0.95);
	live_end(&live);
	cgroup_remove(holder);
}

/* An exec gives a process another name, and only that process. */
LIVE_TEST(live_options, split_names_processes_after_exec)
{
	struct json_object *histograms;
	size_t i, ours = 0;

	live_run(live, ARGS(FAST, "--split", "process"),
		 ARGS("sh", "-c",
		      "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; exec \"$0\" 2000",
		      WORKLOAD("three")));
	histograms = doc_get(live->doc, "histograms");
	for (i = 0; i < json_object_array_length(histograms); i++) {
		struct json_object *histogram = json_object_array_get_idx(histograms, i);
		const char *process = json_object_get_string(doc_get(histogram, "process"));

		ours += !strcmp(process, "three");
		cr_expect_neq(strcmp(process, "sh"), 0, "before the exec: %s", process);
	}
	/* The text of the shell, the program and the C library belongs to one process. */
	cr_expect_gt(ours, 1);
}

/* The sum of the files that match; each is sound by itself. */
struct files {
	size_t nr;
	uint64_t ticks;
	uint64_t alpha;
	uint64_t kernel; /* in its bins */
	uint64_t kernel_ticks; /* in all */
	uint64_t lost;
	uint64_t unknown; /* in files that nobody told of */
	uint64_t shell;
	uint64_t duration_ns;
	double period_ns;
};

static void read_files(struct live *live, const char *pattern, struct files *files)
{
	glob_t found;
	size_t i;

	memset(files, 0, sizeof(*files));
	if (glob(live_path(live, pattern), 0, NULL, &found))
		return;
	for (i = 0; i < found.gl_pathc; i++) {
		struct json_object *doc = doc_load(found.gl_pathv[i]);

		doc_assert_sound(doc);
		cr_expect(json_object_get_boolean(doc_get(doc, "complete")));
		files->ticks += doc_number(doc, "ticks.total");
		files->alpha += doc_function(doc, "alpha", NULL);
		files->kernel += doc_object(doc, "kernel", NULL);
		files->kernel_ticks += doc_number(
			json_object_array_get_idx(doc_get(doc, "targets"), 0), "kernel_ticks");
		files->lost += doc_lost(doc, NULL);
		files->unknown += doc_object(doc, NULL, "[file ");
		files->shell += doc_object(doc, NULL, "sh");
		files->duration_ns += doc_number(doc, "duration_ns");
		files->period_ns = (double)doc_number(doc, "sampling.period_ns");
		json_object_put(doc);
	}
	files->nr = found.gl_pathc;
	globfree(&found);
}

/* Runs with files named by the time; live->end and live->cpu_ns are those of the run. */
static void run_interval(struct live *live, const char *const options[],
			 const char *const command[])
{
	const char *argv[32];

	snprintf(live->profile, sizeof(live->profile), "%s/p-%%t.json", live->dir);
	live_command(live, argv, 32, options, command, true);
	child_run(&live->end, NULL, argv);
	cr_assert_eq(live->end.status, 0, "%s", live->end.err);
	live_read_usage(live);
}

/* A new file for each interval; each tick is in one of them. */
LIVE_TEST(live_options, interval)
{
	struct files files;
	unsigned long total;
	const char *kernel;

	run_interval(live, ARGS(FAST, "--interval", "1s"), ARGS(WORKLOAD("three"), "30000"));
	read_files(live, "p-*.json", &files);
	cr_expect_gt(files.nr, 2, "%zu files", files.nr);
	cr_expect_float_eq((double)files.ticks * files.period_ns / live->cpu_ns, 1,
			   live_allowed_part((double)files.ticks, live->turns), "%lu ticks",
			   files.ticks);
	cr_expect_float_eq((double)files.alpha / (double)files.ticks, 0.5, 0.05);
	cr_assert_eq(sscanf(live->end.err, "%lu ticks", &total), 1, "%s", live->end.err);
	cr_expect_eq(total, files.ticks, "the summary is of all files");
	kernel = strstr(live->end.err, "\nkernel: ");
	cr_assert_not_null(kernel, "%s", live->end.err);
	cr_expect_float_eq(strtod(kernel + strlen("\nkernel: "), NULL),
			   100.0 * (double)files.kernel_ticks / (double)files.ticks, 0.01, "%s",
			   kernel);
	cr_expect_not_null(strstr(live->end.err, "\nprofiles: "), "%s", live->end.err);
}

/*
 * A file without a tick for some intervals is forgotten, though a process still runs it whose mappings a
 * CPU remembers.
 */
LIVE_TEST(live_options, file_that_is_met_again)
{
	struct files files;

	run_interval(live, ARGS(FAST, "--interval", "1"),
		     ARGS("taskset", "-c", "0", "sh", "-c",
			  "burn() { i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; };"
			  "burn; sleep 6; burn"));
	read_files(live, "p-*.json", &files);
	cr_expect_gt(files.shell, 0);
	cr_expect_eq(files.unknown, 0, "%lu of %lu ticks", files.unknown, files.ticks);
}

/* Each tick in the kernel is counted as one in a file, too. */
LIVE_TEST(live_options, interval_of_kernel_ticks)
{
	struct files files;

	run_interval(live, ARGS(FAST, "--mode", "split", "--interval", "1s"),
		     ARGS(WORKLOAD("syscalls"), "8000"));
	read_files(live, "p-*.json", &files);
	cr_expect_gt(files.nr, 1, "%zu files", files.nr);
	cr_expect_gt(files.kernel, files.ticks / 4);
	cr_expect_geq(files.kernel_ticks, files.kernel);
	cr_expect_leq(files.kernel_ticks, files.kernel + files.lost);
}

/* Only the newest stay, and files that were there before. */
LIVE_TEST(live_options, keep)
{
	struct files files;
	FILE *other;

	other = fopen(live_path(live, "p-20010101-000000.json.old"), "we");
	cr_assert_not_null(other);
	fclose(other);
	run_interval(live, ARGS("--interval", "1", "--keep", "2"),
		     ARGS(WORKLOAD("three"), "40000"));
	read_files(live, "p-*.json", &files);
	cr_expect_eq(files.nr, 2);
	cr_expect_lt((double)files.ticks * files.period_ns, live->cpu_ns, "the older are gone");
	cr_expect_not_null(strstr(live->end.err, "profiles: the last 2 of "), "%s", live->end.err);
	cr_expect_eq(access(live_path(live, "p-20010101-000000.json.old"), F_OK), 0);
}

/*
 * A disk that is full for a while costs the files of that time, one line for each, and the exit
 * status. The files before and after exist and are sound.
 */
LIVE_TEST(live_options, interval_and_disk_full)
{
	static const char script[] =
		"mount -t tmpfs -o size=256k tmpfs /mnt || exit 77;"
		"\"$0\" run -F 997 --interval 1 -o '/mnt/p-%t.json' -- sh -c '"
		"\"$0\" 15000; cat /dev/zero >/mnt/filler 2>/dev/null; \"$0\" 20000;"
		"rm /mnt/filler; \"$0\" 15000' \"$1\" 2>\"$2/err\"; status=$?;"
		"cp /mnt/p-*.json \"$2\"; ls -A /mnt | grep -v \"^p-[0-9]*-[0-9]*.json$\"; exit $status";
	unsigned long total = 0;
	size_t errors = 0, all = 0;
	struct files files;
	char line[512], *at;
	FILE *err;

	NEED(have_mounts(), "no mount namespaces");
	child_run(&live->end, NULL,
		  ARGS("unshare", "-m", "sh", "-c", script, BPFPROFIL_BIN, WORKLOAD("three"),
		       live->dir));
	cr_expect_eq(live->end.status, 1);
	cr_expect_str_eq(live->end.out, "", "left behind: %s", live->end.out);
	err = fopen(live_path(live, "err"), "re");
	cr_assert_not_null(err);
	while (fgets(line, sizeof(line), err)) {
		errors += !strncmp(line, "bpfprofil: run: /mnt/p-", 23) &&
			  strstr(line, "No space left on device");
		sscanf(line, "%lu ticks", &total);
		at = strstr(line, "profiles: ");
		if (at)
			sscanf(at, "profiles: %zu", &all);
	}
	fclose(err);
	read_files(live, "p-*.json", &files);
	cr_expect_geq(errors, 1);
	cr_expect_geq(files.nr, 2);
	cr_expect_eq(files.nr, all);
	cr_expect_lt(files.ticks, total, "the summary is of all ticks, written or not");
}
