// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Writes OpenTelemetry's profiles: a resource for each service, with a profile of counts, and one
 * of CPU time if the scheduler's is known; or of waits, one of their time and one of their number.
 * They share the tables of one dictionary. A request is written in parts: repeated fields are
 * appended to those of earlier parts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/export_impl.h"
#include "export/resource.h"
#include "export/samples.h"
#include "profile/profile_weights.h"

#include "otlp.pb-c.h"

/* --- the dictionary --- */

/* Attributes of mappings, places and samples. */
enum otlp_attribute_key {
	OTLP_BUILD_ID,
	OTLP_PID,
	OTLP_PROCESS_NAME,
	OTLP_FRAME_TYPE,
	OTLP_NR_ATTRIBUTES,
};

static const char *const keys[OTLP_NR_ATTRIBUTES] = {
	[OTLP_BUILD_ID] = "process.executable.build_id.gnu",
	[OTLP_PID] = "process.pid",
	[OTLP_PROCESS_NAME] = "process.executable.name",
	[OTLP_FRAME_TYPE] = "profile.frame.type",
};

static const char *const frame_types[] = { [PLACE_USER] = "native", [PLACE_KERNEL] = "kernel" };

/* The dictionary's table of attributes, without duplicates. */
struct otlp_attributes {
	struct samples *samples;
	int32_t *numbers[OTLP_NR_ATTRIBUTES]; /* by number of the text; 0: none yet */
	Otlp__KeyValueAndUnit *all;
	Otlp__AnyValue *values;
	size_t nr;
	size_t room;
};

static void otlp_set_value(Otlp__AnyValue *value, const char *text)
{
	otlp__any_value__init(value);
	value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value->string_value = (char *)text;
}

/*
 * Call it after adding the last of the samples' values, and otlp_attributes_end() in any case.
 * Returns 0 or -ENOMEM.
 */
static int otlp_attributes_begin(struct otlp_attributes *attributes, struct samples *samples)
{
	size_t i, room;

	/* No place may have added them yet. */
	texts_add(&samples->values, frame_types[PLACE_USER]);
	texts_add(&samples->values, frame_types[PLACE_KERNEL]);
	room = OTLP_NR_ATTRIBUTES * samples->values.nr + 1;
	*attributes = (struct otlp_attributes){ .samples = samples, .nr = 1, .room = room };
	if (samples->values.error)
		return -ENOMEM;
	attributes->all = calloc(room, sizeof(*attributes->all));
	attributes->values = calloc(room, sizeof(*attributes->values));
	for (i = 0; i < OTLP_NR_ATTRIBUTES; i++) {
		attributes->numbers[i] = calloc(samples->values.nr, sizeof(int32_t));
		if (!attributes->numbers[i])
			return -ENOMEM;
	}
	if (!attributes->all || !attributes->values)
		return -ENOMEM;
	otlp__key_value_and_unit__init(&attributes->all[0]);
	return 0;
}

static void otlp_attributes_end(struct otlp_attributes *attributes)
{
	size_t i;

	for (i = 0; i < OTLP_NR_ATTRIBUTES; i++)
		free(attributes->numbers[i]);
	free(attributes->all);
	free(attributes->values);
}

/*
 * Returns the number of an attribute, by the number of its text in the samples' values; 0 for "".
 */
static int32_t otlp_attribute(struct otlp_attributes *attributes, enum otlp_attribute_key key,
			      uint32_t text)
{
	int32_t *number = &attributes->numbers[key][text];
	Otlp__KeyValueAndUnit *added = &attributes->all[attributes->nr];

	if (!text || *number)
		return *number;
	otlp__key_value_and_unit__init(added);
	added->key_strindex = (int32_t)texts_add(&attributes->samples->texts, keys[key]);
	added->value = &attributes->values[attributes->nr];
	otlp_set_value(added->value, attributes->samples->values.all[text]);
	return *number = (int32_t)attributes->nr++;
}

