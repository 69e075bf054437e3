// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/top/list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/text.h"

const char *top_row_place(const struct top_row *row, enum top_by by, char buffer[TOP_PLACE_BYTES])
{
	switch (by) {
	case TOP_FUNCTIONS:
		return row->object ? text_basename(row->object) : "";
	case TOP_OBJECTS:
		return row->kind ? row->kind : "";
	case TOP_PROCESSES:
		snprintf(buffer, TOP_PLACE_BYTES, row->pid < 0 ? "-" : "%" PRId64, row->pid);
		return buffer;
	default:
		return "";
	}
}

const char *top_row_name(const struct top_row *row)
{
	return row->called ? row->called : row->name;
}

static bool has(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

static bool chosen(const struct top_row *row, const struct top_choice *choice)
{
	char buffer[TOP_PLACE_BYTES];

	if (!row->ticks && !(row->inclusive_ns > 0) && !choice->idle)
		return false;
	if (!choice->filter || !*choice->filter)
		return true;
	return has(row->name, choice->filter) || has(row->called, choice->filter) ||
	       has(row->object, choice->filter) ||
	       has(top_row_place(row, choice->by, buffer), choice->filter);
}

static int compare_places(const struct top_row *a, const struct top_row *b, enum top_by by)
{
	char left[TOP_PLACE_BYTES], right[TOP_PLACE_BYTES];

	if (by == TOP_PROCESSES)
		return compare_i64(a->pid, b->pid);
	return strcasecmp(top_row_place(a, by, left), top_row_place(b, by, right));
}

/* Rows that compare equal get a fixed order, or they would change places by chance. */
static int compare(const void *left, const void *right, void *arg)
{
	const struct top_row *a = *(const struct top_row *const *)left;
	const struct top_row *b = *(const struct top_row *const *)right;
	const struct top_choice *choice = arg;
	int order = 0;

	if (choice->sort == TOP_SORT_PLACE)
		order = compare_places(a, b, choice->by);
	else if (choice->sort == TOP_SORT_NAME)
		order = strcasecmp(top_row_name(a), top_row_name(b));
	else if (choice->sort == TOP_SORT_ALL)
		order = compare_double(b->total_ns, a->total_ns);
	else if (choice->sort == TOP_SORT_INCLUSIVE)
		order = compare_double(b->inclusive_ns, a->inclusive_ns);
	order = order ?: compare_double(b->ns, a->ns) ?: compare_double(b->total_ns, a->total_ns);
	order = order ?: compare_u64(b->ticks, a->ticks) ?: strcmp(a->name, b->name);
	return order ?: compare_places(a, b, choice->by) ?: compare_u64(a->offset, b->offset);
}

int top_list_choose(struct top_list *list, const struct top_model *model,
		    const struct top_choice *choice)
{
	const struct top_table *table = &model->tables[choice->by];
	size_t i;

	list->nr = 0;
	if (GROW(list->rows, list->capacity, table->nr + 1))
		return -ENOMEM;
	for (i = 0; i < table->nr; i++) {
		if (chosen(table->rows[i], choice))
			list->rows[list->nr++] = table->rows[i];
	}
	qsort_r(list->rows, list->nr, sizeof(list->rows[0]), compare, (void *)choice);
	return 0;
}

void top_list_free(struct top_list *list)
{
	free(list->rows);
	*list = (struct top_list){ 0 };
}
