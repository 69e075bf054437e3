// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What is left at the end: `serve --record` and `run --preload`. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "caller.h"
#include "doc.h"
#include "live.h"
#include "need.h"
#include "others.h"

TestSuite(calls_record, .init = need_root, .timeout = 300);

static struct serve serve;

static void burn_in_child(void *argument)
{
	(void)argument;
	burn_high(0.05);
}

/* Two calls, the second one with a child that just ends. */
static void two_calls(void *result)
{
	char *buffer = fresh_pages(TEXT_SPAN);
	uint64_t *totals = result;

	ENSURE(on(buffer, TEXT_SPAN) == 0);
	burn_low(0.2);
	totals[0] = off_and_account(buffer, TEXT_SPAN).total;
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.1);
	caller_join(caller_fork(burn_in_child, NULL));
	ENSURE(off() == 0);
	totals[1] = told().total;
}

static void samples_in_dialect(void *result)
{
	static uintptr_t samples[100];

	ENSURE(bpfprofil_dialect("solaris") == 0 && pcsample(samples, 100) == 0);
	burn_low(0.2);
	ENSURE(bpfprofil_sync() == 0);
	*(uint64_t *)result = told().total;
	/* The process ends with the call in force. */
}

static void assert_report_of(const char *target, const char *file, const char *note)
{
	struct child_end end;

	child_run(&end, NULL,
		  target ? ARGS(BPFPROFIL_BIN, "report", "--target", target, file) :
			   ARGS(BPFPROFIL_BIN, "report", file));
	cr_assert_eq(end.status, 0, "%s", end.err);
	cr_assert_str_not_empty(end.out);
	cr_expect(!note || strstr(end.out, note) || strstr(end.err, note), "%s%s", end.out,
		  end.err);
	child_end_free(&end);
}

static void assert_report(const char *file, const char *note)
{
	assert_report_of(NULL, file, note);
}

static struct json_object *target(struct json_object *doc, size_t i)
{
	return json_object_array_get_idx(doc_get(doc, "targets"), i);
}

static uint64_t ticks_in_files(struct json_object *doc)
{
	struct json_object *histograms = doc_get(doc, "histograms"),
			   *objects = doc_get(doc, "objects");
	uint64_t ticks = 0;
	size_t i, j;

	for (i = 0; i < json_object_array_length(histograms); i++) {
		struct json_object *histogram = json_object_array_get_idx(histograms, i);
		struct json_object *bins = doc_get(histogram, "bins"), *object;

		object = json_object_array_get_idx(objects, doc_number(histogram, "object"));
		if (strcmp(json_object_get_string(doc_get(object, "kind")), "file") != 0)
			continue;
		for (j = 0; j < json_object_array_length(bins); j++)
			ticks += json_object_get_uint64(
				json_object_array_get_idx(json_object_array_get_idx(bins, j), 1));
	}
	return ticks;
}

Test(calls_record, serve)
{
	uint64_t *totals =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct json_object *doc;
	const char *file;
	size_t i;

	/* The server needs the file's name before the test's folder exists. */
	caller_begin(&serve, ARGS(NULL));
	serve_stop(&serve);
	file = serve_file(&serve, "calls.json");
	serve_again(&serve, ARGS("--record", file));
	caller_run(two_calls, totals);
	caller_run_as(65534, samples_in_dialect, totals + 2);
	serve_stop(&serve);
	doc = doc_load(file);
	doc_assert_sound(doc);
	/* The two, the child's, and the sampled one. */
	cr_assert_eq(json_object_array_length(doc_get(doc, "targets")), 4);
	for (i = 0; i < 4; i++)
		cr_assert_str_eq(json_object_get_string(doc_get(target(doc, i), "kind")), "call");
	cr_assert_eq(doc_number(target(doc, 0), "ticks.total"), totals[0]);
	cr_assert_geq(doc_number(target(doc, 3), "ticks.total"), totals[2]);
	cr_assert_leq(doc_number(target(doc, 3), "ticks.total"), totals[2] + 2);
	/* The text of files is recorded as that, wherever the program had it. */
	cr_expect_geq((double)ticks_in_files(doc), 0.9 * (double)doc_number(doc, "ticks.binned"));
	cr_assert_eq(doc_number(target(doc, 1), "ticks.total") +
				     doc_number(target(doc, 2), "ticks.total") - totals[1] >
			     20,
		     true);
	assert_report(file, "burn_low");
	assert_report(file, "burn_high");
	json_object_put(doc);
	serve_clean(&serve);
}

/* How many targets are of a kind, and their ticks. */
static size_t targets_of(struct json_object *doc, const char *kind, uint64_t *total)
{
	size_t i, n = 0;

	*total = 0;
	for (i = 0; i < json_object_array_length(doc_get(doc, "targets")); i++) {
		if (strcmp(json_object_get_string(doc_get(target(doc, i), "kind")), kind) != 0)
			continue;
		*total += doc_number(target(doc, i), "ticks.total");
		n++;
	}
	return n;
}

/* What the program reported: its counts, its uid, and what else was preloaded. */
struct said {
	unsigned long counts;
	char signals[16];
	unsigned int user;
	char preload[512];
};

static void preload_plain(struct live *live, const char *const options[], int status,
			  struct said *said)
{
	const char *argv[24] = { "env",
				 "ASAN_OPTIONS=verify_asan_link_order=0",
				 "LD_PRELOAD=libm.so.6",
				 others_copy(live->dir, BPFPROFIL_BIN),
				 "run",
				 "-q",
				 "--preload",
				 "-o",
				 live->profile };
	char code[8];
	size_t i = 9;

