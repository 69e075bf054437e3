// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * Text from all kinds of places: libraries and files that come and go, other roots, no file at all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "live.h"
#include "need.h"

#define FIVE_THREE_TWO SHARES({ "alpha", 5 }, { "beta", 3 }, { "delta", 2 })

#define NO_CODE "no machine code for this architecture"

TestSuite(live_files, .init = need_root, .timeout = 120);

/* Two libraries alternate at one address: a stale translation would file ticks in the wrong one. */
LIVE_TEST(live_files, libraries_that_take_turns)
{
	live_run_timed(live, ARGS(FAST),
		       ARGS(WORKLOAD("plugins"), "300", "8", WORKLOAD("plugin_a.so"),
			    WORKLOAD("plugin_b.so")));
	cr_assert_gt(atoi(live->end.out), 150, "the libraries hardly ever shared an address: %s",
		     live->end.out);
	doc_assert_shares(live->doc, SHARES({ "plugin_a", 5 }, { "plugin_b", 3 }), 0.9);
	cr_expect_eq(doc_function(live->doc, "plugin_a", "plugin_a.so"),
		     doc_function(live->doc, "plugin_a", NULL));
	cr_expect_eq(doc_function(live->doc, "plugin_b", "plugin_b.so"),
		     doc_function(live->doc, "plugin_b", NULL));
}

/* An emulated CPU takes its time for text that was just mapped, and for a child. */
static void expect_part(uint64_t ticks, double part, struct json_object *doc)
{
	const double of = (double)ticks / (double)doc_number(doc, "ticks.total");

	cr_expect(of > part - 0.05 && of < part + 0.05, "%g instead of %g", of, part);
}

/* What is known of a mapping must not be taken for a part of it that another file has replaced. */
LIVE_TEST(live_files, part_of_a_mapping_that_is_replaced)
{
	const char *copy = live_copy(live, WORKLOAD("remap"), "copy");

	live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("remap"), "300", "8", copy));
	expect_part(doc_function(live->doc, "beta", "/copy"), 0.3, live->doc);
	expect_part(doc_function(live->doc, "beta", "/remap"), 0.2, live->doc);
	expect_part(doc_function(live->doc, "alpha", "/remap"), 0.5, live->doc);
}

/* The pid of the histogram with the most ticks; -1 if it has no single process. */
static int pid_of_hottest(struct json_object *doc)
{
	struct json_object *histograms = doc_get(doc, "histograms");
	uint64_t best = 0;
	int pid = -1;
	size_t i, b;

	for (i = 0; i < json_object_array_length(histograms); i++) {
		struct json_object *histogram = json_object_array_get_idx(histograms, i);
		struct json_object *bins = doc_get(histogram, "bins");
		struct json_object *owner = doc_get(histogram, "pid");
		uint64_t ticks = 0;

		for (b = 0; b < json_object_array_length(bins); b++)
			ticks += json_object_get_uint64(
				json_object_array_get_idx(json_object_array_get_idx(bins, b), 1));
		if (ticks <= best)
			continue;
		best = ticks;
		pid = json_object_is_type(owner, json_type_int) ? json_object_get_int(owner) : -1;
	}
	return pid;
}

LIVE_TEST(live_files, jit)
{
	char map[64];

	NEED(live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("jit"), "15000")), NO_CODE);
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", atoi(live->end.out));
	unlink(map);
	doc_assert_shares(live->doc, SHARES({ "jit_hot", 3 }, { "jit_warm", 1 }), 0.97);
	cr_expect_eq(pid_of_hottest(live->doc), atoi(live->end.out), "text of another process");
	cr_expect_geq((double)doc_object(live->doc, "jit", NULL),
		      0.97 * (double)doc_number(live->doc, "ticks.total"));
}

/* A child in the same memory runs the same text, which counts for the child. */
LIVE_TEST(live_files, jit_of_a_child_in_the_same_memory)
{
	uint64_t own;
	char map[64];

	NEED(live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("jit"), "15000", "child")), NO_CODE);
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", atoi(live->end.out));
	unlink(map);
	own = doc_function(live->doc, "jit_hot", NULL) + doc_function(live->doc, "jit_warm", NULL);
	expect_part(own, 0.75, live->doc);
	expect_part(doc_object(live->doc, "jit", NULL) - own, 0.25, live->doc);
}

/* If code is placed where other code was, each has the ticks that were counted for it. */
LIVE_TEST(live_files, jit_that_is_reused)
{
	char map[64];

	NEED(live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("jit"), "15000", "reuse")), NO_CODE);
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", atoi(live->end.out));
	unlink(map);
	doc_assert_shares(live->doc, SHARES({ "jit_hot", 3 }, { "jit_warm", 1 }), 0.97);
}

/* The names come from a dump, which is found by its mapping. */
LIVE_TEST(live_files, jit_dump)
{
	char dump[64];

	NEED(live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("jit"), "15000", "dump")), NO_CODE);
	snprintf(dump, sizeof(dump), "/tmp/jit-%d.dump", atoi(live->end.out));
	unlink(dump);
	doc_assert_shares(live->doc, SHARES({ "jit_hot", 3 }, { "jit_warm", 1 }), 0.97);
}

