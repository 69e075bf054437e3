// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "agent/service_times.h"
#include "sample.h"

/* All that a service's counters have. */
static uint64_t sum_of(const struct service_times *top)
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

Test(service_times, add_up_to_all_ticks)
{
	struct service_times top = { .most = 2 };
	struct profile *profile = sample_profile();
	unsigned int i;

	for (i = 1; i <= 3; i++) {
		service_times_add(&top, profile);
		cr_expect_eq(sum_of(&top), i * profile->ticks.total);
	}
	cr_assert_eq(top.nr, 2);
	cr_expect_leq(top.list[0].nr, 2);
	cr_expect_leq(top.list[1].nr, 2);
	cr_expect_gt(top.list[0].other + top.list[1].other, 0);
	profile_free(profile);
	service_times_free(&top);
}

/* What whoever takes rates sees of a service's counters: each only increases, or is a new one. */
struct seen {
	char name[64];
	uint64_t ticks;
	uint64_t other;
};

static uint64_t increase(struct seen *seen, const struct service_time *service)
{
	const struct function_time *function = service->list;
	uint64_t sum = service->other - seen->other;

	cr_expect_geq(service->other, seen->other);
	cr_assert_leq(service->nr, 1);
	if (service->nr) {
		sum += function->ticks;
		if (!strcmp(seen->name, function->name))
			sum -= seen->ticks;
		snprintf(seen->name, sizeof(seen->name), "%s", function->name);
		seen->ticks = function->ticks;
	}
	seen->other = service->other;
	return sum;
}

/* What was the hottest function makes room for a hotter one, and each tick is counted once. */
Test(service_times, cold_ones_make_room)
{
	struct service_times top = { .most = 1 };
	struct profile *profile = sample_profile();
	struct seen seen[2] = { 0 };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (i == 1) {
			free(profile->functions[0].name);
			profile->functions[0].name = strdup("other name");
		}
		service_times_add(&top, profile);
		cr_assert_eq(top.nr, 2);
		cr_expect_eq(increase(&seen[0], &top.list[0]) + increase(&seen[1], &top.list[1]),
			     profile->ticks.total);
		service_times_told(&top);
	}
	cr_expect(!strcmp(seen[0].name, "other name") || !strcmp(seen[1].name, "other name"));
	profile_free(profile);
	service_times_free(&top);
}

Test(service_times, none)
{
	struct service_times top = { 0 };
	cleanup_profile struct profile *profile = sample_profile();

	service_times_add(&top, profile);
	cr_expect_eq(top.nr, 0);
}