	others_copy(live->dir, CALLS_PRELOAD); /* where the command looks for it */
	snprintf(code, sizeof(code), "%d", status);
	for (; options && *options; options++)
		argv[i++] = *options;
	argv[i++] = "--";
	argv[i++] = others_copy(live->dir, CALLS_PROGRAMS "/plain");
	argv[i++] = "500";
	argv[i++] = code;
	child_run(&live->end, NULL, argv);
	cr_assert_eq(live->end.status, status, "status %d: %s", live->end.status, live->end.err);
	cr_assert_eq(sscanf(live->end.out, "%lu %15s %u %511s", &said->counts, said->signals,
			    &said->user, said->preload),
		     4, "it said: %s", live->end.out);
	child_end_free(&live->end);
	live_load(live);
	doc_assert_sound(live->doc);
}

/* The program's own call has its text, too, but only samples are in the buffer. */
static void assert_raw(const char *file)
{
	struct child_end end;

	child_run(&end, NULL,
		  ARGS(BPFPROFIL_BIN, "export", "--format=raw", "--object=plain", "--offset=0",
		       "--scale=0x10000", "--size=65536", "-o", "/dev/null", file));
	cr_assert_eq(end.status, 0, "%s", end.err);
	child_end_free(&end);
}

/* A program that calls libc's profil() is served, whoever runs it, and ends normally. */
static void assert_preloaded(const char *const options[], int status, unsigned int user)
{
	struct said said = { 0 };
	struct live live;
	uint64_t total;

	live_begin(&live);
	preload_plain(&live, options, status, &said);
	cr_assert_eq(said.user, user);
	cr_assert_str_eq(said.signals, "quiet");
	cr_assert_not_null(strstr(said.preload, "libm.so.6"), "%s", said.preload);
	cr_assert_not_null(strstr(said.preload, "libbpfprofil-preload.so"), "%s", said.preload);
	cr_assert(said.counts > 10 && said.counts < 75, "%lu counts", said.counts);
	cr_assert_eq(targets_of(live.doc, "call", &total), 1);
	cr_assert(total >= said.counts && total < said.counts + 20, "%lu of %lu", said.counts,
		  (unsigned long)total);
	cr_assert_eq(targets_of(live.doc, "command", &total), 1);
	cr_assert_gt(total, 300);
	assert_report(live.profile, NULL);
	assert_report_of("1", live.profile, " burn\n");
	assert_raw(live.profile);
	live_end(&live);
}

Test(calls_record, preload)
{
	assert_preloaded(NULL, 0, 0);
	assert_preloaded(NULL, 42, 0);
	assert_preloaded(ARGS("-u", "nobody"), 7, 65534);
}

static bool is_there(void *path)
{
	return !access(path, F_OK);
}

/* When killed, it leaves neither a socket nor a folder for it. */
LIVE_TEST(calls_record, preload_killed)
{
	char script[512], told[128], name[256];
	struct child_end end;
	struct child child;
	FILE *stream;

	snprintf(told, sizeof(told), "%s/told", live->dir);
	snprintf(script, sizeof(script),
		 "echo \"$BPFPROFIL_SOCKET\" >%s.new; mv %s.new %s; exec sleep 10 >/dev/null 2>&1",
		 told, told, told);
	child_start(&child, NULL,
		    ARGS("env", "ASAN_OPTIONS=verify_asan_link_order=0", BPFPROFIL_BIN, "run", "-q",
			 "--preload", "-o", live->profile, "--", "sh", "-c", script));
	cr_assert(eventually(is_there, told));
	stream = fopen(told, "re");
	cr_assert(stream && fscanf(stream, "%255s", name) == 1);
	fclose(stream);
	kill(child.pid, SIGKILL);
	child_finish(&child, &end);
	cr_assert_eq(end.status, 128 + SIGKILL);
	child_end_free(&end);
	cr_assert(!is_there(name), "%s", name);
}

/* -pg: the call arcs are the C library's, the histogram is ours. */
LIVE_TEST(calls_record, preload_pg)
{
	char script[512], *line;
	struct child_end end;
	double calls, used, gprof;
	uint64_t total;

	NEED_TOOL("gprof");
	snprintf(
		script, sizeof(script),
		"cd %s && unset GMON_OUT_PREFIX && %s run -q --preload -o profile.json -- %s 3000 && "
		"gprof -b -p %s gmon.out | awk '$3 + 0 == $3 { s += $3 } $NF == \"leaf\" { n = $4 } "
		"END { print s + 0, n + 0 }'",
		live->dir, BPFPROFIL_BIN, CALLS_PG, CALLS_PG);
	child_run(&end, NULL, ARGS("sh", "-c", script));
	cr_assert_eq(end.status, 0, "%s", end.err);
	cr_assert_eq(sscanf(end.out, "%*d %lf", &used), 1, "%s", end.out);
	line = strchr(end.out, '\n');
	cr_assert_not_null(line);
	cr_assert_eq(sscanf(line, "%lf %lf", &gprof, &calls), 2, "%s", line);
	/*
	 * How exact they are is tested in client_serve; here they only must be about the same
	 * seconds.
	 */
	cr_assert(gprof > 0.75 * used && gprof < 1.25 * used, "%.2f s of %.2f s", gprof, used);
	cr_assert_geq(calls, 3000, "%.0f calls of leaf()", calls);
	child_end_free(&end);
	snprintf(live->profile, sizeof(live->profile), "%s/profile.json", live->dir);
	live_load(live);
	doc_assert_sound(live->doc);
	cr_assert_eq(targets_of(live->doc, "call", &total), 1);
	cr_assert_float_eq((double)total / 100, used, 0.25 * used, "%lu ticks of %.2f s",
			   (unsigned long)total, used);
}
