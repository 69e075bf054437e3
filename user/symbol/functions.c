// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/functions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "symbol/object_symbols.h"
#include "symbol/symbol_table.h"

/* What compilers leave between functions is shorter; more without a symbol is text of its own. */
#define PADDING_MAX 16

/* Ticks of a function, or of a place without one: then symbol is NULL. */
struct hit {
	uint64_t offset;
	uint64_t size;
	uint64_t ticks;
	const struct symbol *symbol;
};

struct hits {
	struct hit *all;
	size_t nr;
	size_t room;
};

/* Histograms of one object, and the functions found so far. */
struct resolver {
	struct profile *profile;
	const struct object_opener *opener;
	uint32_t *order; /* histograms, by object */
	struct hits hits; /* of the object at hand */
	struct symbol_table *table; /* of it, or NULL */
	struct symbol_table *kernel; /* of the kernel and all modules, once one of them was met */
	bool has_kernel;
	struct symbol_span span; /* around the last bin */
	struct profile_function *functions;
	size_t nr;
	size_t room;
	size_t nr_broken; /* objects whose names could not be read */
	uint32_t broken; /* the first of them */
	struct error why; /* of that */
};

static int add_hit(struct hits *hits, const struct hit *hit)
{
	struct hit *last = hits->nr ? &hits->all[hits->nr - 1] : NULL;
	int code;

	/* Bins ascend, so those of a function come one after the other. */
	if (last && last->symbol == hit->symbol && last->offset == hit->offset &&
	    last->size == hit->size) {
		last->ticks += hit->ticks;
		return 0;
	}
	code = grow((void **)&hits->all, &hits->room, hits->nr + 1, sizeof(*hits->all));
	if (!code)
		hits->all[hits->nr++] = *hit;
	return code;
}

/* The one function in [start, end), or NULL: none, several, or much besides. */
static const struct symbol *only_symbol(struct resolver *resolver, uint64_t start, uint64_t end)
{
	struct symbol_span *span = &resolver->span;
	const struct symbol *symbol = NULL;
	uint64_t at = start, stop, unnamed = 0;

	while (at < end) {
		if (at < span->start || at >= span->end)
			symbol_table_span(resolver->table, at, span);
		stop = span->end < end ? span->end : end;
		if (!span->symbol)
			unnamed += stop - at;
		else if (symbol && symbol != span->symbol)
			return NULL;
		else
			symbol = span->symbol;
		if (unnamed >= PADDING_MAX || stop <= at)
			return NULL;
		at = stop;
	}
	return symbol;
}

/* A profile from a file may hold any number: past the end counts as the end. */
static uint64_t bin_start(const struct profile_histogram *histogram, uint64_t index)
{
	uint64_t start;

	if (__builtin_mul_overflow(index, histogram->bytes_per_bin, &start) ||
	    __builtin_add_overflow(histogram->offset, start, &start))
		return UINT64_MAX;
	return start;
}

static int add_bin(struct resolver *resolver, const struct profile_histogram *histogram,
		   const struct profile_bin *bin)
{
	struct hit hit = { .size = histogram->bytes_per_bin, .ticks = bin->count };
	uint64_t end;

	hit.offset = bin_start(histogram, bin->index);
	if (__builtin_add_overflow(hit.offset, hit.size, &end))
		end = UINT64_MAX;
	/* An overflow bin stands for pcs anywhere else. */
	if (resolver->table && !histogram->overflow)
		hit.symbol = only_symbol(resolver, hit.offset, end);
	if (hit.symbol) {
		hit.offset = hit.symbol->offset;
		hit.size = hit.symbol->size;
	}
	return bin->count ? add_hit(&resolver->hits, &hit) : 0;
}

static int compare_hits(const void *left, const void *right)
{
	const struct hit *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return a->symbol < b->symbol ? -1 : a->symbol > b->symbol;
}

static void merge_hits(struct hits *hits)
{
	size_t i, kept = 0;

	if (!hits->nr)
		return;
	qsort(hits->all, hits->nr, sizeof(*hits->all), compare_hits);
	for (i = 1; i < hits->nr; i++) {
		if (compare_hits(&hits->all[kept], &hits->all[i]))
			hits->all[++kept] = hits->all[i];
		else
			hits->all[kept].ticks += hits->all[i].ticks;
	}
	hits->nr = kept + 1;
}

static char *place_name(const struct profile_object *object, uint64_t offset)
{
	const char *base = profile_object_base(object);
	size_t room = strlen(base) + sizeof("+0x0123456789abcdef");
	char *name = malloc(room);

	/* Millions of places: asprintf would allocate and copy each twice. */
	if (name)
		snprintf(name, room, "%s+0x%" PRIx64, base, offset);
	return name;
}

static int add_function(struct resolver *resolver, uint32_t object, const struct hit *hit)
{
	struct profile_function *function;
	char *name;

	if (hit->symbol)
		name = strdup(symbol_table_name(resolver->table, hit->symbol));
	else
		name = place_name(&resolver->profile->objects[object], hit->offset);
	if (!name)
		return -ENOMEM;
	function = &resolver->functions[resolver->nr++];
	function->object = object;
	function->name = name;
	function->offset = hit->offset;
	function->size = hit->size;
	function->ticks = hit->ticks;
	return 0;
}

