// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Chains of waits that begin at one place, with one stack pointer. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "live.h"
#include "need.h"

TestSuite(live_waits_chains, .init = need_root, .timeout = 180);

/* Whether a node is below a root of a class with complete chains. */
static bool is_below(struct json_object *waits, int64_t node, const char *class)
{
	struct json_object *nodes = doc_get(waits, "nodes"), *root;
	size_t number;

	while (node >= 0)
		node = json_object_get_int64(json_object_array_get_idx(
			json_object_array_get_idx(nodes, (size_t)node), 0));
	root = json_object_array_get_idx(doc_get(waits, "roots"), (size_t)(-1 - node));
	number = doc_number(root, "class");
	return !strcmp(json_object_get_string(doc_get(root, "end")), "complete") &&
	       !strcmp(json_object_get_string(
			       doc_get(json_object_array_get_idx(doc_get(waits, "classes"), number),
				       "name")),
		       class);
}

/* What a thread remembers of its last wait is not mistaken for the next one's chain. */
LIVE_TEST(live_waits_chains, of_two_callers_in_turn)
{
	struct json_object *waits, *nodes;
	uint64_t count, most = 0, sum = 0;
	size_t i, nr = 0;

	live_run(live, ARGS("--waits", "--callers"), ARGS(WORKLOAD("alternate")));
	waits = doc_get(live->doc, "waits");
	nodes = doc_get(waits, "nodes");
	for (i = 0; i < json_object_array_length(nodes); i++) {
		count = json_object_get_uint64(
			json_object_array_get_idx(json_object_array_get_idx(nodes, i), 3));
		if (!count || !is_below(waits, (int64_t)i, "clock_nanosleep"))
			continue;
		most = count > most ? count : most;
		sum += count;
		nr++;
	}
	cr_assert_eq(nr, 2, "%zu chains", nr);
	cr_expect_geq(sum, 270);
	cr_expect_float_eq((double)most / (double)sum, 2.0 / 3, 0.05, "%lu of %lu", most, sum);
}

/*
 * A JIT replaces a function while a thread sleeps below another one, and later a program begins that has not run
 * before. A number of the old text that the wait still names must not become the program's.
 */
#define BESIDE_REPLACED                                                                            \
	"cp \"$3\" \"$1/fresh\"\n"                                                                 \
	"\"$0\" run -q --waits --callers --interval 1 -o \"$1/p-%t.json\" -- sh -c '\"$1\" 3000 "  \
	"asleep & sleep 2.6; \"$0/fresh\" 1000; wait' \"$1\" \"$2\" || exit\n"                     \
	"for file in \"$1\"/p-*.json; do\n"                                                        \
	"	\"$0\" export --format folded --waits -o - \"$file\" || exit\n"                          \
	"done"

LIVE_TEST(live_waits_chains, below_code_that_is_replaced)
{
	char *line, *rest = NULL, *ns;
	struct child_end end;
	double below = 0;

	child_run(&end, NULL,
		  ARGS("sh", "-c", BESIDE_REPLACED, BPFPROFIL_BIN, live->dir, WORKLOAD("jit"),
		       WORKLOAD("three_static")));
	cr_assert_eq(end.status, 0, "%s", end.err);
	for (line = strtok_r(end.out, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		ns = strrchr(line, ' ');
		if (!ns || !strstr(line, ";nap_below;"))
			continue;
		cr_expect(strstr(line, ";nap_below;jit_hot;"), "%s", line);
		below += strtod(ns, NULL);
	}
	cr_expect_float_eq(below, 4e9, 0.1e9, "%.0f ns", below);
	child_end_free(&end);
}
