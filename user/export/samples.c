// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The tables of samples: services, places, mappings and processes, without duplicates. */
#include "export/samples.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/samples_impl.h"
#include "profile/waits_view.h"

void samples_fail(struct samples *samples)
{
	samples->error = -ENOMEM;
}

int samples_error(const struct samples *samples)
{
	return samples->error | samples->texts.error | samples->values.error;
}

#define APPEND(samples, table, ...)                                                                \
	append_element(samples, (void **)&(samples)->table, &(samples)->nr_##table,                \
		       &(samples)->table##_room, &(__VA_ARGS__), sizeof(*(samples)->table))

/* Returns the new entry's number; 0: out of memory. */
static uint32_t append_element(struct samples *samples, void **array, size_t *nr, size_t *room,
			       const void *entry, size_t size)
{
	if (*nr >= INT32_MAX || grow(array, room, *nr + 1, size)) {
		samples_fail(samples);
		return 0;
	}
	memcpy((char *)*array + *nr * size, entry, size);
	return (uint32_t)(*nr)++;
}

static int widen(struct sample_index *index)
{
	const size_t room = index->room ? index->room * 2 : 64;
	struct sample_slot *slots = calloc(room, sizeof(*slots));
	size_t i, at;

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < index->room; i++) {
		if (!index->slots[i].number)
			continue;
		for (at = index->slots[i].hash & (room - 1); slots[at].number;)
			at = (at + 1) & (room - 1);
		slots[at] = index->slots[i];
	}
	free(index->slots);
	index->slots = slots;
	index->room = room;
	return 0;
}

/* Whether the entry with this number is the wanted one. */
typedef bool (*same_entry)(const struct samples *samples, uint32_t number, const void *wanted);

/* Returns the slot of an entry, with number 0 if it is new. NULL: out of memory. */
static struct sample_slot *slot_of(struct samples *samples, struct sample_index *index,
				   uint64_t hash, same_entry same, const void *wanted)
{
	const uint32_t folded = (uint32_t)(hash ^ hash >> 32);
	struct sample_slot *slot;
	size_t at;

	if (index->nr >= index->room / 2 && widen(index)) {
		samples_fail(samples);
		return NULL;
	}
	for (at = folded & (index->room - 1);; at = (at + 1) & (index->room - 1)) {
		slot = &index->slots[at];
		if (!slot->number)
			break;
		if (slot->hash == folded && same(samples, slot->number, wanted))
			return slot;
	}
	slot->hash = folded;
	index->nr++;
	return slot;
}

/* An entry of plain numbers, identified by its first `key` bytes. */
struct plain_entry {
	const void *table;
	size_t size; /* of an entry */
	const void *entry;
	size_t key;
};

static bool same_plain(const struct samples *samples, uint32_t number, const void *wanted)
{
	const struct plain_entry *plain = wanted;

	(void)samples;
	return !memcmp((const char *)plain->table + number * plain->size, plain->entry, plain->key);
}

/* Returns the number of such an entry, and adds it if it is new. */
#define NUMBER(samples, table, key, entry)                                                         \
	({                                                                                         \
		const struct plain_entry plain = { (samples)->table, sizeof(entry), &(entry),      \
						   key };                                          \
		struct sample_slot *slot = slot_of(samples, &(samples)->table##_index,             \
						   hash_bytes(HASH_BEGIN, &(entry), key),          \
						   same_plain, &plain);                            \
		if (slot && !slot->number)                                                         \
			slot->number = APPEND(samples, table, entry);                              \
		slot ? slot->number : 0;                                                           \
	})

uint32_t samples_function(struct samples *samples, const char *name, const char *file)
{
	struct sample_function function = { .name = texts_add(&samples->texts, name),
					    .file = texts_add(&samples->texts, file) };

	return NUMBER(samples, functions, sizeof(function), function);
}

uint32_t samples_mapping_of(struct samples *samples, const char *path, const char *build_id,
			    const struct profile_text *text, uint32_t object)
{
	struct sample_mapping mapping = { .file = texts_add(&samples->texts, path),
					  .build_id = texts_add(&samples->values, build_id),
					  .text = *text,
					  .object = object };

	return NUMBER(samples, mappings, offsetof(struct sample_mapping, object), mapping);
}

