// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile_head.h"
#include "profile/profile_weights.h"
#include "report/rows.h"
#include "base/text.h"

/* Each string exists only once. Therefore compare addresses. */
DEFINE_COMPARE_AS(compare_cells, struct timeline_cell,
		  compare_u64((uintptr_t)a->object, (uintptr_t)b->object) ?:
			  compare_u64(a->offset, b->offset))

static const char *keep(struct timeline *timeline, const char *text)
{
	return string_set_add(&timeline->strings, text ? text : "");
}

/* A file with a build id is the same at any path, as in profile_fold.c. */
static const char *keep_object(struct timeline *timeline, const struct profile_object *object)
{
	const char *path = object->build_id && object->kind == PROFILE_FILE ? "" : object->path;
	cleanup_free char *key = format_text("%s\n%s", object->build_id ?: "", path);

	return key ? keep(timeline, key) : NULL;
}

static bool is_filtered(const struct timeline *timeline)
{
	const struct report_options *filter = timeline->filter;

	return filter && (filter->nr_objects || filter->comm || filter->function);
}

/* The hottest row comes first. */
static int add_row(struct timeline *timeline, const struct profile *profile,
		   const struct report_row *row, struct timeline_part *part)
{
	const struct profile_object *object = &profile->objects[row->object];
	struct timeline_cell *cell = &part->cells[part->nr];

	if (!part->nr) {
		part->hottest = keep(timeline, row->name ? row->name : text_basename(object->path));
		part->hottest_ns = row->own.ns;
		if (!part->hottest)
			return -ENOMEM;
	}
	part->nr++;
	*cell = (struct timeline_cell){ keep_object(timeline, object), row->offset,
					(float)row->own.ns };
	if (is_filtered(timeline))
		tick_sum_add(&part->sum, &row->own);
	return cell->object ? 0 : -ENOMEM;
}

static void add_cell(void *sum, const void *cell)
{
	((struct timeline_cell *)sum)->ns += ((const struct timeline_cell *)cell)->ns;
}

static int add_rows(struct timeline *timeline, const struct profile *profile,
		    const struct report_rows *rows, struct timeline_part *part)
{
	size_t i;

	part->cells = calloc(rows->nr + 1, sizeof(*part->cells));
	if (!part->cells)
		return -ENOMEM;
	/* Ticks outside of bins have no function, but their time counts. */
	if (!is_filtered(timeline)) {
		part->sum.ticks = profile->ticks.total;
		part->sum.ns = profile_time(profile);
	}
	for (i = 0; i < rows->nr; i++)
		if (add_row(timeline, profile, &rows->rows[i], part))
			return -ENOMEM;
	/* One file at two paths has two rows for a function. */
	part->nr = COMBINE(part->cells, part->nr, compare_cells, add_cell);
	return 0;
}

/* NULL: out of memory. */
static struct timeline_part *add_part(struct timeline *timeline, const struct profile *profile,
				      const char *file)
{
	struct timeline_part *part;

	if (GROW(timeline->parts, timeline->capacity, timeline->nr + 1))
		return NULL;
	part = &timeline->parts[timeline->nr++];
	*part = (struct timeline_part){ .file = keep(timeline, file),
					.started = keep(timeline, profile->started),
					.duration_ns = profile->duration_ns };
	return part->file && part->started ? part : NULL;
}

/* If the callers of a function are wanted: its inclusive ticks, and its hottest direct caller. */
static int add_called(struct timeline *timeline, const struct profile *profile,
		      const struct report_rows *rows, struct timeline_part *part)
{
	const struct report_row *function = rows->neighbours + rows->nr_callers;
	const struct report_row *caller = rows->neighbours;

	part->sum = function->inclusive;
	if (!rows->nr_callers)
		return 0;
	part->hottest = keep(timeline,
			     caller->name ?: text_basename(profile->objects[caller->object].path));
	part->hottest_ns = caller->inclusive.ns;
	return part->hottest ? 0 : -ENOMEM;
}

