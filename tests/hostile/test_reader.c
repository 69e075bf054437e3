// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The process that reads files, in the hands of who made one: only that file has no names, every tick is
 * counted, and nothing is left of it. programs/reader_fault.c is what it does.
 */
#include <dirent.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <json-c/json.h>

#include "base/util.h"
#include "live.h"
#include "need.h"
#include "reader/call.h"
#include "test_burn_fixture.h"

#define FAULTY HOSTILE_PROGRAMS "/faulty"
#define NOBODY "65534"

enum { DEATHS = 200 };

TestSuite(hostile_reader, .timeout = 170);

/* A copy of burn.so that is nobody's; hostile: its reader is lost. */
static const char *make_file(struct live *live, const char *name, bool hostile)
{
	const char *path = live_copy(live, BURN, name);

	if (hostile)
		child_do(ARGS("sh", "-c", "printf 'HOSTILE!' >>\"$1\"", "sh", path));
	child_do(ARGS("chown", NOBODY, path));
	return path;
}

static void set_fault(const char *name, int kind)
{
	char fault[64];

	if (kind < 0)
		snprintf(fault, sizeof(fault), "%s", name);
	else
		snprintf(fault, sizeof(fault), "%s:%d", name, kind);
	setenv(READER_FAULT, fault, 1);
}

static void record(struct live *live, const char *program, struct child_end *end)
{
	static char offset[32];

	burn_offset(offset, sizeof(offset));
	child_run(end, NULL,
		  ARGS(program, "run", "--callers", "-F", "497", "-o", live->profile, "--", MAPPED,
		       offset, BURN_COUNT, make_file(live, "hostile.so", true),
		       make_file(live, "neighbour.so", false), live_copy(live, BURN, "honest.so")));
	cr_assert_eq(end->status, 0, "%s", end->err);
	live_load(live);
}

/* Whether the profile names burn() in an object. A report would look for names once more. */
static bool has_name(const struct live *live, const char *object)
{
	struct json_object *functions = json_object_object_get(live->doc, "functions");
	struct json_object *objects = json_object_object_get(live->doc, "objects"), *function;
	const char *path;
	size_t i;

	for (i = 0; i < json_object_array_length(functions); i++) {
		function = json_object_array_get_idx(functions, i);
		path = json_object_get_string(json_object_object_get(
			json_object_array_get_idx(
				objects, (size_t)json_object_get_int(
						 json_object_object_get(function, "object"))),
			"path"));
		if (strstr(path, object) &&
		    !strcmp(json_object_get_string(json_object_object_get(function, "name")),
			    "burn"))
			return true;
	}
	return false;
}

static void check_record(struct live *live, const char *name, int kind, bool has_names)
{
	struct child_end end;

	set_fault(name, kind);
	record(live, FAULTY, &end);
	cr_expect(has_name(live, "honest.so"), "%s:%d: %s", name, kind, end.out);
	cr_expect(has_name(live, "neighbour.so"), "%s:%d: %s", name, kind, end.out);
	cr_expect(has_name(live, "hostile.so") == has_names, "%s:%d: %s", name, kind, end.out);
	child_end_free(&end);
}

LIVE_TEST(hostile_reader, crash)
{
	NEED_ROOT();
	check_record(live, "crash", READ_FACTS, false);
	check_record(live, "crash", READ_SYMBOLS, false);
	check_record(live, "crash", READ_RULES, false);
}

/* A file that takes long has no names in a series, whose next profile is due. */
LIVE_TEST(hostile_reader, late)
{
	char offset[32];

	NEED_ROOT();
	set_fault("loop", READ_SYMBOLS);
	burn_offset(offset, sizeof(offset));
	child_do(ARGS(FAULTY, "run", "-q", "--interval", "1", "-F", "497", "-o",
		      live_path(live, "p-%t.json"), "--", MAPPED, offset, BURN_COUNT,
		      make_file(live, "hostile.so", true), live_copy(live, BURN, "honest.so")));
	child_do(ARGS("sh", "-c",
		      "grep -q 'no names of .*hostile.so: not read in time' $0/p-*.json &&"
		      " cat $0/p-*.json | grep -q '\"burn\"'",
		      live->dir));
}

LIVE_TEST(hostile_reader, leave)
{
	NEED_ROOT();
	check_record(live, "leave", -1, false);
}

LIVE_TEST(hostile_reader, babble)
{
	NEED_ROOT();
	check_record(live, "babble", READ_SYMBOLS, false);
	check_record(live, "babble", READ_RULES, false);
}

LIVE_TEST(hostile_reader, boast)
{
	NEED_ROOT();
	check_record(live, "boast", READ_SYMBOLS, false);
}

LIVE_TEST(hostile_reader, fill)
{
	NEED_ROOT();
	check_record(live, "fill", READ_SYMBOLS, false);
}

LIVE_TEST(hostile_reader, hang)
{
	NEED_ROOT();
	check_record(live, "hang", READ_SYMBOLS, false);
}

LIVE_TEST(hostile_reader, loop)
{
	NEED_ROOT();
	check_record(live, "loop", READ_FACTS, false);
}

/* Nothing that it tries is allowed, or it would have crashed and the file would have no names. */
LIVE_TEST(hostile_reader, escape)
{
	NEED_ROOT();
	unlink("/tmp/bpfprofil-escaped");
	check_record(live, "escape", READ_FACTS, true);
	check_record(live, "escape", READ_SYMBOLS, true);
	cr_assert(access("/tmp/bpfprofil-escaped", F_OK));
}