uint32_t samples_mapping(struct samples *samples, uint32_t object, const struct profile_text *text)
{
	const struct profile_object *of = &samples->profile->objects[object];

	return samples_mapping_of(samples, of->path, of->build_id, text, object);
}

uint32_t samples_process_of(struct samples *samples, const char *pid, const char *name)
{
	struct sample_process process = { .pid = texts_add(&samples->values, pid),
					  .name = texts_add(&samples->values, name) };

	return NUMBER(samples, processes, sizeof(process), process);
}

uint32_t samples_process(struct samples *samples, const struct profile_histogram *histogram)
{
	char pid[24] = "";

	if (histogram->pid < 0 && !histogram->process)
		return 0;
	if (histogram->pid >= 0)
		snprintf(pid, sizeof(pid), "%" PRId64, histogram->pid);
	return samples_process_of(samples, pid, histogram->process);
}

static bool same_service(const struct samples *samples, uint32_t number, const void *wanted)
{
	const struct sample_service *a = &samples->services[number], *b = wanted;

	return a->target == b->target && !compare_text(a->cgroup, b->cgroup);
}

uint32_t samples_service(struct samples *samples, uint32_t target, const char *cgroup)
{
	struct sample_service service = { .target = target };
	struct sample_slot *slot;
	uint64_t hash;

	service.cgroup = cgroup ? cgroup : samples->profile->targets[target].cgroup;
	if (service.cgroup && !*service.cgroup)
		service.cgroup = NULL;
	hash = hash_bytes(HASH_BEGIN, &target, sizeof(target));
	if (service.cgroup)
		hash = hash_bytes(hash, service.cgroup, strlen(service.cgroup));
	slot = slot_of(samples, &samples->services_index, hash, same_service, &service);
	if (slot && !slot->number)
		slot->number = APPEND(samples, services, service);
	return slot ? slot->number : 0;
}

uint32_t samples_new_place(struct samples *samples, const struct sample_place *place,
			   const struct sample_line *lines)
{
	struct sample_place added = *place;
	size_t i;

	added.first = samples->nr_lines;
	for (i = 0; i < place->nr; i++)
		APPEND(samples, lines, lines[i]);
	return APPEND(samples, places, added);
}

struct wanted_place {
	const struct sample_place *place;
	const struct sample_line *lines;
	bool exact; /* compare the address too */
};

static bool same_place(const struct samples *samples, uint32_t number, const void *wanted)
{
	const struct wanted_place *to = wanted;
	const struct sample_place *a = &samples->places[number], *b = to->place;

	return a->mapping == b->mapping && a->kind == b->kind && a->nr == b->nr &&
	       (!to->exact || a->address == b->address) &&
	       !memcmp(&samples->lines[a->first], to->lines, a->nr * sizeof(*to->lines));
}

static uint32_t find_place(struct samples *samples, const struct wanted_place *wanted)
{
	const struct sample_place *place = wanted->place;
	const uint64_t key[] = { place->mapping, place->kind, wanted->exact ? place->address : 0 };
	uint64_t hash = hash_bytes(HASH_BEGIN, key, sizeof(key));
	struct sample_slot *slot;

	hash = hash_bytes(hash, wanted->lines, place->nr * sizeof(*wanted->lines));
	slot = slot_of(samples, &samples->places_index, hash, same_place, wanted);
	if (slot && !slot->number)
		slot->number = samples_new_place(samples, place, wanted->lines);
	return slot ? slot->number : 0;
}

uint32_t samples_place(struct samples *samples, const struct sample_place *place,
		       const struct sample_line *lines)
{
	return find_place(samples, &(struct wanted_place){ place, lines, false });
}

uint32_t samples_exact_place(struct samples *samples, const struct sample_place *place,
			     const struct sample_line *lines)
{
	return find_place(samples, &(struct wanted_place){ place, lines, true });
}

