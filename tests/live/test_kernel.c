// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Time that a process spends in the kernel: whom each mode bills, and that none is missing. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "chance.h"
#include "live.h"
#include "need.h"

/* The pcs around a system call are not exact, and reading the clock takes time too. */
#define NEARLY 0.03

TestSuite(live_kernel, .init = need_root, .timeout = 120);

/* Runs the workload that reports how long it was in alpha, ask_parent and read_zeros. */
static void run_syscalls(struct live *live, const char *mode, double part[3])
{
	live_begin(live);
	live_run_timed(live, ARGS(FAST, "--mode", mode), ARGS(WORKLOAD("syscalls"), "5000"));
	live_read_parts(live, part);
	cr_expect_str_eq(json_object_get_string(doc_get(live->doc, "sampling.mode")), mode);
}

static double part_of(struct live *live, uint64_t ticks)
{
	return (double)ticks / (double)doc_number(live->doc, "ticks.total");
}

static uint64_t kernel_ticks(struct live *live)
{
	return doc_number(json_object_array_get_idx(doc_get(live->doc, "targets"), 0),
			  "kernel_ticks");
}

/*
 * How much of the time was the kernel's agrees with what the workload saw, and with getrusage(). The
 * kernel divides the exact sum of user and system time by what its own tick hit, which comes 100 to
 * 1,000 times a second.
 */
static void expect_kernel(struct live *live, const double part[3])
{
	double share = part_of(live, kernel_ticks(live)), of_usage = live->system_ns / live->cpu_ns;
	double chance = sqrt(share * (1 - share) / (100 * live->cpu_ns / 1e9));

	cr_expect_geq(share, part[2] - NEARLY);
	cr_expect_leq(share, part[1] + part[2] + NEARLY);
	cr_expect_float_eq(share, of_usage, CHANCE_ERRORS * chance,
			   "%.3f, getrusage() %.3f +- %.3f", share, of_usage, chance);
}

/* A tick in the kernel is billed to the function that called it. */
Test(live_kernel, charged_mode)
{
	struct live live;
	double part[3];

	run_syscalls(&live, "charged", part);
	cr_expect_float_eq(part_of(&live, doc_function(live.doc, "alpha", NULL)), part[0], NEARLY);
	cr_expect_float_eq(part_of(&live, doc_function(live.doc, "ask_parent", NULL)), part[1],
			   NEARLY);
	cr_expect_float_eq(part_of(&live, doc_function(live.doc, "read_zeros", NULL)), part[2],
			   NEARLY);
	cr_expect_eq(doc_object(live.doc, "kernel", NULL), 0);
	cr_expect_eq(doc_number(live.doc, "ticks.filtered"), 0);
	expect_kernel(&live, part);
	live_end(&live);
}

/*
 * read_zeros is in the kernel's copy loop; its own few instructions take nothing compared with
 * that.
 */
Test(live_kernel, split_mode)
{
	struct live live;
	double part[3], kernel;

	run_syscalls(&live, "split", part);
	kernel = part_of(&live, doc_object(live.doc, "kernel", NULL));
	cr_expect_float_eq(part_of(&live, doc_function(live.doc, "alpha", NULL)), part[0], NEARLY);
	cr_expect_leq(part_of(&live, doc_function(live.doc, "read_zeros", NULL)), 0.05);
	cr_expect_geq(kernel, part[2] - NEARLY);
	cr_expect_leq(kernel, part[1] + part[2] + NEARLY);
	cr_expect_eq(doc_number(live.doc, "ticks.filtered"), 0);
	/* A tick that is in no bin was in the kernel too: at an exec, or at the end. */
	cr_expect_geq(kernel_ticks(&live), doc_object(live.doc, "kernel", NULL));
	cr_expect_leq(kernel_ticks(&live),
		      doc_object(live.doc, "kernel", NULL) + doc_lost(live.doc, NULL));
	live_end(&live);
}

/* Kernel text has the kernel's names. */
LIVE_TEST(live_kernel, split_mode_names)
{
	struct json_object *functions;
	uint64_t named = 0, all;
	size_t i;

	live_run_timed(live, ARGS(FAST, "--mode", "split"), ARGS(WORKLOAD("faults"), "60"));
	all = doc_object(live->doc, "kernel", NULL);
	functions = doc_get(live->doc, "functions");
	for (i = 0; i < json_object_array_length(functions); i++) {
		struct json_object *function = json_object_array_get_idx(functions, i);
		const char *name = json_object_get_string(doc_get(function, "name"));

		if (strstr(name, "page") || strstr(name, "fault"))
			named += doc_number(function, "ticks");
	}
	cr_expect_geq((double)all, 0.5 * (double)doc_number(live->doc, "ticks.total"));
	cr_expect_geq((double)named, 0.3 * (double)all, "few kernel ticks in page functions: %s",
		      json_object_to_json_string(functions));
}

/* The kernel's ticks are left out, and counted as filtered. */
Test(live_kernel, user_mode)
{
	struct live live;
	double part[3], filtered;

	run_syscalls(&live, "user", part);
	filtered = part_of(&live, doc_number(live.doc, "ticks.filtered"));
	cr_expect_float_eq(part_of(&live, doc_function(live.doc, "alpha", NULL)), part[0], NEARLY);
	cr_expect_geq(filtered, part[2] - NEARLY);
	cr_expect_leq(filtered, part[1] + part[2] + NEARLY);
	cr_expect_eq(kernel_ticks(&live), doc_number(live.doc, "ticks.filtered"));
	cr_expect_eq(doc_object(live.doc, "kernel", NULL), 0);
	live_end(&live);
}

LIVE_TEST(live_kernel, page_faults)
{
	live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("faults"), "100"));
	cr_expect_geq(part_of(live, doc_function(live->doc, "touch_pages", NULL)), 0.5);
	cr_expect_geq(part_of(live, doc_function(live->doc, "touch_pages", NULL) +
					    doc_function(live->doc, "drop_pages", NULL)),
		      0.95);
}

/*
 * Ticks that find the address space locked are filed later: none is lost, and none is filed twice.
 */
static void map_and_burn(const char *pairs)
{
	struct live live;

	live_begin(&live);
	live_run_timed(&live, ARGS(FAST), ARGS(WORKLOAD("mapper"), pairs, "10000"));
	doc_assert_shares(live.doc, SHARES({ "alpha", 5 }, { "beta", 3 }), 0.2);
	cr_expect_lt(part_of(&live, doc_lost(live.doc, NULL)), 0.01, "lost: %s",
		     json_object_to_json_string(doc_get(live.doc, "ticks")));
	live_end(&live);
}

Test(live_kernel, address_space_locked_by_itself)
{
	map_and_burn("1");
}

Test(live_kernel, address_space_locked_by_others)
{
	map_and_burn("4");
}

/* Half of this workload's time is between exit() and the end of the task. */
LIVE_TEST(live_kernel, exit_of_a_large_address_space)
{
	live_run_timed(live, ARGS(FAST), ARGS(WORKLOAD("bigexit"), "8", "256"));
}
