// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Functions as in the source, for a table of the page: which of them each bin belongs to. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "report/html_impl.h"
#include "report/rows.h"
#include "symbol/object_file.h"

struct html_inlined {
	struct report_rows bins; /* by place, with their lines */
	struct report_rows functions; /* of the source; those without a single place come first */
};

/*
 * Names the functions of each object, and after them the rows without debug information; only the
 * former have numbers.
 */
static int name_functions(struct html_inlined *inlined)
{
	struct report_row row;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < inlined->bins.nr; i++) {
		row = inlined->bins.rows[i];
		row_take_source(&row);
		if (row.scattered)
			ret = rows_add(&inlined->functions, &row);
	}
	rows_merge(&inlined->functions, row_compare_source);
	return ret;
}

int html_inlined_new(const struct profile *profile, const struct html_options *options,
		     struct html_inlined **result, struct error *err)
{
	const struct report_options all = { .target = REPORT_ALL_TARGETS };
	struct path_opener paths = { profile, options->symfs ? options->symfs : "" };
	const struct object_opener opener = path_opener(&paths);
	struct html_inlined *inlined = calloc(1, sizeof(*inlined));
	int ret;

	*result = inlined;
	if (!inlined)
		return error_errno(err, -ENOMEM, "html");
	ret = rows_of_bins(profile, &all, &inlined->bins, err);
	if (!ret)
		ret = rows_find_lines(profile, &opener, &inlined->bins, err);
	if (!ret && name_functions(inlined))
		ret = error_errno(err, -ENOMEM, "html");
	return ret;
}

void html_inlined_free(struct html_inlined *inlined)
{
	if (!inlined)
		return;
	rows_free(&inlined->bins);
	rows_free(&inlined->functions);
	free(inlined);
}

/* [object, name, whether it exists only where it was inlined] */
void html_inlined_names(const struct html_inlined *inlined, FILE *data)
{
	size_t i;

	fputs(",\n\"inlined\": [", data);
	for (i = 0; i < inlined->functions.nr; i++) {
		const struct report_row *row = &inlined->functions.rows[i];

		fprintf(data, "%s\n[%" PRIu32 ",", i ? "," : "", row->object);
		json_text_string(data, row->name);
		fprintf(data, ",%d]", row->inlined == row->ticks);
	}
	fputs("],\n\"inlined_notes\": [", data);
	for (i = 0; i < inlined->bins.nr_notes; i++) {
		fputs(i ? ", " : "", data);
		json_text_string(data, inlined->bins.notes[i]);
	}
	putc(']', data);
}

/* A function's number + 1; 0: nothing is known of the place. */
static size_t owner(const struct html_inlined *inlined, const struct report_row *place)
{
	const struct report_rows *bins = &inlined->bins, *functions = &inlined->functions;
	const struct report_row *found;
	struct report_row row;

	found = bsearch(place, bins->rows, bins->nr, sizeof(*found), row_compare_place);
	if (!found)
		return 0;
	row = *found;
	row_take_source(&row);
	if (!row.scattered)
		return 0;
	found = bsearch(&row, functions->rows, functions->nr, sizeof(*found), row_compare_source);
	return (size_t)(found - functions->rows) + 1;
}

void html_inlined_owners(const struct html_inlined *inlined,
			 const struct profile_histogram *histogram, FILE *data)
{
	struct report_row place = { .object = histogram->object, .size = histogram->bytes_per_bin };
	size_t i, of, last = 0, run = 0;

	fputs(", \"inlined\": [", data);
	for (i = 0; i < histogram->nr_bins; i++, run++) {
		place.offset = histogram->offset + histogram->bins[i].index * place.size;
		of = owner(inlined, &place);
		if (i && of == last)
			continue;
		if (i)
			fprintf(data, ",%zu,", run);
		fprintf(data, "%zu", of);
		last = of;
		run = 0;
	}
	fprintf(data, histogram->nr_bins ? ",%zu]" : "]", run);
}
