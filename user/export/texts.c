// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "export/export_impl.h"

/* Fibonacci hashing, because pointers differ in their middle bits. */
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

/* Below the string set's limit, because that would cut through UTF-8. */
#define TEXT_MAX 4000

struct escaped {
	FILE *stream; /* writes into text */
	char *text;
	size_t size;
};

static int append_text(struct texts *texts, const char *text)
{
	if (GROW(texts->all, texts->room, texts->nr + 1))
		return texts->error = -ENOMEM;
	texts->all[texts->nr++] = text;
	return 0;
}

int texts_begin(struct texts *texts)
{
	*texts = (struct texts){ 0 };
	texts->escaped = calloc(1, sizeof(*texts->escaped));
	if (!texts->escaped)
		return texts->error = -ENOMEM;
	texts->escaped->stream = open_memstream(&texts->escaped->text, &texts->escaped->size);
	if (!texts->escaped->stream)
		return texts->error = -ENOMEM;
	return append_text(texts, "");
}

void texts_end(struct texts *texts)
{
	if (texts->escaped && texts->escaped->stream)
		fclose(texts->escaped->stream);
	if (texts->escaped)
		free(texts->escaped->text);
	free(texts->escaped);
	free(texts->all);
	string_set_free(&texts->set);
	pointer_map_clear(&texts->numbers);
}

/* Cuts between two characters, but does not cut twice. */
static void shorten_text(char *text)
{
	size_t length = strlen(text);

	if (length <= TEXT_MAX + strlen("..."))
		return;
	for (length = TEXT_MAX; ((unsigned char)text[length] & 0xc0) == 0x80; length--)
		;
	memcpy(text + length, "...", 4);
}

/* Escapes have four bytes for one. Therefore cut a label after escaping. */
static void shorten_label(char *text)
{
	char cut[TEXT_LABEL];

	if (text_label(text, cut) == cut)
		strcpy(text, cut);
}

static int escape_text(struct texts *texts, const char *text)
{
	FILE *stream = texts->escaped->stream;

	rewind(stream);
	export_text(stream, text, 0, NULL);
	fputc('\0', stream);
	if (fflush(stream) || ferror(stream))
		return texts->error = -ENOMEM;
	if (texts->labels)
		shorten_label(texts->escaped->text);
	else
		shorten_text(texts->escaped->text);
	return 0;
}

/* Most names are, and each place of a profile has one. */
static bool is_short_ascii(const char *text)
{
	size_t length = export_plain_length(text, 0);

	return !text[length] && length < TEXT_LABEL;
}

uint32_t texts_add(struct texts *texts, const char *text)
{
	const char *kept;
	uint64_t *number;

	if (!text || !*text)
		return 0;
	if (!is_short_ascii(text)) {
		if (escape_text(texts, text))
			return 0;
		text = texts->escaped->text;
	}
	kept = string_set_add(&texts->set, text);
	number = kept ? pointer_map_at(&texts->numbers, kept, NULL) : NULL;
	if (!number || (!*number && append_text(texts, kept))) {
		texts->error = -ENOMEM;
		return 0;
	}
	if (!*number)
		*number = texts->nr - 1;
	return (uint32_t)*number;
}