/* Messages of one kind, and pointers to them. */
struct table {
	char *all;
	void **pointers;
	size_t nr;
	size_t size;
};

static void *entry(const struct table *table, size_t i)
{
	return table->all + i * table->size;
}

static int table_new(struct table *table, size_t nr, const ProtobufCMessageDescriptor *kind)
{
	size_t i;

	*table = (struct table){ .all = calloc(nr, kind->sizeof_message),
				 .pointers = calloc(nr, sizeof(void *)),
				 .nr = nr,
				 .size = kind->sizeof_message };
	if (!table->all || !table->pointers)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		protobuf_c_message_init(kind, entry(table, i));
		table->pointers[i] = entry(table, i);
	}
	return 0;
}

static void table_free(struct table *table)
{
	free(table->all);
	free(table->pointers);
}

/* The parts of the dictionary. */
struct dictionary {
	const struct samples *samples;
	struct otlp_attributes *attributes;
	struct table mappings, places, stacks, functions, lines;
	Otlp__KeyValueAndUnit **table; /* of the attributes */
	const struct chain_tree *of_stacks;
	int32_t *places_of_stacks;
	int32_t *build_ids; /* by mapping: number of an attribute */
	int32_t frame_types[3]; /* by enum place_kind */
};

static void set_mappings(struct dictionary *dictionary)
{
	const struct sample_mapping *mapping;
	Otlp__Mapping *message;
	size_t i;

	for (i = 1; i < dictionary->samples->nr_mappings; i++) {
		mapping = &dictionary->samples->mappings[i];
		message = entry(&dictionary->mappings, i);
		message->memory_start = mapping->text.address;
		message->memory_limit = mapping->text.address + mapping->text.size;
		message->file_offset = mapping->text.offset;
		message->filename_strindex = (int32_t)mapping->file;
		dictionary->build_ids[i] =
			otlp_attribute(dictionary->attributes, OTLP_BUILD_ID, mapping->build_id);
		message->n_attribute_indices = dictionary->build_ids[i] != 0;
		message->attribute_indices = &dictionary->build_ids[i];
	}
}

static void set_functions(struct dictionary *dictionary)
{
	const struct samples *samples = dictionary->samples;
	Otlp__Function *function;
	Otlp__Line *line;
	size_t i;

	for (i = 1; i < samples->nr_functions; i++) {
		function = entry(&dictionary->functions, i);
		function->name_strindex = (int32_t)samples->functions[i].name;
		function->filename_strindex = (int32_t)samples->functions[i].file;
	}
	for (i = 1; i < samples->nr_lines; i++) {
		line = entry(&dictionary->lines, i);
		line->function_index = (int32_t)samples->lines[i].function;
		line->line = samples->lines[i].line;
	}
}

static void set_places(struct dictionary *dictionary)
{
	const struct sample_place *place;
	Otlp__Location *location;
	size_t i;

	for (i = 1; i < dictionary->samples->nr_places; i++) {
		place = &dictionary->samples->places[i];
		location = entry(&dictionary->places, i);
		location->mapping_index = (int32_t)place->mapping;
		location->address = place->address;
		location->n_lines = place->nr;
		location->lines = (Otlp__Line **)&dictionary->lines.pointers[place->first];
		location->n_attribute_indices = place->kind != PLACE_NONE;
		location->attribute_indices = &dictionary->frame_types[place->kind];
	}
}

/*
 * Returns the number of a stack's places, and writes them to *places, innermost first, unless it is
 * NULL.
 */
static size_t places_of(const struct dictionary *dictionary, size_t stack, int32_t *places)
{
	const struct chain_context *callers = dictionary->samples->callers.all;
	const struct chain_context *of = &dictionary->of_stacks->all[stack];
	uint32_t at = of->parent;
	size_t nr = 1;

	if (places)
		places[0] = (int32_t)of->frame;
	for (; at; at = callers[at].parent, nr++)
		if (places)
			places[nr] = (int32_t)callers[at].frame;
	return nr;
}

