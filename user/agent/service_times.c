// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/service_times.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "base/util.h"
#include "export/resource.h"
#include "export/samples.h"

#define INTERVALS_KEPT 60 /* intervals without CPU time, after which a service is forgotten */

static uint64_t unscraped(const struct cpu_counter *counter)
{
	return counter->ns - counter->scraped;
}

uint64_t service_times_value(const struct cpu_counter *counter, uint64_t last)
{
	return last > counter->scrapes_before ? counter->ns : 0;
}

static uint64_t wall_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct cpu_counter new_counter(const struct service_times *times)
{
	return (struct cpu_counter){ .scrapes_before = times->scrapes,
				     .created_ms = times->read_ms ? times->read_ms : wall_ms() };
}

static void free_function(struct function_time *function)
{
	free(function->name);
	free(function->object);
	*function = (struct function_time){ 0 };
}

static void drop_coldest(struct service_time *service)
{
	struct function_time *coldest = service->list, *at = coldest, *last = at + --service->nr;

	for (; at <= last; at++)
		if (at->recent < coldest->recent)
			coldest = at;
	service->other.ns += unscraped(&coldest->time);
	free_function(coldest);
	*coldest = *last;
}

/* Without memory for more functions, all count as "[other]". */
static void resize(struct service_time *service, size_t most)
{
	struct function_time *list = most ? calloc(most, sizeof(*list)) : NULL;

	while (service->nr > (list ? most : 0))
		drop_coldest(service);
	if (list && service->nr)
		memcpy(list, service->list, service->nr * sizeof(*list));
	free(service->list);
	service->list = list;
}

static void free_service(struct service_time *service)
{
	resize(service, 0);
	free(service->labels);
}

static void forget(struct service_times *times, size_t at)
{
	struct service_time *service = &times->list[at];

	times->other += unscraped(&service->time);
	times->forgotten += service->time.scraped;
	resize(service, 0);
	times->other_functions += unscraped(&service->other);
	free_service(service);
	times->nr--;
	memmove(&times->list[at], &times->list[at + 1], (times->nr - at) * sizeof(*times->list));
}

static void forget_idle(struct service_times *times)
{
	size_t i;

	for (i = times->nr; i-- > 0;)
		if (times->interval - times->list[i].interval > INTERVALS_KEPT)
			forget(times, i);
}

/* If containers live for seconds only, those that ended must make room for new ones. */
static bool make_room(struct service_times *times)
{
	size_t i, idle = 0;

	if (times->nr < SERVICES_MAX)
		return true;
	for (i = 1; i < times->nr; i++)
		if (times->interval - times->list[i].interval >
		    times->interval - times->list[idle].interval)
			idle = i;
	if (times->list[idle].interval == times->interval)
		return false;
	forget(times, idle);
	return true;
}

static size_t place_of(const struct service_times *times, const char *labels)
{
	return BISECT(i, times->nr, strcmp(times->list[i].labels, labels) < 0);
}

static struct service_time *find_service(struct service_times *times, const char *labels)
{
	size_t at = place_of(times, labels);

	return at < times->nr && !strcmp(times->list[at].labels, labels) ? &times->list[at] : NULL;
}

static struct service_time *new_service(struct service_times *times, const char *labels)
{
	struct cpu_counter begins = new_counter(times);
	struct service_time added = { .time = begins,
				      .other = begins,
				      .interval = times->interval };
	size_t at;

	if (!make_room(times))
		return NULL;
	at = place_of(times, labels);
	added.labels = strdup(labels);
	if (!added.labels || GROW(times->list, times->room, times->nr + 1)) {
		free(added.labels);
		return NULL;
	}
	memmove(&times->list[at + 1], &times->list[at], (times->nr - at) * sizeof(added));
	times->nr++;
	resize(&added, times->most);
	times->list[at] = added;
	return &times->list[at];
}

/* Returns the function's place, or one that it can use. NULL: all others are hotter. */
static struct function_time *find_function(size_t most, struct service_time *service,
					   const char *name, const char *object, uint64_t ns)
{
	struct function_time *coldest = NULL, *at = service->list, *end = at + service->nr;

	for (; at < end; at++) {
		if (!strcmp(at->name, name) && !strcmp(at->object, object))
			return at;
		if (!coldest || at->recent < coldest->recent)
			coldest = at;
	}
	if (service->list && service->nr < most)
		return &service->list[service->nr];
	return coldest && coldest->recent < ns ? coldest : NULL;
}

