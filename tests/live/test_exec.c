// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Many processes that come, go and change their image: fork, vfork, exec, clone. */
#include <stdio.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "live.h"
#include "need.h"

#define FIVE_THREE_TWO SHARES({ "alpha", 5 }, { "beta", 3 }, { "delta", 2 })

TestSuite(live_exec, .init = need_root, .timeout = 120);

LIVE_TEST(live_exec, vfork_then_exec)
{
	live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("vforker"), "200", "20000"));
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.8);
}

/*
 * One process runs three images of the same size at the same address, 100 times: a translation that
 * outlives its image would put ticks into the wrong file.
 */
LIVE_TEST(live_exec, chain_of_images_at_one_address)
{
	uint64_t alpha, beta, delta;

	live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("ring_alpha"), "100", "30"));
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.75);
	alpha = doc_function(live->doc, "alpha", "ring_alpha");
	beta = doc_function(live->doc, "beta", "ring_beta");
	delta = doc_function(live->doc, "delta", "ring_delta");
	cr_expect_eq(alpha, doc_function(live->doc, "alpha", NULL));
	cr_expect_eq(beta, doc_function(live->doc, "beta", NULL));
	cr_expect_eq(delta, doc_function(live->doc, "delta", NULL));
}

/*
 * Sixty images, each gone half a millisecond after its first tick, three at a time at one address
 * and of one size, on busy CPUs: the file that is pinned for its name must be the one that the tick
 * hit, and not the one that has taken its place.
 */
LIVE_TEST(live_exec, images_that_pass_quickly)
{
	live_run(live, ARGS(FAST),
		 ARGS("sh", "-ec",
		      "cd \"$1\"; all=$(seq 20);"
		      "for i in $all; do mkdir $i; cp \"$0\"/ring_* $i; done;"
		      "for i in 1 2 3 4; do \"$0\"/forever & burn=\"$burn $!\"; done;"
		      "for i in $all; do $i/ring_alpha 10 1; done; kill $burn",
		      WORKLOADS, live->dir));
	cr_expect_eq(doc_function(live->doc, "alpha", "ring_alpha"),
		     doc_function(live->doc, "alpha", NULL));
	cr_expect_eq(doc_function(live->doc, "beta", "ring_beta"),
		     doc_function(live->doc, "beta", NULL));
	cr_expect_eq(doc_function(live->doc, "delta", "ring_delta"),
		     doc_function(live->doc, "delta", NULL));
	cr_expect_gt(doc_function(live->doc, "alpha", NULL), 200);
}

/* A second thread executes: the kernel ends the leader and gives its pid to the thread. */
LIVE_TEST(live_exec, thread_that_execs)
{
	live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("threadexec"), "200", "15"));
	doc_assert_shares(live->doc, SHARES({ "alpha", 5 }, { "beta", 3 }), 0.75);
}

LIVE_TEST(live_exec, child_on_the_same_memory)
{
	live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("clonevm"), "200", "15"));
	doc_assert_shares(live->doc, SHARES({ "alpha", 5 }, { "beta", 3 }), 0.95);
}

LIVE_TEST(live_exec, two_thousand_short_processes)
{
	live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("swarm"), "2000", "20"));
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.7 - 4 * doc_emulated_part());
}

/* The same at the default rate, where a process of two milliseconds has two ticks. */
LIVE_TEST(live_exec, two_thousand_short_images)
{
	live_run_timed(live, ARGS("-q"),
		       ARGS(WORKLOAD("swarm"), "2000", "20", WORKLOAD("three"), "20"));
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.4 - 4 * doc_emulated_part());
}

/*
 * Processes that do nothing but begin and end, so nearly all ticks are in fork, exec and exit. In
 * VMs the clock itself falls behind then, because the hypervisor works on page tables while it
 * holds the CPU: perf record -a beside it had 0.96 to 0.97 of the CPU time in ticks, and we 0.96 to
 * 0.99. In another VM we had 1.02.
 */
LIVE_TEST(live_exec, storm_of_empty_processes)
{
	uint64_t total;

	live_run(live, ARGS(FAST),
		 ARGS(WORKLOAD("swarm"), "4000", "0", WORKLOAD("nothing_static")));
	cr_expect_geq(live_time_ratio(live), 0.94, "%f", live_time_ratio(live));
	cr_expect_leq(live_time_ratio(live), 1.05, "%f", live_time_ratio(live));
	total = doc_number(live->doc, "ticks.total");
	cr_expect_lt((double)doc_lost(live->doc, "exec"), 0.01 * (double)total,
		     "no exec failed, and yet: %s",
		     json_object_to_json_string(doc_get(live->doc, "ticks")));
	cr_expect_eq(doc_lost(live->doc, "no_memory"), 0);
}

/*
 * After an exec that fails, because the file is missing or has a wrong format, the old image goes
 * on.
 */
LIVE_TEST(live_exec, failed_exec_goes_on)
{
	live_run_timed(live, ARGS(FAST),
		       ARGS("sh", "-c",
			    "for i in 1 2 3 4 5 6 7 8 9; do /nonexistent/program; /etc/passwd; done"
			    " 2>/dev/null; exec \"$0\" 15000",
			    WORKLOAD("three")));
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.8);
}

/* A script's image is its interpreter. */
LIVE_TEST(live_exec, script)
{
	const char *script;
	FILE *file;

	script = live_path(live, "script");
	file = fopen(script, "we");
	cr_assert_not_null(file);
	fprintf(file, "#!/bin/sh\n%s 15000\nexit 0\n", WORKLOAD("three"));
	fclose(file);
	cr_assert_eq(chmod(script, 0755), 0);
	live_run_timed(live, ARGS(FAST), ARGS(script));
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.8);
}

/* Descendants that outlive COMMAND, and their own parents, stay in the tree while it runs. */
LIVE_TEST(live_exec, orphans_are_descendants)
{
	live_run_timed(live, ARGS(FAST),
		       ARGS("sh", "-c", "(\"$0\" 15000 &) ; exit 0", WORKLOAD("three")));
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.8);
}
