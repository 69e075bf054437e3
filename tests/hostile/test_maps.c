// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Root profiles a host on which processes come and go, each with a perf map that takes long to
 * read.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "attach.h"
#include "live.h"
#include "need.h"

#define MAPS HOSTILE_PROGRAMS "/maps"

#define LINES 1000000
#define LINE "1 1 a\n"
#define PROCESSES 100
#define OWNER 65534

/*
 * The map is in /tmp, where perf maps are, because a hard link cannot lead to another file system.
 */
static char map[] = "/tmp/bpfprofil-map-XXXXXX";

TestSuite(hostile_maps, .timeout = 170);

static void write_map(void)
{
	int fd = mkstemp(map), i;
	FILE *file = fdopen(fd, "w");

	cr_assert(file);
	for (i = 0; i < LINES; i++)
		fputs(LINE, file);
	cr_assert_eq(fchown(fd, OWNER, (gid_t)-1), 0);
	cr_assert_eq(fclose(file), 0);
}

static uint64_t bytes_read(pid_t pid)
{
	char path[64];
	uint64_t bytes = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	file = fopen(path, "r");
	cr_assert(file && fscanf(file, "rchar: %" SCNu64, &bytes) == 1);
	fclose(file);
	return bytes;
}

static bool has_note(struct json_object *doc, const char *part)
{
	struct json_object *notes = doc_get(doc, "notes");
	size_t i;

	for (i = 0; i < json_object_array_length(notes); i++)
		if (strstr(json_object_get_string(json_object_array_get_idx(notes, i)), part))
			return true;
	return false;
}

/*
 * All maps together get one part in twenty of a processor's time, whoever writes them, and the names
 * in them a part of what a user's files get.
 */
LIVE_TEST(hostile_maps, one_after_the_other)
{
	const uint64_t all = (uint64_t)PROCESSES * LINES * (sizeof(LINE) - 1);
	struct child_end end;
	struct child child;
	uint64_t bytes;

	NEED_ROOT();
	write_map();
	attach_start(live, &child, ARGS(FAST, "--all"));
	child_run(&end, NULL, ARGS(MAPS, map, "100"));
	bytes = bytes_read(child.pid);
	unlink(map);
	cr_assert_eq(end.status, 0, "%s", end.err);
	child_end_free(&end);
	attach_end(live, &child, SIGINT);
	cr_expect_lt(bytes, all / 3, "%" PRIu64 " of %" PRIu64, bytes, all);
	cr_expect_eq(doc_lost(live->doc, "no_memory"), 0);
	cr_expect(has_note(live->doc, "have had their 2 seconds of CPU time"));
}
