// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/string_set.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* The file may be hostile. Therefore limit the set to the bytes of a symbol table's names. */
#define SET_MAX (256UL << 20)

static uint32_t *slot_of_string(const struct string_set *set, const char *string)
{
	return HASH_SLOT(&set->index, hash_bytes(HASH_BEGIN, string, strlen(string)), i,
			 !strcmp(set->all[i], string));
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

uint32_t string_set_number(struct string_set *set, const char *string)
{
	char buffer[STRING_SET_LONGEST + 1], *copy;
	uint32_t *slot;

	if (HASH_RESERVE(&set->index, set->nr + 1, i, 0, set->nr, slot_of_string(set, set->all[i])))
		return 0;
	string = cut_string(string, buffer);
	slot = slot_of_string(set, string);
	if (*slot)
		return *slot;
	if (set->bytes >= SET_MAX || GROW(set->all, set->room, set->nr + 1))
		return 0;
	copy = strdup(string);
	if (!copy)
		return 0;
	set->all[set->nr++] = copy;
	set->bytes += strlen(copy) + 1;
	return *slot = (uint32_t)set->nr;
}

const char *string_set_add(struct string_set *set, const char *string)
{
	const uint32_t number = string_set_number(set, string);

	return number ? set->all[number - 1] : NULL;
}

void string_set_free(struct string_set *set)
{
	free_all(set->all, set->nr);
	free(set->index.slots);
	*set = (struct string_set){ 0 };
}
