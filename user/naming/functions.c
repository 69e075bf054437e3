// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "naming/functions.h"

#include <errno.h>
#include <linux/capability.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/callers.h"
#include "profile/waits.h"
#include "naming/allowance.h"
#include "naming/callers_hints.h"
#include "naming/nameless.h"
#include "naming/object_file.h"
#include "symbol/symbol_table.h"

/* Compilers pad functions with less than this. A longer gap without a symbol is separate text. */
#define PADDING_MAX 16

/* Request names for nearby places together, because they are mostly in one function. */
#define NEAR_BYTES 64

/*
 * Ticks of a function, of a stretch of nameless text, or of a single place. symbol is NULL for the
 * latter two.
 */
struct function_hit {
	uint64_t offset;
	uint64_t size;
	uint64_t ticks;
	const struct symbol *symbol;
	bool shared; /* it has a function and other text, so that symbols cannot name it */
	bool stretch;
	uint64_t first; /* of a stretch: the range of its ticks */
	uint64_t end;
};

struct hits {
	struct function_hit *all;
	size_t nr;
	size_t room;
};

/* The state for one object, and the functions so far. */
struct resolver {
	struct profile *profile;
	const struct object_opener *opener;
	struct object_opener limited; /* a copy with our own allowance, if the caller has none */
	struct allowance allowance, code;
	/*
	 * By object: its nameless ticks. The result must have fewer; 0: its functions stay. NULL:
	 * resolve all objects.
	 */
	uint64_t *sought;
	uint32_t *order; /* histograms, sorted by object */
	struct profile_site *sites; /* of chains and waits, likewise */
	size_t nr_sites;
	struct hits hits; /* of the current object */
	struct symbol_wanted wanted;
	size_t wanted_room; /* ranges */
	struct symbol_table *table; /* of the current object; NULL: none */
	struct symbol_table *kernel; /* of the kernel and all modules, once one was resolved */
	bool has_kernel;
	struct symbol_span span; /* around the last bin */
	struct nameless nameless;
	uint64_t unnamed; /* ticks of the last object */
	struct profile_function *functions;
	size_t nr;
	size_t room;
	bool is_unread; /* the current object could not be read */
	size_t nr_broken; /* objects whose names could not be read */
	uint32_t broken; /* the first of these */
	struct error why; /* why */
};

DEFINE_COMPARE_AS(compare_function_hits, struct function_hit,
		  compare_u64(a->offset, b->offset)	?:
			  compare_u64(a->size, b->size) ?:
			  (a->symbol > b->symbol) - (a->symbol < b->symbol))

static void combine_hits(void *first, const void *equal)
{
	struct function_hit *sum = first;
	const struct function_hit *hit = equal;

	sum->ticks += hit->ticks;
	sum->first = hit->first < sum->first ? hit->first : sum->first;
	sum->end = hit->end > sum->end ? hit->end : sum->end;
}

static int add_function_hit(struct hits *hits, const struct function_hit *hit)
{
	struct function_hit *last = hits->nr ? &hits->all[hits->nr - 1] : NULL;

	/* Bins ascend. Therefore the bins of a function are neighbours. */
	if (last && !compare_function_hits(last, hit)) {
		combine_hits(last, hit);
		return 0;
	}
	return PUSH(hits->all, hits->room, hits->nr, *hit);
}

/* Finds the only function of a hit, unless there are several or much other text. */
static void find_only_symbol(struct resolver *resolver, struct function_hit *hit)
{
	struct symbol_span *span = &resolver->span;
	const struct symbol *symbol = NULL;
	uint64_t at = hit->offset, end = hit->end, stop, unnamed = 0;

	while (at < end && !hit->shared) {
		if (at < span->start || at >= span->end)
			symbol_table_span(resolver->table, at, span);
		stop = span->end < end ? span->end : end;
		if (!span->symbol)
			unnamed += stop - at;
		else if (symbol && symbol != span->symbol)
			hit->shared = true;
		else
			symbol = span->symbol;
		if (symbol && unnamed >= PADDING_MAX)
			hit->shared = true;
		if (stop <= at)
			return;
		at = stop;
	}
	if (!hit->shared)
		hit->symbol = symbol;
}

/*
 * A profile from a file may have any numbers. If the end overflows, it is the end of the address
 * space.
 */
