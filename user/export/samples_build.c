// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The samples of bins: their places, as fine as asked for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/bin_walk.h"
#include "export/export_impl.h"
#include "export/place_lines.h"
#include "export/samples_impl.h"
#include "profile/profile.h"

/* A histogram's service and process; service 0: not looked up yet. */
struct numbers {
	uint32_t service, process;
};

struct build {
	struct samples *samples;
	const struct profile *profile;
	const struct export_options *options;
	struct profile_index *index;
	struct profile_weights *weights;
	struct bin_walk *walk;
	struct place_lines lines;
	uint32_t object; /* the current one */
	struct profile_text whole; /* all of it that has histograms */
	uint32_t place; /* of the current bin */
	struct numbers *numbers; /* by histogram */
	/*
	 * The walk is over a profile of the chosen histograms, and, with callers, of one for each
	 * object with a bin for each site, so that callers have places as ticks have.
	 */
	struct profile walked;
	const struct profile_histogram **origins; /* by histogram of that; NULL: of sites */
	size_t sites; /* how many sites were walked */
	struct profile_bin *site_bins;
};

/*
 * The segment that contains the offset; an object without segments has one mapping for all that was
 * hit.
 */
static uint32_t mapping_of_place(const struct build *build, const struct bin_place *place)
{
	const struct profile_object *object = &build->profile->objects[build->object];
	const struct profile_histogram *histogram = place->histogram;
	struct profile_text whole = { histogram->offset, histogram->offset, histogram->size };
	size_t i;

	if (build->options->binned_only)
		whole = build->whole;

	for (i = 0; i < object->nr_text; i++)
		if (place->offset - object->text[i].offset < object->text[i].size)
			break;
	if (object->nr_text)
		whole = object->text[i < object->nr_text ? i : 0];
	else if (whole.address + whole.size < whole.address)
		whole.size = UINT64_MAX - whole.address;
	if (object->kind != PROFILE_FILE)
		whole.offset = 0;
	return samples_mapping(build->samples, build->object, &whole);
}

static const char *outer_name(const struct profile_function *function,
			      const struct source_line *source)
{
	if (function && *function->name)
		return function->name;
	return source && source->function ? source->function : "[unknown]";
}

/* Innermost first; the last one is the function that has the code. */
static size_t make_lines(struct build *build, const struct profile_function *function,
			 const struct source_line *source, struct sample_line lines[FRAMES_MAX])
{
	struct samples *samples = build->samples;
	size_t nr = 0;

	for (; source && source->caller; source = source->caller) {
		if (nr == FRAMES_MAX - 1)
			continue;
		lines[nr].function = samples_function(
			samples, source->function ? source->function : "[inlined]", source->file);
		lines[nr++].line = source->line;
	}
	lines[nr].function = samples_function(samples, outer_name(function, source),
					      source ? source->file : NULL);
	lines[nr++].line = source ? source->line : 0;
	return nr;
}

static uint64_t address_at(const struct build *build, uint64_t offset)
{
	return profile_object_address(&build->profile->objects[build->object], offset);
}

static uint32_t make_place(struct build *build, const struct bin_place *place,
			   const struct source_line *source)
{
	const struct profile_object *object = &build->profile->objects[build->object];
	const struct profile_function *function =
		profile_bin_function(build->index, place->histogram, place->bin);
	struct sample_line lines[FRAMES_MAX];
	struct sample_place made = { .mapping = mapping_of_place(build, place) };

	made.kind = object->kind == PROFILE_KERNEL ? PLACE_KERNEL : PLACE_USER;
	made.start = function ? address_at(build, function->offset) :
				build->samples->mappings[made.mapping].text.address;
	made.address = function && build->options->detail == EXPORT_FUNCTION ?
			       made.start :
			       address_at(build, place->offset);
	made.nr = make_lines(build, function, source, lines);
	made.nameless = !function && !source;
	if (build->options->detail == EXPORT_ADDRESS)
		return samples_new_place(build->samples, &made, lines);
	return samples_place(build->samples, &made, lines);
}

/* Sites are walked in their order. */
static void put_bin(struct build *build, const struct bin_place *place)
{
	size_t at = place->histogram - build->walked.histograms, nr;
	const struct profile_histogram *histogram = build->origins[at];
	struct numbers *numbers = &build->numbers[at];
	struct sample sample = { .place = build->place };
	const struct profile_chain *chain;

	if (!histogram) {
		build->samples->callers[build->sites++] = build->place;
		return;
	}
	if (!numbers->service) {
		numbers->service =
			samples_service(build->samples, histogram->target, histogram->cgroup);
		numbers->process = samples_process(build->samples, histogram);
	}
	sample.service = numbers->service;
	sample.process = numbers->process;
	chain = profile_chains_of(build->samples->chains, histogram, place->bin, &nr);
	for (; nr--; chain++) {
		sample.chain = 1 + chain->node;
		sample.ticks = chain->ticks;
		sample.ns = profile_weights_take(build->weights, histogram, chain->ticks);
		samples_add(build->samples, &sample);
	}
}

