// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Parts of an array that are taken and given back in any order. */
#include <errno.h>

#include <criterion/criterion.h>

#include "host/engine/extents.h"

enum { ELEMENTS = 100 };

static struct extents extents;

static void begin(void)
{
	cr_assert_eq(extents_init(&extents, ELEMENTS), 0);
}

static void end(void)
{
	extents_free(&extents);
}

TestSuite(extents, .init = begin, .fini = end);

Test(extents, first_that_has_room)
{
	cr_expect_eq(extents_alloc(&extents, 10), 0);
	cr_expect_eq(extents_alloc(&extents, 20), 10);
	cr_expect_eq(extents_alloc(&extents, 30), 30);
	extents_release(&extents, 10, 20);
	cr_expect_eq(extents_alloc(&extents, 21), 60);
	cr_expect_eq(extents_alloc(&extents, 20), 10);
	cr_expect_eq(extents_alloc(&extents, ELEMENTS - 80), -ENOSPC);
	cr_expect_eq(extents_alloc(&extents, ELEMENTS - 81), 81);
}

/* Whatever the order, in the end all of it is one extent again. */
Test(extents, what_is_given_back_is_joined)
{
	static const uint32_t order[] = { 3, 1, 0, 2, 4, 9, 7, 8, 5, 6 };
	size_t i;

	for (i = 0; i < 10; i++)
		cr_assert_eq(extents_alloc(&extents, 10), (int64_t)i * 10);
	cr_expect_eq(extents_alloc(&extents, 1), -ENOSPC);
	for (i = 0; i < 10; i++)
		extents_release(&extents, order[i] * 10, 10);
	cr_expect_eq(extents.nr, 1);
	cr_expect_eq(extents_alloc(&extents, ELEMENTS), 0);
}
