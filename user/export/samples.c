// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The tables: each service, place, mapping and process once. */
#include "export/samples.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/samples_impl.h"

/* The longest key is a line of numbers for FRAMES_MAX pairs. */
#define KEY_MAX 2048

void samples_fail(struct samples *samples)
{
	samples->error = -ENOMEM;
}

int samples_error(const struct samples *samples)
{
	return samples->error | samples->texts.error | samples->values.error;
}

/* A pointer to the number under a key, 0 if it is new. NULL: out of memory. */
static uint64_t *number_of(struct samples *samples, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static uint64_t *number_of(struct samples *samples, const char *format, ...)
{
	char key[KEY_MAX];
	const char *kept;
	uint64_t *number;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(key, sizeof(key), format, arguments);
	va_end(arguments);
	kept = string_set_add(&samples->keys, key);
	number = kept ? pointer_map_at(&samples->numbers, kept, NULL) : NULL;
	if (!number)
		samples_fail(samples);
	return number;
}

#define APPEND(samples, table, ...)                                                                \
	append_element(samples, (void **)&(samples)->table, &(samples)->nr_##table,                \
		       &(samples)->table##_room, &(__VA_ARGS__), sizeof(*(samples)->table))

/* The new entry's number; 0 without memory. */
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

uint32_t samples_function(struct samples *samples, const char *name, const char *file)
{
	struct sample_function function = { .name = texts_add(&samples->texts, name),
					    .file = texts_add(&samples->texts, file) };
	uint64_t *number =
		number_of(samples, "f%" PRIu32 " %" PRIu32, function.name, function.file);

	if (number && !*number)
		*number = APPEND(samples, functions, function);
	return number ? (uint32_t)*number : 0;
}

uint32_t samples_mapping_of(struct samples *samples, const char *path, const char *build_id,
			    const struct profile_text *text)
{
	struct sample_mapping mapping = { .file = texts_add(&samples->texts, path),
					  .build_id = texts_add(&samples->values, build_id),
					  .text = *text };
	uint64_t *number =
		number_of(samples, "m%" PRIu32 " %" PRIu32 " %" PRIx64 " %" PRIx64 " %" PRIx64,
			  mapping.file, mapping.build_id, text->address, text->size, text->offset);

	if (number && !*number)
		*number = APPEND(samples, mappings, mapping);
	return number ? (uint32_t)*number : 0;
}

uint32_t samples_mapping(struct samples *samples, uint32_t object, const struct profile_text *text)
{
	const struct profile_object *of = &samples->profile->objects[object];

	return samples_mapping_of(samples, of->path, of->build_id, text);
}

uint32_t samples_process_of(struct samples *samples, const char *pid, const char *name)
{
	struct sample_process process = { .pid = texts_add(&samples->values, pid),
					  .name = texts_add(&samples->values, name) };
	uint64_t *number = number_of(samples, "p%" PRIu32 " %" PRIu32, process.pid, process.name);

	if (number && !*number)
		*number = APPEND(samples, processes, process);
	return number ? (uint32_t)*number : 0;
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

uint32_t samples_service(struct samples *samples, uint32_t target, const char *cgroup)
{
	struct sample_service service = { .target = target };
	uint64_t *number;

	service.cgroup = cgroup ? cgroup : samples->profile->targets[target].cgroup;
	number = number_of(samples, "s%" PRIu32 " %" PRIu32, target,
			   texts_add(&samples->values, service.cgroup));
	if (number && !*number)
		*number = APPEND(samples, services, service);
	return number ? (uint32_t)*number : 0;
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

static uint32_t find_place(struct samples *samples, const struct sample_place *place,
			   const struct sample_line *lines, uint64_t address)
{
	char key[KEY_MAX - 64];
	uint64_t *number;
	size_t used = 0, i;

	key[0] = '\0';
	for (i = 0; i < place->nr && used < sizeof(key) - 24; i++)
		used += (size_t)snprintf(key + used, sizeof(key) - used, " %" PRIu32 ":%" PRIu32,
					 lines[i].function, lines[i].line);
	number = number_of(samples, "l%" PRIu32 " %u %" PRIx64 "%s", place->mapping, place->kind,
			   address, key);
	if (number && !*number)
		*number = samples_new_place(samples, place, lines);
	return number ? (uint32_t)*number : 0;
}

uint32_t samples_place(struct samples *samples, const struct sample_place *place,
		       const struct sample_line *lines)
{
	return find_place(samples, place, lines, 0);
}

uint32_t samples_exact_place(struct samples *samples, const struct sample_place *place,
			     const struct sample_line *lines)
{
	return find_place(samples, place, lines, place->address);
}

void samples_add(struct samples *samples, const struct sample *sample)
{
	if (!sample->ticks && !sample->ns)
		return;
	if (grow((void **)&samples->all, &samples->room, samples->nr + 1, sizeof(*samples->all)))
		samples_fail(samples);
	else
		samples->all[samples->nr++] = *sample;
}

static int compare_sample_labels(const void *left, const void *right)
{
	const struct profile_label *const *a = left, *const *b = right;
	int order = compare_text((*a)->cgroup, (*b)->cgroup);

	/* In the order of the file. */
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
	qsort(samples->labels, profile->nr_labels, sizeof(*samples->labels), compare_sample_labels);
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
	free(samples->labels);
	free(samples->functions);
	free(samples->lines);
	free(samples->mappings);
	free(samples->places);
	free(samples->processes);
	free(samples->services);
	free(samples->all);
	string_set_free(&samples->keys);
	pointer_map_clear(&samples->numbers);
	texts_end(&samples->texts);
	texts_end(&samples->values);
}

static int compare_samples(const void *left, const void *right)
{
	const struct sample *a = left, *b = right;

	if (a->service != b->service)
		return a->service < b->service ? -1 : 1;
	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return (a->process > b->process) - (a->process < b->process);
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

void samples_settle(struct samples *samples)
{
	struct sample *all = samples->all;
	size_t i, kept = 0;

	if (!samples->nr)
		return;
	qsort(all, samples->nr, sizeof(*all), compare_samples);
	for (i = 1; i < samples->nr; i++) {
		if (compare_samples(&all[kept], &all[i])) {
			all[++kept] = all[i];
			continue;
		}
		all[kept].ticks = add_saturating(all[kept].ticks, all[i].ticks);
		all[kept].ns = add_saturating(all[kept].ns, all[i].ns);
	}
	samples->nr = kept + 1;
	count_values(samples);
}