void samples_add(struct samples *samples, const struct sample *sample)
{
	if (!sample->ticks && !sample->ns && !sample->waits)
		return;
	if (GROW(samples->all, samples->room, samples->nr + 1))
		samples_fail(samples);
	else
		samples->all[samples->nr++] = *sample;
}

/* The OpenTelemetry specification has these names, too. */
const struct sample_value_name sample_value_names[SAMPLE_VALUES] = {
	[SAMPLE_TICKS] = { "samples", "count" },
	[SAMPLE_CPU] = { "cpu", "nanoseconds" },
	[SAMPLE_OFF_CPU] = { "off_cpu", "nanoseconds" },
	[SAMPLE_WAITS] = { "waits", "count" },
};

enum sample_value samples_first_value(const struct samples *samples,
				      const struct sample_service *service)
{
	return samples->profile->targets[service->target].waits ? SAMPLE_OFF_CPU : SAMPLE_TICKS;
}

uint64_t sample_number(const struct sample *sample, enum sample_value value)
{
	return value == SAMPLE_CPU   ? sample->ns :
	       value == SAMPLE_WAITS ? sample->waits :
				       sample->ticks;
}

static int compare_sample_labels(const void *left, const void *right)
{
	const struct profile_label *const *a = left, *const *b = right;
	int order = compare_text((*a)->cgroup, (*b)->cgroup);

	/* Keeps the order of the file. */
	return order ? order : (*a > *b) - (*a < *b);
}

static int sort_labels(struct samples *samples)
{
	const struct profile *profile = samples->profile;
	size_t i;

	samples->labels = calloc(profile->nr_labels + 1, sizeof(*samples->labels));
	if (!samples->labels)
		return -ENOMEM;
	for (i = 0; i < profile->nr_labels; i++)
		samples->labels[i] = &profile->labels[i];
	SORT(samples->labels, profile->nr_labels, compare_sample_labels);
	return 0;
}

int samples_begin(struct samples *samples, const struct profile *profile)
{
	*samples = (struct samples){ .profile = profile };
	samples->error = texts_begin(&samples->texts) | texts_begin(&samples->values) |
			 sort_labels(samples);
	APPEND(samples, functions, (struct sample_function){ 0 });
	APPEND(samples, lines, (struct sample_line){ 0 });
	APPEND(samples, mappings, (struct sample_mapping){ 0 });
	APPEND(samples, places, (struct sample_place){ 0 });
	APPEND(samples, processes, (struct sample_process){ 0 });
	APPEND(samples, services, (struct sample_service){ 0 });
	return samples_error(samples);
}

void samples_free(struct samples *samples)
{
	if (samples->view)
		waits_view_close(samples->view);
	free(samples->view);
	free(samples->labels);
	free(samples->functions);
	free(samples->lines);
	free(samples->mappings);
	free(samples->places);
	free(samples->processes);
	free(samples->services);
	free(samples->all);
	chain_tree_free(&samples->callers);
	free(samples->functions_index.slots);
	free(samples->mappings_index.slots);
	free(samples->places_index.slots);
	free(samples->processes_index.slots);
	free(samples->services_index.slots);
	texts_end(&samples->texts);
	texts_end(&samples->values);
}

static int compare_samples(const void *left, const void *right)
{
	const struct sample *a = left, *b = right;
	int order = compare_u64(a->service, b->service) ?: compare_u64(a->place, b->place);

	return order ?: compare_u64(a->process, b->process) ?: compare_u64(a->callers, b->callers);
}

static void count_values(struct samples *samples)
{
	struct sample_service *service;
	size_t i;

	for (i = 0; i < samples->nr; i++) {
		service = &samples->services[samples->all[i].service];
		if (!service->nr++)
			service->first = i;
	}
}

static void add_up_samples(void *first, const void *equal)
{
	struct sample *sum = first;
	const struct sample *sample = equal;

	sum->ticks = add_saturating(sum->ticks, sample->ticks);
	sum->ns = add_saturating(sum->ns, sample->ns);
	sum->waits = add_saturating(sum->waits, sample->waits);
}

void samples_settle(struct samples *samples)
{
	samples->nr = COMBINE(samples->all, samples->nr, compare_samples, add_up_samples);
	count_values(samples);
}
