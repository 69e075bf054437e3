// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Writes OpenTelemetry's profiles: a resource for each service, with a profile of counts, and one
 * of CPU time if the scheduler's is known; or of waits, one of their time and one of their number.
 * They share the tables of one dictionary.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/export_impl.h"
#include "export/otlp.h"
#include "export/resource.h"
#include "export/samples.h"
#include "profile/profile_weights.h"

/* per sample */
#define SAMPLE_ATTRIBUTES 2

struct otlp {
	struct samples *samples;
	const struct profile *profile;
	FILE *stream;
	uint64_t start;
	uint64_t duration;
	Otlp__ValueType types[SAMPLE_VALUES];
	struct otlp_attributes attributes;
	struct chain_tree stacks; /* pairs of callers and a place, in the order of first use */
	int error; /* -ENOMEM */
};

/* The samples of a profile, in one allocation. */
struct messages {
	Otlp__Sample *samples;
	Otlp__Sample **all;
	int64_t *values;
	uint64_t *times;
	int32_t *attributes; /* SAMPLE_ATTRIBUTES for each sample */
	size_t nr;
};

static int messages_new(struct messages *messages, size_t nr)
{
	*messages = (struct messages){ .samples = calloc(nr, sizeof(*messages->samples)),
				       .all = calloc(nr, sizeof(*messages->all)),
				       .values = calloc(nr, sizeof(*messages->values)),
				       .times = calloc(nr, sizeof(*messages->times)),
				       .attributes = calloc(nr * SAMPLE_ATTRIBUTES,
							    sizeof(*messages->attributes)) };
	return messages->samples && messages->all && messages->values && messages->times &&
			       messages->attributes ?
		       0 :
		       -ENOMEM;
}

static void messages_free(struct messages *messages)
{
	free(messages->samples);
	free(messages->all);
	free(messages->values);
	free(messages->times);
	free(messages->attributes);
}

/*
 * Each sample gets one timestamp: backends make an event of each timestamp, and ignore samples
 * without one.
 */
static void add_message(struct otlp *otlp, struct messages *messages, const struct sample *sample,
			int64_t value)
{
	const struct sample_process *process = &otlp->samples->processes[sample->process];
	size_t i = messages->nr++;
	int32_t *attributes = &messages->attributes[i * SAMPLE_ATTRIBUTES];
	Otlp__Sample *message = messages->all[i] = &messages->samples[i];

	otlp__sample__init(message);
	message->stack_index =
		(int32_t)chain_tree_child(&otlp->stacks, sample->callers, sample->place);
	if (!message->stack_index)
		otlp->error = -ENOMEM;
	message->attribute_indices = attributes;
	if (process->pid)
		attributes[message->n_attribute_indices++] =
			otlp_attribute(&otlp->attributes, OTLP_PID, process->pid);
	if (process->name)
		attributes[message->n_attribute_indices++] =
			otlp_attribute(&otlp->attributes, OTLP_PROCESS_NAME, process->name);
	messages->values[i] = value;
	message->n_values = 1;
	message->values = &messages->values[i];
	messages->times[i] = otlp->start;
	message->n_timestamps_unix_nano = 1;
	message->timestamps_unix_nano = &messages->times[i];
}

static void fill_messages(struct otlp *otlp, const struct sample_service *service,
			  enum sample_value value, struct messages *messages)
{
	const struct sample *sample = &otlp->samples->all[service->first];
	size_t i;

	for (i = 0; i < service->nr; i++, sample++) {
		uint64_t of = sample_number(sample, value);

		if (of)
			add_message(otlp, messages, sample, export_clamp(of));
	}
}

static void set_attributes(struct resource *resource, Otlp__Resource *message,
			   Otlp__KeyValue pairs[], Otlp__KeyValue *all[], Otlp__AnyValue values[])
{
	size_t i;

	for (i = 0; i < resource->nr; i++) {
		otlp__key_value__init(&pairs[i]);
		pairs[i].key = (char *)resource->all[i].key;
		pairs[i].value = &values[i];
		otlp_set_value(&values[i], resource->texts.all[resource->all[i].value]);
		all[i] = &pairs[i];
	}
	message->n_attributes = resource->nr;
	message->attributes = all;
}

static void put_profiles(struct otlp *otlp, struct resource *resource, Otlp__Profile **profiles,
			 size_t nr)
{
	Otlp__KeyValue pairs[RESOURCE_ATTRIBUTES_MAX], *all[RESOURCE_ATTRIBUTES_MAX];
	Otlp__AnyValue values[RESOURCE_ATTRIBUTES_MAX];
	Otlp__Request part = OTLP__REQUEST__INIT;
	Otlp__ResourceProfiles of = OTLP__RESOURCE_PROFILES__INIT, *resources = &of;
	Otlp__ScopeProfiles in = OTLP__SCOPE_PROFILES__INIT, *scopes = &in;
	Otlp__Resource message = OTLP__RESOURCE__INIT;
	Otlp__Scope scope = OTLP__SCOPE__INIT;

	set_attributes(resource, &message, pairs, all, values);
	scope.name = (char *)"bpfprofil";
	scope.version = otlp->profile->tool ? otlp->profile->tool : (char *)"";
	in.scope = &scope;
	in.n_profiles = nr;
	in.profiles = profiles;
	of.resource = &message;
	of.n_scope_profiles = 1;
	of.scope_profiles = &scopes;
	part.n_resource_profiles = 1;
	part.resource_profiles = &resources;
	otlp_put(&part, otlp->stream);
}