static void check_report(const char *const argv[], const char *want)
{
	struct child_end end;

	child_run(&end, NULL, argv);
	cr_expect_eq(end.status, 0, "%s", end.err);
	cr_expect(strstr(end.out, want), "%s: %s", argv[2], end.out);
	child_end_free(&end);
}

/* What is asked of a file when a profile is looked at. */
LIVE_TEST(hostile_reader, report)
{
	struct child_end end;

	NEED_ROOT();
	unsetenv(READER_FAULT);
	record(live, BPFPROFIL_BIN, &end);
	child_end_free(&end);
	set_fault("crash", READ_LINES);
	check_report(ARGS(FAULTY, "report", "--by", "lines", live->profile), "burn.c:");
	set_fault("crash", READ_CODE);
	check_report(ARGS(FAULTY, "report", "--annotate", "hostile.so:burn", live->profile),
		     "no instructions");
	set_fault("crash", READ_INSTRUCTIONS);
	check_report(ARGS(FAULTY, "report", "--annotate", "hostile.so:burn", live->profile),
		     "no instructions");
	unsetenv(READER_FAULT);
	check_report(ARGS(FAULTY, "report", "--annotate", "hostile.so:burn", live->profile),
		     "imul");
}

static size_t entries(const char *format, pid_t pid)
{
	char path[64];
	size_t nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), format, (int)pid, (int)pid);
	dir = opendir(path);
	while (dir && readdir(dir))
		nr++;
	if (dir)
		closedir(dir);
	return nr;
}

/* The processes that a process has started, zombies too. */
static size_t children(pid_t pid)
{
	char path[64];
	size_t nr = 0;
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "re");
	while (file && fscanf(file, "%d", &child) == 1)
		nr++;
	if (file)
		fclose(file);
	return nr;
}

static long memory_kib(pid_t pid)
{
	char path[64], line[128];
	long kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "RssAnon: %ld", &kib);
	if (file)
		fclose(file);
	return kib;
}

/* So many readers die within one command, and it has neither more descriptors nor children for it. */
LIVE_TEST(hostile_reader, deaths)
{
	static char paths[DEATHS][128];
	const char *command[DEATHS + 4] = { MAPPED };
	struct child attach, mapped;
	char offset[32], name[32], pid[16];
	struct child_end end;
	size_t i;

	NEED_ROOT();
	burn_offset(offset, sizeof(offset));
	command[1] = offset;
	command[2] = "20000000";
	for (i = 0; i < DEATHS; i++) {
		snprintf(name, sizeof(name), "hostile%zu.so", i);
		snprintf(paths[i], sizeof(paths[0]), "%s", make_file(live, name, true));
		command[3 + i] = paths[i];
	}
	set_fault("crash", -1);
	child_start(&mapped, NULL, command);
	snprintf(pid, sizeof(pid), "%d", (int)mapped.pid);
	child_start(&attach, NULL,
		    ARGS(FAULTY, "attach", "--pid", pid, "--interval", "1", "-F", "497", "-o",
			 live_path(live, "%t.json")));
	child_finish(&mapped, &end);
	cr_assert_eq(end.status, 0, "%s", end.err);
	child_end_free(&end);
	cr_expect_lt(entries("/proc/%d/fd", attach.pid), DEATHS + 80);
	cr_expect_leq(children(attach.pid), 8);
	cr_expect_lt(memory_kib(attach.pid), 64 << 10);
	child_finish(&attach, &end);
	cr_assert_eq(end.status, 0, "%s", end.err);
	child_end_free(&end);
}

/* As by the OOM killer, which kills them first: the next file is not blamed for it. */
LIVE_TEST(hostile_reader, killed_while_idle)
{
	struct child attach, mapped;
	char offset[32], pid[16], attached[16];
	struct child_end end;
	glob_t found;

	NEED_ROOT();
	unsetenv(READER_FAULT);
	burn_offset(offset, sizeof(offset));
	cr_assert_eq(mkdir(live_path(live, "files"), 0755), 0);
	child_start(&mapped, NULL,
		    ARGS(MAPPED, offset, "100000000000", live_copy(live, BURN, "honest.so")));
	snprintf(pid, sizeof(pid), "%d", (int)mapped.pid);
	child_start(&attach, NULL,
		    ARGS(BPFPROFIL_BIN, "attach", "-q", "--pid", pid, "--interval", "1", "-F",
			 "497", "-o", live_path(live, "files/%t.json.gz")));
	live_await_profiles(live, 2);
	usleep(200000);
	snprintf(attached, sizeof(attached), "%d", (int)attach.pid);
	child_do(ARGS("sh", "-c",
		      "for pid in $(cat /proc/$0/task/*/children); do"
		      " grep -q bpfprofil-read /proc/$pid/comm && kill -9 $pid && killed=1; done;"
		      " [ \"$killed\" ]",
		      attached));
	live_await_profiles(live, 3);
	kill(mapped.pid, SIGKILL);
	child_finish(&mapped, &end);
	child_end_free(&end);
	child_finish(&attach, &end);
	cr_expect_eq(end.status, 0, "%s", end.err);
	child_end_free(&end);
	cr_assert_eq(glob(live_path(live, "files/*"), 0, NULL, &found), 0);
	child_do(ARGS("sh", "-c", "gunzip <$0 >$1", found.gl_pathv[found.gl_pathc - 2],
		      live->profile));
	globfree(&found);
	live_load(live);
	cr_expect(has_name(live, "honest.so"), "%s", live->profile);
}
