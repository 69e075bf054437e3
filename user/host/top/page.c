// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/top/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "host/top/key.h"
#include "profile/profile_merge.h"
#include "report/annotate.h"

void top_page_open(struct top_page *page, char *text, size_t size)
{
	const char *end = text + strlen(text);

	top_page_close(page);
	page->text = text;
	page->hot_text = end < text + size ? end + 1 : NULL;
}

void top_page_close(struct top_page *page)
{
	free(page->text);
	*page = (struct top_page){ .rows = page->rows };
}

static const char *shown(const struct top_page *page)
{
	return page->hot && page->hot_text ? page->hot_text : page->text;
}

static size_t count_lines(const char *text)
{
	size_t nr = 0;

	for (; (text = strchr(text, '\n')); text++)
		nr++;
	return nr;
}

static void move(struct top_page *page, uint32_t key)
{
	size_t nr = count_lines(shown(page)), rows = page->rows ? page->rows : 1;

	page->first = top_moved(page->first, key == ' ' ? TOP_KEY_PAGE_DOWN : key, rows,
				nr > rows ? nr - rows : 0);
}

void top_page_key(struct top_page *page, uint32_t key)
{
	if (key == 'q' || key == 'Q' || key == TOP_KEY_ESCAPE || key == TOP_KEY_QUIT) {
		top_page_close(page);
	} else if (key == 'H' && page->hot_text) {
		page->hot = !page->hot;
		page->first = 0;
	} else {
		move(page, key);
	}
}

/* The style for a colour of report/render.h; text is the part between the escape and the m. */
static enum top_style style_of(const char *text, size_t length)
{
	static const struct {
		const char *code;
		enum top_style style;
	} styles[] = { { "1;31", TOP_HOT },
		       { "32", TOP_WARM },
		       { "2", TOP_DIM },
		       { "1", TOP_BOLD } };
	size_t i;

	for (i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
		if (strlen(styles[i].code) == length && !strncmp(text, styles[i].code, length))
			return styles[i].style;
	return TOP_PLAIN;
}

/* Names are escaped. Therefore an escape character always begins a colour. */
static void put_line(struct top_line *line, const char *at, const char *end)
{
	const char *stop;

	while (at < end) {
		cleanup_free char *part = NULL;

		if (end - at > 2 && at[0] == '\033' && at[1] == '[') {
			stop = memchr(at, 'm', (size_t)(end - at));
			if (!stop)
				break;
			line_style(line, style_of(at + 2, (size_t)(stop - at - 2)));
			at = stop + 1;
			continue;
		}
		stop = memchr(at, '\033', (size_t)(end - at));
		stop = stop ? stop : end;
		part = strndup(at, (size_t)(stop - at));
		line_text(line, part ? part : "");
		at = stop;
	}
	line_end(line);
}

void top_page_draw(const struct top_page *page, struct top_line *line, size_t rows)
{
	const char *at = shown(page), *end;
	size_t i;

	for (i = 0; i < page->first; i++) {
		end = strchrnul(at, '\n');
		at = *end ? end + 1 : end;
	}
	for (i = 0; i < rows; i++) {
		end = strchrnul(at, '\n');
		put_line(line, at, end);
		at = *end ? end + 1 : end;
	}
}

#define ROWS 40 /* the number of hottest rows, as in report */

/* The object of a row in the last profile, whose opener has the file. */
struct row_object {
	const struct object_opener *opener;
	uint32_t number;
};

static bool find_object(const struct profile *last, const struct top_row *row, uint32_t *result)
{
	cleanup_free char *path = utf8_copy(row->object);
	uint32_t i;

	for (i = 0; path && i < last->nr_objects; i++) {
		if (strcmp(last->objects[i].path, path) != 0 ||
		    top_build(&last->objects[i]) != row->build)
			continue;
		*result = i;
		return true;
	}
	return false;
}

/* In the sum, the object has another number. */
static int open_row_object(void *ctx, uint32_t number_in_sum, char *root, size_t root_size)
{
	const struct row_object *object = ctx;

	(void)number_in_sum;
	return object->opener->open(object->opener->ctx, object->number, root, root_size);
}

/* Of functions with the same start, the shortest has the ticks; see profile_index_new(). */
static const struct profile_function *find_function(const struct profile *sum,
						    const struct profile_object *last,
						    const struct top_row *row)
{
	const struct profile_function *function, *found = NULL;
	struct profile_object object = *last;
	size_t i;

	object.path = row->object;
	for (i = 0; i < sum->nr_functions; i++) {
		function = &sum->functions[i];
		if (!strcmp(function->name, row->name) &&
		    top_offset(&sum->objects[function->object], function) == row->offset &&
		    !profile_compare_objects(&sum->objects[function->object], &object) &&
		    (!found || function->size < found->size))
			found = function;
	}
	return found;
}

static int write_annotation(const struct annotation *annotation,
			    const struct top_annotate_options *options, FILE *out)
{
	struct annotation_view look = { .format = REPORT_TEXT,
					.limit = ROWS,
					.color = options->color,
					.width = options->width };
	int ret = annotation_write(annotation, &look, out);

	fputc('\0', out);
	look.hot = true;
	return ret ? ret : annotation_write(annotation, &look, out);
}

static int annotate(const struct profile *sum, const struct profile_function *function,
		    const struct object_opener *opener, const struct top_annotate_options *options,
		    FILE *out, struct error *err)
{
	const char *object = sum->objects[function->object].path;
	const struct annotation_request request = { .function = function,
						    .objects = &object,
						    .nr_objects = 1,
						    .target = REPORT_ALL_TARGETS,
						    .opener = opener,
						    .lanes = options->width < 100 ? 3 : 6 };
	struct annotation *annotation;
	int ret = annotation_build(sum, &request, &annotation, err);

	if (ret)
		return ret;
	ret = write_annotation(annotation, options, out);
	annotation_free(annotation);
	return ret ? error_set(err, ret, "annotate: out of memory") : 0;
}

int top_annotate(const struct profile *sum, const struct top_row *row,
		 const struct top_annotate_options *options, FILE *out, struct error *err)
{
	struct row_object object = { .opener = options->opener };
	const struct object_opener opener = { .open = open_row_object,
					      .ctx = &object,
					      .cache = options->opener->cache };
	const struct profile_function *function;

	if (!find_object(options->last, row, &object.number))
		return error_set(err, -ENOENT,
				 "%.256s: had no tick in the last interval, wait until it has",
				 text_basename(row->object));
	function = find_function(sum, &options->last->objects[object.number], row);
	if (function)
		return annotate(sum, function, &opener, options, out, err);
	return error_set(err, -ENOENT, "%.256s: had no tick since top discarded older intervals",
			 row->name);
}