static void set_profile(struct otlp *otlp, const struct sample_service *service,
			enum sample_value value, const struct messages *messages,
			uint8_t id[PROFILE_ID_BYTES], Otlp__Profile *message)
{
	const bool of_waits = samples_first_value(otlp->samples, service) == SAMPLE_OFF_CPU;

	otlp__profile__init(message);
	message->sample_type = &otlp->types[value];
	message->n_samples = messages->nr;
	message->samples = messages->all;
	message->time_unix_nano = otlp->start;
	message->duration_nano = otlp->duration;
	message->period_type = &otlp->types[of_waits ? SAMPLE_OFF_CPU : SAMPLE_CPU];
	message->period = export_clamp(profile_target_period(otlp->profile, service->target));
	resource_profile_id(otlp->samples, service, sample_value_names[value].type, id);
	message->profile_id.len = PROFILE_ID_BYTES;
	message->profile_id.data = id;
}

/* Without the scheduler's time, there is no profile of time: counts have a period. */
static void put_messages(struct otlp *otlp, const struct sample_service *service,
			 struct resource *resource, struct messages messages[2])
{
	const enum sample_value first = samples_first_value(otlp->samples, service);
	Otlp__Profile profiles[2], *all[2];
	uint8_t ids[2][PROFILE_ID_BYTES];
	enum sample_value value;
	size_t nr = 0;

	for (value = first; value < first + 2; value++) {
		if (value == SAMPLE_CPU && !otlp->profile->targets[service->target].cpu_known)
			continue;
		fill_messages(otlp, service, value, &messages[value - first]);
		if (!messages[value - first].nr)
			continue;
		set_profile(otlp, service, value, &messages[value - first], ids[nr], &profiles[nr]);
		all[nr] = &profiles[nr];
		nr++;
	}
	if (nr)
		put_profiles(otlp, resource, all, nr);
}

static int put_otlp_service(struct otlp *otlp, const struct sample_service *service)
{
	struct messages messages[2] = { 0 };
	struct resource resource;
	int ret = resource_of(&resource, otlp->samples, service);

	if (!ret)
		ret = messages_new(&messages[0], service->nr);
	if (!ret)
		ret = messages_new(&messages[1], service->nr);
	if (!ret)
		put_messages(otlp, service, &resource, messages);
	messages_free(&messages[0]);
	messages_free(&messages[1]);
	resource_free(&resource);
	return ret;
}

/* Whether any sample has such a value. Periods of ticks have the type "cpu", too. */
static bool has_value(const struct samples *samples, enum sample_value value)
{
	size_t i;

	for (i = 0; i < samples->nr; i++) {
		const struct sample *sample = &samples->all[i];
		const enum sample_value first =
			samples_first_value(samples, &samples->services[sample->service]);

		if (value == SAMPLE_CPU && first == SAMPLE_TICKS)
			return true;
		if (value - first < 2 && sample_number(sample, value))
			return true;
	}
	return false;
}

/* A table must not have unused texts. */
static void name_types(struct otlp *otlp)
{
	struct texts *texts = &otlp->samples->texts;
	enum sample_value value;

	for (value = 0; value < SAMPLE_VALUES; value++) {
		const struct sample_value_name *name = &sample_value_names[value];

		otlp__value_type__init(&otlp->types[value]);
		if (!has_value(otlp->samples, value))
			continue;
		otlp->types[value].type_strindex = (int32_t)texts_add(texts, name->type);
		otlp->types[value].unit_strindex = (int32_t)texts_add(texts, name->unit);
	}
}

int samples_write_otlp(struct samples *samples, FILE *stream)
{
	const struct profile *profile = samples->profile;
	/* Never empty, because the timestamp must be inside an interval. */
	struct otlp otlp = { .samples = samples,
			     .profile = profile,
			     .stream = stream,
			     .start = (uint64_t)export_start_ns(profile),
			     .duration = profile->duration_ns ? profile->duration_ns : 1 };
	size_t i;
	int ret = otlp_attributes_begin(&otlp.attributes, samples);

	name_types(&otlp);
	for (i = 1; !ret && i < samples->nr_services; i++)
		if (samples->services[i].nr)
			ret = put_otlp_service(&otlp, &samples->services[i]);
	ret |= otlp.error;
	if (!ret)
		ret = otlp_put_dictionary(samples, &otlp.attributes, &otlp.stacks, stream);
	otlp_attributes_end(&otlp.attributes);
	chain_tree_free(&otlp.stacks);
	return ret;
}

/* Requests are made in memory. A small profile with deep chains could need gigabytes. */
#define STACK_FRAMES_MAX (64 << 20)

static bool has_too_many_frames(const struct samples *samples)
{
	size_t i, nr = samples->nr;
	uint32_t at;

	for (i = 0; i < samples->nr && nr <= STACK_FRAMES_MAX; i++)
		for (at = samples->all[i].callers; at; at = samples->callers.all[at].parent)
			nr++;
	return nr > STACK_FRAMES_MAX;
}

int export_otlp(const struct profile *profile, const struct export_options *options, FILE *stream,
		struct error *err)
{
	struct export_options all = *options;
	struct samples samples;
	int ret;

	errno = 0;
	all.waits = true;
	ret = samples_build(&samples, profile, &all, err);
	if (!ret && has_too_many_frames(&samples))
		ret = error_with_hint(err, -E2BIG, "--target or --object, or --format pprof",
				      "otlp: more than %d frames in all stacks", STACK_FRAMES_MAX);
	if (!ret) {
		ret = samples_write_otlp(&samples, stream);
		ret = ret ? error_errno(err, ret, "otlp") : export_end(stream, "otlp", err);
	}
	samples_free(&samples);
	return ret;
}