static uint64_t function_bin_start(const struct profile_histogram *histogram, uint64_t index)
{
	uint64_t start;

	if (__builtin_mul_overflow(index, histogram->bytes_per_bin, &start) ||
	    __builtin_add_overflow(histogram->offset, start, &start))
		return UINT64_MAX;
	return start;
}

/* Cuts text that is only a part of its segment to the part around a hit. */
static void cut_to_part(struct symbol_span *span, const struct profile_text *segment,
			const struct function_hit *hit)
{
	uint64_t part = hit->first - hit->first % SYMBOL_PART;

	if (span->start == segment->offset && span->end - segment->offset == segment->size)
		return;
	if (part > span->start)
		span->start = part;
	if (span->end - part > SYMBOL_PART)
		span->end = part + SYMBOL_PART;
}

/*
 * If no symbol covers the bin, lets the hit stand for the text around it, because one row says as
 * much as a row for each pc.
 */
static void widen_hit(const struct resolver *resolver, const struct profile_object *object,
		      struct function_hit *hit)
{
	struct symbol_span span = { .end = UINT64_MAX };
	size_t i;

	if (resolver->table)
		span = resolver->span;
	for (i = 0; i < object->nr_text; i++) {
		const struct profile_text *text = &object->text[i];

		if (hit->offset - text->offset >= text->size)
			continue;
		span.start = text->offset > span.start ? text->offset : span.start;
		if (span.end - text->offset > text->size)
			span.end = text->offset + text->size;
		cut_to_part(&span, text, hit);
	}
	if (span.symbol || hit->first < span.start || hit->end > span.end || hit->first >= hit->end)
		return;
	hit->stretch = true;
	hit->offset = span.start;
	hit->size = span.end - span.start;
}

/* Adds a hit to its function, or else to the nameless text around it. */
static int add_named(struct resolver *resolver, uint32_t object, struct function_hit *hit)
{
	if (resolver->table)
		find_only_symbol(resolver, hit);
	if (hit->symbol) {
		hit->offset = hit->symbol->offset;
		hit->size = hit->symbol->size;
	} else {
		widen_hit(resolver, &resolver->profile->objects[object], hit);
	}
	return add_function_hit(&resolver->hits, hit);
}

static int add_bin(struct resolver *resolver, const struct profile_histogram *histogram,
		   const struct profile_bin *bin)
{
	struct function_hit hit = { .size = histogram->bytes_per_bin, .ticks = bin->count };

	hit.first = hit.offset = function_bin_start(histogram, bin->index);
	if (__builtin_add_overflow(hit.offset, hit.size, &hit.end))
		hit.end = UINT64_MAX;
	if (!bin->count)
		return 0;
	/* An overflow bin counts pcs anywhere else. */
	if (histogram->overflow)
		return add_function_hit(&resolver->hits, &hit);
	return add_named(resolver, histogram->object, &hit);
}

/* Adds a place of a chain of callers; its function may have no ticks. */
static int add_site(struct resolver *resolver, const struct profile_site *site)
{
	struct function_hit hit = { .offset = site->offset, .size = 1, .first = site->offset };

	hit.end = site->offset + (site->offset < UINT64_MAX);
	return add_named(resolver, site->object, &hit);
}

/*
 * The name of text that is longer than its bins ends in its last byte, so that it does not look
 * like a function.
 */
static char *name_of_place(const struct profile_object *object, const struct function_hit *hit)
{
	const char *base = profile_object_base(object);
	size_t room = strlen(base) + sizeof("+0x0123456789abcdef..0x0123456789abcdef");
	char *name = malloc(room);
	int length;

	/*
	 * Names of places may number millions, and asprintf() would allocate and copy each twice.
	 */
	if (!name)
		return NULL;
	length = snprintf(name, room, "%s+0x%" PRIx64, base, hit->offset);
	if (hit->stretch && hit->size > 1)
		snprintf(name + length, room - (size_t)length, "..0x%" PRIx64,
			 hit->offset + hit->size - 1);
	return name;
}

/* Text outside of files is only known by addresses. Therefore its stretches end at their ticks. */
static void tighten(const struct profile_object *object, struct function_hit *hit)
{
	if (!hit->stretch || object->nr_text)
		return;
	hit->offset = hit->first;
	hit->size = hit->end - hit->first;
}

