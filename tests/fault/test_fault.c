// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * Every allocation, open, perf_event_open, bpf call and other system call fails once in each
 * command, both in the normal build and with sanitizers, which detect leaks.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <criterion/criterion.h>

#include "container.h"
#include "live.h"
#include "need.h"
#include "profile/profile_io.h"
#include "trials.h"

TestSuite(fault, .timeout = 600);

/* `make check` tries one in four stacks, and others the next day; `make check-fault` all of them. */
#define FAULT_EVERY (getenv("FAULT_ALL") ? 1 : 4)

#define CLASSES(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define MEMORY ((struct trial_kind){ .classes = CLASSES("memory"), .every = FAULT_EVERY })
#define CALLS                                                                                      \
	((struct trial_kind){ .classes = CLASSES("open", "perf", "bpf", "file", "call"),           \
			      .every = FAULT_EVERY })

/* From the first failure on, all allocations fail. */
#define MEMORY_GONE                                                                                \
	((struct trial_kind){ .classes = CLASSES("memory"), .from_then_on = true, .every = 8 })

/*
 * Before Linux 5.11 bpf() charged locked memory and failed with EPERM; seccomp still does. With CALLS
 * each of these calls fails with another error.
 */
#define BPF_REFUSED ((struct trial_kind){ .classes = CLASSES("bpf"), .error = EPERM, .every = 2 })

#define COMMAND_STATUS 7

/* So many that `merge` reads them with threads if there are two CPUs. */
#define MANY_FILES 36

/* --- what a command that succeeded must have written ------------------------------------------ */

static const char *judge_profile(const struct outcome *outcome)
{
	struct profile *profile;
	struct error err;
	bool complete;

	if (profile_load(outcome->file, &profile, &err))
		return "success, but FILE is no profile";
	complete = profile->complete && profile->command && profile->nr_targets == 1;
	profile_free(profile);
	return complete ? NULL : "success, but the profile is not complete";
}

static const char *judge_attached(const struct outcome *outcome)
{
	struct profile *profile;
	struct error err;
	bool complete, ticked;

	if (profile_load(outcome->file, &profile, &err))
		return "success, but FILE is no profile";
	complete = profile->complete && profile->nr_targets == 1;
	ticked = profile->ticks.total > 0;
	profile_free(profile);
	if (!complete)
		return "success, but the profile is not complete";
	return ticked ? NULL : trials_no_tick;
}

/* Each file has 1,060 ticks. */
static const char *judge_sum(const struct outcome *outcome)
{
	struct profile *profile;
	struct error err;
	bool whole;

	if (profile_load(outcome->file, &profile, &err))
		return "success, but FILE is no profile";
	whole = profile->ticks.total == MANY_FILES * 1060;
	profile_free(profile);
	return whole ? NULL : "success, but not the ticks of all files";
}

/* Two tables; the last one has all intervals. */
static const char *judge_tables(const struct outcome *outcome)
{
	const char *overall = strstr(outcome->out, "\noverall");

	if (!overall)
		return "success, but no table of all";
	return strstr(overall, "forever") ? NULL : trials_no_tick;
}

static bool same_out(const struct outcome *outcome)
{
	return outcome->out_len == outcome->good_out_len &&
	       !memcmp(outcome->out, outcome->good_out, outcome->out_len);
}

static const char *judge_same_out(const struct outcome *outcome)
{
	return same_out(outcome) ? NULL : "success, but standard output is not what it was";
}

/* Lines come from files that may fail to open: then rows have other names, but there are rows. */
static const char *judge_rows(const struct outcome *outcome)
{
	size_t head = strcspn(outcome->good_out, "\n") + 1;

	return outcome->out_len > head && !memcmp(outcome->out, outcome->good_out, head) &&
			       outcome->out[outcome->out_len - 1] == '\n' ?
		       NULL :
		       "success, but no table";
}

