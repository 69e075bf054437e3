// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/pointer_map.h"

#include <stdlib.h>

/* Uses Fibonacci hashing, because pointers differ in their middle bits. */
static size_t hash_pair(const void *first, const void *second)
{
	uint64_t value = (uintptr_t)first * 0x9e3779b97f4a7c15 + (uintptr_t)second;

	return (size_t)(value * 0x9e3779b97f4a7c15 >> 32);
}

static struct pointer_entry *find_pair_slot(struct pointer_entry *slots, size_t room,
					    const void *first, const void *second)
{
	size_t i = hash_pair(first, second) & (room - 1);

	while (slots[i].first && (slots[i].first != first || slots[i].second != second))
		i = (i + 1) & (room - 1);
	return &slots[i];
}

static int rehash_pairs(struct pointer_map *map)
{
	size_t room = map->room ? map->room * 2 : 64, i;
	struct pointer_entry *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return -1;
	for (i = 0; i < map->room; i++) {
		const struct pointer_entry *entry = &map->slots[i];

		if (entry->first)
			*find_pair_slot(slots, room, entry->first, entry->second) = *entry;
	}
	free(map->slots);
	map->slots = slots;
	map->room = room;
	return 0;
}

uint64_t *pointer_map_at(struct pointer_map *map, const void *first, const void *second)
{
	struct pointer_entry *slot;

	if (map->nr >= map->room / 2 && rehash_pairs(map))
		return NULL;
	slot = find_pair_slot(map->slots, map->room, first, second);
	if (!slot->first) {
		slot->first = first;
		slot->second = second;
		map->nr++;
	}
	return &slot->number;
}

void pointer_map_clear(struct pointer_map *map)
{
	free(map->slots);
	*map = (struct pointer_map){ 0 };
}