static char *hit_name(const struct resolver *resolver, const struct profile_object *object,
		      const struct function_hit *hit, bool whole)
{
	if (hit->symbol)
		return strdup(symbol_table_name(resolver->table, hit->symbol));
	/* Omit the offset, because the first address with a tick differs from run to run. */
	return whole ? strdup(profile_object_base(object)) : name_of_place(object, hit);
}

static int add_hit_function(struct resolver *resolver, uint32_t object, struct function_hit *hit)
{
	const struct profile_object *text = &resolver->profile->objects[object];
	bool whole = hit->stretch && !hit->offset && hit->size == UINT64_MAX;
	struct profile_function *function;
	char *name;

	tighten(text, hit);
	name = hit_name(resolver, text, hit, whole);
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

static void count_nameless(struct resolver *resolver, uint32_t object)
{
	uint64_t ticks = 0, unnamed = 0;
	size_t i;

	for (i = 0; i < resolver->hits.nr; i++) {
		const struct function_hit *hit = &resolver->hits.all[i];

		ticks += hit->ticks;
		if (!hit->shared && (!hit->symbol || symbol_is_place(hit->symbol)))
			unnamed += hit->ticks;
	}
	/* Another note has the reason for an unread object. */
	if (!resolver->is_unread)
		nameless_add(&resolver->nameless, resolver->profile, object, ticks, unnamed);
	resolver->unnamed = unnamed;
}

static int add_functions(struct resolver *resolver, uint32_t object)
{
	size_t i;
	int ret;

	count_nameless(resolver, object);

	ret = GROW(resolver->functions, resolver->room, resolver->nr + resolver->hits.nr);
	for (i = 0; !ret && i < resolver->hits.nr; i++)
		ret = add_hit_function(resolver, object, &resolver->hits.all[i]);
	return ret;
}

static int add_hits_of_histogram(struct resolver *resolver,
				 const struct profile_histogram *histogram)
{
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < histogram->nr_bins; i++)
		ret = add_bin(resolver, histogram, &histogram->bins[i]);
	return ret;
}

/* All of an object: the histograms order[first .. end) and the sites sites[.. sites_end). */
struct object_texts {
	uint32_t object;
	size_t first;
	size_t end;
	size_t sites;
	size_t sites_end;
	uint64_t ticks;
	bool is_trusted;
};

static int want_text(struct resolver *resolver, uint64_t start, uint64_t bytes)
{
	struct symbol_wanted *wanted = &resolver->wanted;
	struct symbol_range *last = wanted->nr ? &wanted->ranges[wanted->nr - 1] : NULL;
	struct symbol_range range = { .start = start - start % NEAR_BYTES };

	if (__builtin_add_overflow(range.start, bytes + NEAR_BYTES, &range.end))
		range.end = UINT64_MAX;
	if (last && range.start >= last->start && range.start <= last->end) {
		last->end = range.end > last->end ? range.end : last->end;
		return 0;
	}
	return PUSH(wanted->ranges, resolver->wanted_room, wanted->nr, range);
}

DEFINE_COMPARE(compare_ranges, struct symbol_range, start)

static void join_ranges(struct symbol_wanted *wanted)
{
	struct symbol_range *ranges = wanted->ranges;
	size_t i, kept = 0;

	if (!wanted->nr)
		return;
	SORT(ranges, wanted->nr, compare_ranges);
	for (i = 1; i < wanted->nr; i++) {
		if (ranges[i].start > ranges[kept].end)
			ranges[++kept] = ranges[i];
		else if (ranges[i].end > ranges[kept].end)
			ranges[kept].end = ranges[i].end;
	}
	wanted->nr = kept + 1;
}

/* Collects the text of an object that needs names. */
static int find_wanted(struct resolver *resolver, const struct object_texts *texts)
{
	const struct profile_histogram *histogram;
	size_t i, bin;
	int ret = 0;

	resolver->wanted.nr = 0;
	for (i = texts->first; i < texts->end; i++) {
		histogram = &resolver->profile->histograms[resolver->order[i]];
		for (bin = 0; !ret && bin < histogram->nr_bins; bin++)
			ret = want_text(resolver,
					function_bin_start(histogram, histogram->bins[bin].index),
					histogram->bytes_per_bin);
	}
	for (i = texts->sites; !ret && i < texts->sites_end; i++)
		ret = want_text(resolver, resolver->sites[i].offset, 1);
	join_ranges(&resolver->wanted);
	return ret;
}