static int set_stacks(struct dictionary *dictionary)
{
	const size_t nr = dictionary->stacks.nr;
	Otlp__Stack *stack;
	size_t i, places = 0;

	for (i = 1; i < nr; i++)
		places += places_of(dictionary, i, NULL);
	dictionary->places_of_stacks = calloc(places + 1, sizeof(int32_t));
	if (!dictionary->places_of_stacks)
		return -ENOMEM;
	for (i = 1, places = 0; i < nr; i++) {
		stack = entry(&dictionary->stacks, i);
		stack->location_indices = &dictionary->places_of_stacks[places];
		stack->n_location_indices = places_of(dictionary, i, stack->location_indices);
		places += stack->n_location_indices;
	}
	return 0;
}

/* Only types in use belong in the table. */
static void set_frame_types(struct dictionary *dictionary)
{
	struct samples *samples = dictionary->attributes->samples;
	enum place_kind kind;
	size_t i;

	for (i = 1; i < samples->nr_places; i++) {
		kind = samples->places[i].kind;
		if (kind != PLACE_NONE && !dictionary->frame_types[kind])
			dictionary->frame_types[kind] =
				otlp_attribute(dictionary->attributes, OTLP_FRAME_TYPE,
					       texts_add(&samples->values, frame_types[kind]));
	}
}

static void put_tables(struct dictionary *dictionary, FILE *stream)
{
	const struct samples *samples = dictionary->samples;
	Otlp__Dictionary message = OTLP__DICTIONARY__INIT;
	Otlp__Request part = OTLP__REQUEST__INIT;
	Otlp__Link link = OTLP__LINK__INIT, *links = &link;

	message.n_mapping_table = dictionary->mappings.nr;
	message.mapping_table = (Otlp__Mapping **)dictionary->mappings.pointers;
	message.n_location_table = dictionary->places.nr;
	message.location_table = (Otlp__Location **)dictionary->places.pointers;
	message.n_stack_table = dictionary->stacks.nr;
	message.stack_table = (Otlp__Stack **)dictionary->stacks.pointers;
	message.n_function_table = dictionary->functions.nr;
	message.function_table = (Otlp__Function **)dictionary->functions.pointers;
	message.n_link_table = 1;
	message.link_table = &links;
	message.n_attribute_table = dictionary->attributes->nr;
	message.attribute_table = dictionary->table;
	message.n_string_table = samples->texts.nr;
	message.string_table = (char **)samples->texts.all;
	part.dictionary = &message;
	export_message(&part.base, stream);
}

static int make_tables(struct dictionary *dictionary)
{
	const struct samples *samples = dictionary->samples;
	const size_t nr_stacks = dictionary->of_stacks->nr ?: 1;
	const struct {
		struct table *table;
		size_t nr;
		const ProtobufCMessageDescriptor *kind;
	} tables[] = {
		{ &dictionary->mappings, samples->nr_mappings, &otlp__mapping__descriptor },
		{ &dictionary->places, samples->nr_places, &otlp__location__descriptor },
		{ &dictionary->stacks, nr_stacks, &otlp__stack__descriptor },
		{ &dictionary->functions, samples->nr_functions, &otlp__function__descriptor },
		{ &dictionary->lines, samples->nr_lines, &otlp__line__descriptor },
	};
	size_t i;
	int ret = 0;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		ret |= table_new(tables[i].table, tables[i].nr, tables[i].kind);
	dictionary->build_ids = calloc(samples->nr_mappings, sizeof(int32_t));
	return dictionary->build_ids ? ret : -ENOMEM;
}

static int fill_tables(struct dictionary *dictionary)
{
	size_t i;

	set_mappings(dictionary);
	set_functions(dictionary);
	set_frame_types(dictionary);
	set_places(dictionary);
	for (i = 0; i < dictionary->attributes->nr; i++)
		dictionary->table[i] = &dictionary->attributes->all[i];
	return set_stacks(dictionary);
}

