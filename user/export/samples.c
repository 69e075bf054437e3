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

/* A table whose entries differ. Number 0 is not in its index. */
struct sample_table {
	void **all;
	size_t *nr, *room;
	size_t size; /* of an entry */
	struct hash_index *index;
	uint64_t (*hash)(const struct samples *samples, const void *entry);
	bool (*same)(const struct samples *samples, const void *a, const void *b);
};

static uint32_t *slot_of(const struct samples *samples, const struct sample_table *table,
			 const void *entry)
{
	return HASH_SLOT(table->index, table->hash(samples, entry), i,
			 table->same(samples, (char *)*table->all + i * table->size, entry));
}

/* Returns the number of an entry, which is added if it is new; 0: out of memory. */
static uint32_t number_of(struct samples *samples, const struct sample_table *table,
			  const void *entry)
{
	uint32_t *slot, number;

	if (HASH_RESERVE(table->index, *table->nr + 1, i, 1, *table->nr,
			 slot_of(samples, table, (char *)*table->all + i * table->size))) {
		samples_fail(samples);
		return 0;
	}
	slot = slot_of(samples, table, entry);
	if (*slot)
		return *slot - 1;
	number = append_element(samples, table->all, table->nr, table->room, entry, table->size);
	*slot = number ? number + 1 : 0;
	return number;
}

/* The same, for a table whose functions are hash_KIND() and same_KIND(). */
#define NUMBER(samples, member, kind, entry)                                                       \
	number_of((samples),                                                                       \
		  &(struct sample_table){ (void **)&(samples)->member, &(samples)->nr_##member,    \
					  &(samples)->member##_room, sizeof(*(samples)->member),   \
					  &(samples)->member##_index, hash_##kind, same_##kind },  \
		  (entry))

/* Entries of plain numbers are identified by their first bytes. */
#define PLAIN_ENTRY(kind, key)                                                                     \
	static uint64_t hash_##kind(const struct samples *samples, const void *entry)              \
	{                                                                                          \
		(void)samples;                                                                     \
		return hash_bytes(HASH_BEGIN, entry, key);                                         \
	}                                                                                          \
	static bool same_##kind(const struct samples *samples, const void *a, const void *b)       \
	{                                                                                          \
		(void)samples;                                                                     \
		return !memcmp(a, b, key);                                                         \
	}

PLAIN_ENTRY(function, sizeof(struct sample_function))
PLAIN_ENTRY(mapping, offsetof(struct sample_mapping, object))
PLAIN_ENTRY(process, sizeof(struct sample_process))

uint32_t samples_function(struct samples *samples, const char *name, const char *file)
{
	const struct sample_function function = { .name = texts_add(&samples->texts, name),
						  .file = texts_add(&samples->texts, file) };

	return NUMBER(samples, functions, function, &function);
}

uint32_t samples_mapping_of(struct samples *samples, const char *path, const char *build_id,
			    const struct profile_text *text, uint32_t object)
{
	const struct sample_mapping mapping = { .file = texts_add(&samples->texts, path),
						.build_id = texts_add(&samples->values, build_id),
						.text = *text,
						.object = object };

	return NUMBER(samples, mappings, mapping, &mapping);
}

uint32_t samples_mapping(struct samples *samples, uint32_t object, const struct profile_text *text)
{
	const struct profile_object *of = &samples->profile->objects[object];

	return samples_mapping_of(samples, of->path, of->build_id, text, object);
}

uint32_t samples_process_of(struct samples *samples, const char *pid, const char *name)
{
	const struct sample_process process = { .pid = texts_add(&samples->values, pid),
						.name = texts_add(&samples->values, name) };

	return NUMBER(samples, processes, process, &process);
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

static uint64_t hash_service(const struct samples *samples, const void *entry)
{
	const struct sample_service *service = entry;
	const char *cgroup = service->cgroup ?: "";

	(void)samples;
	return hash_bytes(hash_bytes(HASH_BEGIN, &service->target, sizeof(service->target)), cgroup,
			  strlen(cgroup));
}

static bool same_service(const struct samples *samples, const void *left, const void *right)
{
	const struct sample_service *a = left, *b = right;

	(void)samples;
	return a->target == b->target && !compare_text(a->cgroup, b->cgroup);
}

uint32_t samples_service(struct samples *samples, uint32_t target, const char *cgroup)
{
	struct sample_service service = { .target = target };

	service.cgroup = cgroup ? cgroup : samples->profile->targets[target].cgroup;
	if (service.cgroup && !*service.cgroup)
		service.cgroup = NULL;
	return NUMBER(samples, services, service, &service);
}

/* The place with its lines, which are appended. */
static struct sample_place with_lines(struct samples *samples, const struct sample_place *place,
				      const struct sample_line *lines)
{
	struct sample_place added = *place;
	size_t i;

	added.first = samples->nr_lines;
	for (i = 0; i < place->nr; i++)
		APPEND(samples, lines, lines[i]);
	return added;
}

uint32_t samples_new_place(struct samples *samples, const struct sample_place *place,
			   const struct sample_line *lines)
{
	const struct sample_place added = with_lines(samples, place, lines);

	return APPEND(samples, places, added);
}

static uint64_t hash_place(const struct samples *samples, const void *entry)
{
	const struct sample_place *place = entry;
	const uint64_t key[] = { place->mapping, place->kind,
				 samples->exact_places ? place->address : 0 };

	return hash_bytes(hash_bytes(HASH_BEGIN, key, sizeof(key)), &samples->lines[place->first],
			  place->nr * sizeof(*samples->lines));
}

static bool same_place(const struct samples *samples, const void *left, const void *right)
{
	const struct sample_place *a = left, *b = right;

	return a->mapping == b->mapping && a->kind == b->kind && a->nr == b->nr &&
	       (!samples->exact_places || a->address == b->address) &&
	       !memcmp(&samples->lines[a->first], &samples->lines[b->first],
		       a->nr * sizeof(*samples->lines));
}

uint32_t samples_place(struct samples *samples, const struct sample_place *place,
		       const struct sample_line *lines)
{
	const struct sample_place wanted = with_lines(samples, place, lines);
	uint32_t number = 0;

	if (!samples->error)
		number = NUMBER(samples, places, place, &wanted);
	/* Another place has these lines already. */
	if (!number || samples->places[number].first != wanted.first)
		samples->nr_lines = wanted.first;
	return number;
}

void samples_add(struct samples *samples, const struct sample *sample)
{
	if ((sample->ticks || sample->ns || sample->waits) &&
	    PUSH(samples->all, samples->room, samples->nr, *sample))
		samples_fail(samples);
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

DEFINE_COMPARE_AS(compare_samples, struct sample,
		  compare_u64(a->service, b->service)	      ?:
			  compare_u64(a->place, b->place)     ?:
			  compare_u64(a->process, b->process) ?:
								compare_u64(a->callers, b->callers))

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
