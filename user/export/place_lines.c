// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/place_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "naming/object_file.h"
#include "reader/reader.h"

/* Collects the object's offsets, ascending, without duplicates. */
static uint64_t *gather_offsets(struct profile_rows *rows, size_t *nr)
{
	const struct profile_row *row;
	uint64_t *offsets;
	size_t i = 0;

	*nr = 0;
	while ((row = profile_rows_next(rows)))
		*nr += !row->again;
	profile_rows_restart(rows);
	offsets = malloc((*nr + 1) * sizeof(*offsets));
	while (offsets && (row = profile_rows_next(rows))) {
		if (!row->again)
			offsets[i++] = row->offset;
	}
	profile_rows_restart(rows);
	return offsets;
}

static int load_lines_of_file(struct place_lines *lines, const struct profile_object *object,
			      struct profile_rows *rows, struct error *why)
{
	cleanup_fd int fd = object_file_here(object, why);
	struct allowance_use use;
	uint64_t *offsets;
	size_t nr;
	int ret;

	if (fd < 0)
		return fd;
	lines->allowance.seconds = ALLOWANCE_LINES;
	ret = allowance_begin(&lines->allowance, fd, &use, why);
	if (ret)
		return ret;
	offsets = gather_offsets(rows, &nr);
	if (!offsets)
		return error_errno(why, -ENOMEM, "%.256s", object->path);
	ret = reader_lines(&(struct reader_file){ fd, object->path, "" }, offsets, nr,
			   &lines->lines, why);
	allowance_end(&lines->allowance, &use);
	free(offsets);
	return ret;
}

static void forget_lines(struct place_lines *lines)
{
	source_lines_free(lines->lines);
	lines->lines = NULL;
	lines->line = NULL;
	lines->next = 0;
}

int place_lines_load(struct place_lines *lines, struct profile_rows *rows)
{
	const struct profile_object *object = &rows->profile->objects[rows->object];
	struct error why = { 0 };

	forget_lines(lines);
	/* The vdso has a name but no file. */
	if (object->kind != PROFILE_FILE || object->path[0] != '/')
		return 0;
	if (!load_lines_of_file(lines, object, rows, &why))
		return 0;
	if (lines->why[0])
		lines->others++;
	else
		snprintf(lines->why, sizeof(lines->why), "no source lines of %.200s", why.text);
	return 0;
}

const struct source_line *place_lines_next(struct place_lines *lines, const struct profile_row *row)
{
	if (lines->lines && !row->again) {
		lines->line = source_lines_at(lines->lines, lines->next++);
		if (!lines->line->file)
			lines->line = NULL;
	}
	return lines->line;
}

void place_lines_end(struct place_lines *lines, const struct export_options *options)
{
	forget_lines(lines);
	allowance_free(&lines->allowance);
	if (!options->note || !lines->why[0])
		return;
	if (lines->others)
		snprintf(options->note, EXPORT_NOTE_BYTES, "%.220s; nor of %zu more", lines->why,
			 lines->others);
	else
		snprintf(options->note, EXPORT_NOTE_BYTES, "%s", lines->why);
}
