// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Jumps within the function, and the lanes in which they are drawn. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/annotate_steps.h"

/* Longer jumps are not drawn, because nobody follows an arrow over a hundred screens. */
#define LENGTH_MAX 4096

/* Jumps to one row, which share a lane: jumps[first .. first + nr), over the rows [top, bottom]. */
struct bundle {
	size_t first;
	size_t nr;
	size_t top;
	size_t bottom;
	uint64_t ticks; /* at and around both ends */
};

static size_t length_of(const struct annotation_jump *jump)
{
	return jump->from < jump->to ? jump->to - jump->from : jump->from - jump->to;
}

static int compare_targets(const void *left, const void *right)
{
	const struct annotation_jump *a = left, *b = right;

	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

static int compare_heat(const void *left, const void *right)
{
	const struct bundle *a = left, *b = right;

	if (a->ticks != b->ticks)
		return a->ticks > b->ticks ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static int compare_lengths(const void *left, const void *right)
{
	const struct bundle *a = left, *b = right;
	size_t length_a = a->bottom - a->top, length_b = b->bottom - b->top;

	if (length_a != length_b)
		return length_a < length_b ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/*
 * Includes the next row, because a tick often falls on the instruction behind the one that took the
 * time.
 */
static uint64_t ticks_around(const struct annotation *annotation, size_t row)
{
	return annotation->rows[row].ticks +
	       (row + 1 < annotation->nr_rows ? annotation->rows[row + 1].ticks : 0);
}

/*
 * Makes a bundle of the jumps from first on with the same target, without those from too far away.
 */
static struct bundle make_bundle(struct annotation *annotation, size_t first)
{
	struct annotation_jump *jumps = annotation->jumps;
	struct bundle bundle = { .first = first,
				 .top = jumps[first].to,
				 .bottom = jumps[first].to };
	size_t i;

	bundle.ticks = ticks_around(annotation, jumps[first].to);
	for (i = first; i < annotation->nr_jumps && jumps[i].to == jumps[first].to; i++) {
		bundle.nr++;
		jumps[i].lane = ANNOTATION_LANES;
		if (length_of(&jumps[i]) > LENGTH_MAX)
			continue;
		bundle.ticks += ticks_around(annotation, jumps[i].from);
		bundle.top = jumps[i].from < bundle.top ? jumps[i].from : bundle.top;
		bundle.bottom = jumps[i].from > bundle.bottom ? jumps[i].from : bundle.bottom;
	}
	return bundle;
}

static void draw_bundle(struct annotation *annotation, const struct bundle *bundle,
			unsigned int lane)
{
	struct annotation_cells *cells = annotation->memory->cells;
	struct annotation_jump *jump;
	uint8_t bit = (uint8_t)(1U << lane);
	size_t i;

	for (i = bundle->top; i < bundle->bottom; i++) {
		cells[i].down |= bit;
		cells[i + 1].up |= bit;
	}
	for (i = bundle->first; i < bundle->first + bundle->nr; i++) {
		jump = &annotation->jumps[i];
		if (length_of(jump) > LENGTH_MAX)
			continue;
		jump->lane = lane;
		cells[jump->from].end |= bit;
		cells[jump->to].end |= bit;
		cells[jump->to].arrives |= bit;
	}
}

/* Chooses the lowest lane that no bundle on the way uses. */
static void choose_lane(struct annotation *annotation, const struct bundle *bundle,
			unsigned int *nr_used)
{
	const struct annotation_cells *cells = annotation->memory->cells;
	unsigned int used = 0, lane;
	size_t i;

	for (i = bundle->top; i <= bundle->bottom; i++)
		used |= cells[i].up | cells[i].down | cells[i].end;
	for (lane = 0; used & 1U << lane; lane++)
		;
	if (lane >= annotation->lanes)
		return;
	draw_bundle(annotation, bundle, lane);
	*nr_used = lane >= *nr_used ? lane + 1 : *nr_used;
}

/* Keeps the hottest bundles while there are lanes beside each row. Returns how many. */
static size_t choose_bundles(const struct annotation *annotation, struct bundle *bundles, size_t nr,
			     uint8_t *depth)
{
	size_t i, row, kept = 0;
	uint8_t deepest;

	qsort(bundles, nr, sizeof(*bundles), compare_heat);
	for (i = 0; i < nr; i++) {
		deepest = 0;
		for (row = bundles[i].top; row <= bundles[i].bottom; row++)
			deepest = depth[row] > deepest ? depth[row] : deepest;
		if (deepest >= annotation->lanes)
			continue;
		for (row = bundles[i].top; row <= bundles[i].bottom; row++)
			depth[row]++;
		bundles[kept++] = bundles[i];
	}
	return kept;
}

/*
 * Assigns lanes beginning with the shortest bundle, so that an inner loop is drawn inside the outer
 * one.
 */
static void draw_jumps(struct annotation *annotation, struct bundle *bundles, uint8_t *depth)
{
	unsigned int used = 0;
	size_t i, nr = 0;

	qsort(annotation->jumps, annotation->nr_jumps, sizeof(*annotation->jumps), compare_targets);
	for (i = 0; i < annotation->nr_jumps; i += bundles[nr++].nr)
		bundles[nr] = make_bundle(annotation, i);
	nr = choose_bundles(annotation, bundles, nr, depth);
	qsort(bundles, nr, sizeof(*bundles), compare_lengths);
	for (i = 0; i < nr; i++)
		choose_lane(annotation, &bundles[i], &used);
	annotation->lanes = used;
}

static int choose_lanes(struct annotation *annotation, unsigned int lanes)
{
	struct bundle *bundles = calloc(annotation->nr_jumps, sizeof(*bundles));
	uint8_t *depth = calloc(annotation->nr_rows, sizeof(*depth));
	int ret = -ENOMEM;

	annotation->memory->cells = calloc(annotation->nr_rows, sizeof(*annotation->memory->cells));
	if (bundles && depth && annotation->memory->cells) {
		annotation->lanes = lanes < ANNOTATION_LANES ? lanes : ANNOTATION_LANES;
		draw_jumps(annotation, bundles, depth);
		ret = 0;
	}
	free(bundles);
	free(depth);
	return ret;
}

int annotate_find_jumps(struct annotation *annotation, unsigned int lanes, struct error *err)
{
	size_t nr = 0, i;
	int ret;

	for (i = 0; i < annotation->nr_rows; i++)
		nr += annotation->rows[i].jump != ANNOTATION_NONE;
	if (!nr)
		return 0;
	annotation->jumps = calloc(nr, sizeof(*annotation->jumps));
	if (!annotation->jumps)
		return error_errno(err, -ENOMEM, "annotate");
	for (i = 0; i < annotation->nr_rows; i++)
		if (annotation->rows[i].jump != ANNOTATION_NONE)
			annotation->jumps[annotation->nr_jumps++] =
				(struct annotation_jump){ .from = i,
							  .to = annotation->rows[i].jump };
	ret = choose_lanes(annotation, lanes);
	return ret ? error_errno(err, ret, "annotate") : 0;
}
