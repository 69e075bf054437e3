// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/html_callers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/util.h"
#include "report/render.h"

/* Frames of a page: words first, then text. */
enum page_frame { PAGE_KERNEL, PAGE_CUT, PAGE_TEXT = PAGE_CUT + WALK_END_COUNT + 1 };

struct chain_sum {
	uint32_t context;
	uint64_t ticks;
};

/* The chains of a profile, as contexts of frames. */
struct page_chains {
	const struct profile *profile;
	const struct profile *walked; /* whose walks the page shows: without waits */
	struct profile_rows rows;
	struct chain_tree tree;
	struct report_rows places; /* text outside functions, by place */
	struct chain_sum *sums; /* of a histogram */
	size_t nr_sums, room;
};

static uint32_t frame_of_cut(void *of, enum walk_end end)
{
	(void)of;
	return PAGE_CUT + end;
}

static struct report_row place_of(const struct profile_row *row)
{
	return (struct report_row){ .object = row->object,
				    .offset = row->offset,
				    .size = row->size };
}

static size_t frame_of_text(void *of, const struct profile_row *row, uint32_t *frames)
{
	struct page_chains *page = of;
	const struct profile_function *function = profile_rows_function(&page->rows, row);
	const struct report_row place = place_of(row), *found;
	size_t number;

	if (function) {
		number = (size_t)(function - page->profile->functions);
	} else {
		found = bsearch(&place, page->places.rows, page->places.nr, sizeof(*found),
				row_compare_place);
		number = page->profile->nr_functions + (size_t)(found - page->places.rows);
	}
	frames[0] = PAGE_TEXT + (uint32_t)number;
	return 1;
}

DEFINE_COMPARE(compare_sums, struct chain_sum, context)

static void put_sums(struct page_chains *page, double weight, FILE *data)
{
	uint32_t last = 0;
	uint64_t ticks;
	size_t i;

	SORT(page->sums, page->nr_sums, compare_sums);
	fputs("\n[", data);
	json_text_double(data, weight);
	for (i = 0; i < page->nr_sums; i++) {
		const uint32_t context = page->sums[i].context;

		ticks = page->sums[i].ticks;
		for (; i + 1 < page->nr_sums && page->sums[i + 1].context == context; i++)
			ticks += page->sums[i + 1].ticks;
		fprintf(data, ",%" PRIu32 ",%" PRIu64, context - last, ticks);
		last = context;
	}
	putc(']', data);
}

/* Writes the chains of one histogram. */
static int put_histogram(struct page_chains *page, const struct profile_frames *frames,
			 const char *separator, FILE *data)
{
	const struct profile_row *row;
	uint32_t context;

	page->nr_sums = 0;
	while ((row = profile_rows_next(&page->rows))) {
		if (!row->ticks)
			continue;
		if (profile_rows_context(&page->rows, frames, row, &context) ||
		    PUSH(page->sums, page->room, page->nr_sums,
			 (struct chain_sum){ context, row->ticks }))
			return -ENOMEM;
	}
	fputs(separator, data);
	put_sums(page, profile_weight(page->rows.weights, page->rows.histogram), data);
	return 0;
}

/* Adds the contexts to the tree. counted: only of targets that count. */
static int put_chains(struct page_chains *page, bool counted, FILE *data)
{
	const struct profile_frames frames = { .tree = &page->tree,
					       .of_text = frame_of_text,
					       .of_cut = frame_of_cut,
					       .kernel = PAGE_KERNEL,
					       .of = page };
	const char *separator = "";
	int ret = profile_rows_add_callers(&page->rows, &frames);

	fputs(",\n\"chains\": [", data);
	profile_rows_start(&page->rows, PROFILE_ROWS_OF_CHAINS);
	while (!ret && profile_rows_next_part(&page->rows)) {
		if (counted && !profile_target_counts(page->profile, page->rows.histogram->target))
			continue;
		ret = put_histogram(page, &frames, separator, data);
		separator = ",";
	}
	putc(']', data);
	return ret;
}

static void put_contexts(const struct chain_tree *tree, FILE *data)
{
	size_t i;

	fputs(",\n\"contexts\": [", data);
	for (i = 1; i < tree->nr; i++)
		fprintf(data, "%s%zu,%" PRIu32, i > 1 ? "," : "", i - tree->all[i].parent,
			tree->all[i].frame);
	fputs("] }", data);
}

static void put_words(FILE *data)
{
	size_t i;

	fputs("{ \"words\": [", data);
	for (i = 0; i < PAGE_TEXT; i++) {
		fputs(i ? ", " : "", data);
		json_text_string(data, i == PAGE_KERNEL ? PROFILE_KERNEL_FRAME :
							  profile_cut_names[i - PAGE_CUT]);
	}
	putc(']', data);
}

