// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The source beside the instructions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "report/annotate_steps.h"
#include "report/source_file.h"
#include "symbol/allowance.h"

static int compare_lines(const void *left, const void *right)
{
	const struct annotation_line *a = left, *b = right;
	int order = strcmp(a->file, b->file);

	if (order)
		return order;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Sorts lines and keeps each once. */
static void order_lines(struct annotation *annotation)
{
	struct annotation_line *lines = annotation->lines;
	size_t i, kept = 0;

	if (!annotation->nr_lines)
		return;
	qsort(lines, annotation->nr_lines, sizeof(*lines), compare_lines);
	for (i = 1; i < annotation->nr_lines; i++)
		if (compare_lines(&lines[kept], &lines[i]))
			lines[++kept] = lines[i];
	annotation->nr_lines = kept + 1;
}

/* Copies the file and function of each row, and makes a line for each row that has one. */
static int take_lines(struct annotation *annotation, const struct source_lines *lines)
{
	struct string_set *strings = &annotation->memory->strings;
	const struct source_line *line;
	struct annotation_row *row;
	size_t i;

	for (i = 0; i < annotation->nr_rows; i++) {
		line = source_lines_at(lines, i);
		row = &annotation->rows[i];
		if (line->function) {
			row->function = string_set_add(strings, line->function);
			if (!row->function)
				return -ENOMEM;
		}
		if (!line->file)
			continue;
		annotation->lines[annotation->nr_lines].file = string_set_add(strings, line->file);
		if (!annotation->lines[annotation->nr_lines].file)
			return -ENOMEM;
		annotation->lines[annotation->nr_lines++].line = line->line;
	}
	return 0;
}

static void find_rows_lines(struct annotation *annotation, const struct source_lines *lines)
{
	const struct annotation_line *found;
	const struct source_line *line;
	size_t i;

	for (i = 0; i < annotation->nr_rows; i++) {
		line = source_lines_at(lines, i);
		if (!line->file)
			continue;
		found = bsearch(&(struct annotation_line){ .file = line->file, .line = line->line },
				annotation->lines, annotation->nr_lines, sizeof(*found),
				compare_lines);
		annotation->rows[i].line = (size_t)(found - annotation->lines);
	}
}

/*
 * Ticks that rows of several lines share are not counted for any line, because it is unknown whose
 * they are.
 */
static void count_lines(struct annotation *annotation)
{
	const struct annotation_row *rows = annotation->rows;
	size_t i, next;
	bool same;

	for (i = 0; i < annotation->nr_rows; i = next) {
		same = true;
		for (next = i + 1; next < annotation->nr_rows && rows[next].first == i; next++)
			same = same && rows[next].line == rows[i].line;
		if (same && rows[i].line != ANNOTATION_NONE)
			annotation->lines[rows[i].line].ticks += rows[i].ticks;
	}
}

/* --- their text ---------------------------------------------------------------------------------- */

/*
 * A limit is needed, because debug information may name a different large file for each
 * instruction.
 */
#define SOURCES_MAX (256UL << 20)

struct missing {
	size_t read; /* bytes read so far */
	const char *unread; /* a file that did not fit the limit */
	const char *first;
	size_t nr;
	const char *refused; /* a file that the object's owner may not read */
	const char *newer; /* a file newer than the object's */
};

/* Reads the text of lines[*at ...] that are in one file. */
static int read_file(struct annotating *work, const struct stat *built, size_t *at,
		     struct missing *missing)
{
	const struct source_search search = {
		.root = work->root,
		/* An opener sets such a root for a process with another root directory. */
		.contained = !strncmp(work->root, "/proc/", strlen("/proc/")),
		.owner = built->st_uid,
		.folder = work->request->source,
	};
	struct annotation *annotation = work->annotation;
	const char *path = annotation->lines[*at].file, *text;
	struct source_file file = { 0 };
	struct annotation_line *line;
	int ret;

	ret = missing->read > SOURCES_MAX ? -E2BIG : source_file_read(path, &search, &file);
	if (!ret)
		missing->read += file.bytes;
	if (ret == -E2BIG)
		missing->unread = path;
	else if (ret == -EACCES && !geteuid())
		missing->refused = path;
	else if (ret && ret != -ENOMEM && !missing->nr++)
		missing->first = path;
	if (!ret && file.changed > built->st_mtime)
		missing->newer = path;
	for (; ret != -ENOMEM && *at < annotation->nr_lines; ++*at) {
		line = &annotation->lines[*at];
		if (strcmp(line->file, path) != 0)
			break;
		text = ret ? NULL : source_file_line(&file, line->line);
		if (!text)
			continue;
		line->text = string_set_add(&annotation->memory->strings, text);
		if (!line->text)
			ret = -ENOMEM;
	}
	source_file_free(&file);
	return ret == -ENOMEM ? ret : 0;
}

static int note_missing(struct annotation *annotation, const struct missing *missing)
{
	int ret = 0;

	if (missing->nr == 1)
		ret = annotation_note(annotation, "no source file %s; --source DIR looks there",
				      missing->first);
	else if (missing->nr)
		ret = annotation_note(annotation,
				      "no source file %s, nor %zu more; --source DIR looks there",
				      missing->first, missing->nr - 1);
	if (!ret && missing->refused)
		ret = annotation_note(annotation,
				      "%s is not shown: who owns the program may not read it",
				      missing->refused);
	if (!ret && missing->unread)
		ret = annotation_note(annotation, "%s is not shown: more than %lu MiB of sources",
				      missing->unread, SOURCES_MAX >> 20);
	if (!ret && missing->newer)
		ret = annotation_note(annotation,
				      "%s was changed after the program was built: its lines may "
				      "be others",
				      missing->newer);
	return ret;
}

static int read_sources(struct annotating *work)
{
	struct missing missing = { 0 };
	struct stat stat;
	size_t at = 0;
	int ret = 0;

	if (fstat(work->fd, &stat))
		return -errno;
	while (!ret && at < work->annotation->nr_lines)
		ret = read_file(work, &stat, &at, &missing);
	return ret ? ret : note_missing(work->annotation, &missing);
}

static int use_lines(struct annotating *work, const struct source_lines *lines)
{
	struct annotation *annotation = work->annotation;
	int ret;

	annotation->lines = calloc(annotation->nr_rows + 1, sizeof(*annotation->lines));
	if (!annotation->lines)
		return -ENOMEM;
	ret = take_lines(annotation, lines);
	if (ret)
		return ret;
	order_lines(annotation);
	find_rows_lines(annotation, lines);
	count_lines(annotation);
	if (annotation->nr_lines)
		return read_sources(work);
	return annotation_note(annotation,
			       "no source lines of %s: no debug information for this function",
			       annotated_object(work)->path);
}

static int load_lines(struct annotating *work, struct source_lines **result, struct error *why)
{
	const struct annotation *annotation = work->annotation;
	cleanup_free uint64_t *offsets = calloc(annotation->nr_rows + 1, sizeof(*offsets));
	struct allowance *allowance = work->request->opener->allowance;
	struct allowance_turn turn;
	size_t i;
	int ret;

	if (!offsets)
		return error_errno(why, -ENOMEM, "%.256s", annotated_object(work)->path);
	ret = allowance_begin(allowance, work->fd, &turn, why);
	if (ret)
		return ret;
	for (i = 0; i < annotation->nr_rows; i++)
		offsets[i] = annotation->rows[i].offset;
	ret = source_lines_load(work->fd, annotated_object(work)->path, work->root, offsets,
				annotation->nr_rows, result, why);
	allowance_end(allowance, &turn);
	return ret;
}

int annotate_find_lines(struct annotating *work, struct error *err)
{
	struct source_lines *lines = NULL;
	struct error why = { 0 };
	int ret;

	/* For the kernel there is code but no file, so there are no lines. */
	if (work->fd < 0) {
		ret = *work->no_code.text ?
			      0 :
			      annotation_note(work->annotation, "no source lines of %s",
					      annotated_object(work)->path);
		return ret ? error_errno(err, ret, "annotate") : 0;
	}
	ret = load_lines(work, &lines, &why);
	if (!ret)
		ret = use_lines(work, lines);
	else
		ret = annotation_note(work->annotation, "no source lines: %s", why.text);
	source_lines_free(lines);
	return ret ? error_errno(err, ret, "annotate") : 0;
}
