// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/string_set.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* The file may be hostile. Therefore limit the set to the bytes of a symbol table's names. */
#define SET_MAX (256UL << 20)

static size_t hash_string(const char *string)
{
	uint64_t value = hash_bytes(HASH_BEGIN, string, strlen(string));

	return (size_t)(value ^ value >> 32);
}

static char **find_string_slot(char **slots, size_t room, const char *string)
{
	size_t i = hash_string(string) & (room - 1);

	while (slots[i] && strcmp(slots[i], string))
		i = (i + 1) & (room - 1);
	return &slots[i];
}

static int rehash_strings(struct string_set *set)
{
	size_t room = set->room ? set->room * 2 : 256, i;
	char **slots;

	slots = calloc(room, sizeof(*slots));
	if (!slots)
		return -1;
	for (i = 0; i < set->room; i++) {
		if (set->slots[i])
			*find_string_slot(slots, room, set->slots[i]) = set->slots[i];
	}
	free(set->slots);
	set->slots = slots;
	set->room = room;
	return 0;
}

/* Cuts a very long name, which helps nobody. */
static const char *cut_string(const char *string, char buffer[STRING_SET_LONGEST + 1])
{
	if (strnlen(string, STRING_SET_LONGEST + 1) <= STRING_SET_LONGEST)
		return string;
	memcpy(buffer, string, STRING_SET_LONGEST - 3);
	memcpy(buffer + STRING_SET_LONGEST - 3, "...", 4);
	return buffer;
}

const char *string_set_add(struct string_set *set, const char *string)
{
	char buffer[STRING_SET_LONGEST + 1], **slot, *copy;

	string = cut_string(string, buffer);
	if (set->nr >= set->room / 2 && rehash_strings(set))
		return NULL;
	slot = find_string_slot(set->slots, set->room, string);
	copy = *slot;
	if (copy)
		return copy;
	if (set->bytes >= SET_MAX)
		return NULL;
	copy = strdup(string);
	if (!copy)
		return NULL;
	*slot = copy;
	set->nr++;
	set->bytes += strlen(copy) + 1;
	return copy;
}

void string_set_free(struct string_set *set)
{
	size_t i;

	for (i = 0; i < set->room; i++)
		free(set->slots[i]);
	free(set->slots);
	memset(set, 0, sizeof(*set));
}