/* Notes and rows depend on what could be read, but not the function and its ticks. */
static const char *judge_annotation(const struct outcome *outcome)
{
	const char *head = strstr(outcome->good_out, "\nticks "), *end;

	end = head ? strchr(head + 1, '\n') : NULL;
	return end && memmem(outcome->out, outcome->out_len, head, (size_t)(end - head)) ?
		       NULL :
		       "success, but not the ticks of the function";
}

/* The same for an export with lines. */
static const char *judge_totals(const struct outcome *outcome)
{
	const char *totals = strstr(outcome->out, "\ntotals: ");

	return totals && !strcmp(totals, strstr(outcome->good_out, "\ntotals: ")) ?
		       NULL :
		       "success, but not all ticks";
}

/* It must be complete, because the end has a checksum. */
static const char *judge_pprof(const struct outcome *outcome)
{
	unsigned char block[4096];
	z_stream gz = { .next_in = (unsigned char *)outcome->out,
			.avail_in = (unsigned int)outcome->out_len };
	int ret = inflateInit2(&gz, 16 + MAX_WBITS);

	while (ret == Z_OK) {
		gz.next_out = block;
		gz.avail_out = sizeof(block);
		ret = inflate(&gz, Z_NO_FLUSH);
	}
	inflateEnd(&gz);
	return ret == Z_STREAM_END ? NULL : "success, but a part is missing";
}

/* It must be complete; how much code is in it depends on what could be read. */
static const char *judge_page(const struct outcome *outcome)
{
	static const char last[] = "</html>\n";
	size_t length = sizeof(last) - 1;

	return outcome->out_len > length &&
			       !memcmp(outcome->out + outcome->out_len - length, last, length) ?
		       NULL :
		       "success, but a part of the page is missing";
}

/* A header, and complete records. */
static const char *judge_gmon(const struct outcome *outcome)
{
	struct stat stat = { 0 };

	lstat(outcome->file, &stat);
	return stat.st_size > 20 && (stat.st_size - 20) % (41 + 4096) == 0 ?
		       NULL :
		       "success, but a part is missing";
}

static bool says(const struct outcome *outcome, const char *text, const char *json)
{
	return strstr(outcome->out, text) || strstr(outcome->out, json);
}

static const char *judge_can_run(const struct outcome *outcome)
{
	return says(outcome, "\nProfiling can run.\n", "\"can_run\": true") ?
		       NULL :
		       "success, but not the finding that profiling can run";
}

/* A missing feature is a result: it is named on stdout, with exit status 1. */
static const char *judge_cannot_run(const struct outcome *outcome)
{
	return says(outcome, "\nProfiling cannot run.\n", "\"can_run\": false") &&
			       says(outcome, "missing ", "\"state\": \"missing\"") ?
		       NULL :
		       "failure, but no lack is named";
}

/* --- the commands ------------------------------------------------------------------------------ */

/* Runs all trials with sanitizers, and some of them with the normal build. */
static void both(struct subject subject, struct trial_kind kind)
{
	subject.program = FAULT_BIN;
	trials_run(&subject, &kind);
	if (!strcmp(BPFPROFIL_BIN, FAULT_BIN))
		return;
	subject.program = BPFPROFIL_BIN;
	kind.every *= 16;
	trials_run(&subject, &kind);
}

/* For a command whose paths are mostly the same as another one's. */
static struct trial_kind one_in(int every, struct trial_kind kind)
{
	kind.every *= every;
	return kind;
}

static struct subject run_subject(void)
{
	static const char *const arguments[] = { "run", "-q", "-o", "profile.json",
						 "--",	"sh", "-c", WORKLOAD("three") " 50; exit 7",
						 NULL };

	return (struct subject){ .name = "run",
				 .arguments = arguments,
				 .file = "profile.json",
				 .good = COMMAND_STATUS,
				 .judge = judge_profile };
}

/* Kernel symbols, a perf map, another user, a compressed file. */
static struct subject split_subject(void)
{
	static const char *const arguments[] = { "run",	   "-q",
						 "-F",	   "3989",
						 "--mode", "split",
						 "-u",	   "root",
						 "-o",	   "profile.json.gz",
						 "--",	   "sh",
						 "-c",	   WORKLOAD("jit") " 50 >../jit; exit 7",
						 NULL };
	struct subject subject = run_subject();