static void load_symbols(struct resolver *resolver, uint32_t id)
{
	const struct profile_object *object = &resolver->profile->objects[id];
	/* A cache keeps it too, and may read it again for text that it lacks. */
	const bool keep = object->kind == PROFILE_KERNEL &&
			  !(resolver->opener && resolver->opener->cache);
	struct error why = { 0 };
	int ret;

	if (keep && resolver->has_kernel) {
		resolver->table = resolver->kernel;
		return;
	}
	ret = object_symbols_load(object, id, resolver->opener, &resolver->wanted, &resolver->table,
				  &why);
	resolver->is_unread = ret == -EIO || ret == -ETIME;
	if (ret && !resolver->nr_broken++) {
		resolver->broken = id;
		resolver->why = why;
	}
	if (keep) {
		resolver->kernel = resolver->table;
		resolver->has_kernel = true;
	}
}

/* Adds one note for all broken objects, because a process may map any number of them. */
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

/* If there are not more names than before, the object keeps its functions. */
static void drop_if_no_better(struct resolver *resolver, uint32_t object, size_t before)
{
	if (!resolver->sought || resolver->unnamed < resolver->sought[object])
		return;
	while (resolver->nr > before)
		free(resolver->functions[--resolver->nr].name);
	resolver->sought[object] = 0;
}

static int resolve_object(struct resolver *resolver, const struct object_texts *texts)
{
	const size_t before = resolver->nr;
	const struct profile *profile = resolver->profile;
	uint32_t object = texts->object;
	size_t i;
	int ret = 0;

	resolver->hits.nr = 0;
	resolver->table = NULL;
	memset(&resolver->span, 0, sizeof(resolver->span));
	ret = find_wanted(resolver, texts);
	if (!ret)
		load_symbols(resolver, object);
	for (i = texts->first; !ret && i < texts->end; i++)
		ret = add_hits_of_histogram(resolver, &profile->histograms[resolver->order[i]]);
	for (i = texts->sites; !ret && i < texts->sites_end; i++)
		ret = add_site(resolver, &resolver->sites[i]);
	resolver->hits.nr =
		COMBINE(resolver->hits.all, resolver->hits.nr, compare_function_hits, combine_hits);
	if (!ret)
		ret = add_functions(resolver, object);
	if (!ret)
		drop_if_no_better(resolver, object, before);
	if (resolver->table != resolver->kernel)
		object_symbols_release(resolver->opener, resolver->table);
	return ret;
}

static int compare_object_texts(const void *left, const void *right, void *profile)
{
	const struct profile_histogram *histograms = ((const struct profile *)profile)->histograms;
	uint32_t a = histograms[*(const uint32_t *)left].object;
	uint32_t b = histograms[*(const uint32_t *)right].object;

	return compare_u64(a, b);
}

/* Lists histograms with bins, by object. */
static int order_histograms(struct resolver *resolver, size_t *ret_nr)
{
	struct profile *profile = resolver->profile;
	size_t i, nr = 0;

	resolver->order = malloc((profile->nr_histograms + 1) * sizeof(*resolver->order));
	if (!resolver->order)
		return -ENOMEM;
	for (i = 0; i < profile->nr_histograms; i++)
		if (profile->histograms[i].nr_bins)
			resolver->order[nr++] = (uint32_t)i;
	qsort_r(resolver->order, nr, sizeof(*resolver->order), compare_object_texts, profile);
	*ret_nr = nr;
	return 0;
}

/* Lists the places of chains and waits, by object. */
static int order_sites(struct resolver *resolver)
{
	const struct profile_callers *callers = resolver->profile->callers;
	const struct profile_callers *waits =
		resolver->profile->waits ? &resolver->profile->waits->tree : NULL;
	const size_t nr = callers ? callers->nr_sites : 0;
	size_t i;

	resolver->nr_sites = nr + (waits ? waits->nr_sites : 0);
	resolver->sites = calloc(resolver->nr_sites + 1, sizeof(*resolver->sites));
	if (!resolver->sites)
		return -ENOMEM;
	for (i = 0; i < resolver->nr_sites; i++)
		resolver->sites[i] = i < nr ? callers->sites[i] : waits->sites[i - nr];
	if (waits)
		SORT(resolver->sites, resolver->nr_sites, profile_site_compare);
	return 0;
}

