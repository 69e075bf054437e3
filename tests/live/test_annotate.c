// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* A function by instruction, for programs whose hot instruction is known. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "live.h"
#include "need.h"

TestSuite(live_annotate, .init = need_root, .timeout = 120);

/* The CSV that report --annotate writes; the caller frees it. */
static char *annotate(const struct live *live, const char *place)
{
	struct child_end end;
	char *rows;

	child_run(&end, NULL,
		  ARGS(BPFPROFIL_BIN, "report", "--annotate", place, "--format", "csv",
		       live->profile));
	cr_assert_eq(end.status, 0, "%s: %s", place, end.err);
	rows = strdup(end.out);
	child_end_free(&end);
	return rows;
}

/* The ticks of all rows, and the row with the most, which is NUL-terminated. */
static uint64_t sum_rows(char *csv, uint64_t *most, char **hottest)
{
	uint64_t ticks, sum = 0;
	char *line, *rest = strchr(csv, '\n') + 1;

	*most = 0;
	while ((line = strsep(&rest, "\n")) && *line) {
		ticks = strtoull(line, NULL, 10);
		sum += ticks;
		if (ticks > *most) {
			*most = ticks;
			*hottest = line;
		}
	}
	return sum;
}

static void check_function(const struct live *live, const char *name)
{
	uint64_t want = doc_function(live->doc, name, NULL), most, sum;
	char *csv = annotate(live, name), *hottest = NULL;

	sum = sum_rows(csv, &most, &hottest);
	cr_assert_gt(want, 50, "%s: %lu ticks", name, want);
	cr_expect_eq(sum, want, "%s: %lu ticks in rows, %lu in the function", name, sum, want);
	/* All that it does is inlined from there. */
	cr_expect(strstr(hottest, "spin.h,"), "%s: %s", name, hottest);
	free(csv);
}

/* The sums agree tick for tick, in bins of one byte and in bins that span instructions. */
Test(live_annotate, sums)
{
	static const char *const bytes[] = { "1", "4", "16" };
	struct live live;
	size_t i;

	for (i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		live_begin(&live);
		live_run(&live, ARGS(FAST, "-q", "--bytes-per-bin", bytes[i]),
			 ARGS(WORKLOAD("three"), "2000"));
		check_function(&live, "alpha");
		check_function(&live, "beta");
		check_function(&live, "delta");
		live_end(&live);
	}
}

/* The program was replaced while it ran, so its path is another file's now. */
LIVE_TEST(live_annotate, replaced)
{
	struct child_end end;
	const char *path;

	path = live_copy(live, WORKLOAD("three"), "program");
	live_run(live, ARGS(FAST, "-q"), ARGS(path, "500"));
	child_do(ARGS("cp", WORKLOAD("one"), path));
	child_run(&end, NULL, ARGS(BPFPROFIL_BIN, "report", "--annotate", "alpha", live->profile));
	cr_expect_eq(end.status, 1);
	cr_expect(strstr(end.err, "not the file that was profiled, whose build id is "), "%s",
		  end.err);
	cr_expect(strstr(end.err, "\ntry: --symfs DIR"), "%s", end.err);
	cr_expect_eq(end.out_len, 0);
	child_end_free(&end);
}

/* Text that a program wrote itself is gone, but its ticks are not. */
LIVE_TEST(live_annotate, jit)
{
	uint64_t most, sum;
	char *csv, *hottest = NULL, map[64];

	NEED(live_run(live, ARGS(FAST, "-q"), ARGS(WORKLOAD("jit"), "500")),
	     "no machine code for this architecture");
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", atoi(live->end.out));
	unlink(map);
	csv = annotate(live, "jit_hot");
	sum = sum_rows(csv, &most, &hottest);
	cr_expect_gt(sum, 50);
	cr_expect_eq(sum, doc_function(live->doc, "jit_hot", NULL));
	free(csv);
}

/* The hottest function of the kernel. */
static const char *kernel_function(struct live *live)
{
	struct json_object *functions = doc_get(live->doc, "functions"), *function, *object;
	size_t i;

	for (i = 0; i < json_object_array_length(functions); i++) {
		function = json_object_array_get_idx(functions, i);
		object = json_object_array_get_idx(doc_get(live->doc, "objects"),
						   (size_t)doc_number(function, "object"));
		if (!strcmp(json_object_get_string(doc_get(object, "kind")), "kernel"))
			return json_object_get_string(doc_get(function, "name"));
	}
	cr_assert_fail("no function of the kernel");
	return NULL;
}

/* Its code is shown if /proc/kcore is readable, its ticks always. */
LIVE_TEST(live_annotate, kernel)
{
	uint64_t most, sum;
	char *csv, *hottest = NULL;
	const char *name;

	live_run(live, ARGS(FAST, "-q", "--mode", "split"), ARGS(WORKLOAD("syscalls"), "3000"));
	name = kernel_function(live);
	csv = annotate(live, name);
	sum = sum_rows(csv, &most, &hottest);
	cr_expect_gt(sum, 50);
	cr_expect_eq(sum, doc_function(live->doc, name, "[kernel]"));
	/*
	 * The columns behind the size are the bytes and the instruction; they are empty without
	 * code.
	 */
	cr_expect_eq(strstr(hottest, ",,,,,") == NULL, access("/proc/kcore", R_OK) == 0, "%s",
		     hottest);
	free(csv);
}

/* Starts a process whose root is the test's folder, as a container's is one of its own. */
static pid_t enter(const struct live *live)
{
	pid_t pid;
	int ends[2];
	char byte;

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (!pid) {
		if (chroot(live->dir) || write(ends[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ends[1]);
	cr_assert_eq(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	return pid;
}

/* The file is not here by the path that it has in there, and report says where it is. */
LIVE_TEST(live_annotate, says_which_root_has_the_file)
{
	struct child_end end;
	char root[64], cut[128];
	pid_t pid;

	live_run(live, ARGS(FAST, "-q"),
		 ARGS(live_copy(live, WORKLOAD("three"), "in-there"), "2000"));
	snprintf(cut, sizeof(cut), "s|\"%s/|\"/|", live->dir);
	child_do(ARGS("sed", "-i", cut, live->profile));
	pid = enter(live);
	snprintf(root, sizeof(root), "--symfs /proc/%d/root has it", pid);
	child_run(&end, NULL, ARGS(BPFPROFIL_BIN, "report", "--annotate", "alpha", live->profile));
	cr_expect(strstr(end.out, root), "%s: %s%s", root, end.out, end.err);
	child_end_free(&end);
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	child_run(&end, NULL,
		  ARGS(BPFPROFIL_BIN, "report", "--annotate", "alpha", "--symfs", root,
		       live->profile));
	cr_expect_null(strstr(end.out, "no instructions"), "%s", end.out);
	child_end_free(&end);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