	subject.name = "run --mode split";
	subject.arguments = arguments;
	subject.file = "profile.json.gz";
	return subject;
}

static struct subject region_subject(void)
{
	static const char *const arguments[] = {
		"run",	   "-q",      "--region", "three:alpha",
		"--split", "process", "-o",	  "profile.json",
		"--",	   "sh",      "-c",	  WORKLOAD("three") " 50; exit 7",
		NULL
	};
	struct subject subject = run_subject();

	subject.name = "run --region";
	subject.arguments = arguments;
	return subject;
}

Test(fault, run_memory)
{
	NEED_ROOT();
	both(run_subject(), MEMORY);
	both(split_subject(), MEMORY);
	both(region_subject(), MEMORY);
}

Test(fault, run_memory_gone)
{
	NEED_ROOT();
	both(run_subject(), MEMORY_GONE);
}

Test(fault, run_calls)
{
	NEED_ROOT();
	both(run_subject(), CALLS);
	both(split_subject(), CALLS);
}

Test(fault, run_bpf_refused)
{
	NEED_ROOT();
	both(run_subject(), BPF_REFUSED);
}

/* A program that is running before the command and goes on afterwards. */
static const char *start_target(struct child *target)
{
	static char pid[16];

	child_start(target, NULL, ARGS(WORKLOAD("forever")));
	snprintf(pid, sizeof(pid), "%d", target->pid);
	return pid;
}

static void end_target(struct child *target)
{
	struct child_end end;

	kill(target->pid, SIGKILL);
	child_finish(target, &end);
	child_end_free(&end);
}

/*
 * A container's is asked of the runtime, and symbols come from its files. The paths through the
 * session are the same.
 */
Test(fault, attach)
{
	struct container container = { 0 };
	struct child target;
	struct subject subject = {
		.name = "attach",
		.file = "profile.json",
		.judge = judge_attached,
	};

	NEED_ROOT();
	NEED_TOOL("runc");
	subject.arguments = ARGS("attach", "-q", "--pid", start_target(&target), "--duration",
				 "0.2", "-o", "profile.json");
	both(subject, one_in(8, MEMORY));
	both(subject, one_in(8, CALLS));
	end_target(&target);
	container_start(&container, ARGS(WORKLOAD("forever")), ARGS("/test/forever"));
	subject.name = "attach --container";
	subject.arguments = ARGS("attach", "-q", "--container", container.name, "--duration", "0.2",
				 "-o", "profile.json");
	both(subject, one_in(8, MEMORY));
	both(subject, one_in(8, CALLS));
	container_end(&container);
}

Test(fault, top)
{
	struct trial_kind kind;
	struct child target;
	struct subject subject = {
		.name = "top",
		.program = BPFPROFIL_BIN,
		.out_varies = true,
		.judge = judge_tables,
	};

	NEED_ROOT();
	subject.arguments = ARGS("top", "--pid", start_target(&target), "-d", "0.1", "-n", "2");
	/* A sanitizer aborts if it has no memory for a thread. */
	kind = one_in(8, MEMORY);
	trials_run(&subject, &kind);
	both(subject, one_in(8, CALLS));
	end_target(&target);
}

/*
 * A profile with names and lines of two objects, of which one has them in a compressed debug file;
 * the text is valid until the program ends. Without regions there could be ticks in the C library,
 * and where that has a debug file each trial would inflate megabytes of it.
 */
static const char *make_profile(struct live *live)
{
	struct child_end end;
	const char *one;

	live_begin(live);
	one = live_copy(live, WORKLOAD("one"), "one");
	child_run(&end, NULL,
		  ARGS("sh", "-ec",
		       "objcopy --only-keep-debug --compress-debug-sections $0 $0.debug;"
		       "objcopy --strip-all --add-gnu-debuglink=$0.debug $0",
		       one));
	cr_assert_eq(end.status, 0, "%s", end.err);
	child_end_free(&end);
	live_run(live, ARGS(FAST, "-q", "--region", "three", "--region", "one"),
		 ARGS("sh", "-c", "$0 300; $1 300", WORKLOAD("three"), one));
	return live->profile;
}

