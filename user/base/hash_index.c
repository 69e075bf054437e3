// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/hash_index.h"

#include <errno.h>
#include <stdlib.h>

/* At most five of eight slots are in use. An index has 30 bits. */
enum { SLOTS_MIN = 64, SLOTS_OF = 8, SLOTS_USED = 5, ELEMENTS_MAX = 1 << 30 };

int hash_index_reserve(struct hash_index *index, size_t elements)
{
	size_t nr = index->nr ? index->nr : SLOTS_MIN;
	uint32_t *slots;

	if (elements > ELEMENTS_MAX)
		return -ENOMEM;
	while (nr / SLOTS_OF * SLOTS_USED < elements)
		nr *= 2;
	if (nr == index->nr)
		return 0;
	slots = calloc(nr, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(index->slots);
	*index = (struct hash_index){ .slots = slots, .nr = nr };
	return 1;
}