static void count(const struct service_times *times, struct service_time *service, const char *name,
		  const char *object, uint64_t ns)
{
	struct function_time *at = find_function(times->most, service, name, object, ns), made;

	if (at && (!at->name || strcmp(at->name, name) != 0 || strcmp(at->object, object) != 0)) {
		made = (struct function_time){ .name = strdup(name),
					       .object = strdup(object),
					       .time = new_counter(times) };
		if (made.name && made.object) {
			service->nr += !at->name;
			service->other.ns += unscraped(&at->time);
			free_function(at);
			*at = made;
		} else {
			free_function(&made);
			at = NULL;
		}
	}
	if (!at) {
		service->other.ns += ns;
		return;
	}
	at->time.ns += ns;
	at->recent += ns;
}

static uint64_t time_of(const struct samples *samples, const struct sample_service *of)
{
	uint64_t sum = 0;
	size_t i;

	for (i = of->first; i < of->first + of->nr; i++)
		sum += samples->all[i].ns;
	return sum;
}

static void add_functions(const struct service_times *times, struct service_time *service,
			  const struct samples *samples, const struct sample_service *of)
{
	size_t i;

	for (i = of->first; i < of->first + of->nr; i++) {
		const struct sample *sample = &samples->all[i];
		const struct sample_place *place = &samples->places[sample->place];
		const struct sample_line *line = &samples->lines[place->first + place->nr - 1];
		const char *name = samples->texts.all[samples->functions[line->function].name];
		const char *file = samples->texts.all[samples->mappings[place->mapping].file];
		char name_cut[TEXT_LABEL], file_cut[TEXT_LABEL];

		if (sample->ns)
			count(times, service, text_label(name, name_cut),
			      text_label(file, file_cut), sample->ns);
	}
}

/* A part, or an early reading of the next one. */
struct reading {
	const struct samples *samples;
	bool whole; /* false: an early reading */
	uint64_t functions_ns; /* CPU time that was counted by function */
};

typedef uint64_t (*service_visit)(struct service_times *times, struct reading *reading,
				  const struct sample_service *of, const char *labels);

/* Mark all services with CPU time as busy, before any has to make room for another. */
static uint64_t mark_busy(struct service_times *times, struct reading *reading,
			  const struct sample_service *of, const char *labels)
{
	struct service_time *service = time_of(reading->samples, of) ? find_service(times, labels) :
								       NULL;
	size_t i;

	if (!service || service->interval == times->interval)
		return 0;
	for (i = 0; i < service->nr; i++)
		service->list[i].recent /= 2;
	service->interval = times->interval;
	return 0;
}

/* Returns the growth since the cgroup's last reading. Without memory, the next part includes it. */
static uint64_t read_more(struct service_times *times, const char *cgroup, uint64_t ns)
{
	size_t at = BISECT(i, times->nr_read, strcmp(times->read[i].cgroup, cgroup) < 0);
	struct cgroup_time *of = &times->read[at], added = { 0 };
	uint64_t before;

	if (at == times->nr_read || strcmp(of->cgroup, cgroup) != 0) {
		added.cgroup = strdup(cgroup);
		if (!added.cgroup || GROW(times->read, times->read_room, times->nr_read + 1)) {
			free(added.cgroup);
			return 0;
		}
		of = &times->read[at];
		memmove(of + 1, of, (times->nr_read - at) * sizeof(*of));
		times->nr_read++;
		*of = added;
	}
	before = of->ns;
	of->ns = ns > before ? ns : before;
	return of->ns - before;
}

static void forget_read(struct service_times *times)
{
	while (times->nr_read)
		free(times->read[--times->nr_read].cgroup);
}

/* Returns the time that was counted for this service. */
static uint64_t add_time(struct service_times *times, struct reading *reading,
			 const struct sample_service *of, const char *labels)
{
	uint64_t ns = time_of(reading->samples, of), more;
	struct service_time *service = ns ? find_service(times, labels) : NULL;

	if (ns && !service)
		service = new_service(times, labels);
	if (!service)
		return 0;
	more = read_more(times, of->cgroup ? of->cgroup : "", ns);
	service->time.ns += more;
	if (reading->whole) {
		add_functions(times, service, reading->samples, of);
		reading->functions_ns += ns;
	}
	return more;
}

void service_label_write(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', out);
		if (*text == '\n')
			fputs("\\n", out);
		else
			fputc(*text, out);
	}
}

static const char *attribute_of(const struct resource *resource, const char *key)
{
	size_t i;

	for (i = 0; i < resource->nr; i++)
		if (!strcmp(resource->all[i].key, key))
			return resource->texts.all[resource->all[i].value];
	return NULL;
}