static void try_all(struct subject subject)
{
	both(subject, MEMORY);
	both(subject, MEMORY_GONE);
	both(subject, CALLS);
}

static void try_reader(const char *name, const char *const arguments[], const char *file,
		       const char *(*judge)(const struct outcome *outcome))
{
	try_all((struct subject){ .name = name,
				  .arguments = arguments,
				  .file = file,
				  .judge = judge });
}

Test(fault, merge)
{
	struct live live;
	const char *profile;

	NEED_ROOT();
	profile = make_profile(&live);
	try_reader("merge", ARGS("merge", "-o", "-", profile, profile), NULL, judge_same_out);
	live_end(&live);
}

Test(fault, merge_callers)
{
	try_reader("merge callers", ARGS("merge", "-o", "-", FAULT_CALLERS, FAULT_CALLERS), NULL,
		   judge_same_out);
}

Test(fault, merge_by_threads)
{
	const char *arguments[3 + MANY_FILES + 1] = { "merge", "-o", "sum.json" };
	struct subject subject = {
		.name = "merge by threads",
		.arguments = arguments,
		.file = "sum.json",
		.judge = judge_sum,
	};
	size_t i;

	for (i = 3; i < 3 + MANY_FILES; i++)
		arguments[i] = FAULT_PROFILE;
	both(subject, MEMORY);
	both(subject, MEMORY_GONE);
	both(subject, CALLS);
}

Test(fault, diff)
{
	struct live live;
	const char *profile;

	NEED_ROOT();
	profile = make_profile(&live);
	try_reader("diff", ARGS("diff", profile, profile), NULL, judge_same_out);
	live_end(&live);
}

Test(fault, report)
{
	struct live live;
	const char *profile;

	NEED_ROOT();
	profile = make_profile(&live);
	try_reader("report", ARGS("report", profile), NULL, judge_same_out);
	try_reader("report bins", ARGS("report", "--by", "bins", "--format", "json", profile), NULL,
		   judge_same_out);
	try_reader("report lines", ARGS("report", "--by", "lines", "--format", "csv", profile),
		   NULL, judge_rows);
	try_reader("report annotate",
		   ARGS("report", "--annotate", "alpha", "--format", "csv", profile), NULL,
		   judge_rows);
	both((struct subject){ .name = "report annotate inlined",
			       .arguments = ARGS("report", "--annotate", "spin", "--format", "csv",
						 profile),
			       .out_varies = true,
			       .judge = judge_rows },
	     one_in(4, MEMORY));
	both((struct subject){ .name = "report by time",
			       .arguments = ARGS("report", "--by", "time", profile, profile),
			       .judge = judge_same_out },
	     one_in(2, MEMORY));
	/*
	 * To stdout, because if libdw aborts for lack of memory, nobody removes a temporary file.
	 */
	both((struct subject){ .name = "report html",
			       .arguments =
				       ARGS("report", "--html", "-", "--inline", profile, profile),
			       .out_varies = true,
			       .judge = judge_page },
	     one_in(4, MEMORY));
	try_reader("report annotate text", ARGS("report", "--annotate", "three:beta", profile),
		   NULL, judge_annotation);
	live_end(&live);
}

