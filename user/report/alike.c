// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Rows that would look alike in a table: of files of one name in two folders, of two builds of one
 * file, or functions of one name in one file.
 */
#include "report/alike.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/text.h"

/* A row, and what a table shows of it. */
struct shown_row {
	const struct profile_object *object;
	const struct report_row *row;
	const char *shown; /* of its object */
	size_t at;
};

static int compare_shown(const void *left, const void *right)
{
	const struct shown_row *a = left, *b = right;
	int order = strcmp(a->shown, b->shown);

	if (!order)
		order = compare_text(a->row->name, b->row->name);
	/* Without a name the offset is shown. */
	return order || a->row->name ? order : compare_u64(a->row->offset, b->row->offset);
}

static unsigned int difference(const struct shown_row *a, const struct shown_row *b)
{
	if (strcmp(a->object->path, b->object->path) != 0)
		return ALIKE_PATH;
	if (compare_text(a->object->build_id, b->object->build_id) != 0)
		return ALIKE_BUILD;
	return a->object == b->object ? ALIKE_OFFSET : 0;
}

/* first[0..nr) look alike; there are few of them, but a profile may be made to have many. */
static void tell_apart(const struct shown_row *first, size_t nr, uint8_t *alike)
{
	unsigned int how = 0;
	size_t i, j;

	for (i = 0; i < nr && i < ALIKE_MAX; i++)
		for (j = i + 1; j < nr && j < ALIKE_MAX; j++)
			how |= difference(&first[i], &first[j]);
	for (i = 0; i < nr; i++)
		alike[first[i].at] = (uint8_t)how;
}

uint8_t *alike_find(const struct report *report)
{
	uint8_t *alike = calloc(report->nr + 1, sizeof(*alike));
	cleanup_free struct shown_row *seen = calloc(report->nr + 1, sizeof(*seen));
	size_t i, end;

	if (!alike || !seen) {
		free(alike);
		return NULL;
	}
	for (i = 0; i < report->nr; i++) {
		const struct report_row *row = &report->rows->rows[i];
		const struct profile_object *object = &report->profile->objects[row->object];
		bool whole = report->options->by == REPORT_OBJECTS;

		seen[i] = (struct shown_row){ object, row,
					      whole ? object->path : text_basename(object->path),
					      i };
	}
	if (report->nr)
		qsort(seen, report->nr, sizeof(*seen), compare_shown);
	for (i = 0; i < report->nr; i = end) {
		for (end = i + 1; end < report->nr && !compare_shown(&seen[i], &seen[end]); end++)
			;
		if (end > i + 1)
			tell_apart(&seen[i], end - i, alike);
	}
	return alike;
}
