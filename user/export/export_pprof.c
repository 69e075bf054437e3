// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Writes pprof: a whole profile for pprof itself, or single services for backends. Each place has a
 * location, with the functions inlined there. Each location and process has a sample; with callers,
 * each chain of locations. Addresses are those of the objects' disassembly, as if each object were
 * loaded there.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "export/export_impl.h"
#include "export/resource.h"
#include "export/samples.h"
#include "profile/profile.h"
#include "profile/profile_weights.h"
#include "naming/object_file.h"

#include "pprof.pb-c.h"

#define LABELS_MAX (RESOURCE_ATTRIBUTES_MAX + 4)

/*
 * Maps our numbers in a table to pprof's ids: from 1, in the order of first use, as Parca requires.
 */
struct pprof_ids {
	uint32_t *of; /* by our number; 0: unused */
	uint32_t last;
};

/* Returns true on the first use of a number, and gives it an id. */
static bool new_id(struct pprof_ids *ids, uint32_t number)
{
	if (ids->of[number])
		return false;
	ids->of[number] = ++ids->last;
	return true;
}

/* The file is written part by part: repeated fields are appended to earlier parts. */
struct pprof_writer {
	FILE *stream;
	struct texts texts; /* number 0 is "", as in pprof; error: the first lack of memory */
	size_t nr_texts; /* those that were written */
	const struct samples *samples;
	bool is_file; /* for pprof itself, which can look up missing lines */
	const char *target; /* of the current samples, in a file */
	const struct resource *resource; /* of the current samples, if there are several */
	const char *cgroup;
	enum sample_value first; /* values in the file, */
	size_t nr_values; /* and how many */
	enum sample_value own; /* the first value of the current samples */
	struct pprof_ids functions;
	struct pprof_ids mappings;
	struct pprof_ids places;
	uint64_t *chain; /* the locations of the current sample, innermost first */
	size_t nr_chain, chain_room;
};

static void pprof_put(struct pprof_writer *pprof, const Pprof__Profile *part)
{
	export_message(&part->base, pprof->stream);
}

/* Returns the number of a text, and writes it before its first use; NULL is "". */
static int64_t pprof_text(struct pprof_writer *pprof, const char *text)
{
	const uint32_t number = texts_add(&pprof->texts, text);
	Pprof__Profile part = PPROF__PROFILE__INIT;

	if (number < pprof->nr_texts)
		return number;
	part.n_string_table = 1;
	part.string_table = (char **)&pprof->texts.all[number];
	pprof_put(pprof, &part);
	pprof->nr_texts++;
	return number;
}

/* The host's name by its labels, or else by the kernel, which has the pod's name in a pod. */
static const char *name_of_host(const struct profile *profile)
{
	const struct profile_label *label;
	size_t i;

	for (i = 0; i < profile->nr_labels; i++) {
		label = &profile->labels[i];
		if (!label->host && !label->cgroup && !strcmp(label->key, "host.name"))
			return label->value;
	}
	return profile->host.name;
}

/*
 * Writes a first mapping without text: pprof names a profile after the file of its first mapping,
 * and a whole host would get the name of an arbitrary program.
 */
static void put_host(struct pprof_writer *pprof)
{
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *mappings = &mapping;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	const char *host = name_of_host(pprof->samples->profile);
	char name[320];

	snprintf(name, sizeof(name), "all processes of %.255s", host && *host ? host : "hosts");
	mapping.id = ++pprof->mappings.last;
	mapping.filename = pprof_text(pprof, name);
	mapping.has_functions = true;
	part.n_mapping = 1;
	part.mapping = &mappings;
	pprof_put(pprof, &part);
}

static int64_t text(struct pprof_writer *pprof, uint32_t number)
{
	return pprof_text(pprof, pprof->samples->texts.all[number]);
}

static void put_comment(struct pprof_writer *pprof, const char *text)
{
	int64_t number = pprof_text(pprof, text);
	Pprof__Profile part = PPROF__PROFILE__INIT;

	part.n_comment = 1;
	part.comment = &number;
	pprof_put(pprof, &part);
}

/* Ticks outside of bins have no samples. Therefore comments list them. */
static void put_comments(struct pprof_writer *pprof)
{
	const struct profile *profile = pprof->samples->profile;
	const struct profile_account *ticks = &profile->ticks;
	char account[256];
	size_t i;

	snprintf(account, sizeof(account),
		 "%" PRIu64 " ticks = %" PRIu64 " binned + %" PRIu64 " overflow + %" PRIu64
		 " outside + %" PRIu64 " filtered + %" PRIu64 " lost",
		 ticks->total, ticks->binned, ticks->overflow, ticks->outside, ticks->filtered,
		 profile_account_lost(ticks));
	put_comment(pprof, account);
	for (i = 0; i < profile->nr_notes; i++)
		put_comment(pprof, profile->notes[i]);
}

