// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Chains of waits that begin at one place, with one stack pointer. */
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