static uint64_t ticks_of(const struct resolver *resolver, const struct object_texts *texts)
{
	const struct profile_histogram *histograms = resolver->profile->histograms;
	uint64_t ticks = 0;
	size_t i;

	for (i = texts->first; i < texts->end; i++)
		ticks += profile_histogram_ticks(&histograms[resolver->order[i]]);
	return ticks;
}

/*
 * Reads files of root and of our user first, so that others' files cannot use up their time, and
 * those with most ticks first, because there may be no time for all.
 */
DEFINE_COMPARE_AS(compare_urgency, struct object_texts,
		  b->is_trusted - a->is_trusted		  ?:
			  compare_u64(b->ticks, a->ticks) ?:
							    compare_u64(a->object, b->object))

/* Lists the objects that need names. The list has room for all objects. */
static size_t list_texts(const struct resolver *resolver, size_t nr, struct object_texts *list)
{
	const struct profile *profile = resolver->profile;
	const struct object_opener *opener = resolver->opener;
	struct object_texts texts = { 0 };
	size_t nr_list = 0;

	for (; texts.object < profile->nr_objects; texts.object++) {
		texts.first = texts.end;
		texts.sites = texts.sites_end;
		while (texts.end < nr &&
		       profile->histograms[resolver->order[texts.end]].object == texts.object)
			texts.end++;
		while (texts.sites_end < resolver->nr_sites &&
		       resolver->sites[texts.sites_end].object == texts.object)
			texts.sites_end++;
		if ((texts.first == texts.end && texts.sites == texts.sites_end) ||
		    (resolver->sought && !resolver->sought[texts.object]))
			continue;
		texts.ticks = ticks_of(resolver, &texts);
		texts.is_trusted = !opener || !opener->is_trusted ||
				   opener->is_trusted(opener->ctx, texts.object);
		list[nr_list++] = texts;
	}
	SORT(list, nr_list, compare_urgency);
	return nr_list;
}

static int resolve_objects(struct resolver *resolver)
{
	cleanup_free struct object_texts *list =
		calloc(resolver->profile->nr_objects + 1, sizeof(*list));
	size_t nr, i;
	int ret = list ? order_histograms(resolver, &nr) : -ENOMEM;

	if (!ret)
		ret = order_sites(resolver);
	if (ret)
		return ret;
	nr = list_texts(resolver, nr, list);
	for (i = 0; !ret && i < nr; i++)
		ret = resolve_object(resolver, &list[i]);
	return ret;
}

static void free_functions(struct profile_function *functions, size_t nr)
{
	while (nr)
		free(functions[--nr].name);
	free(functions);
}

static void limit_functions(struct resolver *resolver)
{
	if (!resolver->opener || resolver->opener->allowance)
		return;
	resolver->allowance.seconds = ALLOWANCE_NAMES;
	resolver->limited = *resolver->opener;
	resolver->code.seconds = ALLOWANCE_CODE;
	resolver->limited.allowance = &resolver->allowance;
	resolver->limited.code = &resolver->code;
	resolver->opener = &resolver->limited;
}

/* Frees all but the functions. */
static void resolver_end(struct resolver *resolver)
{
	free(resolver->sought);
	free(resolver->order);
	free(resolver->sites);
	free(resolver->wanted.ranges);
	free(resolver->hits.all);
	object_symbols_release(resolver->opener, resolver->kernel);
	allowance_free(&resolver->allowance);
	allowance_free(&resolver->code);
}

int functions_resolve(struct profile *profile, const struct object_opener *opener,
		      struct error *err)
{
	struct resolver resolver = { .profile = profile,
				     .opener = opener,
				     .nameless.denied = !may_do(CAP_SYS_PTRACE) };
	int ret;

	limit_functions(&resolver);
	ret = resolve_objects(&resolver);
	if (!ret)
		ret = note_broken(&resolver);
	/* With a cache there will be many profiles, and their readers may be on another host. */
	if (!ret && opener)
		ret = nameless_note(&resolver.nameless, !opener->cache, profile);
	resolver_end(&resolver);
	if (ret) {
		free_functions(resolver.functions, resolver.nr);
		return error_errno(err, ret, "functions");
	}
	SORT(resolver.functions, resolver.nr, profile_function_compare);
	free_functions(profile->functions, profile->nr_functions);
	profile->functions = resolver.functions;
	profile->nr_functions = resolver.nr;
	ret = profile_cut_above_main(profile);
	if (!ret && opener)
		ret = callers_hint(profile, opener);
	return ret ? error_errno(err, ret, "functions") : 0;
}