/*
 * Whether the profile claims to have all lines. If it does not, pprof looks lines up itself. We
 * have looked them up already if the file is here.
 */
static bool is_looked_up(const struct pprof_writer *pprof, const struct sample_mapping *of)
{
	const struct profile_object *object = &pprof->samples->profile->objects[of->object];
	cleanup_fd int fd = -1;

	if (!pprof->is_file || object->kind != PROFILE_FILE || object->path[0] != '/')
		return true;
	fd = object_file_here(object, NULL);
	return fd >= 0;
}

static void need_mapping(struct pprof_writer *pprof, uint32_t number, bool hidden)
{
	const struct sample_mapping *of = &pprof->samples->mappings[number];
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *mappings = &mapping;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	bool looked_up;

	if (!number || !new_id(&pprof->mappings, number))
		return;
	looked_up = is_looked_up(pprof, of);
	mapping.id = pprof->mappings.of[number];
	if (!hidden) {
		mapping.memory_start = of->text.address;
		mapping.memory_limit = of->text.address + of->text.size;
		mapping.file_offset = of->text.offset;
	}
	mapping.filename = text(pprof, of->file);
	mapping.build_id = pprof_text(pprof, pprof->samples->values.all[of->build_id]);
	mapping.has_functions = true;
	mapping.has_filenames = looked_up;
	mapping.has_line_numbers = looked_up;
	mapping.has_inline_frames = looked_up;
	part.n_mapping = 1;
	part.mapping = &mappings;
	pprof_put(pprof, &part);
}

/*
 * If a function's system name equals its name, pprof omits arguments and template parameters,
 * unless run with -symbolize=demangle=full. Otherwise a C++ name may have several hundred columns.
 * It would cut wrongly if the name is inside brackets, as in Rust's "<T as Trait>::f".
 */
static bool is_cut_well(const char *name)
{
	return *name != '<' && strstr(name, "::") && strchr(name, '(') &&
	       !strstr(name, "(anonymous ") && !strstr(name, "operator");
}

static void need_function(struct pprof_writer *pprof, uint32_t number)
{
	const struct sample_function *of = &pprof->samples->functions[number];
	Pprof__Function function = PPROF__FUNCTION__INIT, *functions = &function;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	if (!new_id(&pprof->functions, number))
		return;
	function.id = pprof->functions.of[number];
	function.name = text(pprof, of->name);
	if (pprof->is_file && is_cut_well(pprof->samples->texts.all[of->name]))
		function.system_name = function.name;
	function.filename = text(pprof, of->file);
	part.n_function = 1;
	part.function = &functions;
	pprof_put(pprof, &part);
}

static int need_place(struct pprof_writer *pprof, uint32_t number)
{
	const struct sample_place *of = &pprof->samples->places[number];
	/* pprof itself shows the address if there is no function. */
	const size_t nr = pprof->is_file && of->nameless ? 0 : of->nr;
	cleanup_free Pprof__Line *lines = calloc(nr + 1, sizeof(*lines));
	cleanup_free Pprof__Line **all = calloc(nr + 1, sizeof(*all));
	Pprof__Location location = PPROF__LOCATION__INIT, *locations = &location;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	bool hidden = of->kind == PLACE_KERNEL && pprof->samples->hides_kernel;
	size_t i;

	if (pprof->places.of[number])
		return 0;
	if (!lines || !all)
		return -ENOMEM;
	new_id(&pprof->places, number);
	need_mapping(pprof, of->mapping, hidden);
	for (i = 0; i < nr; i++) {
		const struct sample_line *line = &pprof->samples->lines[of->first + i];

		need_function(pprof, line->function);
		pprof__line__init(&lines[i]);
		lines[i].function_id = pprof->functions.of[line->function];
		lines[i].line = line->line;
		all[i] = &lines[i];
	}
	location.id = pprof->places.of[number];
	location.mapping_id = pprof->mappings.of[of->mapping];
	location.address = hidden ? location.id : of->address;
	location.n_line = nr;
	location.line = all;
	part.n_location = 1;
	part.location = &locations;
	pprof_put(pprof, &part);
	return 0;
}

static void add_label(struct pprof_writer *pprof, Pprof__Sample *sample, const char *key,
		      const char *value)
{
	Pprof__Label *label = sample->label[sample->n_label];

	if (!value || !*value)
		return;
	pprof__label__init(label);
	label->key = pprof_text(pprof, key);
	label->str = pprof_text(pprof, value);
	sample->n_label++;
}