/*
 * Uses cadvisor's label names for a pod, so that queries can join both. The caller frees the
 * result; NULL: no memory.
 */
static char *labels_of(const struct resource *resource)
{
	static const char *const names[][2] = { { "k8s.namespace.name", "namespace" },
						{ "k8s.pod.name", "pod" },
						{ "k8s.container.name", "container" } };
	char *labels = NULL;
	const char *value;
	size_t size, i;
	FILE *out = open_memstream(&labels, &size);

	if (!out)
		return NULL;
	fputs("service=\"", out);
	service_label_write(out, resource->texts.all[resource->all[0].value]);
	fputc('"', out);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		value = attribute_of(resource, names[i][0]);
		if (!value)
			continue;
		fprintf(out, ",%s=\"", names[i][1]);
		service_label_write(out, value);
		fputc('"', out);
	}
	if (!fclose(out))
		return labels;
	free(labels);
	return NULL;
}

static uint64_t each_service(struct service_times *times, struct reading *reading,
			     service_visit visit)
{
	const struct samples *samples = reading->samples;
	struct resource resource;
	uint64_t sum = 0;
	char *labels;
	size_t i;

	for (i = 1; i < samples->nr_services; i++) {
		labels = NULL;
		if (!resource_of(&resource, samples, &samples->services[i]))
			labels = labels_of(&resource);
		if (labels)
			sum += visit(times, reading, &samples->services[i], labels);
		free(labels);
		resource_free(&resource);
	}
	return sum;
}

static uint64_t time_read(const struct service_times *times)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < times->nr_read; i++)
		sum += times->read[i].ns;
	return sum;
}

void service_times_add(struct service_times *times, const struct profile *part, uint64_t cpu_ns,
		       bool whole)
{
	const struct export_options options = { .target = EXPORT_ALL_TARGETS,
						.detail = EXPORT_FUNCTION };
	struct samples samples = { 0 };
	struct reading reading = { .samples = &samples, .whole = whole };
	struct error ignored;

	if (times->wanted && !samples_build(&samples, part, &options, &ignored)) {
		each_service(times, &reading, mark_busy);
		each_service(times, &reading, add_time);
	}
	samples_free(&samples);
	times->read_ms = wall_ms();
	if (!whole)
		return;
	if (cpu_ns > time_read(times))
		times->other += cpu_ns - time_read(times);
	if (cpu_ns > reading.functions_ns)
		times->other_functions += cpu_ns - reading.functions_ns;
	forget_read(times);
}

void service_times_end_interval(struct service_times *times)
{
	times->interval++;
	forget_idle(times);
}

uint64_t service_times_scrape(struct service_times *times, const char *name)
{
	struct scraper *scraper = times->scrapers, *oldest = scraper;
	uint64_t last;

	for (; scraper < times->scrapers + SCRAPERS_MAX; scraper++) {
		if (!strcmp(scraper->name, name))
			break;
		if (scraper->last < oldest->last)
			oldest = scraper;
	}
	if (scraper == times->scrapers + SCRAPERS_MAX) {
		scraper = oldest;
		*scraper = (struct scraper){ 0 };
		snprintf(scraper->name, sizeof(scraper->name), "%s", name);
	}
	last = scraper->last ? scraper->last : TIMES_ALL;
	scraper->last = ++times->scrapes;
	return last;
}

uint64_t service_times_sum(const struct service_times *times, uint64_t last)
{
	uint64_t sum = times->other + times->forgotten;
	size_t i;

	for (i = 0; i < times->nr; i++)
		sum += service_times_value(&times->list[i].time, last);
	return sum;
}

static void mark_scraped(struct cpu_counter *counter, uint64_t last)
{
	counter->scraped = service_times_value(counter, last);
}

void service_times_mark_scraped(struct service_times *times, uint64_t last)
{
	size_t i, j;

	for (i = 0; i < times->nr; i++) {
		struct service_time *service = &times->list[i];

		mark_scraped(&service->time, last);
		mark_scraped(&service->other, last);
		for (j = 0; j < service->nr; j++)
			mark_scraped(&service->list[j].time, last);
	}
}

void service_times_choose(struct service_times *times, bool wanted, size_t most)
{
	size_t i;

	for (i = 0; i < times->nr && most != times->most; i++)
		resize(&times->list[i], most);
	times->wanted = wanted;
	times->most = most;
	forget_read(times);
}

void service_times_free(struct service_times *times)
{
	size_t i;

	for (i = 0; i < times->nr; i++)
		free_service(&times->list[i]);
	free(times->list);
	forget_read(times);
	free(times->read);
	*times = (struct service_times){ 0 };
}