static int put_sample_object(struct build *build)
{
	const struct source_line *line = NULL;
	bool with_lines = build->options->detail != EXPORT_FUNCTION;
	struct bin_place place;
	int ret = 0;

	if (build->options->binned_only)
		build->whole = bin_walk_extent(build->walk);
	if (with_lines)
		ret = place_lines_load(&build->lines, &build->profile->objects[build->object],
				       build->walk);
	while (!ret && bin_walk_next(build->walk, &place)) {
		if (with_lines)
			line = place_lines_next(&build->lines, &place);
		if (!place.again)
			build->place = make_place(build, &place, line);
		put_bin(build, &place);
		ret = samples_error(build->samples);
	}
	return ret;
}

static int put_sample_bins(struct build *build)
{
	int ret = 0;

	while (!ret && bin_walk_object(build->walk, &build->object))
		ret = put_sample_object(build);
	return ret;
}

/* A histogram of all sites of an object, from the first on; returns how many these are. */
static size_t add_sites(struct build *build, size_t first)
{
	const struct profile_callers *callers = build->profile->callers;
	const struct profile_site *sites = callers->sites;
	struct profile_histogram *added = &build->walked.histograms[build->walked.nr_histograms++];
	size_t nr;

	*added = (struct profile_histogram){ .object = sites[first].object,
					     .offset = sites[first].offset,
					     .bytes_per_bin = 1,
					     .bins = &build->site_bins[first] };
	for (nr = 0; first + nr < callers->nr_sites; nr++) {
		const struct profile_site *site = &sites[first + nr];

		if (site->object != added->object)
			break;
		added->bins[nr].index = site->offset - added->offset;
	}
	added->nr_bins = nr;
	added->size = add_saturating(added->bins[nr - 1].index, 1);
	return nr;
}

static int begin_walk(struct build *build)
{
	const struct profile *profile = build->profile;
	const size_t nr_sites = build->samples->callers ? profile->callers->nr_sites : 0;
	const size_t most = profile->nr_histograms + profile->nr_objects + 1;
	size_t i;

	build->walked = *profile;
	build->walked.nr_histograms = 0;
	build->walked.histograms = calloc(most, sizeof(*build->walked.histograms));
	build->origins = calloc(most, sizeof(struct profile_histogram *));
	build->numbers = calloc(most, sizeof(*build->numbers));
	build->site_bins = calloc(nr_sites + 1, sizeof(*build->site_bins));
	if (!build->walked.histograms || !build->origins || !build->numbers || !build->site_bins)
		return -ENOMEM;
	for (i = 0; i < profile->nr_histograms; i++) {
		if (!export_chosen(profile, build->options, &profile->histograms[i]))
			continue;
		build->origins[build->walked.nr_histograms] = &profile->histograms[i];
		build->walked.histograms[build->walked.nr_histograms++] = profile->histograms[i];
	}
	for (i = 0; i < nr_sites;)
		i += add_sites(build, i);
	build->walk = bin_walk_new(&build->walked, NULL);
	return build->walk ? 0 : -ENOMEM;
}

static int begin_callers(struct build *build)
{
	const struct profile_callers *callers = build->options->callers ? build->profile->callers :
									  NULL;
	struct samples *samples = build->samples;
	uint32_t i, *cuts;

	samples->chains = profile_chains_new(build->profile, callers);
	if (!samples->chains)
		return -ENOMEM;
	if (!callers)
		return 0;
	samples->callers =
		calloc(callers->nr_sites + WALK_END_COUNT + 1, sizeof(*samples->callers));
	if (!samples->callers)
		return -ENOMEM;
	cuts = &samples->callers[callers->nr_sites];
	for (i = 0; i <= WALK_END_COUNT; i++)
		if (profile_cut_names[i])
			cuts[i] = samples_named_place(samples, "%s", profile_cut_names[i]);
	return 0;
}

int samples_build(struct samples *samples, const struct profile *profile,
		  const struct export_options *options, struct error *err)
{
	struct build build = { .samples = samples, .profile = profile, .options = options };
	int ret = samples_begin(samples, profile);

	build.index = profile_index_new(profile);
	build.weights = profile_weights_new(profile);
	if (!ret && (!build.index || !build.weights))
		ret = -ENOMEM;
	if (!ret)
		ret = begin_callers(&build);
	if (!ret)
		ret = begin_walk(&build);
	if (!ret)
		ret = put_sample_bins(&build);
	if (!ret && !options->object && !options->binned_only)
		samples_add_account(samples, build.weights, options);
	if (!ret)
		ret = samples_error(samples);
	if (!ret)
		samples_settle(samples);
	place_lines_end(&build.lines, options);
	free(build.numbers);
	free(build.origins);
	free(build.walked.histograms);
	free(build.site_bins);
	bin_walk_free(build.walk);
	profile_weights_free(build.weights);
	profile_index_free(build.index);
	return ret ? error_errno(err, ret, "samples") : 0;
}
