// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/top/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "host/top/key.h"
#include "report/annotate.h"

void top_page_open(struct top_page *page, char *text, char *hot_text)
{
	top_page_close(page);
	page->text = text;
	page->hot_text = hot_text;
}

void top_page_close(struct top_page *page)
{
	free(page->text);
	free(page->hot_text);
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

/* The bins of an object's functions as a profile. It does not own the names and objects. */
struct top_view {
	struct profile profile;
	uint32_t object;
	size_t histograms_room;
	size_t functions_room;
};

static int find_object(const struct profile *last, const struct top_row *row, uint32_t *result)
{
	uint32_t i;

	for (i = 0; i < last->nr_objects; i++) {
		if (strcmp(last->objects[i].path, row->object) != 0 ||
		    top_build(&last->objects[i]) != row->build)
			continue;
		*result = i;
		return 0;
	}
	return -ENOENT;
}

/* The lowest offset. Bins are sorted by size first. */
static uint64_t start_of(const struct top_row *row)
{
	uint64_t start = row->nr_bins ? row->bins[0].offset : 0;
	size_t i;

	for (i = 1; i < row->nr_bins && !row->offset; i++)
		if (row->bins[i].offset < start)
			start = row->bins[i].offset;
	return row->offset ? row->offset : start;
}

static int add_function(struct top_view *view, const struct top_row *row)
{
	struct profile_function *function;
	uint64_t start = start_of(row), end = start + 1, bin_end;
	size_t i;

	if (GROW(view->profile.functions, view->functions_room, view->profile.nr_functions + 1))
		return -ENOMEM;
	for (i = 0; i < row->nr_bins; i++) {
		bin_end = row->bins[i].offset + row->bins[i].size;
		end = bin_end > end ? bin_end : end;
	}
	function = &view->profile.functions[view->profile.nr_functions++];
	*function = (struct profile_function){ .object = view->object,
					       .name = row->name,
					       .offset = start,
					       .size = row->size ? row->size : end - start,
					       .ticks = row->total };
	return 0;
}

/* Adds bins of one width, in ascending order. */
static int add_histogram(struct top_view *view, const struct top_bin *bins, size_t nr)
{
	struct profile_histogram *histogram;
	size_t i;

	if (GROW(view->profile.histograms, view->histograms_room, view->profile.nr_histograms + 1))
		return -ENOMEM;
	histogram = &view->profile.histograms[view->profile.nr_histograms++];
	*histogram = (struct profile_histogram){ .object = view->object,
						 .pid = -1,
						 .offset = bins[0].offset,
						 .bytes_per_bin = bins[0].size,
						 .bins = calloc(nr, sizeof(*histogram->bins)),
						 .nr_bins = nr };
	if (!histogram->bins)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		histogram->bins[i] = (struct profile_bin){
			.index = (bins[i].offset - bins[0].offset) / bins[0].size,
			.count = bins[i].ticks,
		};
	return 0;
}

static int add_row(struct top_view *view, const struct top_row *row)
{
	size_t i, nr;
	int ret = add_function(view, row);

	for (i = 0; i < row->nr_bins && !ret; i += nr) {
		for (nr = 1; i + nr < row->nr_bins; nr++)
			if (row->bins[i + nr].size != row->bins[i].size)
				break;
		ret = add_histogram(view, &row->bins[i], nr);
	}
	return ret;
}

/* Adds all functions of the object, because without symbols a function has more than one row. */
static int make_view(struct top_view *view, const struct top_model *model, const struct top_row *of)
{
	const struct top_table *table = &model->tables[TOP_FUNCTIONS];
	int ret = 0;
	size_t i;

	for (i = 0; i < table->nr && !ret; i++) {
		if (table->rows[i]->build == of->build &&
		    !strcmp(table->rows[i]->object, of->object))
			ret = add_row(view, table->rows[i]);
	}
	return ret;
}

static void free_view(struct top_view *view)
{
	while (view->profile.nr_histograms)
		free(view->profile.histograms[--view->profile.nr_histograms].bins);
	free(view->profile.histograms);
	free(view->profile.functions);
}

static int write_view(const struct top_view *view, const struct top_row *function,
		      const struct top_annotate_options *options, FILE *out, struct error *err)
{
	const struct annotation_view look = { .format = REPORT_TEXT,
					      .hot = options->hot,
					      .limit = ROWS,
					      .color = options->color,
					      .width = options->width };
	const char *object = function->object;
	struct annotation_request request = { .objects = &object,
					      .nr_objects = 1,
					      .target = REPORT_ALL_TARGETS,
					      .opener = options->opener,
					      .lanes = options->width < 100 ? 3 : 6 };
	struct annotation *annotation;
	cleanup_free char *place = NULL;
	int ret;

	place = format_text("%s:0x%" PRIx64, function->object, start_of(function));
	if (!place)
		return error_no_memory(err, "annotate");
	request.place = place;
	ret = annotation_build(&view->profile, &request, &annotation, err);
	if (ret)
		return ret;
	ret = annotation_write(annotation, &look, out);
	annotation_free(annotation);
	return ret ? error_set(err, ret, "annotate: out of memory") : 0;
}

/*
 * All targets as one, because the view has ticks of all intervals, and the model has their CPU time
 * only as a whole.
 */
static struct profile_target whole_of(const struct top_model *model,
				      const struct profile_target *target)
{
	return (struct profile_target){ .kind = target->kind,
					.name = target->name,
					.cpu_known = true,
					.cpu_ns = (uint64_t)model->overall_cpu_ns,
					.ticks = model->overall };
}

int top_annotate(const struct top_model *model, const struct top_row *function,
		 const struct top_annotate_options *options, FILE *out, struct error *err)
{
	const struct profile *last = options->last;
	struct profile_target whole = whole_of(model, &last->targets[0]);
	struct top_view view = { .profile = { .sampling = last->sampling,
					      .ticks = model->overall,
					      .targets = &whole,
					      .nr_targets = 1,
					      .objects = last->objects,
					      .nr_objects = last->nr_objects } };
	int ret;

	if (find_object(last, function, &view.object))
		return error_set(err, -ENOENT,
				 "%.256s: had no tick in the last interval, wait until it has",
				 text_basename(function->object));
	ret = make_view(&view, model, function);
	if (ret)
		error_set(err, ret, "annotate: out of memory");
	else
		ret = write_view(&view, function, options, out, err);
	free_view(&view);
	return ret;
}
