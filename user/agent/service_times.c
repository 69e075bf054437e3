// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/service_times.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/resource.h"
#include "export/samples.h"

#define PARTS_KEPT 60 /* a service without a tick in so many is forgotten */

static void free_function(struct function_time *function)
{
	free(function->name);
	free(function->object);
	*function = (struct function_time){ 0 };
}

static void free_service(struct service_time *service)
{
	size_t i;

	for (i = 0; i < service->nr; i++)
		free_function(&service->list[i]);
	free(service->list);
	free(service->name);
}

static struct service_time *find_service(struct service_times *top, const char *name)
{
	struct service_time added = { 0 };
	size_t low = 0, high = top->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (strcmp(top->list[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < top->nr && !strcmp(top->list[low].name, name))
		return &top->list[low];
	added.name = strdup(name);
	added.list = calloc(top->most, sizeof(*added.list));
	if (!added.name || !added.list ||
	    grow((void **)&top->list, &top->room, top->nr + 1, sizeof(added))) {
		free_service(&added);
		return NULL;
	}
	memmove(&top->list[low + 1], &top->list[low], (top->nr - low) * sizeof(added));
	top->nr++;
	top->list[low] = added;
	return &top->list[low];
}

/* Returns the function's place, or one that is free for it. NULL: all others are hotter. */
static struct function_time *find_function(const struct service_times *top,
					   struct service_time *service, const char *name,
					   const char *object, uint64_t ticks)
{
	struct function_time *coldest = NULL, *at = service->list, *end = at + service->nr;

	for (; at < end; at++) {
		if (!strcmp(at->name, name) && !strcmp(at->object, object))
			return at;
		if (!coldest || at->recent < coldest->recent)
			coldest = at;
	}
	if (service->nr < top->most)
		return &service->list[service->nr];
	return coldest && coldest->recent < ticks ? coldest : NULL;
}

static void count(const struct service_times *top, struct service_time *service, const char *name,
		  const char *object, uint64_t ticks)
{
	struct function_time *at = find_function(top, service, name, object, ticks), made;

	if (at && (!at->name || strcmp(at->name, name) != 0 || strcmp(at->object, object) != 0)) {
		made = (struct function_time){ .name = strdup(name), .object = strdup(object) };
		if (made.name && made.object) {
			service->nr += !at->name;
			service->other += at->ticks - at->told;
			free_function(at);
			*at = made;
		} else {
			free_function(&made);
			at = NULL;
		}
	}
	if (!at) {
		service->other += ticks;
		return;
	}
	at->ticks += ticks;
	at->recent += ticks;
}

static void add_service(struct service_times *top, const struct samples *samples,
			const struct sample_service *of, const char *name)
{
	struct service_time *service = find_service(top, name);
	size_t i;

	if (!service)
		return;
	for (i = 0; i < service->nr && service->turn != top->turn; i++)
		service->list[i].recent /= 2;
	service->turn = top->turn;
	for (i = of->first; i < of->first + of->nr; i++) {
		const struct sample *sample = &samples->all[i];
		const struct sample_place *place = &samples->places[sample->place];
		const struct sample_line *line = &samples->lines[place->first + place->nr - 1];

		if (sample->ticks)
			count(top, service,
			      samples->texts.all[samples->functions[line->function].name],
			      samples->texts.all[samples->mappings[place->mapping].file],
			      sample->ticks);
	}
}

static void forget(struct service_times *top)
{
	size_t from, to = 0;

	for (from = 0; from < top->nr; from++) {
		if (top->turn - top->list[from].turn > PARTS_KEPT)
			free_service(&top->list[from]);
		else
			top->list[to++] = top->list[from];
	}
	top->nr = to;
}

void service_times_add(struct service_times *top, const struct profile *part)
{
	const struct export_options options = { .target = EXPORT_ALL_TARGETS,
						.detail = EXPORT_FUNCTION };
	struct samples samples;
	struct resource resource;
	struct error ignored;
	size_t i;

	if (!top->most)
		return;
	top->turn++;
	if (!samples_build(&samples, part, &options, &ignored)) {
		for (i = 1; i < samples.nr_services; i++) {
			if (!resource_of(&resource, &samples, &samples.services[i]))
				add_service(top, &samples, &samples.services[i],
					    resource.texts.all[resource.all[0].value]);
			resource_free(&resource);
		}
	}
	samples_free(&samples);
	forget(top);
}

void service_times_told(struct service_times *top)
{
	size_t i, j;

	for (i = 0; i < top->nr; i++)
		for (j = 0; j < top->list[i].nr; j++)
			top->list[i].list[j].told = top->list[i].list[j].ticks;
}

void service_times_free(struct service_times *top)
{
	size_t i;

	for (i = 0; i < top->nr; i++)
		free_service(&top->list[i]);
	free(top->list);
	*top = (struct service_times){ 0 };
}
