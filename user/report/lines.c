// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The views by source line and by source function. They need the programs in addition to the
 * profile.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/name_fit.h"
#include "report/row_marks.h"
#include "report/rows.h"
#include "naming/allowance.h"
#include "naming/object_file.h"
#include "reader/reader.h"

static int load(const struct profile *profile, const struct object_opener *opener,
		const struct report_row *rows, size_t nr, struct source_lines **result,
		struct error *why)
{
	const struct profile_object *object = &profile->objects[rows->object];
	char root[PATH_MAX];
	cleanup_free uint64_t *offsets = calloc(nr, sizeof(*offsets));
	cleanup_fd int fd = -1;
	size_t i;

	if (!offsets)
		return error_errno(why, -ENOMEM, "%.256s", object->path);
	fd = object_file_open(opener, object, rows->object, root, sizeof(root), why);
	if (fd < 0)
		return fd;
	for (i = 0; i < nr; i++)
		offsets[i] = rows[i].offset;
	return object_lines_load(&(struct reader_file){ fd, object->path, root }, opener->allowance,
				 offsets, nr, result, why);
}

/*
 * Use the table's name unless the code is inlined: of several aliases, like realloc and
 * __libc_realloc, DWARF may have another.
 */
static const char *source_name(const struct report_row *row, const struct source_line *line)
{
	const char *name = row->function ? row->function->name : NULL;

	if (line->caller || !name || strstr(name, "+0x") || name_fit(name, line->function))
		return line->function;
	return name;
}

static void use_line(struct report_row *row)
{
	row->file = row->source->file;
	row->line = row->source->line;
	if (row->source->function)
		row->name = source_name(row, row->source);
}

/* Returns how many rows got a line. */
static size_t name_lines(struct report_row *rows, size_t nr, const struct source_lines *lines)
{
	const struct source_line *line;
	size_t named = 0, i;

	for (i = 0; i < nr; i++) {
		line = source_lines_at(lines, i);
		rows[i].source = line;
		if (!line->file)
			continue;
		use_line(&rows[i]);
		named++;
	}
	return named;
}

/* Objects without lines for one reason. Notes name the one with the most ticks. */
struct silent {
	const struct profile_object *object;
	uint64_t ticks;
	size_t nr;
	struct error why;
};

struct finder {
	const struct profile *profile;
	const struct object_opener *opener;
	struct report_rows *rows;
	struct silent unread; /* its file cannot be read */
	struct silent bare; /* it has no debug information */
};

static void count_silent(struct silent *silent, const struct profile_object *object,
			 const struct report_row *rows, size_t nr, const struct error *why)
{
	uint64_t ticks = 0;

	while (nr)
		ticks += rows[--nr].own.ticks;
	if (!silent->nr++ || ticks > silent->ticks) {
		silent->object = object;
		silent->ticks = ticks;
		silent->why = *why;
	}
}

void hint_symfs(const struct profile_object *object, char hint[SYMFS_HINT])
{
	char root[64];

	if (object_file_find_root(object, root, sizeof(root)))
		snprintf(hint, SYMFS_HINT, "; --symfs %s has it", root);
	else
		snprintf(hint, SYMFS_HINT,
			 "; if a copy is below a folder, --symfs DIR finds it there");
}

/* Appends "; nor of 3 others", which have the same reason. */
static int note_silent(const struct finder *finder)
{
	const struct silent *bare = &finder->bare, *unread = &finder->unread;
	char others[64] = "", hint[SYMFS_HINT] = "";
	int ret = 0;

	if (unread->nr && finder->rows->hints_symfs)
		hint_symfs(unread->object, hint);
	if (unread->nr > 1)
		snprintf(others, sizeof(others), "; nor of %zu more", unread->nr - 1);
	if (unread->nr)
		ret = notes_add(&finder->rows->notes, &finder->rows->nr_notes,
				"no source lines of %s%s%s", unread->why.text, others, hint);
	if (ret || !bare->nr)
		return ret;
	if (bare->nr == 1)
		return notes_add(&finder->rows->notes, &finder->rows->nr_notes,
				 "no source lines of %s: no debug information for what ran",
				 bare->object->path);
	return notes_add(&finder->rows->notes, &finder->rows->nr_notes,
			 "no source lines of %s and %zu more: no debug information for what ran",
			 bare->object->path, bare->nr - 1);
}