Test(fault, callers)
{
	cleanup_free char *profile = realpath("tests/golden/callers.json", NULL);

	cr_assert(profile);
	try_reader("report inclusive", ARGS("report", "--format", "csv", profile), NULL,
		   judge_same_out);
	try_reader("report tree", ARGS("report", "--tree", "--format", "csv", profile), NULL,
		   judge_same_out);
	try_reader("report callers",
		   ARGS("report", "--callers", "write", "--format", "csv", profile), NULL,
		   judge_same_out);
	try_reader("report callees",
		   ARGS("report", "--callees", "main", "--format", "csv", profile), NULL,
		   judge_same_out);
	both((struct subject){ .name = "report html callers",
			       .arguments = ARGS("report", "--html", "-", profile),
			       .out_varies = true,
			       .judge = judge_page },
	     one_in(2, MEMORY));
	try_reader("report time callers",
		   ARGS("report", "--by=time", "--callers=write", "--format=csv", profile), NULL,
		   judge_same_out);
	try_reader("diff callers", ARGS("diff", profile, profile), NULL, judge_same_out);
	try_reader("diff calls", ARGS("diff", "--by=calls", "--format=csv", profile, profile), NULL,
		   judge_same_out);
	both((struct subject){ .name = "diff html callers",
			       .arguments = ARGS("diff", "--html", "-", profile, profile),
			       .out_varies = true,
			       .judge = judge_page },
	     one_in(2, MEMORY));
	try_reader("export folded callers", ARGS("export", "--format", "folded", profile), NULL,
		   judge_same_out);
	try_reader("export pprof callers", ARGS("export", "--format", "pprof", profile), NULL,
		   judge_same_out);
	try_reader("export callgrind callers", ARGS("export", "--format", "callgrind", profile),
		   NULL, judge_same_out);
	try_reader("export otlp callers", ARGS("export", "--format", "otlp", profile), NULL,
		   judge_same_out);
}

Test(fault, waits)
{
	cleanup_free char *profile = realpath("tests/golden/waits.json", NULL);

	cr_assert(profile);
	try_reader("report waits", ARGS("report", "--waits", "--format", "csv", profile), NULL,
		   judge_same_out);
	try_reader("report waits tree",
		   ARGS("report", "--waits", "--tree", "--format", "csv", profile), NULL,
		   judge_same_out);
	try_reader("report waits process",
		   ARGS("report", "--waits", "--by=process", "--format=csv", profile), NULL,
		   judge_same_out);
	try_reader("diff waits", ARGS("diff", "--waits", "--format=csv", profile, profile), NULL,
		   judge_same_out);
	try_reader("export folded waits", ARGS("export", "--format=folded", "--waits", profile),
		   NULL, judge_same_out);
	try_reader("export otlp waits", ARGS("export", "--format", "otlp", profile), NULL,
		   judge_same_out);
	try_reader("report waits of two",
		   ARGS("report", "--waits", "--format", "csv", profile, profile), NULL,
		   judge_same_out);
}

Test(fault, export)
{
	struct live live;
	const char *profile;

	NEED_ROOT();
	profile = make_profile(&live);
	try_reader("export json", ARGS("export", "--format", "json", "-o", "copy.json.gz", profile),
		   "copy.json.gz", judge_profile);
	try_reader("export csv", ARGS("export", "--format", "csv", profile), NULL, judge_same_out);
	try_reader("export folded", ARGS("export", "--format", "folded", profile), NULL,
		   judge_same_out);
	try_reader("export callgrind", ARGS("export", "--format", "callgrind", profile), NULL,
		   judge_totals);
	try_reader("export pprof", ARGS("export", "--format", "pprof", profile), NULL, judge_pprof);
	try_reader("export speedscope", ARGS("export", "--format", "speedscope", profile), NULL,
		   judge_same_out);
	try_reader("export otlp",
		   ARGS("export", "--format", "otlp", "--detail", "function", profile), NULL,
		   judge_same_out);
	try_reader("export clickhouse",
		   ARGS("export", "--format", "clickhouse", "--detail", "function", profile), NULL,
		   judge_same_out);
	try_reader("export gmon", ARGS("export", "--format", "gmon", "--object", "three", profile),
		   "gmon.three.out", judge_gmon);
	try_reader("export schema", ARGS("export", "--schema"), NULL, judge_same_out);
	live_end(&live);
}

Test(fault, doctor)
{
	struct subject subject = { .name = "doctor",
				   .arguments = ARGS("doctor", "--quick"),
				   .judge = judge_can_run,
				   .judge_failure = judge_cannot_run };

	NEED_ROOT();
	try_all(subject);
	subject.name = "doctor json";
	subject.arguments = ARGS("doctor", "--quick", "--format", "json");
	try_all(subject);
}