static void free_tables(struct dictionary *dictionary)
{
	table_free(&dictionary->mappings);
	table_free(&dictionary->places);
	table_free(&dictionary->stacks);
	table_free(&dictionary->functions);
	table_free(&dictionary->lines);
	free(dictionary->table);
	free(dictionary->places_of_stacks);
	free(dictionary->build_ids);
}

/*
 * Writes the used parts of the tables. Therefore call it last. Stacks are pairs of a sample's
 * callers and place, numbered by chain_tree_child(). Returns 0 or -ENOMEM.
 */
static int otlp_put_dictionary(struct samples *samples, struct otlp_attributes *attributes,
			       const struct chain_tree *stacks, FILE *stream)
{
	struct dictionary dictionary = { .samples = samples,
					 .attributes = attributes,
					 .of_stacks = stacks };
	int ret = make_tables(&dictionary);

	dictionary.table = calloc(attributes->room, sizeof(*dictionary.table));
	if (!dictionary.table)
		ret = -ENOMEM;
	if (!ret)
		ret = fill_tables(&dictionary);
	/* Adding the last words may have failed, too. */
	if (!ret && (samples->texts.error || samples->values.error))
		ret = -ENOMEM;
	if (!ret)
		put_tables(&dictionary, stream);
	free_tables(&dictionary);
	return ret;
}

/* --- services --- */

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

/* A sample, and what it points to. */
struct message {
	Otlp__Sample sample;
	int64_t value;
	int32_t attributes[2];
};

/* The samples of a profile. */
struct messages {
	struct message *all;
	Otlp__Sample **samples;
	size_t nr;
};

static int messages_new(struct messages *messages, size_t nr)
{
	*messages = (struct messages){ .all = calloc(nr, sizeof(*messages->all)),
				       .samples = calloc(nr, sizeof(*messages->samples)) };
	return messages->all && messages->samples ? 0 : -ENOMEM;
}

static void messages_free(struct messages *messages)
{
	free(messages->all);
	free(messages->samples);
}

/*
 * Each sample gets one timestamp: backends make an event of each timestamp, and ignore samples
 * without one.
 */
static void add_message(struct otlp *otlp, struct messages *messages, const struct sample *sample,
			int64_t value)
{
	const struct sample_process *process = &otlp->samples->processes[sample->process];
	struct message *message = &messages->all[messages->nr];
	Otlp__Sample *added = messages->samples[messages->nr++] = &message->sample;

	otlp__sample__init(added);
	added->stack_index =
		(int32_t)chain_tree_child(&otlp->stacks, sample->callers, sample->place);
	if (!added->stack_index)
		otlp->error = -ENOMEM;
	added->attribute_indices = message->attributes;
	if (process->pid)
		message->attributes[added->n_attribute_indices++] =
			otlp_attribute(&otlp->attributes, OTLP_PID, process->pid);
	if (process->name)
		message->attributes[added->n_attribute_indices++] =
			otlp_attribute(&otlp->attributes, OTLP_PROCESS_NAME, process->name);
	message->value = value;
	added->n_values = 1;
	added->values = &message->value;
	added->n_timestamps_unix_nano = 1;
	added->timestamps_unix_nano = &otlp->start;
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
	export_message(&part.base, otlp->stream);
}

static void set_profile(struct otlp *otlp, const struct sample_service *service,
			enum sample_value value, const struct messages *messages,
			uint8_t id[PROFILE_ID_BYTES], Otlp__Profile *message)
{
	const bool of_waits = samples_first_value(otlp->samples, service) == SAMPLE_OFF_CPU;

	otlp__profile__init(message);
	message->sample_type = &otlp->types[value];
	message->n_samples = messages->nr;
	message->samples = messages->samples;
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
		ret = messages_new(&messages[0], service->nr) ?:
			      messages_new(&messages[1], service->nr);
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
