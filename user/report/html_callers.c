// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/html_callers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/util.h"
#include "profile/profile_chains.h"
#include "profile/profile_weights.h"
#include "report/render.h"

/* Frames of a page: words, and beyond them text. */
enum page_frame { PAGE_KERNEL, PAGE_CUT, PAGE_TEXT = PAGE_CUT + WALK_END_COUNT + 1 };

struct chain_sum {
	uint32_t context;
	uint64_t ticks;
};

/* The chains of a profile, as contexts of frames. */
struct page_chains {
	const struct profile *profile;
	struct profile_index *index;
	struct profile_chains *chains;
	struct profile_weights *weights;
	struct chain_tree tree;
	struct report_rows places; /* text in no function, by place */
	struct chain_sum *sums; /* of a histogram */
	size_t nr_sums, room;
};

static int add_cut(void *of, enum walk_end end, uint32_t *context)
{
	struct page_chains *page = of;

	*context = chain_tree_child(&page->tree, *context, PAGE_CUT + end);
	return *context ? 0 : -ENOMEM;
}

static const struct profile_function *function_of(const struct page_chains *page,
						  const struct report_row *place)
{
	return profile_index_find(page->index, place->object, place->offset, place->size);
}

static uint32_t frame_of(const struct page_chains *page, const struct report_row *place)
{
	const struct profile_function *function = function_of(page, place);
	const struct report_row *found;

	if (function)
		return PAGE_TEXT + (uint32_t)(function - page->profile->functions);
	found = bsearch(place, page->places.rows, page->places.nr, sizeof(*found),
			row_compare_place);
	return PAGE_TEXT +
	       (uint32_t)(page->profile->nr_functions + (size_t)(found - page->places.rows));
}

static struct report_row place_of_site(const struct profile_site *site)
{
	return (struct report_row){ .object = site->object, .offset = site->offset, .size = 1 };
}

static struct report_row place_of_bin(const struct profile_histogram *histogram, size_t i)
{
	return (struct report_row){ .object = histogram->object,
				    .offset = profile_bin_start(histogram, i),
				    .size = histogram->bytes_per_bin };
}

static int add_site(void *of, const struct profile_site *site, uint32_t *context)
{
	struct page_chains *page = of;
	const struct report_row place = place_of_site(site);

	*context = chain_tree_child(&page->tree, *context, frame_of(page, &place));
	return *context ? 0 : -ENOMEM;
}

static int add_bin(struct page_chains *page, const struct profile_histogram *histogram, size_t i)
{
	const struct report_row place = place_of_bin(histogram, i);
	const uint32_t frame = frame_of(page, &place);
	const struct profile_chain *chain;
	uint32_t context;
	size_t nr;

	for (chain = profile_chains_of(page->chains, histogram, i, &nr); nr--; chain++) {
		context = profile_chain_above(page->chains, chain->node);
		context = chain_tree_child(&page->tree, context, frame);
		if (context && chain->in_kernel)
			context = chain_tree_child(&page->tree, context, PAGE_KERNEL);
		if (!context || GROW(page->sums, page->room, page->nr_sums + 1))
			return -ENOMEM;
		page->sums[page->nr_sums++] = (struct chain_sum){ context, chain->ticks };
	}
	return 0;
}

static int compare_sums(const void *left, const void *right)
{
	const struct chain_sum *a = left, *b = right;

	return compare_u64(a->context, b->context);
}

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

static int put_histograms(struct page_chains *page, bool counted, FILE *data)
{
	const char *separator = "";
	size_t i, j;

	for (i = 0; i < page->profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &page->profile->histograms[i];

		if (!html_has_bins(histogram) ||
		    (counted && !profile_target_counts(page->profile, histogram->target)))
			continue;
		page->nr_sums = 0;
		for (j = 0; j < histogram->nr_bins; j++)
			if (histogram->bins[j].count && add_bin(page, histogram, j))
				return -ENOMEM;
		fputs(separator, data);
		put_sums(page, profile_weight(page->weights, histogram), data);
		separator = ",";
	}
	return 0;
}

/* Adds the contexts to the tree. counted: of the targets that count alone. */
static int put_chains(struct page_chains *page, bool counted, FILE *data)
{
	const struct chain_frames frames = { add_cut, add_site, page };
	int ret;

	fputs(",\n\"chains\": [", data);
	ret = profile_chains_add_contexts(page->chains, &frames);
	if (!ret)
		ret = put_histograms(page, counted, data);
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

static int add_place(struct page_chains *page, const struct report_row *place)
{
	return function_of(page, place) ? 0 : rows_add(&page->places, place);
}

static int find_places(struct page_chains *page)
{
	const struct profile *profile = page->profile;
	const struct profile_callers *callers = profile->callers;
	struct report_row place;
	int ret = 0;
	size_t i, j;

	for (i = 0; !ret && i < callers->nr_sites; i++) {
		place = place_of_site(&callers->sites[i]);
		ret = add_place(page, &place);
	}
	for (i = 0; i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];

		for (j = 0; !ret && html_has_bins(histogram) && j < histogram->nr_bins; j++) {
			place = place_of_bin(histogram, j);
			ret = add_place(page, &place);
		}
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

/* How the walks ended, in the words of the report. */
static int put_walks(const struct profile *profile, FILE *data)
{
	struct report report = { .profile = profile };
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);
	int ret = out ? profile_callers_account(profile, REPORT_ALL_TARGETS, &report.walks) :
			-ENOMEM;

	if (out && !ret)
		render_callers(&report, "", out);
	if (out && (fclose(out) || !line))
		ret = -ENOMEM;
	if (!ret) {
		line[strcspn(line, "\n")] = 0;
		render_json_text(data, "walks", line);
	}
	free(line);
	return ret;
}

static int put_callers(struct page_chains *page, const uint64_t *bases, bool counted, FILE *data)
{
	int ret = find_places(page);

	if (!ret) {
		put_words(data);
		put_places(&page->places, bases, data);
		ret = put_walks(page->profile, data);
	}
	if (!ret)
		ret = put_chains(page, counted, data);
	put_contexts(&page->tree, data);
	return ret;
}

int html_callers(const struct profile *profile, const uint64_t *bases, bool counted, FILE *data)
{
	struct page_chains page = { .profile = profile,
				    .index = profile_index_new(profile),
				    .chains = profile_chains_new(profile),
				    .weights = profile_weights_new(profile) };
	int ret = -ENOMEM;

	if (page.index && page.chains && page.weights)
		ret = put_callers(&page, bases, counted, data);
	profile_index_free(page.index);
	profile_chains_free(page.chains);
	profile_weights_free(page.weights);
	chain_tree_free(&page.tree);
	rows_free(&page.places);
	free(page.sums);
	return ret;
}

/* [name, object], and what of the name is compared, if that is less; nothing is the name of text without */
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

/* Of each function, and of text without one in each object. */
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
		ret = html_callers(side->profile, bases, true, data);
	fputs(" }", data);
	return ret;
}
