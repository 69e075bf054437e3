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

/*
 * A place keeps the code's offset modulo this. Therefore bins of any width divide it in the same
 * way.
 */
#define PLACE_ALIGN 65536ULL

struct jit_text *jit_text_new(void)
{
	struct jit_text *text = calloc(1, sizeof(*text));

	if (!text)
		return NULL;
	text->watch = text->asked = -1;
	text->next[false] = JIT_PLACES;
	text->next[true] = JIT_DOUBTFUL;
	return text;
}

void jit_text_free(struct jit_text *text, size_t *room)
{
	if (!text)
		return;
	jit_map_free(text->map, room);
	close_fd(&text->asked);
	jit_text_drop_formers(text, UINT32_MAX);
	free(text->formers.list);
	free(text);
}

int jit_text_add_former(struct jit_text *text, const struct jit_code *code, char *name,
			bool doubtful)
{
	struct jit_formers *formers = &text->formers;
	const uint64_t place = text->next[doubtful] + code->start % PLACE_ALIGN;
	size_t at;

	if (!name || GROW(formers->list, formers->capacity, formers->nr + 1)) {
		free(name);
		return -ENOMEM;
	}
	at = BISECT(i, formers->nr, formers->list[i].start <= code->start);
	memmove(formers->list + at + 1, formers->list + at,
		(formers->nr++ - at) * sizeof(*formers->list));
	formers->list[at] = (struct jit_former){ .start = code->start,
						 .size = code->size,
						 .name = name,
						 .version = text->version,
						 .place = place };
	formers->longest = max_size(formers->longest, code->size);
	text->next[doubtful] = (place + code->size + PLACE_ALIGN - 1) / PLACE_ALIGN * PLACE_ALIGN;
	return 0;
}

/* Of several versions since then, the first one that ended the code at this address counts. */
uint64_t jit_text_find_former(const struct jit_text *text, uint32_t version, uint64_t address)
{
	const struct jit_formers *formers = &text->formers;
	const struct jit_former *former, *found = NULL;
	size_t at = BISECT(i, formers->nr, formers->list[i].start <= address);

	while (at-- && address - formers->list[at].start < formers->longest) {
		former = &formers->list[at];
		if (former->version >= version && address - former->start < former->size &&
		    (!found || former->version < found->version))
			found = former;
	}
	return found ? found->place + (address - found->start) : address;
}

void jit_text_drop_formers(struct jit_text *text, uint32_t version)
{
	struct jit_formers *formers = &text->formers;
	size_t i, kept = 0;

	for (i = 0; i < formers->nr; i++) {
		if (formers->list[i].version < version)
			free(formers->list[i].name);
		else
			formers->list[kept++] = formers->list[i];
	}
	formers->nr = kept;
}

int jit_text_open_places(const struct jit_text *text)
{
	const struct jit_former *former = text->formers.list, *end = former + text->formers.nr;
	int fd, copy;
	FILE *out;

	if (!text->formers.nr)
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
	for (; former < end; former++)
		fprintf(out, "%" PRIx64 " %" PRIx64 " %s\n", former->place, former->size,
			former->name);
	if (!fclose(out))
		return fd;
	close(fd);
	return -EIO;
}