/* Whether the function only has a name of ours. */
static bool has_no_name(const struct profile *profile, const struct profile_function *function)
{
	const char *base = profile_object_base(&profile->objects[function->object]);
	size_t length = strlen(base);

	return profile->objects[function->object].kind == PROFILE_FILE &&
	       !strncmp(function->name, base, length) &&
	       !strncmp(function->name + length, "+0x", strlen("+0x"));
}

/* "run --preload" writes the counts of a program's own calls without names. */
static bool is_of_call(const struct profile *profile, const struct profile_histogram *histogram)
{
	return profile->objects[histogram->object].kind == PROFILE_FILE &&
	       profile_target_is_call(&profile->targets[histogram->target]);
}

static int seek_objects(struct resolver *resolver, bool *any)
{
	const struct profile *profile = resolver->profile;
	uint64_t ticks;
	size_t i;

	resolver->sought = calloc(profile->nr_objects + 1, sizeof(*resolver->sought));
	if (!resolver->sought)
		return -ENOMEM;
	for (i = 0, *any = false; i < profile->nr_functions; i++) {
		const struct profile_function *function = &profile->functions[i];

		if (!has_no_name(profile, function))
			continue;
		resolver->sought[function->object] += function->ticks;
		*any |= function->ticks;
	}
	for (i = 0; i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];

		ticks = is_of_call(profile, histogram) ? profile_histogram_ticks(histogram) : 0;
		resolver->sought[histogram->object] += ticks;
		*any |= ticks;
	}
	return 0;
}

/* Moves the functions of all other objects to the new ones. */
static int keep_the_others(struct resolver *resolver)
{
	struct profile *profile = resolver->profile;
	int ret = GROW(resolver->functions, resolver->room, resolver->nr + profile->nr_functions);
	size_t i;

	if (ret)
		return ret;
	for (i = 0; i < profile->nr_functions; i++)
		if (resolver->sought[profile->functions[i].object])
			free(profile->functions[i].name);
		else
			resolver->functions[resolver->nr++] = profile->functions[i];
	free(profile->functions);
	profile->functions = resolver->functions;
	profile->nr_functions = resolver->nr;
	SORT(profile->functions, profile->nr_functions, profile_function_compare);
	return 0;
}

/* Replaces the note on nameless text by one on text that still has no names. */
static int note_again(struct profile *profile)
{
	struct nameless nameless = { 0 };
	size_t i, nr = 0;
	uint64_t *unnamed = calloc(profile->nr_objects + 1, 2 * sizeof(*unnamed));
	uint64_t *ticks = unnamed ? unnamed + profile->nr_objects : NULL;

	if (!unnamed)
		return -ENOMEM;
	for (i = 0; i < profile->nr_functions; i++) {
		const struct profile_function *function = &profile->functions[i];

		ticks[function->object] += function->ticks;
		if (has_no_name(profile, function))
			unnamed[function->object] += function->ticks;
	}
	for (i = 0; i < profile->nr_objects; i++)
		nameless_add(&nameless, profile, (uint32_t)i, ticks[i], unnamed[i]);
	free(unnamed);
	for (i = 0; i < profile->nr_notes; i++) {
		if (!nameless_is_of_files(profile->notes[i])) {
			profile->notes[nr++] = profile->notes[i];
			continue;
		}
		/*
		 * Only the host of the profile knows why a file was not opened. Therefore keep
		 * that.
		 */
		nameless.denied |= !!strstr(profile->notes[i], "CAP_SYS_PTRACE");
		free(profile->notes[i]);
	}
	profile->nr_notes = nr;
	return nameless_note(&nameless, true, profile);
}

int functions_resolve_rest(struct profile *profile, const struct object_opener *opener,
			   struct error *err)
{
	struct resolver resolver = { .profile = profile, .opener = opener };
	bool any = false;
	int ret = seek_objects(&resolver, &any);

	limit_functions(&resolver);
	if (!ret && any)
		ret = resolve_objects(&resolver);
	any = resolver.nr;
	if (!ret && any)
		ret = keep_the_others(&resolver);
	if (ret || !any)
		free_functions(resolver.functions, resolver.nr);
	if (!ret && any)
		ret = note_again(profile);
	resolver_end(&resolver);
	return ret ? error_errno(err, ret, "functions") : 0;
}
