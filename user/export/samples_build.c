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
#include "profile/profile_splits.h"

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
	bool by_process; /* some of the ticks were split by process */
	/*
	 * The walk is over a profile of the chosen histograms, and, with callers, of one for each
	 * object with a bin for each site that ticks came by, so that callers have places as ticks have.
	 */
	struct profile walked;
	const struct profile_histogram **origins; /* by histogram of that; NULL: of sites */
	struct profile_chains *chains;
	bool *wanted; /* by site */
	bool ends[WALK_END_COUNT + 1]; /* by how the walk of any tick ended */
	struct profile_bin *site_bins;
	uint32_t *site_numbers; /* by those bins */
	uint32_t *site_places; /* by site */
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

	made.function = function;
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

static void put_bin(struct build *build, const struct bin_place *place)
{
	size_t at = place->histogram - build->walked.histograms, nr;
	const struct profile_histogram *histogram = build->origins[at];
	struct numbers *numbers = &build->numbers[at];
	struct sample sample = { .place = build->place };
	const struct profile_chain *chain;

	if (!histogram) {
		nr = (size_t)(place->histogram->bins - build->site_bins) + place->bin;
		build->site_places[build->site_numbers[nr]] = build->place;
		return;
	}
	if (!numbers->service) {
		numbers->service =
			samples_service(build->samples, histogram->target, histogram->cgroup);
		numbers->process = samples_process(build->samples, histogram);
	}
	sample.service = numbers->service;
	sample.process = numbers->process;
	chain = profile_chains_of(build->chains, histogram, place->bin, &nr);
	for (; nr--; chain++) {
		sample.callers = 1 + chain->node; /* until settle_callers() */
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

/* --- callers --- */

/* seen: by node, those that were looked at for another chain. */
static void want_chain(struct build *build, uint32_t node, bool *seen)
{
	const struct profile_node *nodes = build->profile->callers->nodes;
	int32_t at = node == PROFILE_NO_NODE ? -1 : nodes[node].parent;

	build->ends[profile_chain_end(build->chains, node)] = true;
	for (; at >= 0 && !seen[at]; at = nodes[at].parent) {
		seen[at] = true;
		if (nodes[at].site != PROFILE_SITE_KERNEL)
			build->wanted[nodes[at].site] = true;
	}
}

/* Only the sites of chosen ticks become places, because no table may have more than is used. */
static int want_sites(struct build *build)
{
	const struct profile *profile = build->profile;
	cleanup_free bool *seen = calloc(profile->callers->nr_nodes + 1, sizeof(*seen));
	const struct profile_chain *chain;
	size_t i, bin, nr;

	if (!seen)
		return -ENOMEM;
	for (i = 0; i < build->walked.nr_histograms; i++) {
		for (bin = 0; bin < build->origins[i]->nr_bins; bin++) {
			chain = profile_chains_of(build->chains, build->origins[i], bin, &nr);
			for (; nr--; chain++)
				want_chain(build, chain->node, seen);
		}
	}
	return 0;
}

/* A histogram of the wanted sites of an object. Goes on at *at, with *nr bins so far. */
static void add_sites(struct build *build, size_t *at, size_t *nr)
{
	const struct profile_callers *callers = build->profile->callers;
	struct profile_histogram added = { .object = callers->sites[*at].object,
					   .bytes_per_bin = 1,
					   .bins = &build->site_bins[*nr] };
	const struct profile_site *site;

	for (; *at < callers->nr_sites; (*at)++) {
		site = &callers->sites[*at];
		if (site->object != added.object)
			break;
		if (!build->wanted[*at])
			continue;
		if (!added.nr_bins)
			added.offset = site->offset;
		build->site_numbers[*nr] = (uint32_t)*at;
		build->site_bins[(*nr)++].index = site->offset - added.offset;
		added.size = add_saturating(site->offset - added.offset, 1);
		added.nr_bins++;
	}
	if (added.nr_bins)
		build->walked.histograms[build->walked.nr_histograms++] = added;
}

static int begin_callers(struct build *build)
{
	const size_t sites = build->profile->callers ? build->profile->callers->nr_sites : 0;
	size_t at = 0, nr = 0;

	build->chains = profile_chains_new(build->profile);
	if (!build->chains)
		return -ENOMEM;
	if (!build->profile->callers)
		return 0;
	build->wanted = calloc(sites + 1, sizeof(*build->wanted));
	build->site_bins = calloc(sites + 1, sizeof(*build->site_bins));
	build->site_numbers = calloc(sites + 1, sizeof(*build->site_numbers));
	build->site_places = calloc(sites + 1, sizeof(*build->site_places));
	if (!build->wanted || !build->site_bins || !build->site_numbers || !build->site_places ||
	    want_sites(build))
		return -ENOMEM;
	while (at < sites)
		add_sites(build, &at, &nr);
	return 0;
}

static int add_cut(void *of, enum walk_end end, uint32_t *context)
{
	struct build *build = of;
	uint32_t place = 0;

	if (build->ends[end])
		place = samples_named_place(build->samples, "%s", profile_cut_names[end]);
	*context = chain_tree_child(&build->samples->callers, *context, place);
	return *context ? 0 : -ENOMEM;
}

static int add_site(void *of, const struct profile_site *site, uint32_t *context)
{
	struct build *build = of;
	size_t number = (size_t)(site - build->profile->callers->sites);

	*context = chain_tree_child(&build->samples->callers, *context, build->site_places[number]);
	return *context ? 0 : -ENOMEM;
}

static const struct profile_object *object_of_place(const void *of, uint32_t place)
{
	const struct samples *samples = of;
	uint32_t mapping = samples->places[place].mapping;

	return mapping ? &samples->profile->objects[samples->mappings[mapping].object] : NULL;
}

/* Programs, if the profile is not split by process. */
static void set_program(struct samples *samples, struct sample *sample,
			const struct profile_object *program)
{
	const struct sample_process *process = &samples->processes[sample->process];

	program = program ?: profile_program(object_of_place(samples, sample->place));
	if (program)
		sample->process = samples_process_of(samples, samples->values.all[process->pid],
						     profile_object_base(program));
}

/* All places are known by now. */
static int settle_callers(struct build *build)
{
	const struct chain_frames frames = { add_cut, add_site, build };
	struct samples *samples = build->samples;
	const struct profile_object **programs;
	struct sample *sample = samples->all;
	int ret = profile_chains_add_contexts(build->chains, &frames);
	size_t i;

	if (ret || !build->profile->callers)
		return ret;
	programs = chain_tree_programs(&samples->callers, object_of_place, samples);
	if (!programs)
		return -ENOMEM;
	for (i = 0; i < samples->nr; i++, sample++) {
		/* Without a node it is PROFILE_NO_NODE. */
		sample->callers = profile_chain_above(build->chains, sample->callers - 1);
		if (!build->by_process)
			set_program(samples, sample, programs[sample->callers]);
	}
	free(programs);
	return samples_error(samples);
}

static int begin_walk(struct build *build)
{
	const struct profile *profile = build->profile;
	const size_t most = profile->nr_histograms + profile->nr_objects + 1;
	size_t i;

	build->walked = *profile;
	build->walked.nr_histograms = 0;
	build->walked.histograms = calloc(most, sizeof(*build->walked.histograms));
	build->origins = calloc(most, sizeof(struct profile_histogram *));
	build->numbers = calloc(most, sizeof(*build->numbers));
	if (!build->walked.histograms || !build->origins || !build->numbers)
		return -ENOMEM;
	for (i = 0; i < profile->nr_histograms; i++) {
		if (!export_chosen(profile, build->options, &profile->histograms[i]))
			continue;
		build->by_process |= profile_histogram_is_split(profile, &profile->histograms[i]);
		build->origins[build->walked.nr_histograms] = &profile->histograms[i];
		build->walked.histograms[build->walked.nr_histograms++] = profile->histograms[i];
	}
	if (begin_callers(build))
		return -ENOMEM;
	build->walk = bin_walk_new(&build->walked, NULL);
	return build->walk ? 0 : -ENOMEM;
}

static void end_walk(struct build *build)
{
	place_lines_end(&build->lines, build->options);
	bin_walk_free(build->walk);
	profile_chains_free(build->chains);
	profile_weights_free(build->weights);
	profile_index_free(build->index);
	free(build->numbers);
	free(build->origins);
	free(build->walked.histograms);
	free(build->wanted);
	free(build->site_bins);
	free(build->site_numbers);
	free(build->site_places);
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
		ret = begin_walk(&build);
	if (!ret)
		ret = put_sample_bins(&build);
	if (!ret)
		ret = settle_callers(&build);
	if (!ret && !options->object && !options->binned_only)
		samples_add_account(samples, build.weights, options);
	if (!ret)
		ret = samples_error(samples);
	if (!ret)
		samples_settle(samples);
	end_walk(&build);
	return ret ? error_errno(err, ret, "samples") : 0;
}
