// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/top/annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/annotate.h"
#include "report/annotate_write.h"
#include "base/text.h"

#define ROWS 40 /* the number of hottest rows, as in report */

/* The bins of an object's functions as a profile; its names and objects belong to others. */
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

/* Bins are sorted by size first. */
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

	if (grow((void **)&view->profile.functions, &view->functions_room,
		 view->profile.nr_functions + 1, sizeof(*function)))
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

	if (grow((void **)&view->profile.histograms, &view->histograms_room,
		 view->profile.nr_histograms + 1, sizeof(*histogram)))
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

/* Takes all functions of the object, because without symbols a function is more than one row. */
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

	if (asprintf(&place, "%s:0x%" PRIx64, function->object, start_of(function)) < 0)
		return error_no_memory(err, "annotate");
	request.place = place;
	ret = annotation_build(&view->profile, &request, &annotation, err);
	if (ret)
		return ret;
	ret = annotation_write(annotation, &look, out);
	annotation_free(annotation);
	return ret ? error_set(err, ret, "annotate: out of memory") : 0;
}

int top_annotate(const struct top_model *model, const struct top_row *function,
		 const struct top_annotate_options *options, FILE *out, struct error *err)
{
	const struct profile *last = options->last;
	struct top_view view = { .profile = { .sampling = last->sampling,
					      .ticks = model->overall,
					      .targets = last->targets,
					      .nr_targets = last->nr_targets,
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