/* Adds the location of a place to the current chain, after those of its callees. */
static int add_location(struct pprof_writer *pprof, uint32_t place)
{
	const int ret = need_place(pprof, place);

	return ret ? ret :
		     PUSH(pprof->chain, pprof->chain_room, pprof->nr_chain,
			  pprof->places.of[place]);
}

static int add_locations(struct pprof_writer *pprof, const struct sample *of)
{
	const struct chain_context *callers = pprof->samples->callers.all;
	uint32_t at = of->callers;
	int ret;

	pprof->nr_chain = 0;
	ret = add_location(pprof, of->place);
	for (; !ret && at; at = callers[at].parent)
		ret = add_location(pprof, callers[at].frame);
	return ret;
}

static void put_sample(struct pprof_writer *pprof, const struct sample *of)
{
	const struct texts *values = &pprof->samples->values;
	const struct sample_process *process = &pprof->samples->processes[of->process];
	const struct resource *resource = pprof->resource;
	Pprof__Label all[LABELS_MAX], *labels[LABELS_MAX];
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples = &sample;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	int64_t numbers[SAMPLE_VALUES] = { 0 };
	size_t i;

	for (i = pprof->own; i < pprof->own + 2; i++)
		numbers[i - pprof->first] = export_clamp(sample_number(of, i));

	for (i = 0; i < LABELS_MAX; i++)
		labels[i] = &all[i];
	sample.label = labels;
	for (i = 0; resource && i < resource->nr_labels; i++)
		add_label(pprof, &sample, i ? resource->all[i].key : "service",
			  resource->texts.all[resource->all[i].value]);
	add_label(pprof, &sample, "target", pprof->target);
	add_label(pprof, &sample, "cgroup", pprof->cgroup);
	add_label(pprof, &sample, "pid", values->all[process->pid]);
	add_label(pprof, &sample, "process", values->all[process->name]);
	sample.n_location_id = pprof->nr_chain;
	sample.location_id = pprof->chain;
	sample.n_value = pprof->nr_values;
	sample.value = numbers;
	part.n_sample = 1;
	part.sample = &samples;
	pprof_put(pprof, &part);
}

static int put_samples(struct pprof_writer *pprof, const struct sample_service *service)
{
	const struct sample *sample = &pprof->samples->all[service->first];
	size_t i;
	int ret = 0;

	pprof->own = samples_first_value(pprof->samples, service);
	for (i = 0; !ret && !ferror(pprof->stream) && i < service->nr; i++, sample++) {
		ret = add_locations(pprof, sample);
		if (!ret)
			put_sample(pprof, sample);
	}
	return ret;
}

static int put_named(struct pprof_writer *pprof, const struct sample_service *service)
{
	struct resource resource;
	int ret = resource_of(&resource, pprof->samples, service);

	if (!ret) {
		pprof->resource = &resource;
		pprof->cgroup = resource.texts.all[texts_add(&resource.texts, service->cgroup)];
		ret = put_samples(pprof, service);
	}
	resource_free(&resource);
	return ret;
}

/*
 * Writes the types of values, the period, and the time of the profile. A file of one service has
 * its two values; else those of ticks, and of waits if there are any. CPU time is shown first;
 * without it, the time of waits.
 */
static void put_pprof_head(struct pprof_writer *pprof, const struct sample_service *service,
			   uint64_t period_ns)
{
	const struct samples *samples = pprof->samples;
	Pprof__ValueType values[SAMPLE_VALUES], *types[SAMPLE_VALUES];
	Pprof__Profile part = PPROF__PROFILE__INIT;
	size_t i;

	pprof->first = service ? samples_first_value(samples, service) : SAMPLE_TICKS;
	pprof->nr_values = 2;
	for (i = 1; !service && i < samples->nr_services; i++)
		if (samples_first_value(samples, &samples->services[i]) == SAMPLE_OFF_CPU)
			pprof->nr_values = SAMPLE_VALUES;
	for (i = 0; i < pprof->nr_values; i++) {
		types[i] = &values[i];
		pprof__value_type__init(&values[i]);
		values[i].type = pprof_text(pprof, sample_value_names[pprof->first + i].type);
		values[i].unit = pprof_text(pprof, sample_value_names[pprof->first + i].unit);
	}
	part.n_sample_type = pprof->nr_values;
	part.sample_type = types;
	part.period_type = types[pprof->first == SAMPLE_TICKS];
	part.default_sample_type = part.period_type->type;
	part.period = export_clamp(period_ns);
	part.time_nanos = export_start_ns(samples->profile);
	part.duration_nanos = export_clamp(samples->profile->duration_ns);
	pprof_put(pprof, &part);
}