static int add_functions(struct resolver *resolver, uint32_t object)
{
	size_t i;
	int code;

	code = grow((void **)&resolver->functions, &resolver->room,
		    resolver->nr + resolver->hits.nr, sizeof(*resolver->functions));
	for (i = 0; !code && i < resolver->hits.nr; i++)
		code = add_function(resolver, object, &resolver->hits.all[i]);
	return code;
}

static int add_histogram(struct resolver *resolver, const struct profile_histogram *histogram)
{
	int code = 0;
	size_t i;

	for (i = 0; !code && i < histogram->nr_bins; i++)
		code = add_bin(resolver, histogram, &histogram->bins[i]);
	return code;
}

static void load_symbols(struct resolver *resolver, uint32_t id)
{
	const struct profile_object *object = &resolver->profile->objects[id];
	struct error why = { 0 };

	if (object->kind == PROFILE_KERNEL && resolver->has_kernel) {
		resolver->table = resolver->kernel;
		return;
	}
	if (object_symbols_load(object, id, resolver->opener, &resolver->table, &why) &&
	    !resolver->nr_broken++) {
		resolver->broken = id;
		resolver->why = why;
	}
	if (object->kind == PROFILE_KERNEL) {
		resolver->kernel = resolver->table;
		resolver->has_kernel = true;
	}
}

/* Once for all: who maps broken files may map many. */
static int note_broken(const struct resolver *resolver)
{
	const char *path;

	if (!resolver->nr_broken)
		return 0;
	path = resolver->profile->objects[resolver->broken].path;
	if (resolver->nr_broken == 1)
		return profile_note(resolver->profile, "no names of %s: %s", path,
				    resolver->why.text);
	return profile_note(resolver->profile, "no names of %s: %s; nor of %zu more", path,
			    resolver->why.text, resolver->nr_broken - 1);
}

/* order[first .. end) are all histograms of one object. */
static int resolve_object(struct resolver *resolver, size_t first, size_t end)
{
	const struct profile *profile = resolver->profile;
	uint32_t object = profile->histograms[resolver->order[first]].object;
	int code = 0;

	resolver->hits.nr = 0;
	resolver->table = NULL;
	memset(&resolver->span, 0, sizeof(resolver->span));
	load_symbols(resolver, object);
	for (; !code && first < end; first++)
		code = add_histogram(resolver, &profile->histograms[resolver->order[first]]);
	merge_hits(&resolver->hits);
	if (!code)
		code = add_functions(resolver, object);
	if (resolver->table != resolver->kernel)
		object_symbols_release(resolver->opener, resolver->table);
	return code;
}

static int compare_objects(const void *left, const void *right, void *profile)
{
	const struct profile_histogram *histograms = ((const struct profile *)profile)->histograms;
	uint32_t a = histograms[*(const uint32_t *)left].object;
	uint32_t b = histograms[*(const uint32_t *)right].object;

	return a < b ? -1 : a > b;
}

static int resolve_objects(struct resolver *resolver)
{
	struct profile *profile = resolver->profile;
	size_t i, end, nr = 0;
	int code = 0;

	resolver->order = malloc((profile->nr_histograms + 1) * sizeof(*resolver->order));
	if (!resolver->order)
		return -ENOMEM;
	for (i = 0; i < profile->nr_histograms; i++) {
		if (profile->histograms[i].nr_bins)
			resolver->order[nr++] = (uint32_t)i;
	}
	qsort_r(resolver->order, nr, sizeof(*resolver->order), compare_objects, profile);
	for (i = 0; !code && i < nr; i = end) {
		for (end = i + 1; end < nr; end++) {
			if (compare_objects(&resolver->order[i], &resolver->order[end], profile))
				break;
		}
		code = resolve_object(resolver, i, end);
	}
	return code;
}

static int compare_functions(const void *left, const void *right)
{
	const struct profile_function *a = left, *b = right;

	if (a->ticks != b->ticks)
		return a->ticks > b->ticks ? -1 : 1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->size < b->size ? -1 : a->size > b->size;
}

static void free_functions(struct profile_function *functions, size_t nr)
{
	while (nr)
		free(functions[--nr].name);
	free(functions);
}

int functions_resolve(struct profile *profile, const struct object_opener *opener,
		      struct error *err)
{
	struct resolver resolver = { .profile = profile, .opener = opener };
	int code;

	code = resolve_objects(&resolver);
	if (!code)
		code = note_broken(&resolver);
	free(resolver.order);
	free(resolver.hits.all);
	object_symbols_release(opener, resolver.kernel);
	if (code) {
		free_functions(resolver.functions, resolver.nr);
		return error_errno(err, code, "functions");
	}
	if (resolver.nr)
		qsort(resolver.functions, resolver.nr, sizeof(*resolver.functions),
		      compare_functions);
	free_functions(profile->functions, profile->nr_functions);
	profile->functions = resolver.functions;
	profile->nr_functions = resolver.nr;
	return 0;
}
