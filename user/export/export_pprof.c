// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * pprof: a location for each place, with the functions that were inlined there, and a sample for
 * each bin. Addresses are those of the objects' own disassembly, as if each object were loaded
 * there.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/bin_walk.h"
#include "export/export_impl.h"
#include "export/place_lines.h"
#include "export/pprof_stream.h"
#include "profile/profile.h"
#include "profile/profile_weights.h"
#include "symbol/object_file.h"

/* Frames of a location; deeper inlining loses its middle. */
#define FRAMES_MAX 64
#define LABELS_MAX 4

/* The labels of every sample of a histogram. */
struct labels {
	Pprof__Label labels[LABELS_MAX];
	Pprof__Label *all[LABELS_MAX];
	size_t nr;
};

/* The text of an object that was hit. */
struct text_extent {
	uint64_t ticks;
	uint64_t start;
	uint64_t end;
	uint64_t mapping; /* the first of its mappings' numbers; 0: it has no ticks */
};

struct pprof {
	struct pprof_stream out;
	const struct profile *profile;
	const struct export_options *options;
	const struct profile_index *index;
	struct profile_weights *weights;
	struct text_extent *extents; /* by object */
	struct labels *labels; /* by histogram */
	uint32_t object; /* the current one */
	struct place_lines lines;
	struct pointer_map inlined; /* functions inlined in the current object, by name and file */
	const struct profile_function *function; /* the current one */
	const char *file; /* the file of that function */
	uint64_t function_id; /* 0: there is no current one */
	uint64_t nr_mappings;
	uint64_t nr_functions;
	uint64_t nr_locations;
};

static void put_comment(struct pprof *pprof, const char *text)
{
	int64_t number = pprof_text(&pprof->out, text);
	Pprof__Profile part = PPROF__PROFILE__INIT;

	part.n_comment = 1;
	part.comment = &number;
	pprof_put(&pprof->out, &part);
}

/* What has no place, and therefore no sample, is told in comments. */
static void put_comments(struct pprof *pprof)
{
	const struct profile_account *ticks = &pprof->profile->ticks;
	char account[256];
	size_t i;

	snprintf(account, sizeof(account),
		 "%" PRIu64 " ticks = %" PRIu64 " binned + %" PRIu64 " overflow + %" PRIu64
		 " outside + %" PRIu64 " filtered + %" PRIu64 " lost",
		 ticks->total, ticks->binned, ticks->overflow, ticks->outside, ticks->filtered,
		 profile_account_lost(ticks));
	put_comment(pprof, account);
	for (i = 0; i < pprof->profile->nr_notes; i++)
		put_comment(pprof, pprof->profile->notes[i]);
}

static void add_pprof_label(struct pprof *pprof, struct labels *labels, const char *key,
			    const char *value)
{
	Pprof__Label *label = &labels->labels[labels->nr];

	if (!value || !*value)
		return;
	pprof__label__init(label);
	label->key = pprof_shared_text(&pprof->out, key);
	label->str = pprof_shared_text(&pprof->out, value);
	labels->all[labels->nr++] = label;
}

static void make_labels(struct pprof *pprof, size_t i)
{
	const struct profile_histogram *histogram = &pprof->profile->histograms[i];
	const struct profile_target *target = &pprof->profile->targets[histogram->target];
	struct labels *labels = &pprof->labels[i];
	char pid[24] = "";

	if (histogram->pid >= 0)
		snprintf(pid, sizeof(pid), "%" PRId64, histogram->pid);
	add_pprof_label(pprof, labels, "target", *target->name ? target->name : target->kind);
	add_pprof_label(pprof, labels, "pid", pid);
	add_pprof_label(pprof, labels, "process", histogram->process);
	add_pprof_label(pprof, labels, "cgroup", histogram->cgroup);
}

