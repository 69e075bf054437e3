// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile_merge.h"
#include "profile/profile_weights.h"
#include "report/rows.h"
#include "report/text.h"

static int order_of(const void *a, const void *b)
{
	return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

/* Strings are there once, so that their addresses tell them apart. */
static int compare_cells(const void *left, const void *right)
{
	const struct timeline_cell *a = left, *b = right;
	int order = order_of(a->path, b->path);

	if (!order)
		order = order_of(a->build_id, b->build_id);
	return order ? order : (a->offset > b->offset) - (a->offset < b->offset);
}

static int keep(struct timeline *timeline, const char *text, const char **ret)
{
	*ret = text ? string_set_add(&timeline->strings, text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

static int make_cell(struct timeline *timeline, const struct profile *profile,
		     const struct report_row *row, struct timeline_cell *cell)
{
	const struct profile_object *object = &profile->objects[row->object];

	*cell = (struct timeline_cell){ .offset = row->offset, .ticks = row->ticks, .ns = row->ns };
	if (keep(timeline, object->path, &cell->path) ||
	    keep(timeline, object->build_id, &cell->build_id) ||
	    keep(timeline, row->name, &cell->name))
		return -ENOMEM;
	return 0;
}

static int add_cells(struct timeline *timeline, const struct profile *profile,
		     const struct report_rows *rows, struct timeline_part *part)
{
	size_t i;

	part->cells = calloc(rows->nr + 1, sizeof(*part->cells));
	if (!part->cells)
		return -ENOMEM;
	for (i = 0; i < rows->nr; i++)
		if (make_cell(timeline, profile, &rows->rows[i], &part->cells[part->nr++]))
			return -ENOMEM;
	if (part->nr)
		qsort(part->cells, part->nr, sizeof(*part->cells), compare_cells);
	return 0;
}

static int add_part(struct timeline *timeline, const struct profile *profile,
		    const struct report_rows *rows, const char *file)
{
	void *array = timeline->parts;
	struct timeline_part *part;
	int code = grow(&array, &timeline->capacity, timeline->nr + 1, sizeof(*timeline->parts));

	if (code)
		return code;
	timeline->parts = array;
	part = &timeline->parts[timeline->nr++];
	*part = (struct timeline_part){ .duration_ns = profile->duration_ns,
					.ticks = profile->ticks.total,
					.ns = profile_time(profile) };
	code = keep(timeline, file, &part->file);
	if (!code)
		code = keep(timeline, profile->started ? profile->started : "", &part->started);
	return code ? code : add_cells(timeline, profile, rows, part);
}

int timeline_add(struct timeline *timeline, const struct profile *profile, const char *file,
		 struct error *err)
{
	const struct report_options options = { .target = REPORT_ALL_TARGETS };
	struct report_rows rows;
	int code = rows_build(profile, &options, &rows, err);

	if (!code && add_part(timeline, profile, &rows, file))
		code = error_errno(err, -ENOMEM, "%s", file);
	rows_free(&rows);
	return code;
}

static int compare_parts(const void *left, const void *right)
{
	const struct timeline_part *a = left, *b = right;
	int order = profile_compare_times(a->started, b->started);

	return order ? order : strcmp(a->file, b->file);
}

void timeline_sort(struct timeline *timeline)
{
	if (timeline->nr)
		qsort(timeline->parts, timeline->nr, sizeof(*timeline->parts), compare_parts);
}

void timeline_free(struct timeline *timeline)
{
	size_t i;

	for (i = 0; i < timeline->nr; i++)
		free(timeline->parts[i].cells);
	free(timeline->parts);
	string_set_free(&timeline->strings);
	*timeline = (struct timeline){ 0 };
}

const struct timeline_cell *timeline_find(struct timeline *timeline,
					  const struct timeline_part *part,
					  const struct profile_object *object, uint64_t offset)
{
	struct timeline_cell wanted = { .offset = offset };

	if (!part->nr || keep(timeline, object->path, &wanted.path) ||
	    keep(timeline, object->build_id, &wanted.build_id))
		return NULL;
	return bsearch(&wanted, part->cells, part->nr, sizeof(wanted), compare_cells);
}

/* --- rows ------------------------------------------------------------------------------------------ */

static struct report_row part_row(const struct timeline_part *part, const char *object)
{
	struct report_row row = { .part = part };
	size_t i;

	for (i = 0; i < part->nr; i++) {
		const struct timeline_cell *cell = &part->cells[i];

		if (object && strcmp(cell->path, object) != 0 &&
		    strcmp(text_basename(cell->path), object) != 0)
			continue;
		row.ticks += cell->ticks;
		row.ns += cell->ns;
		if (cell->ns <= row.hottest_ns)
			continue;
		row.hottest_ns = cell->ns;
		row.name = cell->name ? cell->name : text_basename(cell->path);
	}
	/* What is in no bin has no function, but its time all the same. */
	if (!object) {
		row.ticks = part->ticks;
		row.ns = part->ns;
	}
	return row;
}

int rows_by_time(const struct report_options *options, struct report_rows *rows, struct error *err)
{
	const struct timeline *timeline = options->timeline;
	size_t i;

	if (!timeline || options->target != REPORT_ALL_TARGETS) {
		error_set(err, -EINVAL, "--by time: not of one %s alone",
			  timeline ? "target" : "profile");
		return -EINVAL;
	}
	for (i = 0; i < timeline->nr; i++) {
		const struct report_row row = part_row(&timeline->parts[i], options->object);

		if (rows_add(rows, &row))
			return error_errno(err, -ENOMEM, "report");
	}
	return 0;
}
