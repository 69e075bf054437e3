// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/jit_text.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
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
	jit_moves_clear(&text->moves);
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
	place->start = text->next + code->start % PLACE_ALIGN;
	place->size = code->size;
	text->next = (place->start + place->size + PLACE_ALIGN - 1) / PLACE_ALIGN * PLACE_ALIGN;
	*result = place->start;
	return 0;
}

int jit_text_add_former(struct jit_text *text, const struct jit_code *code, char *name)
{
	struct jit_formers *formers = &text->formers;

	if (!name || GROW(formers->list, formers->capacity, formers->nr + 1)) {
		free(name);
		return -ENOMEM;
	}
	formers->list[formers->nr++] = (struct jit_former){ .start = code->start,
							    .size = code->size,
							    .name = name,
							    .turn = text->turn };
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
	if (!former->place)
		ret = jit_text_place(text, &code, former->name, &former->place);
	if (!ret)
		*result = former->place + (address - former->start);
	return ret;
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

struct noted {
	struct jit_bin bin;
	uint64_t ticks;
};

static int compare_noted(const void *left, const void *right)
{
	const struct jit_bin *a = left, *b = right;

	if (a->number != b->number)
		return compare_u64(a->number, b->number);
	if (a->split != b->split)
		return compare_u64(a->split, b->split);
	if (a->target != b->target)
		return compare_u64(a->target, b->target);
	return compare_u64(a->shift, b->shift);
}

uint64_t jit_moves_left(const struct jit_moves *moves, const struct jit_bin *bin, uint64_t ticks)
{
	struct noted *const *found = tfind(bin, &moves->noted, compare_noted);
	uint64_t noted = found ? (*found)->ticks : 0;

	return ticks > noted ? ticks - noted : 0;
}

static struct noted *note_move(struct jit_moves *moves, const struct jit_bin *bin)
{
	struct noted *fresh, **found = tfind(bin, &moves->noted, compare_noted);

	if (found)
		return *found;
	fresh = calloc(1, sizeof(*fresh));
	if (!fresh)
		return NULL;
	fresh->bin = *bin;
	if (tsearch(fresh, &moves->noted, compare_noted))
		return fresh;
	free(fresh);
	return NULL;
}

int jit_moves_add(struct jit_moves *moves, const struct jit_move *move)
{
	struct noted *noted;

	if (GROW(moves->list, moves->capacity, moves->nr + 1))
		return -ENOMEM;
	noted = note_move(moves, &move->from);
	if (!noted)
		return -ENOMEM;
	noted->ticks += move->ticks;
	moves->list[moves->nr++] = *move;
	return 0;
}

static int compare_bins(const void *left, const void *right)
{
	const struct profile_bin *a = left, *b = right;

	return compare_u64(a->index, b->index);
}

/* The bin with that number, counted from address 0, or NULL. */
static struct profile_bin *find_bin(const struct profile_histogram *histogram, uint64_t number)
{
	struct profile_bin key = { .index = number - histogram->offset / histogram->bytes_per_bin };

	return bsearch(&key, histogram->bins, histogram->nr_bins, sizeof(key), compare_bins);
}

/* Takes what moved out of a histogram; numbers of bins count from address 0. */
static size_t take_out_moved(const struct jit_moves *moves, uint64_t split,
			     struct profile_histogram *histogram, struct profile_bin *bins)
{
	struct profile_bin *bin;
	size_t i, nr = 0;

	for (i = 0; i < moves->nr; i++) {
		const struct jit_move *move = &moves->list[i];
		uint64_t ticks = move->ticks;

		if (move->from.split != split || move->from.target != histogram->target ||
		    1ULL << move->from.shift != histogram->bytes_per_bin)
			continue;
		bin = find_bin(histogram, move->from.number);
		if (!bin)
			continue;
		ticks = ticks < bin->count ? ticks : bin->count;
		bin->count -= ticks;
		if (ticks)
			bins[nr++] = (struct profile_bin){ move->to, ticks };
	}
	return nr;
}

static size_t merge_moved_bins(struct profile_bin *bins, size_t nr)
{
	size_t i, kept = 0;

	SORT(bins, nr, compare_bins);
	for (i = 1; i < nr; i++) {
		if (bins[i].index == bins[kept].index)
			bins[kept].count += bins[i].count;
		else
			bins[++kept] = bins[i];
	}
	return kept + 1;
}

static void drop_empty_bins(struct profile_histogram *histogram)
{
	size_t i, kept = 0;

	for (i = 0; i < histogram->nr_bins; i++)
		if (histogram->bins[i].count)
			histogram->bins[kept++] = histogram->bins[i];
	histogram->nr_bins = kept;
}

static char *copy_text(const char *text, bool *failed)
{
	char *ret = text ? strdup(text) : NULL;

	*failed = *failed || (text && !ret);
	return ret;
}

/* The new histogram takes over bins, which are freed on failure. */
static int add_moved_histogram(struct profile *profile, size_t i, struct profile_bin *bins,
			       size_t nr)
{
	struct profile_histogram *list, *fresh;
	bool failed = false;
	size_t k;

	list = reallocarray(profile->histograms, profile->nr_histograms + 1, sizeof(*list));
	if (!list) {
		free(bins);
		return -ENOMEM;
	}
	profile->histograms = list;
	fresh = &list[profile->nr_histograms++];
	*fresh = list[i];
	fresh->process = copy_text(list[i].process, &failed);
	fresh->cgroup = copy_text(list[i].cgroup, &failed);
	fresh->bins = bins;
	fresh->nr_bins = nr;
	fresh->offset = bins[0].index * fresh->bytes_per_bin;
	fresh->size = (bins[nr - 1].index - bins[0].index + 1) * fresh->bytes_per_bin;
	for (k = nr; k--;)
		bins[k].index -= bins[0].index;
	return failed ? -ENOMEM : 1;
}

int jit_moves_apply(const struct jit_moves *moves, uint64_t split, struct profile *profile,
		    size_t i)
{
	struct profile_bin *bins;
	size_t nr;

	if (!moves->nr)
		return 0;
	bins = malloc(moves->nr * sizeof(*bins));
	if (!bins)
		return -ENOMEM;
	nr = take_out_moved(moves, split, &profile->histograms[i], bins);
	if (!nr) {
		free(bins);
		return 0;
	}
	drop_empty_bins(&profile->histograms[i]);
	return add_moved_histogram(profile, i, bins, merge_moved_bins(bins, nr));
}

void jit_moves_clear(struct jit_moves *moves)
{
	tdestroy(moves->noted, free);
	free(moves->list);
	*moves = (struct jit_moves){ 0 };
}
