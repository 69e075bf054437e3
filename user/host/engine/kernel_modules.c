// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/kernel_modules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static int compare_starts(const void *a, const void *b)
{
	const struct kernel_module *x = a, *y = b;

	return compare_u64(x->start, y->start);
}

int kernel_modules_parse(FILE *file, struct kernel_modules *result, struct error *err)
{
	cleanup_free char *line = NULL;
	struct kernel_module module;
	char name[64];
	size_t room = 0;

	while (getline(&line, &room, file) > 0) {
		/* NAME SIZE USES USERS STATE ADDRESS; a name has less than 56 bytes */
		if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &module.size,
			   &module.start) != 3 ||
		    !module.start)
			continue;
		if (GROW(result->list, result->capacity, result->nr + 1))
			return error_no_memory(err, "kernel modules");
		if (asprintf(&module.name, "[%s]", name) < 0)
			return error_no_memory(err, "kernel modules");
		result->list[result->nr++] = module;
	}
	SORT(result->list, result->nr, compare_starts);
	return 0;
}

/* The last module that starts at or before an address, if it reaches that far. */
static const struct kernel_module *find_module(const struct kernel_modules *modules,
					       uint64_t address)
{
	size_t behind = BISECT(i, modules->nr, modules->list[i].start <= address);
	const struct kernel_module *module = behind ? &modules->list[behind - 1] : NULL;

	return module && address - module->start < module->size ? module : NULL;
}

/* The object of a module, which is made when it is first asked for. NULL: out of memory. */
static struct profile_object *module_object(const struct kernel_module *module,
					    struct profile *profile, uint32_t **ids, uint32_t fresh)
{
	size_t nr = profile->nr_objects, i;
	struct profile_object *objects;
	uint32_t *grown;

	for (i = 0; i < nr; i++)
		if (profile->objects[i].kind == PROFILE_KERNEL &&
		    !strcmp(profile->objects[i].path, module->name))
			return &profile->objects[i];
	grown = reallocarray(*ids, nr + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	*ids = grown;
	grown[nr] = fresh;
	objects = reallocarray(profile->objects, nr + 1, sizeof(*objects));
	if (!objects)
		return NULL;
	profile->objects = objects;
	objects[nr] =
		(struct profile_object){ .kind = PROFILE_KERNEL, .path = strdup(module->name) };
	if (!objects[nr].path)
		return NULL;
	profile->nr_objects++;
	return &objects[nr];
}

int64_t kernel_modules_object(const struct kernel_modules *modules, uint64_t address,
			      struct profile *profile, uint32_t **ids, uint32_t fresh)
{
	const struct kernel_module kernel = { .name = (char[]){ "[kernel]" } };
	const struct kernel_module *module = find_module(modules, address);
	const struct profile_object *object = module_object(module ?: &kernel, profile, ids, fresh);

	return object ? object - profile->objects : -ENOMEM;
}

/* Makes a histogram at the end of the list from some bins of another; its object is not set. */
static int add_module_part(struct profile *profile, size_t from, size_t first, size_t nr)
{
	size_t bytes = nr * sizeof(struct profile_bin), i;
	struct profile_histogram *grown, *part;
	const struct profile_histogram *whole;

	grown = reallocarray(profile->histograms, profile->nr_histograms + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	profile->histograms = grown;
	whole = &grown[from];
	part = &grown[profile->nr_histograms];
	*part = *whole;
	part->process = whole->process ? strdup(whole->process) : NULL;
	part->cgroup = whole->cgroup ? strdup(whole->cgroup) : NULL;
	part->bins = malloc(bytes);
	profile->nr_histograms++;
	if (!part->bins || (whole->process && !part->process) || (whole->cgroup && !part->cgroup))
		return -ENOMEM;
	memcpy(part->bins, whole->bins + first, bytes);
	part->nr_bins = nr;
	part->offset = profile_bin_start(whole, first);
	for (i = 0; i < nr; i++)
		part->bins[i].index -= whole->bins[first].index;
	part->size = (part->bins[nr - 1].index + 1) * part->bytes_per_bin;
	return 0;
}

/* How many bins, from `first` on, are in the same module, or in none. */
static size_t same_module(const struct kernel_modules *modules,
			  const struct profile_histogram *histogram, size_t first)
{
	const struct kernel_module *module =
		find_module(modules, profile_bin_start(histogram, first));
	size_t i = first;

	while (i < histogram->nr_bins &&
	       find_module(modules, profile_bin_start(histogram, i)) == module)
		i++;
	return i - first;
}

static void remove_bins(struct profile_histogram *histogram, size_t first, size_t nr)
{
	memmove(histogram->bins + first, histogram->bins + first + nr,
		(histogram->nr_bins - first - nr) * sizeof(*histogram->bins));
	histogram->nr_bins -= nr;
}

/* Moves the bins of modules out of a histogram, which may be empty afterwards. */
static int split_histogram(const struct kernel_modules *modules, size_t from,
			   struct profile *profile, uint32_t **ids, uint32_t fresh)
{
	const struct kernel_module *module;
	struct profile_object *object;
	size_t i = 0, nr;

	while (i < profile->histograms[from].nr_bins) {
		nr = same_module(modules, &profile->histograms[from], i);
		module = find_module(modules, profile_bin_start(&profile->histograms[from], i));
		if (!module) {
			i += nr;
			continue;
		}
		if (add_module_part(profile, from, i, nr))
			return -ENOMEM;
		object = module_object(module, profile, ids, fresh);
		if (!object)
			return -ENOMEM;
		profile->histograms[profile->nr_histograms - 1].object =
			(uint32_t)(object - profile->objects);
		remove_bins(&profile->histograms[from], i, nr);
	}
	return 0;
}

static void drop_empty_histograms(struct profile *profile)
{
	size_t from, to = 0;

	for (from = 0; from < profile->nr_histograms; from++) {
		struct profile_histogram *histogram = &profile->histograms[from];

		if (histogram->nr_bins) {
			profile->histograms[to++] = *histogram;
			continue;
		}
		profile_histogram_free(histogram);
	}
	profile->nr_histograms = to;
}

int kernel_modules_split(const struct kernel_modules *modules, struct profile *profile,
			 uint32_t **ids, uint32_t fresh, struct error *err)
{
	size_t i, nr = profile->nr_histograms;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++)
		if (profile->objects[profile->histograms[i].object].kind == PROFILE_KERNEL)
			ret = split_histogram(modules, i, profile, ids, fresh);
	drop_empty_histograms(profile);
	return ret ? error_no_memory(err, "kernel modules") : 0;
}

void kernel_modules_free(struct kernel_modules *modules)
{
	size_t i;

	for (i = 0; i < modules->nr; i++)
		free(modules->list[i].name);
	free(modules->list);
	*modules = (struct kernel_modules){ 0 };
}