static int put_services(struct pprof_writer *pprof, const struct sample_service *service)
{
	const struct profile *profile = pprof->samples->profile;
	size_t i;
	int ret = 0;

	put_pprof_head(pprof, service,
		       profile_target_period(profile, service ? service->target : 0));
	if (profile_is_of_host(profile) && (!service || !service->cgroup))
		put_host(pprof);
	if (service)
		ret = put_samples(pprof, service);
	for (i = 1; !service && !ret && i < pprof->samples->nr_services; i++)
		ret = put_named(pprof, &pprof->samples->services[i]);
	return ret ? ret : pprof->texts.error;
}

/* Whether the file is COMMAND, or the target of its link, as python3.11 of python3. */
static bool is_command(const struct profile *profile, const struct profile_object *object)
{
	const char *name, *base = profile_object_base(object);
	size_t length;

	if (!profile->command || !profile->command[0])
		return false;
	name = text_basename(profile->command[0]);
	length = strlen(name);
	return length && !strncmp(base, name, length) &&
	       !base[length + strspn(base + length, "0123456789.-")];
}

/* pprof calls the first mapping the main binary: use COMMAND, else the hottest file. */
static int need_main_file(struct pprof_writer *pprof)
{
	const struct samples *samples = pprof->samples;
	const struct profile *profile = samples->profile;
	cleanup_free uint64_t *ticks = calloc(profile->nr_objects + 1, sizeof(*ticks));
	uint32_t found = 0, object, i;
	bool commands = false, is;
	uint64_t most = 0;
	size_t j;

	if (!ticks)
		return -ENOMEM;
	for (j = 0; j < samples->nr; j++)
		ticks[samples->mappings[samples->places[samples->all[j].place].mapping].object] +=
			samples->all[j].ticks;
	for (i = 1; i < samples->nr_mappings; i++) {
		object = samples->mappings[i].object;
		is = is_command(profile, &profile->objects[object]);
		if (profile->objects[object].kind != PROFILE_FILE || is < commands ||
		    (is == commands && ticks[object] <= most))
			continue;
		commands = is;
		most = ticks[object];
		found = i;
	}
	need_mapping(pprof, found, false);
	return 0;
}

static int put_file(struct pprof_writer *pprof)
{
	const struct samples *samples = pprof->samples;
	const struct profile_target *target;
	size_t i;
	int ret = 0;

	put_pprof_head(pprof, NULL, samples->profile->sampling.period_ns);
	put_comments(pprof);
	if (profile_is_of_host(samples->profile))
		put_host(pprof);
	else
		ret = need_main_file(pprof);
	for (i = 1; !ret && i < samples->nr_services; i++) {
		target = &samples->profile->targets[samples->services[i].target];
		pprof->target = *target->name ? target->name : target->kind;
		/* If the profile is not split, all ticks are in the target's own cgroup. */
		pprof->cgroup = samples->services[i].cgroup == target->cgroup ?
					NULL :
					samples->services[i].cgroup;
		ret = put_samples(pprof, &samples->services[i]);
	}
	return ret ? ret : pprof->texts.error;
}

static int write_pprof(const struct samples *samples, bool is_file,
		       const struct sample_service *service, FILE *stream)
{
	struct pprof_writer pprof = { .samples = samples, .is_file = is_file, .stream = stream };
	int ret = texts_begin(&pprof.texts);

	if (!ret)
		pprof_text(&pprof, "");
	pprof.functions.of = calloc(samples->nr_functions, sizeof(uint32_t));
	pprof.mappings.of = calloc(samples->nr_mappings, sizeof(uint32_t));
	pprof.places.of = calloc(samples->nr_places, sizeof(uint32_t));
	if (!ret && pprof.functions.of && pprof.mappings.of && pprof.places.of)
		ret = is_file ? put_file(&pprof) : put_services(&pprof, service);
	else
		ret = -ENOMEM;
	free(pprof.functions.of);
	free(pprof.mappings.of);
	free(pprof.places.of);
	free(pprof.chain);
	texts_end(&pprof.texts);
	return ret;
}

int samples_write_pprof(const struct samples *samples, const struct sample_service *service,
			FILE *stream)
{
	return write_pprof(samples, false, service, stream);
}

int export_pprof(const struct profile *profile, const struct export_options *options, FILE *stream,
		 struct error *err)
{
	struct export_options exact = *options;
	struct samples samples;
	int ret;

	exact.detail = EXPORT_ADDRESS;
	exact.binned_only = true;
	exact.waits = true;
	ret = samples_build(&samples, profile, &exact, err);
	if (!ret) {
		errno = 0;
		ret = write_pprof(&samples, true, NULL, stream);
		ret = ret ? error_errno(err, ret, "pprof") : export_end(stream, "pprof", err);
	}
	samples_free(&samples);
	return ret;
}
