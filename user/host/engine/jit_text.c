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
	text->watch = text->asked = -1;
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
	close_fd(&text->asked);
	free_places(&text->now);
	free_places(&text->last);
	jit_text_drop_formers(text, UINT32_MAX);
	free(text->formers.list);
	free(text);
}

int jit_text_place(struct jit_text *text, const struct jit_code *code, const char *name,
		   uint64_t *result)
{
	struct jit_places *places = &text->now;
	struct jit_place *place;

	if (GROW(places->list, places->capacity, places->nr + 1))
		return -ENOMEM;
	place = &places->list[places->nr];
	place->name = strdup(name);
	if (!place->name)
		return -ENOMEM;
	places->nr++;
	place->doubtful = false;
	place->start = text->next + code->start % PLACE_ALIGN;
	place->size = code->size;
	text->next = (place->start + place->size + PLACE_ALIGN - 1) / PLACE_ALIGN * PLACE_ALIGN;
	*result = place->start;
	return 0;
}

int jit_text_add_former(struct jit_text *text, const struct jit_code *code, char *name,
			bool doubtful)
{
	struct jit_formers *formers = &text->formers;

	if (!name || GROW(formers->list, formers->capacity, formers->nr + 1)) {
		free(name);
		return -ENOMEM;
	}
	formers->list[formers->nr++] = (struct jit_former){ .start = code->start,
							    .size = code->size,
							    .name = name,
							    .turn = text->turn,
							    .doubtful = doubtful };
	return 0;
}

int jit_text_find_former(struct jit_text *text, uint32_t turn, uint64_t address, uint64_t *result)
{
	struct jit_former *former = text->formers.list, *end = former + text->formers.nr;
	struct jit_code code;
	int ret = 0;

	*result = address;
	while (former < end && (former->turn < turn || address < former->start ||
				address - former->start >= former->size))
		former++;
	if (former == end)
		return 0;
	code = (struct jit_code){ .start = former->start, .size = former->size };
	if (!former->place) {
		ret = jit_text_place(text, &code, former->name, &former->place);
		if (!ret)
			text->now.list[text->now.nr - 1].doubtful = former->doubtful;
	}
	if (!ret)
		*result = former->place + (address - former->start);
	return ret;
}

bool jit_text_doubts(const struct jit_text *text, uint64_t address)
{
	const struct jit_places *now = &text->now;
	size_t after = BISECT(i, now->nr, now->list[i].start <= address);

	return after && address - now->list[after - 1].start < now->list[after - 1].size &&
	       now->list[after - 1].doubtful;
}

void jit_text_drop_formers(struct jit_text *text, uint32_t turn)
{
	struct jit_formers *formers = &text->formers;
	size_t i, kept = 0;

	for (i = 0; i < formers->nr; i++) {
		if (formers->list[i].turn < turn)
			free(formers->list[i].name);
		else
			formers->list[kept++] = formers->list[i];
	}
	formers->nr = kept;
}

void jit_text_turn(struct jit_text *text)
{
	size_t i;

	for (i = 0; i < text->formers.nr; i++)
		text->formers.list[i].place = 0;
	free_places(&text->last);
	text->last = text->now;
	text->now = (struct jit_places){ 0 };
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