/* first[0..nr) are the bins of one object. */
static int object_lines(struct finder *finder, struct report_row *first, size_t nr)
{
	const struct profile *profile = finder->profile;
	struct report_rows *rows = finder->rows;
	const struct profile_object *object = &profile->objects[first->object];
	struct source_lines *lines = NULL, **grown;
	struct error why = { 0 };
	int ret;

	if (object->kind != PROFILE_FILE)
		return 0;
	grown = reallocarray(rows->lines, rows->nr_lines + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	rows->lines = grown;
	ret = load(profile, finder->opener, first, nr, &lines, &why);
	if (!ret)
		rows->lines[rows->nr_lines++] = lines;
	if (ret)
		count_silent(&finder->unread, object, first, nr, &why);
	else if (!name_lines(first, nr, lines))
		count_silent(&finder->bare, object, first, nr, &why);
	return 0;
}

/* By object, then file, line and function; rows without a file by offset. */
static int compare_line(const void *left, const void *right)
{
	const struct report_row *a = left, *b = right;
	int order = compare_u64(a->object, b->object) ?: compare_text(a->file, b->file);

	if (order)
		return order;
	if (!a->file)
		return compare_u64(a->offset, b->offset);
	return compare_u64(a->line, b->line) ?: compare_text(a->name, b->name);
}

static int find_lines(const struct profile *profile, const struct object_opener *opener,
		      struct report_rows *rows)
{
	struct finder finder = { .profile = profile, .opener = opener, .rows = rows };
	size_t first, end;
	int ret = 0;

	for (first = 0; !ret && first < rows->nr; first = end) {
		end = first + 1;
		while (end < rows->nr && rows->rows[end].object == rows->rows[first].object)
			end++;
		ret = object_lines(&finder, &rows->rows[first], end - first);
	}
	return ret ? ret : note_silent(&finder);
}

int rows_find_lines(const struct profile *profile, const struct object_opener *opener,
		    struct report_rows *rows, struct error *err)
{
	struct allowance allowance = { .seconds = ALLOWANCE_LINES };
	struct object_opener limited = *opener;
	int ret;

	limited.allowance = &allowance;
	ret = find_lines(profile, &limited, rows);
	allowance_free(&allowance);
	return ret ? error_errno(err, ret, "source lines") : 0;
}

/*
 * Adds a row for each function that a row's text is inlined into, along source->caller, so that
 * these become frames of chains. change() is applied to each of them, unless it is NULL.
 */
static int add_inlined(struct report_rows *rows, void (*change)(struct report_row *row),
		       struct error *err)
{
	struct row_marks *marks = rows->marks;
	const size_t nr = marks ? rows->nr : 0;
	const struct source_line *source;
	struct report_row row;
	uint32_t inner;
	size_t i, depth;

	for (i = 0; i < nr; i++) {
		source = rows->rows[i].source;
		inner = rows->rows[i].first_mark;
		for (depth = 1; source && source->caller && depth < INLINED_MAX; depth++) {
			source = source->caller;
			row = rows->rows[i];
			row.own = (struct tick_sum){ 0 };
			row.inlined = 0;
			row.source = source;
			row.first_mark = row.last_mark = row_marks_add_outer(marks, inner);
			if (!row.first_mark)
				return error_errno(err, -ENOMEM, "report");
			inner = row.first_mark;
			if (change)
				change(&row);
			if (rows_add(rows, &row))
				return error_errno(err, -ENOMEM, "report");
		}
	}
	return 0;
}

int rows_by_lines(const struct profile *profile, const struct object_opener *opener,
		  struct report_rows *rows, struct error *err)
{
	int ret = rows_find_lines(profile, opener, rows, err) ?: add_inlined(rows, use_line, err);
	size_t i;

	if (ret)
		return ret;
	for (i = 0; i < rows->nr; i++)
		if (!rows->rows[i].file)
			row_use_function(&rows->rows[i]);
	rows_merge(rows, compare_line);
	return 0;
}

/* Several functions may have one name. Therefore compare where their source begins, too. */
int row_compare_source(const void *left, const void *right)
{
	const struct report_row *a = left, *b = right;
	int order = compare_u64(a->object, b->object) ?: b->scattered - a->scattered;

	if (order)
		return order;
	if (!a->scattered)
		return compare_u64(a->offset, b->offset);
	return compare_u64(a->line, b->line) ?: strcmp(a->name, b->name);
}

void row_use_source(struct report_row *row)
{
	const struct source_line *source = row->source;

	row->file = NULL;
	if (!source || !source->function) {
		row_use_function(row);
		return;
	}
	row->name = source_name(row, source);
	row->line = source->scope ? source->scope->line : 0;
	row->inlined = source->caller ? row->own.ticks : 0;
	row->scattered = true;
	row->function = NULL;
	row->offset = row->size = 0;
}

int rows_by_inlined(const struct profile *profile, const struct object_opener *opener,
		    struct report_rows *rows, struct error *err)
{
	int ret = rows_find_lines(profile, opener, rows, err) ?: add_inlined(rows, NULL, err);
	size_t i;

	if (ret)
		return ret;
	for (i = 0; i < rows->nr; i++)
		row_use_source(&rows->rows[i]);
	rows_merge(rows, row_compare_source);
	return 0;
}
