// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/row_marks.h"

#include <stdlib.h>

#include "base/util.h"

void row_marks_free(struct row_marks *marks)
{
	if (!marks)
		return;
	free(marks->all);
	free(marks->places);
	free(marks);
}

/* Returns the new mark; 0: out of memory. */
static uint32_t add_mark(struct row_marks *marks)
{
	if (marks->nr >= INT32_MAX || GROW(marks->all, marks->room, marks->nr + 1))
		return 0;
	marks->all[marks->nr] = (struct row_mark){ .row = NO_ROW };
	return (uint32_t)marks->nr++;
}

struct row_marks *row_marks_new(size_t nr_places)
{
	struct row_marks *marks = calloc(1, sizeof(*marks));

	if (!marks)
		return NULL;
	marks->places = calloc(nr_places + 1, sizeof(*marks->places));
	add_mark(marks);
	if (marks->places && marks->nr)
		return marks;
	row_marks_free(marks);
	return NULL;
}

uint32_t row_marks_add_place(struct row_marks *marks, const struct mark_place *place)
{
	uint32_t mark = add_mark(marks);

	if (mark)
		marks->places[marks->nr_places++] = *place;
	return mark;
}

uint32_t row_marks_add_outer(struct row_marks *marks, uint32_t inner)
{
	uint32_t mark = add_mark(marks);

	if (mark)
		marks->all[inner].outer = mark;
	return mark;
}

static int compare_mark_place(const struct mark_place *a, const struct mark_place *b)
{
	int order = compare_u64(a->object, b->object) ?: compare_u64(a->offset, b->offset);

	return order ?: compare_u64(a->size, b->size);
}

uint32_t row_marks_find(const struct row_marks *marks, const struct mark_place *place)
{
	const struct mark_place *places = marks->places;
	size_t at = BISECT(i, marks->nr_places, compare_mark_place(&places[i], place) < 0);

	if (at == marks->nr_places || compare_mark_place(&places[at], place))
		return 0;
	return (uint32_t)at + 1;
}
