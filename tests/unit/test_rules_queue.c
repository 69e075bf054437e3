// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>

#include "base/util.h"
#include "host/engine/rules_queue.h"

#define SECOND ((uint64_t)SECOND_NS)

static struct rules_queue queue; /* too large for a stack */

static void add(uint32_t text, uint32_t number, bool counts)
{
	const struct wanted_rules wanted = { .text = text,
					     .number = number,
					     .counts = counts,
					     .is_file = true,
					     .fd = -1 };

	cr_assert_eq(rules_queue_add(&queue, &wanted), 0);
}

/* The text that is next; 0: none. */
static uint32_t next(uint64_t now)
{
	struct wanted_rules wanted;

	return rules_queue_next(&queue, now, &wanted) ? wanted.text : 0;
}

static void end(void)
{
	rules_queue_free(&queue);
}

TestSuite(rules_queue, .fini = end);

Test(rules_queue, owners_take_turns_and_root_is_first)
{
	uint32_t i;

	for (i = 1; i <= 4; i++)
		add(i, 7, true);
	add(5, 8, true);
	add(6, 2, false);
	add(7, 2, false);
	add(8, 3, false);
	cr_expect_eq(next(0), 6);
	cr_expect_eq(next(0), 8);
	cr_expect_eq(next(0), 7);
	cr_expect_eq(next(0), 1);
	cr_expect_eq(next(0), 5);
	cr_expect_eq(next(0), 2);
	add(9, 8, true);
	cr_expect_eq(next(0), 9);
	cr_expect_eq(next(0), 3);
	cr_expect_eq(next(0), 4);
	cr_expect_eq(next(0), 0);
}

/* What one owner has spent nobody else lacks, and it comes back. */
Test(rules_queue, time_comes_back)
{
	const uint64_t now = 1000 * SECOND, later = now + QUEUE_REFILL * SECOND + 1;

	add(1, 7, true);
	add(2, 8, true);
	add(3, 7, false);
	rules_queue_spend(&queue, 7, QUEUE_SECONDS * SECOND, now);
	cr_expect_eq(next(now), 3);
	cr_expect_eq(next(now), 2);
	cr_expect_eq(next(now), 0);
	cr_expect_eq(next(later), 1);
	/* A second came back, and not more than was spent ever does. */
	rules_queue_spend(&queue, 7, SECOND, later);
	add(1, 7, true);
	cr_expect_eq(next(later), 0);
	cr_expect_eq(next(later + 1000 * QUEUE_REFILL * SECOND), 1);
	rules_queue_spend(&queue, 7, QUEUE_SECONDS * SECOND, later + 1000 * QUEUE_REFILL * SECOND);
	add(1, 7, true);
	cr_expect_eq(next(later + 1000 * QUEUE_REFILL * SECOND), 0);
}

/* A number that is given back, and given out again, has its new text's file alone. */
Test(rules_queue, dropped)
{
	add(1, 7, true);
	add(2, 7, true);
	add(1, 7, true);
	rules_queue_drop(&queue, 1);
	cr_expect_eq(next(0), 2);
	cr_expect_eq(next(0), 0);
}
