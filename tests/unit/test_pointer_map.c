// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/texts.h"

#include <criterion/criterion.h>

enum { SIDE = 100 };

/* Each pair has its own number, and keeps it while the map grows. */
Test(pointer_map, keeps_pairs_apart)
{
	static const char places[SIDE];
	struct pointer_map map = { 0 };
	uint64_t *number;
	size_t i, pass;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < SIDE * SIDE; i++) {
			number = pointer_map_at(&map, &places[i / SIDE],
						i % SIDE ? &places[i % SIDE] : NULL);
			cr_assert_not_null(number);
			cr_assert_eq(*number, pass ? i + 1 : 0);
			*number = i + 1;
		}
	}
	cr_assert_eq(map.nr, SIDE * SIDE);
	pointer_map_clear(&map);
	cr_assert_eq(*pointer_map_at(&map, places, NULL), 0);
	pointer_map_clear(&map);
}
