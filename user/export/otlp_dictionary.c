// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "export/export_impl.h"
#include "export/otlp.h"

static const char *const keys[OTLP_NR_ATTRIBUTES] = {
	[OTLP_BUILD_ID] = "process.executable.build_id.gnu",
	[OTLP_PID] = "process.pid",
	[OTLP_PROCESS_NAME] = "process.executable.name",
	[OTLP_FRAME_TYPE] = "profile.frame.type",
};

static const char *const frame_types[] = { [PLACE_USER] = "native", [PLACE_KERNEL] = "kernel" };

void otlp_put(const Otlp__Request *part, FILE *stream)
{
	export_message(&part->base, stream);
}

void otlp_set_value(Otlp__AnyValue *value, const char *text)
{
	otlp__any_value__init(value);
	value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value->string_value = (char *)text;
}

int otlp_attributes_begin(struct otlp_attributes *attributes, struct samples *samples)
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

void otlp_attributes_end(struct otlp_attributes *attributes)
{
	size_t i;

	for (i = 0; i < OTLP_NR_ATTRIBUTES; i++)
		free(attributes->numbers[i]);
	free(attributes->all);
	free(attributes->values);
}

int32_t otlp_attribute(struct otlp_attributes *attributes, enum otlp_attribute_key key,
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
	otlp_put(&part, stream);
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

int otlp_put_dictionary(struct samples *samples, struct otlp_attributes *attributes,
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