/* In a container the pid and /tmp are the container's own. */
LIVE_TEST(live_files, jit_in_a_container)
{
	NEED(have_mounts(), "no mount namespaces");
	NEED(live_run(live, ARGS(FAST),
		      ARGS("unshare", "-m", "-p", "-f", "sh", "-c",
			   "mount --bind \"$0\" /mnt && mount -t tmpfs tmpfs /tmp &&"
			   "exec /mnt/jit 15000",
			   WORKLOADS)),
	     NO_CODE);
	doc_assert_shares(live->doc, SHARES({ "jit_hot", 3 }, { "jit_warm", 1 }), 0.9);
}

LIVE_TEST(live_files, image_in_memory_only)
{
	live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("memexec"), WORKLOAD("three"), "15000"));
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.95);
	cr_expect_gt(doc_object(live->doc, NULL, "memfd:hidden"), 0, "the memfd has another name");
}

LIVE_TEST(live_files, deleted_while_it_runs)
{
	const char *copy;

	copy = live_copy(live, WORKLOAD("three"), "doomed");
	live_run_timed(live, ARGS(FAST), ARGS(copy, "15000", "unlink"));
	cr_assert_neq(access(copy, F_OK), 0);
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.95);
	cr_expect_eq(doc_function(live->doc, "alpha", "doomed"),
		     doc_function(live->doc, "alpha", NULL));
}

/* The new file has its functions at other places; the names must be those of what ran. */
LIVE_TEST(live_files, replaced_while_it_runs)
{
	const char *copy, *other;

	copy = live_copy(live, WORKLOAD("three"), "doomed");
	other = live_copy(live, WORKLOAD("threads"), "other");
	live_run_timed(live, ARGS(FAST), ARGS(copy, "15000", "replace", other));
	cr_assert_neq(access(other, F_OK), 0);
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.95);
}

/*
 * Two programs alternate under one name, and often with one inode number, each gone within 20 ms.
 */
LIVE_TEST(live_files, written_run_and_deleted_in_turn)
{
	live_run_timed(live, ARGS(FAST),
		       ARGS("sh", "-ec",
			    "cd \"$2\"; i=0; while [ $i -lt 60 ]; do i=$((i + 1));"
			    "cp \"$0\" x; ./x 1 20; rm x; cp \"$1\" x; ./x leaf 40; rm x; done",
			    WORKLOAD("threadexec"), WORKLOAD("vforker"), live->dir));
	/* On an emulated CPU copying takes most of the time. */
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.5 - 20 * doc_emulated_part());
}

LIVE_TEST(live_files, in_a_chroot)
{
	live_copy(live, WORKLOAD("three_static"), "inside");
	live_run_timed(live, ARGS(FAST), ARGS("chroot", live->dir, "/inside", "15000"));
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.95);
}

/* The file is on a tmpfs that only the command's mount namespace has, and that vanishes with it. */
LIVE_TEST(live_files, in_a_mount_namespace)
{
	NEED(have_mounts(), "no mount namespaces");
	live_run_timed(
		live, ARGS(FAST),
		ARGS("unshare", "-m", "sh", "-c",
		     "mount -t tmpfs tmpfs /mnt && cp \"$0\" /mnt/inside && exec /mnt/inside 15000",
		     WORKLOAD("three")));
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.9);
	cr_expect_gt(doc_function(live->doc, "alpha", "inside"), 0);
}

/*
 * A shell there runs one short program after the other. Each is gone a millisecond after its first tick,
 * often before its file is opened, so the shell's root or a later process has to do.
 */
LIVE_TEST(live_files, of_short_programs_in_a_mount_namespace)
{
	char name[16];
	int i;

	NEED(have_mounts(), "no mount namespaces");
	live_run_timed(
		live, ARGS(FAST),
		ARGS("unshare", "-m", "sh", "-ec",
		     "mount -t tmpfs tmpfs /mnt; for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do"
		     " cp \"$0\" /mnt/inside$i; n=0;"
		     " while [ $n -lt 50 ]; do n=$((n + 1)); /mnt/inside$i 1; done; done",
		     WORKLOAD("three_static")));
	for (i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "inside%d", i);
		cr_expect_gt(doc_function(live->doc, "alpha", name), 0, "%s", name);
	}
}

/*
 * A file of the lower layer, and one that a write has copied up. They alternate, so that a CPU that
 * is faster for a second is faster for both.
 */
LIVE_TEST(live_files, on_overlayfs)
{
	NEED(live_run_timed(
		     live, ARGS(FAST),
		     ARGS("unshare", "-m", "sh", "-ec",
			  "mount -t tmpfs tmpfs /mnt; cd /mnt; mkdir low up work merged;"
			  "cp \"$0\" low/lower; cp \"$0\" low/upper;"
			  "mount -t overlay overlay -o lowerdir=low,upperdir=up,workdir=work merged ||"
			  " exit 77;"
			  "touch merged/upper; for i in 1 2 3 4 5 6 7 8 9 10; do"
			  " merged/lower 1000; merged/upper 1000; done",
			  WORKLOAD("three"))),
	     "no overlayfs");
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.9);
	assert_ratio(SHARES({ "lower", 1 }, { "upper", 1 }),
		     (uint64_t[]){ doc_function(live->doc, "alpha", "lower"),
				   doc_function(live->doc, "alpha", "upper") });
}

LIVE_TEST(live_files, vdso)
{
	live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("clock"), "60"));
	cr_expect_geq((double)doc_object(live->doc, NULL, "vdso"),
		      0.3 * (double)doc_number(live->doc, "ticks.total"),
		      "the clock is read in the vdso: %s",
		      json_object_to_json_string(doc_get(live->doc, "functions")));
}