static int find_places(struct page_chains *page)
{
	const struct profile_row *row;
	struct report_row place;
	int ret = 0;

	profile_rows_start(&page->rows, PROFILE_ROWS_BY_PLACE);
	while (!ret && (row = profile_rows_of_all(&page->rows))) {
		place = place_of(row);
		if (!profile_rows_function(&page->rows, row))
			ret = rows_add(&page->places, &place);
	}
	rows_merge(&page->places, row_compare_place);
	return ret;
}

/* [object, offset, size] */
static void put_places(const struct report_rows *places, const uint64_t *bases, FILE *data)
{
	size_t i;

	fputs(",\n\"places\": [", data);
	for (i = 0; i < places->nr; i++) {
		const struct report_row *place = &places->rows[i];

		fprintf(data, "%s[%" PRIu32 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
			place->object, place->offset - bases[place->object], place->size);
	}
	putc(']', data);
}

int html_line(const char *name, const struct report *report,
	      void (*render)(const struct report *report, FILE *out), FILE *data)
{
	cleanup_free char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (out)
		render(report, out);
	if (!out || fclose(out) || !line)
		return -ENOMEM;
	line[strcspn(line, "\n")] = 0;
	if (*line)
		render_json_text(data, name, line);
	return 0;
}

static void put_walks(const struct report *report, FILE *out)
{
	render_callers(report, "", out);
}

static int put_callers(struct page_chains *page, const uint64_t *bases, bool counted, FILE *data)
{
	struct report report = { .profile = page->walked };
	int ret = find_places(page) ?:
			  profile_callers_account(page->walked, REPORT_ALL_TARGETS, &report.walks);

	if (!ret) {
		put_words(data);
		put_places(&page->places, bases, data);
		ret = html_line("walks", &report, put_walks, data);
	}
	if (!ret)
		ret = put_chains(page, counted, data);
	put_contexts(&page->tree, data);
	return ret;
}

static bool is_in_page(const struct profile *profile, const void *of,
		       const struct profile_histogram *histogram)
{
	(void)profile;
	(void)of;
	return html_has_bins(histogram);
}

int html_callers(const struct profile *profile, const struct profile *walked, const uint64_t *bases,
		 bool counted, FILE *data)
{
	const struct profile_choice choice = { .chosen = is_in_page,
					       .callers = PROFILE_ROWS_WITH_CALLERS };
	struct page_chains page = { .profile = profile, .walked = walked };
	int ret = profile_rows_begin(&page.rows, profile, &choice);

	if (!ret)
		ret = put_callers(&page, bases, counted, data);
	profile_rows_end(&page.rows);
	chain_tree_free(&page.tree);
	rows_free(&page.places);
	free(page.sums);
	return ret;
}

/*
 * [name, object], and the compared part of the name if it is shorter; text without a name has an
 * empty one
 */
static int put_text(const struct diff_row *row, FILE *data)
{
	cleanup_free char *stem = strndup(row->name ?: "", row->stem);

	putc('[', data);
	json_text_string(data, row->name);
	putc(',', data);
	json_text_string(data, row->object);
	if (stem && row->name && row->name[row->stem]) {
		putc(',', data);
		json_text_string(data, stem);
	}
	putc(']', data);
	return stem ? 0 : -ENOMEM;
}

/* Writes each function, and then each object for its text without functions. */
static int put_texts(const struct diff_profile *side, FILE *data)
{
	const struct profile *profile = side->profile;
	struct report_row text;
	struct diff_row row;
	int ret = 0;
	size_t i;

	fputs("\"texts\": [", data);
	for (i = 0; !ret && i < profile->nr_functions + profile->nr_objects; i++) {
		text = (struct report_row){ .object = (uint32_t)(i - profile->nr_functions) };
		if (i < profile->nr_functions) {
			text.object = profile->functions[i].object;
			text.name = profile->functions[i].name;
		}
		row = diff_row_of_text(side, &text);
		fputs(i ? ",\n" : "\n", data);
		ret = put_text(&row, data);
	}
	putc(']', data);
	return ret;
}

int html_diff_callers(const struct diff_profile *side, const uint64_t *bases, FILE *data)
{
	int ret;

	fprintf(data, "{ \"ns\": %.0f, \"unit\": ", side->ns);
	json_text_double(data, side->unit);
	fprintf(data, ", \"functions\": %zu, ", side->profile->nr_functions);
	ret = put_texts(side, data);
	fputs(",\n\"callers\": ", data);
	if (!ret)
		ret = html_callers(side->profile, side->profile, bases, true, data);
	fputs(" }", data);
	return ret;
}
