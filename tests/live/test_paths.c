// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Files and cgroups whose paths are longer than what the kernel's programs send of one. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "cgroup.h"
#include "live.h"
#include "need.h"
#include "shared/abi.h"

/* Folders of 200 bytes, each with a name of its own, in one another: 1,000 to 4,000 bytes. */
#define NAME_LEN 200
#define DEPTHS "5 6 10 15 19"
static const int depths[] = { 5, 6, 10, 15, 19 };
#define NR_DEPTHS (sizeof(depths) / sizeof(*depths))

/* down DEPTH: makes the folders of a depth and goes into the innermost. */
#define DOWN                                                                                       \
	"down() { i=0; while [ $i -lt $1 ]; do n=$(printf %0200d $(($1 * 100 + i)));"              \
	"mkdir $n; cd $n; i=$((i + 1)); done; };"

TestSuite(live_paths, .init = need_root, .timeout = 240);

/* What is sent of folder/NAMES/leaf: names from its end on, and none after PATH_BYTES. */
static const char *cut_path(const char *folder, int depth, const char *leaf)
{
	static char path[PATH_MAX];
	int i, length = snprintf(path, sizeof(path), "%s", folder);
	char *at;

	for (i = 0; i < depth; i++)
		length += snprintf(path + length, sizeof(path) - (size_t)length, "/%0*d", NAME_LEN,
				   depth * 100 + i);
	length += snprintf(path + length, sizeof(path) - (size_t)length, "%s", leaf);
	at = path + length;
	while (at > path && path + length - at < PATH_BYTES)
		while (*--at != '/')
			;
	return at;
}

static bool has_object(struct json_object *doc, const char *path)
{
	struct json_object *objects = doc_get(doc, "objects");
	size_t i;

	for (i = 0; i < json_object_array_length(objects); i++)
		if (!strcmp(json_object_get_string(
				    doc_get(json_object_array_get_idx(objects, i), "path")),
			    path))
			return true;
	return false;
}

LIVE_TEST(live_paths, of_files)
{
	static const char script[] = DOWN "for depth in " DEPTHS
					  "; do cd \"$0\"; down $depth; cp \"$1\" program;"
					  "\"$PWD/program\" 1000; done";
	uint64_t all = 0;
	size_t i;

	live_run_timed(live, ARGS(FAST), ARGS("sh", "-ec", script, live->dir, WORKLOAD("three")));
	for (i = 0; i < NR_DEPTHS; i++) {
		const char *path = cut_path(live->dir, depths[i], "/program");

		cr_expect(has_object(live->doc, path), "%s", path);
		cr_expect_gt(doc_function(live->doc, "alpha", path), 0, "%s", path);
		all += doc_function(live->doc, "alpha", path);
	}
	cr_expect_eq(all, doc_function(live->doc, "alpha", NULL));
	doc_assert_shares(live->doc, SHARES({ "alpha", 5 }, { "beta", 3 }, { "delta", 2 }), 0.5);
}

LIVE_TEST(live_paths, of_cgroups)
{
	static const char script[] = DOWN
		"for depth in " DEPTHS "; do cd \"$0\"; down $depth;"
		"(sh -c 'echo $PPID' >cgroup.procs; exec \"$1\" 1000); done";
	char mount[256], holder[320];
	size_t i;

	NEED(cgroup_mount(NULL, mount, sizeof(mount)) || cgroup_mount("cpu", mount, sizeof(mount)),
	     "no cgroups are mounted");
	/* A hierarchy in which nobody is told apart is not chosen. */
	snprintf(holder, sizeof(holder), "%s/bpfprofil-paths-%d", mount, getpid());
	cgroup_make(holder);
	cgroup_enter(holder, getpid());
	live_run_timed(live, ARGS(FAST, "--split", "cgroup"),
		       ARGS("sh", "-ec", script, holder, WORKLOAD("three")));
	child_do(ARGS("find", holder, "-mindepth", "1", "-depth", "-type", "d", "-exec", "rmdir",
		      "{}", ";"));
	cgroup_remove(holder);
	for (i = 0; i < NR_DEPTHS; i++) {
		const char *path = cut_path(strrchr(holder, '/'), depths[i], "");

		cr_expect_gt(doc_cgroup(live->doc, path), 100, "%s", path);
	}
	doc_assert_shares(live->doc, SHARES({ "alpha", 5 }, { "beta", 3 }, { "delta", 2 }), 0.5);
}
