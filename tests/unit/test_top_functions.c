// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "agent/top_functions.h"
#include "sample.h"

/* All that a service's counters have. */
static uint64_t sum_of(const struct top_functions *top)
{
	uint64_t sum = 0;
	size_t i, j;

	for (i = 0; i < top->nr; i++) {
		sum += top->list[i].other;
		for (j = 0; j < top->list[i].nr; j++)
			sum += top->list[i].list[j].ticks;
	}
	return sum;
}

Test(top_functions, add_up_to_all_ticks)
{
	struct top_functions top = { .most = 2 };
	struct profile *profile = sample_profile();
	unsigned int i;

	for (i = 1; i <= 3; i++) {
		top_functions_add(&top, profile);
		cr_expect_eq(sum_of(&top), i * profile->ticks.total);
	}
	cr_assert_eq(top.nr, 2);
	cr_expect_leq(top.list[0].nr, 2);
	cr_expect_leq(top.list[1].nr, 2);
	cr_expect_gt(top.list[0].other + top.list[1].other, 0);
	profile_free(profile);
	top_functions_free(&top);
}

/* What was the hottest function makes room for a hotter one, and is not lost. */
Test(top_functions, cold_ones_make_room)
{
	struct top_functions top = { .most = 1 };
	struct profile *profile = sample_profile();
	uint64_t total = profile->ticks.total;
	const char *first;

	top_functions_add(&top, profile);
	first = top.list[0].list[0].name;
	cr_assert_not_null(first);
	free(profile->functions[0].name);
	profile->functions[0].name = strdup("other name");
	top_functions_add(&top, profile);
	top_functions_add(&top, profile);
	top_functions_add(&top, profile);
	cr_expect_eq(sum_of(&top), 4 * total);
	cr_expect(!strcmp(top.list[0].list[0].name, "other name") ||
		  !strcmp(top.list[1].list[0].name, "other name"));
	profile_free(profile);
	top_functions_free(&top);
}

Test(top_functions, none)
{
	struct top_functions top = { 0 };
	cleanup_profile struct profile *profile = sample_profile();

	top_functions_add(&top, profile);
	cr_expect_eq(top.nr, 0);
}