static void survey(struct pprof *pprof)
{
	const struct profile_histogram *histogram;
	struct text_extent *extent;
	size_t i;

	for (i = 0; i < pprof->profile->nr_histograms; i++) {
		histogram = &pprof->profile->histograms[i];
		if (!histogram->nr_bins ||
		    !export_chosen(pprof->profile, pprof->options, histogram))
			continue;
		make_labels(pprof, i);
		extent = &pprof->extents[histogram->object];
		if (!extent->ticks || histogram->offset < extent->start)
			extent->start = histogram->offset;
		if (histogram->offset + histogram->size > extent->end)
			extent->end = histogram->offset + histogram->size;
		extent->ticks += profile_histogram_ticks(histogram);
	}
}

static void put_mapping(struct pprof *pprof, const struct profile_object *object,
			const struct profile_text *text, bool looked_up)
{
	Pprof__Mapping mapping = PPROF__MAPPING__INIT;
	Pprof__Mapping *mappings[] = { &mapping };
	Pprof__Profile part = PPROF__PROFILE__INIT;

	mapping.id = ++pprof->nr_mappings;
	mapping.memory_start = text->address;
	mapping.memory_limit = text->address + text->size;
	mapping.file_offset = object->kind == PROFILE_FILE ? text->offset : 0;
	mapping.filename = pprof_shared_text(&pprof->out, object->path);
	mapping.build_id = pprof_shared_text(&pprof->out, object->build_id);
	mapping.has_functions = true;
	mapping.has_filenames = looked_up;
	mapping.has_line_numbers = looked_up;
	mapping.has_inline_frames = looked_up;
	part.n_mapping = 1;
	part.mapping = mappings;
	pprof_put(&pprof->out, &part);
}

/*
 * pprof looks up the lines of a file itself if it is told that they are missing, so this is said
 * only of files that are not here.
 */