/* A file may lack the function. */
static int add_callers(struct timeline *timeline, const struct profile *profile,
		       const struct report_options *options, struct timeline_part *part,
		       struct error *err)
{
	struct error missing = { 0 };
	struct report_rows rows;
	int ret;

	if (!profile->callers)
		return error_with_hint(err, -EINVAL, "only the files that have them",
				       "--callers: %.200s has no callers", part->file);
	ret = rows_of_part(profile, options, &rows, &missing);
	if (!ret && rows.nr_neighbours)
		ret = add_called(timeline, profile, &rows, part);
	rows_free(&rows);
	return ret && ret != -EINVAL ? error_errno(err, ret, "report") : 0;
}

int timeline_add(struct timeline *timeline, const struct profile *profile, const char *file,
		 struct error *err)
{
	struct report_options options = { .target = REPORT_ALL_TARGETS };
	struct timeline_part *part = add_part(timeline, profile, file);
	struct report_rows rows;
	int ret;

	if (!part)
		return error_errno(err, -ENOMEM, "%s", file);
	if (timeline->filter) {
		options.objects = timeline->filter->objects;
		options.nr_objects = timeline->filter->nr_objects;
		options.comm = timeline->filter->comm;
		options.function = timeline->filter->function;
		options.tree = timeline->filter->tree;
	}
	if (options.tree) {
		options.callers = true;
		options.min = 100; /* only the direct callers are needed */
		return add_callers(timeline, profile, &options, part, err);
	}
	ret = rows_of_part(profile, &options, &rows, err);
	if (!ret && add_rows(timeline, profile, &rows, part))
		ret = error_errno(err, -ENOMEM, "%s", file);
	rows_free(&rows);
	return ret;
}

DEFINE_COMPARE_AS(compare_parts, struct timeline_part,
		  profile_compare_times(a->started, b->started) ?: strcmp(a->file, b->file))

void timeline_sort(struct timeline *timeline)
{
	SORT(timeline->parts, timeline->nr, compare_parts);
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

double timeline_ns(struct timeline *timeline, const struct timeline_part *part,
		   const struct profile_object *object, uint64_t offset)
{
	const struct timeline_cell wanted = { keep_object(timeline, object), offset, 0 }, *found;

	if (!part->nr || !wanted.object)
		return 0;
	found = bsearch(&wanted, part->cells, part->nr, sizeof(wanted), compare_cells);
	return found ? found->ns : 0;
}

/* Parts are ordered as in their timeline. */
DEFINE_COMPARE_AS(compare_time, struct report_row, (a->part > b->part) - (a->part < b->part))

int timeline_rows(const struct profile *profile, const struct report_options *options,
		  struct report_rows *rows, struct error *err)
{
	const struct timeline *timeline = options->timeline;
	int ret = rows_check(profile, options, err);
	size_t i, shown;

	*rows = (struct report_rows){ 0 };
	if (ret)
		return ret;
	if (!timeline || options->target != REPORT_ALL_TARGETS)
		return error_set(err, -EINVAL, "--by time: not of one %s alone",
				 timeline ? "target" : "profile");
	for (i = 0; timeline_of_callers(timeline) && i < timeline->nr; i++)
		if (timeline->parts[i].sum.ticks)
			break;
	if (timeline_of_callers(timeline) && i == timeline->nr)
		return error_set(err, -EINVAL, "--callers '%.200s': in no chain of these files",
				 timeline->filter->function);
	for (i = 0; i < timeline->nr; i++) {
		const struct timeline_part *part = &timeline->parts[i];
		const struct report_row row = { .part = part,
						.own = part->sum,
						.name = part->hottest };

		if (rows_add(rows, &row))
			return error_errno(err, -ENOMEM, "report");
	}
	rows_sort(rows, false, options->limit);
	shown = report_limit(options, rows->nr);
	SORT(rows->rows, shown, compare_time);
	return 0;
}
