// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/row_marks.h"

#include <stdlib.h>

#include "base/util.h"
#include "report/rows.h"

void row_marks_free(struct row_marks *marks)
{
	if (!marks)
		return;
	free(marks->all);
	free(marks->places);
	free(marks);
}

struct row_marks *row_marks_new(struct report_row *rows, size_t nr)
{
	struct row_marks *marks = calloc(1, sizeof(*marks));
	size_t i;

	if (marks)
		marks->places = calloc(nr + 1, sizeof(*marks->places));
	if (!marks || !marks->places || nr >= INT32_MAX || GROW(marks->all, marks->room, nr + 1)) {
		row_marks_free(marks);
		return NULL;
	}
	for (i = 0; i <= nr; i++)
		marks->all[i] = (struct row_mark){ .row = NO_ROW };
	for (i = 0; i < nr; i++) {
		marks->places[i] =
			(struct mark_place){ rows[i].object, rows[i].offset, rows[i].size };
		rows[i].first_mark = rows[i].last_mark = (uint32_t)i + 1;
	}
	marks->nr_places = nr;
	marks->nr = nr + 1;
	return marks;
}

uint32_t row_marks_add_outer(struct row_marks *marks, uint32_t inner)
{
	if (marks->nr >= INT32_MAX || GROW(marks->all, marks->room, marks->nr + 1))
		return 0;
	marks->all[marks->nr] = (struct row_mark){ .row = NO_ROW };
	return marks->all[inner].outer = (uint32_t)marks->nr++;
}

DEFINE_COMPARE_AS(compare_places, struct mark_place,
		  compare_u64(a->object, b->object)	    ?:
			  compare_u64(a->offset, b->offset) ?:
							      compare_u64(a->size, b->size))

uint32_t row_marks_find(const struct row_marks *marks, const struct mark_place *place)
{
	const struct mark_place *found =
		bsearch(place, marks->places, marks->nr_places, sizeof(*place), compare_places);

	return found ? (uint32_t)(found - marks->places) + 1 : 0;
}