static bool is_here(const struct profile_object *object)
{
	int fd;

	if (object->kind != PROFILE_FILE || object->path[0] != '/')
		return true;
	fd = object_file_here(object, NULL);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void put_mappings(struct pprof *pprof, uint32_t i)
{
	const struct profile_object *object = &pprof->profile->objects[i];
	struct text_extent *extent = &pprof->extents[i];
	const struct profile_text whole = { extent->start, extent->start,
					    extent->end - extent->start };
	bool looked_up;
	size_t j;

	if (!extent->ticks || extent->mapping)
		return;
	looked_up = is_here(object);
	extent->mapping = pprof->nr_mappings + 1;
	for (j = 0; j < object->nr_text; j++)
		put_mapping(pprof, object, &object->text[j], looked_up);
	if (!object->nr_text)
		put_mapping(pprof, object, &whole, looked_up);
}

/* Whether the file is COMMAND, or what it is a link to: python3 is python3.11. */
static bool is_command(const struct profile *profile, const struct profile_object *object)
{
	const char *name, *base = profile_object_base(object);
	size_t length;

	if (!profile->command || !profile->command[0])
		return false;
	name = strrchr(profile->command[0], '/');
	name = name ? name + 1 : profile->command[0];
	length = strlen(name);
	return length && !strncmp(base, name, length) &&
	       !base[length + strspn(base + length, "0123456789.-")];
}

/* pprof calls the first mapping the profile's main binary: COMMAND, else the hottest file. */
static uint32_t main_file(const struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	bool commands = false, is;
	uint64_t most = 0;
	uint32_t i, found = 0;

	for (i = 0; i < profile->nr_objects; i++) {
		if (profile->objects[i].kind != PROFILE_FILE || !pprof->extents[i].ticks)
			continue;
		is = is_command(profile, &profile->objects[i]);
		if (is < commands || (is == commands && pprof->extents[i].ticks <= most))
			continue;
		commands = is;
		most = pprof->extents[i].ticks;
		found = i;
	}
	return found;
}

static void put_pprof_objects(struct pprof *pprof)
{
	uint32_t i;

	if (profile_is_of_host(pprof->profile))
		pprof_put_host(&pprof->out, pprof->profile, ++pprof->nr_mappings);
	else if (pprof->profile->nr_objects)
		put_mappings(pprof, main_file(pprof));
	for (i = 0; i < pprof->profile->nr_objects; i++)
		put_mappings(pprof, i);
}

/*
 * Of a function whose system name is its name pprof leaves out arguments and template parameters,
 * unless it is told -symbolize=demangle=full; else a C++ name may take several hundred columns. It
 * would take a brackets' content where that is the name, as in "<T as Trait>::f" of Rust.
 */
static bool is_cut_well(const char *name)
{
	return *name != '<' && strstr(name, "::") && strchr(name, '(') &&
	       !strstr(name, "(anonymous ") && !strstr(name, "operator");
}

static uint64_t add_pprof_function(struct pprof *pprof, const char *name, const char *file)
{
	Pprof__Function function = PPROF__FUNCTION__INIT;
	Pprof__Function *functions[] = { &function };
	Pprof__Profile part = PPROF__PROFILE__INIT;

	function.id = ++pprof->nr_functions;
	function.name = pprof_text(&pprof->out, name);
	if (is_cut_well(name))
		function.system_name = function.name;
	function.filename = pprof_shared_text(&pprof->out, file);
	part.n_function = 1;
	part.function = functions;
	pprof_put(&pprof->out, &part);
	return function.id;
}

/* The number of an inlined function; equal names and files have equal addresses. */
static uint64_t inlined_function(struct pprof *pprof, const struct source_line *line)
{
	const char *name = line->function ? line->function : "[inlined]";
	uint64_t *id = pointer_map_at(&pprof->inlined, name, line->file);

	if (!id) {
		pprof->out.error = -ENOMEM;
		return 0;
	}
	if (!*id)
		*id = add_pprof_function(pprof, name, line->file);
	return *id;
}

/*
 * The number of the function that has the code. Places ascend, so those of a function are
 * consecutive.
 */
static uint64_t outer_function(struct pprof *pprof, const struct profile_function *function,
			       const struct source_line *line)
{
	const char *file = line ? line->file : NULL;
	const char *name = function ? function->name : line ? line->function : NULL;

	if (pprof->function_id && function && pprof->function == function && pprof->file == file)
		return pprof->function_id;
	pprof->function = function;
	pprof->file = file;
	pprof->function_id = add_pprof_function(pprof, name && *name ? name : "[unknown]", file);
	return pprof->function_id;
}

static void put_pprof_location(struct pprof *pprof, uint64_t address, uint64_t mapping,
			       Pprof__Line **lines, size_t nr)
{
	Pprof__Location location = PPROF__LOCATION__INIT;
	Pprof__Location *locations[] = { &location };
	Pprof__Profile part = PPROF__PROFILE__INIT;

	location.id = ++pprof->nr_locations;
	location.mapping_id = mapping;
	location.address = address;
	location.n_line = nr;
	location.line = lines;
	part.n_location = 1;
	part.location = locations;
	pprof_put(&pprof->out, &part);
}

static uint64_t pprof_mapping_of(const struct pprof *pprof, const struct profile_object *object,
				 uint64_t offset)
{
	size_t i;

	for (i = 0; i < object->nr_text; i++)
		if (offset - object->text[i].offset < object->text[i].size)
			return pprof->extents[pprof->object].mapping + i;
	return pprof->extents[pprof->object].mapping;
}

static void add_pprof_line(Pprof__Line *line, uint64_t function, const struct source_line *source)
{
	pprof__line__init(line);
	line->function_id = function;
	line->line = source ? source->line : 0;
}

static void add_location(struct pprof *pprof, const struct bin_place *place,
			 const struct source_line *source)
{
	const struct profile_object *object = &pprof->profile->objects[pprof->object];
	const struct profile_function *function;
	Pprof__Line lines[FRAMES_MAX], *all[FRAMES_MAX];
	size_t nr = 0;

	function = profile_index_find(pprof->index, pprof->object, place->offset,
				      place->histogram->bytes_per_bin);
	for (; source && source->caller; source = source->caller) {
		if (nr == FRAMES_MAX - 1)
			continue;
		add_pprof_line(&lines[nr], inlined_function(pprof, source), source);
		all[nr] = &lines[nr];
		nr++;
	}
	if (function || source) {
		add_pprof_line(&lines[nr], outer_function(pprof, function, source), source);
		all[nr] = &lines[nr];
		nr++;
	}
	put_pprof_location(pprof, profile_object_address(object, place->offset),
			   pprof_mapping_of(pprof, object, place->offset), all, nr);
}

/* Writes a sample at the location that was added last. */
static void put_pprof_sample(struct pprof *pprof, const struct bin_place *place)
{
	const struct profile_histogram *histogram = place->histogram;
	struct labels *labels = &pprof->labels[histogram - pprof->profile->histograms];
	int64_t values[2] = { export_clamp(place->ticks),
			      export_clamp(profile_weights_take(pprof->weights, histogram,
								place->ticks)) };
	Pprof__Sample sample = PPROF__SAMPLE__INIT;
	Pprof__Sample *samples[] = { &sample };
	Pprof__Profile part = PPROF__PROFILE__INIT;

	sample.n_location_id = 1;
	sample.location_id = &pprof->nr_locations;
	sample.n_value = 2;
	sample.value = values;
	sample.n_label = labels->nr;
	sample.label = labels->all;
	part.n_sample = 1;
	part.sample = samples;
	pprof_put(&pprof->out, &part);
}

static int put_pprof_object(struct pprof *pprof, struct bin_walk *walk)
{
	const struct source_line *line;
	struct bin_place place;
	int ret;

	pprof->function_id = 0;
	pointer_map_clear(&pprof->inlined);
	ret = place_lines_load(&pprof->lines, &pprof->profile->objects[pprof->object], walk);
	while (!ret && !ferror(pprof->out.stream) && bin_walk_next(walk, &place)) {
		line = place_lines_next(&pprof->lines, &place);
		if (!place.again)
			add_location(pprof, &place, line);
		put_pprof_sample(pprof, &place);
		ret = pprof->out.error;
	}
	return ret;
}

static int put_pprof(struct pprof *pprof, struct bin_walk *walk, struct error *err)
{
	int ret;

	pprof_put_head(&pprof->out, pprof->profile, pprof->profile->sampling.period_ns);
	put_comments(pprof);
	survey(pprof);
	put_pprof_objects(pprof);
	ret = pprof->out.error;
	while (!ret && bin_walk_object(walk, &pprof->object))
		ret = put_pprof_object(pprof, walk);
	return ret ? error_errno(err, ret, "pprof") : export_end(pprof->out.stream, "pprof", err);
}

int export_pprof(const struct profile *profile, const struct export_options *options, FILE *stream,
		 struct error *err)
{
	struct pprof pprof = { .profile = profile, .options = options };
	struct profile_index *index;
	struct bin_walk *walk;
	int ret;

	errno = 0;
	ret = pprof_stream_begin(&pprof.out, stream);
	index = profile_index_new(profile);
	walk = bin_walk_new(profile, options);
	pprof.index = index;
	pprof.weights = profile_weights_new(profile);
	pprof.extents = calloc(profile->nr_objects + 1, sizeof(*pprof.extents));
	pprof.labels = calloc(profile->nr_histograms + 1, sizeof(*pprof.labels));
	if (!ret && index && walk && pprof.weights && pprof.extents && pprof.labels)
		ret = put_pprof(&pprof, walk, err);
	else
		ret = error_errno(err, -ENOMEM, "pprof");
	place_lines_end(&pprof.lines, pprof.options);
	pointer_map_clear(&pprof.inlined);
	pprof_stream_end(&pprof.out);
	free(pprof.labels);
	free(pprof.extents);
	bin_walk_free(walk);
	profile_weights_free(pprof.weights);
	profile_index_free(index);
	return ret;
}
