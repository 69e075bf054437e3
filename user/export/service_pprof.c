// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/samples.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "export/export_impl.h"
#include "export/pprof_stream.h"
#include "export/resource.h"
#include "profile/profile_weights.h"

/* The ids in pprof of one of our tables: from 1 on, in the order of first use, as Parca wants them. */
struct pprof_ids {
	uint32_t *of; /* by our number; 0: not used yet */
	uint32_t last;
};

/* Returns whether it is the first use of a number, which then has an id. */
static bool new_id(struct pprof_ids *ids, uint32_t number)
{
	if (ids->of[number])
		return false;
	ids->of[number] = ++ids->last;
	return true;
}

struct service_pprof {
	struct pprof_stream out;
	const struct samples *samples;
	const struct resource *resource; /* of the samples at hand, where they are of several */
	const char *cgroup;
	struct pprof_ids functions;
	struct pprof_ids mappings;
	struct pprof_ids places;
};

static int64_t text(struct service_pprof *pprof, uint32_t number)
{
	return pprof_shared_text(&pprof->out, pprof->samples->texts.all[number]);
}

static void put_service_head(struct service_pprof *pprof, const struct sample_service *service)
{
	const struct profile *profile = pprof->samples->profile;

	pprof_put_head(&pprof->out, profile,
		       profile_target_period(profile, service ? service->target : 0));
}

static void need_mapping(struct service_pprof *pprof, uint32_t number, bool hidden)
{
	const struct sample_mapping *of = &pprof->samples->mappings[number];
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *mappings = &mapping;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	if (!number || !new_id(&pprof->mappings, number))
		return;
	mapping.id = pprof->mappings.of[number];
	if (!hidden) {
		mapping.memory_start = of->text.address;
		mapping.memory_limit = of->text.address + of->text.size;
		mapping.file_offset = of->text.offset;
	}
	mapping.filename = text(pprof, of->file);
	mapping.build_id = pprof_shared_text(&pprof->out, pprof->samples->values.all[of->build_id]);
	mapping.has_functions = true;
	mapping.has_filenames = true;
	mapping.has_line_numbers = true;
	mapping.has_inline_frames = true;
	part.n_mapping = 1;
	part.mapping = &mappings;
	pprof_put(&pprof->out, &part);
}

static void need_function(struct service_pprof *pprof, uint32_t number)
{
	const struct sample_function *of = &pprof->samples->functions[number];
	Pprof__Function function = PPROF__FUNCTION__INIT, *functions = &function;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	if (!new_id(&pprof->functions, number))
		return;
	function.id = pprof->functions.of[number];
	function.name = text(pprof, of->name);
	function.filename = text(pprof, of->file);
	part.n_function = 1;
	part.function = &functions;
	pprof_put(&pprof->out, &part);
}

static int need_place(struct service_pprof *pprof, uint32_t number)
{
	const struct sample_place *of = &pprof->samples->places[number];
	cleanup_free Pprof__Line *lines = calloc(of->nr, sizeof(*lines));
	cleanup_free Pprof__Line **all = calloc(of->nr, sizeof(*all));
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
	for (i = 0; i < of->nr; i++) {
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
	location.n_line = of->nr;
	location.line = all;
	part.n_location = 1;
	part.location = &locations;
	pprof_put(&pprof->out, &part);
	return 0;
}

static void add_service_label(struct service_pprof *pprof, Pprof__Sample *sample, const char *key,
			      const char *value)
{
	Pprof__Label *label = sample->label[sample->n_label];

	if (!value || !*value)
		return;
	pprof__label__init(label);
	label->key = pprof_shared_text(&pprof->out, key);
	label->str = pprof_shared_text(&pprof->out, value);
	sample->n_label++;
}

static void put_service_sample(struct service_pprof *pprof, const struct sample *of)
{
	const struct texts *values = &pprof->samples->values;
	const struct sample_process *process = &pprof->samples->processes[of->process];
	const struct resource *resource = pprof->resource;
	Pprof__Label all[RESOURCE_ATTRIBUTES_MAX + 4], *labels[RESOURCE_ATTRIBUTES_MAX + 4];
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples = &sample;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	int64_t numbers[2] = { export_clamp(of->ticks), export_clamp(of->ns) };
	uint64_t place = pprof->places.of[of->place];
	size_t i;

	for (i = 0; i < RESOURCE_ATTRIBUTES_MAX + 4; i++)
		labels[i] = &all[i];
	sample.label = labels;
	for (i = 0; resource && i < resource->nr_labels; i++)
		add_service_label(pprof, &sample, i ? resource->all[i].key : "service",
				  resource->texts.all[resource->all[i].value]);
	add_service_label(pprof, &sample, "cgroup", pprof->cgroup);
	add_service_label(pprof, &sample, "pid", values->all[process->pid]);
	add_service_label(pprof, &sample, "process", values->all[process->name]);
	sample.n_location_id = 1;
	sample.location_id = &place;
	sample.n_value = 2;
	sample.value = numbers;
	part.n_sample = 1;
	part.sample = &samples;
	pprof_put(&pprof->out, &part);
}

static int put_service_samples(struct service_pprof *pprof, const struct sample_service *service)
{
	const struct sample *sample = &pprof->samples->all[service->first];
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < service->nr; i++, sample++) {
		ret = need_place(pprof, sample->place);
		put_service_sample(pprof, sample);
	}
	return ret;
}

static int put_named(struct service_pprof *pprof, const struct sample_service *service)
{
	struct resource resource;
	int ret = resource_of(&resource, pprof->samples, service);

	if (!ret) {
		pprof->resource = &resource;
		pprof->cgroup = resource.texts.all[texts_add(&resource.texts, service->cgroup)];
		ret = put_service_samples(pprof, service);
	}
	resource_free(&resource);
	return ret;
}

static int put_service_pprof(struct service_pprof *pprof, const struct sample_service *service)
{
	size_t i;
	int ret = 0;

	put_service_head(pprof, service);
	if (profile_is_of_host(pprof->samples->profile) && (!service || !service->cgroup))
		pprof_put_host(&pprof->out, pprof->samples->profile, ++pprof->mappings.last);
	if (service)
		ret = put_service_samples(pprof, service);
	for (i = 1; !service && !ret && i < pprof->samples->nr_services; i++)
		ret = put_named(pprof, &pprof->samples->services[i]);
	return ret ? ret : pprof->out.error;
}

int service_pprof_write(const struct samples *samples, const struct sample_service *service,
			FILE *stream)
{
	struct service_pprof pprof = { .samples = samples };
	int ret = pprof_stream_begin(&pprof.out, stream);

	pprof.functions.of = calloc(samples->nr_functions, sizeof(uint32_t));
	pprof.mappings.of = calloc(samples->nr_mappings, sizeof(uint32_t));
	pprof.places.of = calloc(samples->nr_places, sizeof(uint32_t));
	if (!ret && pprof.functions.of && pprof.mappings.of && pprof.places.of)
		ret = put_service_pprof(&pprof, service);
	else
		ret = -ENOMEM;
	free(pprof.functions.of);
	free(pprof.mappings.of);
	free(pprof.places.of);
	pprof_stream_end(&pprof.out);
	return ret;
}
