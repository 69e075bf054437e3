// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/jit_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"

/* A place keeps the code's offset modulo this, so that bins of any width divide it alike. */
#define PLACE_ALIGN 65536ULL

struct jit_text *jit_text_new(void)
{
	struct jit_text *text = calloc(1, sizeof(*text));

	if (!text)
		return NULL;
	text->watch = -1;
	text->next = JIT_PLACES;
	return text;
}

static void free_places(struct jit_places *places)
{
	while (places->nr)
		free(places->list[--places->nr].name);
	free(places->list);
	*places = (struct jit_places){ 0 };
}

void jit_text_free(struct jit_text *text, size_t *room)
{
	if (!text)
		return;
	jit_map_free(text->map, room);
	jit_moves_clear(&text->moves);
	free_places(&text->now);
	free_places(&text->last);
	free(text);
}

int jit_text_place(struct jit_text *text, const struct jit_code *code, const char *name,
		   uint64_t *result)
{
	struct jit_places *places = &text->now;
	struct jit_place *place;

	if (grow((void **)&places->list, &places->capacity, places->nr + 1, sizeof(*place)))
		return -ENOMEM;
	place = &places->list[places->nr];
	place->name = strdup(name);
	if (!place->name)
		return -ENOMEM;
	places->nr++;
	place->start = text->next + code->start % PLACE_ALIGN;
	place->size = code->size;
	text->next = (place->start + place->size + PLACE_ALIGN - 1) / PLACE_ALIGN * PLACE_ALIGN;
	*result = place->start;
	return 0;
}

void jit_text_turn(struct jit_text *text)
{
	jit_moves_clear(&text->moves);
	free_places(&text->last);
	text->last = text->now;
	text->now = (struct jit_places){ 0 };
	text->doubtful = 0;
}

static void write_places(const struct jit_places *places, FILE *out)
{
	size_t i;

	for (i = 0; i < places->nr; i++)
		fprintf(out, "%" PRIx64 " %" PRIx64 " %s\n", places->list[i].start,
			places->list[i].size, places->list[i].name);
}

int jit_text_open_places(const struct jit_text *text)
{
	int fd, copy;
	FILE *out;

	if (!text->now.nr && !text->last.nr)
		return -ENOENT;
	fd = memfd_create("places", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	copy = dup(fd);
	out = copy < 0 ? NULL : fdopen(copy, "w");
	if (!out) {
		close(fd);
		return -ENOMEM;
	}
	write_places(&text->last, out);
	write_places(&text->now, out);
	if (!fclose(out))
		return fd;
	close(fd);
	return -EIO;
}
