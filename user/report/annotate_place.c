// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Finds the place that the user named: SYMBOL, OBJECT:SYMBOL, OBJECT:OFFSET or FILE:LINE. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "report/alike.h"
#include "report/annotate_steps.h"
#include "report/name_fit.h"
#include "naming/regions.h"

/* A name without a symbol: an inlined function, or a similar name. */

#define OTHERS_NAMED 3

/* The name to search for. */
struct hunt {
	struct annotating *work;
	const char *object; /* NULL: in any object */
	const char *name;
	struct report_rows bins; /* with their lines */
};

/* The best match among the functions inlined at a place. */
static enum name_fit fit_of_place(const struct source_line *source, const char *name)
{
	enum name_fit best = NAME_OTHER, fit;

	for (; source && source->caller; source = source->caller) {
		fit = source->function ? name_fit(source->function, name) : NAME_OTHER;
		best = fit > best ? fit : best;
	}
	return best;
}

/* name NULL: any object. */
static bool is_in(const struct profile *profile, uint32_t object, const char *name)
{
	return !name || object_has_name(&profile->objects[object], name);
}

static bool is_searched(const struct hunt *hunt, const struct report_row *bin)
{
	return is_in(hunt->work->profile, bin->object, hunt->object);
}

static enum name_fit best_fit(const struct hunt *hunt)
{
	enum name_fit best = NAME_OTHER, fit;
	size_t i;

	for (i = 0; i < hunt->bins.nr; i++) {
		if (!is_searched(hunt, &hunt->bins.rows[i]))
			continue;
		fit = fit_of_place(hunt->bins.rows[i].source, hunt->name);
		best = fit > best ? fit : best;
	}
	return best;
}

/* Adds a note about other functions that inlined it, hottest first. */
static int note_place(const struct hunt *hunt, const uint64_t *sums, size_t best)
{
	const struct profile *profile = hunt->work->profile;
	char others[320] = "";
	size_t i, nr = 0, used = 0;

	for (i = 0; i < profile->nr_functions; i++) {
		const char *name = profile->functions[i].name;
		int length = (int)name_length(name);

		if (i == best || !sums[i] || nr++ >= OTHERS_NAMED)
			continue;
		used += (size_t)snprintf(others + used, sizeof(others) - used,
					 "%s%.*s (%" PRIu64 ")", used ? ", " : ", and in ",
					 length < 64 ? length : 64, name, sums[i]);
	}
	return annotation_note(hunt->work->annotation,
			       "%s was inlined here (%" PRIu64 " tick%s)%s%s", hunt->name,
			       sums[best], sums[best] == 1 ? "" : "s", others,
			       nr > OTHERS_NAMED ? ", ..." : "");
}

static int find_place(const struct hunt *hunt, enum name_fit fit)
{
	struct annotating *work = hunt->work;
	cleanup_free uint64_t *sums = calloc(work->profile->nr_functions + 1, sizeof(*sums));
	uint64_t most = 0;
	size_t i, at, best = 0;

	if (!sums)
		return -ENOMEM;
	for (i = 0; i < hunt->bins.nr; i++) {
		const struct report_row *bin = &hunt->bins.rows[i];

		if (!is_searched(hunt, bin) || fit_of_place(bin->source, hunt->name) != fit)
			continue;
		at = annotated_function(work, bin);
		sums[at] += bin->own.ticks;
		if (sums[at] <= most)
			continue;
		most = sums[at];
		best = at;
		work->place = (struct annotated_place){ bin->object, bin->offset, bin->function };
	}
	return note_place(hunt, sums, best);
}

/* Collects functions with ticks, and inlined ones. */
static int gather(const struct hunt *hunt, const uint64_t *ticks, struct alike_names *alike)
{
	const struct profile *profile = hunt->work->profile;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < profile->nr_functions; i++) {
		const struct profile_function *function = &profile->functions[i];

		if (ticks[i] && is_in(profile, function->object, hunt->object))
			ret = alike_add(alike, function->name);
	}
	for (i = 0; !ret && i < hunt->bins.nr; i++) {
		const struct source_line *source = hunt->bins.rows[i].source;

		if (source && source->caller && is_searched(hunt, &hunt->bins.rows[i]))
			ret = alike_add(alike, source->function);
	}
	return ret;
}

static int refuse(const struct hunt *hunt, const uint64_t *ticks, struct error *err)
{
	struct alike_names names = { 0 };
	char alike[ALIKE_BYTES];
	int ret = gather(hunt, ticks, &names);

	if (!ret)
		ret = alike_write(&names, hunt->name, alike);
	alike_free(&names);
	if (ret)
		return ret;
	if (hunt->object)
		error_set(err, -EINVAL, "%.80s: no function '%.128s' with a tick%s", hunt->object,
			  hunt->name, alike);
	else
		error_set(err, -EINVAL, "'%.200s': no function of that name has a tick%s",
			  hunt->name, alike);
	if (hunt->object)
		error_hint(err, "bpfprofil report --object %.128s", hunt->object);
	else
		error_hint(err, "bpfprofil report, or OBJECT:SYMBOL, OBJECT:OFFSET, FILE:LINE");
	return -EINVAL;
}

/*
 * Finds the hottest function that inlined one of this name; object NULL: in any object. ticks: of
 * each function of the profile. -EINVAL: there is none, and err suggests similar names.
 */
static int find_inlined(struct annotating *work, const char *object, const char *name,
			const uint64_t *ticks, struct error *err)
{
	struct report_options options = annotated_rows(work->request);
	struct hunt hunt = { .work = work, .object = object, .name = name };
	enum name_fit fit;
	int ret;

	if (object) {
		options.objects = &object;
		options.nr_objects = 1;
	}
	ret = rows_of_bins(work->profile, &options, &hunt.bins, err);
	if (!ret && work->request->opener)
		ret = rows_find_lines(work->profile, work->request->opener, &hunt.bins, err);
	if (!ret) {
		fit = best_fit(&hunt);
		ret = fit ? find_place(&hunt, fit) : refuse(&hunt, ticks, err);
	}
	rows_free(&hunt.bins);
	return ret;
}

/* Ticks of each function, by index, as far as the request covers them. NULL: out of memory. */
static uint64_t *count_functions(const struct annotating *work)
{
	const struct profile *profile = work->profile;
	uint64_t *ticks = calloc(profile->nr_functions + 1, sizeof(*ticks));
	const struct profile_function *function;
	size_t i;

	for (i = 0; ticks && i < work->bins.nr; i++) {
		function = work->bins.rows[i].function;
		if (function)
			ticks[function - profile->functions] += work->bins.rows[i].own.ticks;
	}
	return ticks;
}

/* A search for a symbol; object NULL: in any object. */
struct symbol_search {
	const char *object;
	const char *name;
	const uint64_t *ticks;
	enum name_fit fit; /* of the best match */
	size_t best;
};

static enum name_fit candidate(const struct annotating *work, const struct symbol_search *search,
			       size_t i)
{
	const struct profile_function *function = &work->profile->functions[i];

	if (!search->ticks[i] || !is_in(work->profile, function->object, search->object))
		return NAME_OTHER;
	return name_fit(function->name, search->name);
}

/*
 * Writes "ns::f(char) (libx.so:0x40, 12 ticks)", without the name if it is that of the best match.
 */
static size_t name_other(const struct annotating *work, const struct symbol_search *search,
			 size_t i, char *text, size_t room)
{
	const struct profile *profile = work->profile;
	const struct profile_function *function = &profile->functions[i];
	const char *object = text_basename(profile->objects[function->object].path);
	const char *plural = search->ticks[i] == 1 ? "" : "s";

	if (!strcmp(function->name, profile->functions[search->best].name))
		return (size_t)snprintf(text, room, "%.96s:0x%" PRIx64 " (%" PRIu64 " tick%s)",
					object, function->offset, search->ticks[i], plural);
	return (size_t)snprintf(text, room, "%.96s (%.64s:0x%" PRIx64 ", %" PRIu64 " tick%s)",
				function->name, object, function->offset, search->ticks[i], plural);
}

/* Adds a note about other functions of that name, and how to select them. */
static int note_others(struct annotating *work, const struct symbol_search *search)
{
	const struct profile *profile = work->profile;
	char text[768] = "";
	size_t i, nr = 0, used = 0;

	for (i = 0; i < profile->nr_functions; i++) {
		if (i == search->best || candidate(work, search, i) != search->fit)
			continue;
		if (nr++ >= OTHERS_NAMED)
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", used ? ", " : "");
		used += name_other(work, search, i, text + used, sizeof(text) - used);
	}
	if (!nr)
		return 0;
	return annotation_note(work->annotation,
			       "the hottest of %zu functions of this name; %s %s%s", nr + 1,
			       nr > 1 ? "others:" : "the other:", text,
			       nr > OTHERS_NAMED ? ", ..." : "");
}

/* -ENOENT: there is none. */
static int find_symbol(struct annotating *work, const char *object, const char *name,
		       const uint64_t *ticks)
{
	struct symbol_search search = { .object = object, .name = name, .ticks = ticks };
	const struct profile_function *function;
	enum name_fit fit;
	size_t i;

	for (i = 0; i < work->profile->nr_functions; i++) {
		fit = candidate(work, &search, i);
		if (fit &&
		    (fit > search.fit || (fit == search.fit && ticks[i] > ticks[search.best]))) {
			search.fit = fit;
			search.best = i;
		}
	}
	if (!search.fit)
		return -ENOENT;
	function = &work->profile->functions[search.best];
	work->place = (struct annotated_place){ function->object, function->offset, function };
	return note_others(work, &search);
}

/* If several objects have that name, choose the one with the most ticks around the offset. */
static int find_offset(struct annotating *work, const char *object, uint64_t offset,
		       const uint64_t *ticks)
{
	const struct profile_object *first = object_of_name(work->profile, object);
	const struct report_row *bin;
	uint64_t most = 0, here;
	size_t i;

	work->place = (struct annotated_place){ (uint32_t)(first - work->profile->objects), offset,
						NULL };
	for (i = 0; i < work->bins.nr; i++) {
		bin = &work->bins.rows[i];
		if (!bin->function || offset - bin->function->offset >= bin->function->size ||
		    !is_in(work->profile, bin->object, object))
			continue;
		here = ticks[bin->function - work->profile->functions];
		if (here > most)
			work->place =
				(struct annotated_place){ bin->object, offset, bin->function };
		most = here > most ? here : most;
	}
	return 0;
}

/* An object may contain a colon, like [python3:4711], and a symbol may contain two. */
static int find_in_object(struct annotating *work, const uint64_t *ticks, struct error *err)
{
	const char *place = work->request->place, *colon;
	cleanup_free char *object = NULL;
	uint64_t offset;
	int ret;

	for (colon = strchr(place, ':'); colon; colon = strchr(colon + 1, ':')) {
		free(object);
		object = strndup(place, (size_t)(colon - place));
		if (!object)
			return -ENOMEM;
		if (!object_of_name(work->profile, object))
			continue;
		if (!parse_u64(colon + 1, &offset))
			return find_offset(work, object, offset, ticks);
		ret = find_symbol(work, object, colon + 1, ticks);
		if (ret == -ENOENT)
			ret = find_inlined(work, object, colon + 1, ticks, err);
		return ret;
	}
	return -ENOENT;
}

/* Whether name is the whole path, or its last components. */
static bool ends_with_path(const char *path, const char *name)
{
	size_t length = strlen(path), part = strlen(name);

	return part && part <= length && !strcmp(path + length - part, name) &&
	       (part == length || path[length - part - 1] == '/');
}

/*
 * Finds the function with the most ticks on a line. Inlined code counts for the function around it.
 */
static int hottest_on_line(struct annotating *work, const struct report_rows *rows,
			   const char *file, uint64_t line)
{
	const struct report_row *row;
	cleanup_free uint64_t *ticks = calloc(work->profile->nr_functions + 1, sizeof(*ticks));
	uint64_t most = 0, *sum;
	size_t i;

	if (!ticks)
		return -ENOMEM;
	for (i = 0; i < rows->nr; i++) {
		row = &rows->rows[i];
		if (!row->file || row->line != line || !ends_with_path(row->file, file))
			continue;
		sum = &ticks[annotated_function(work, row)];
		*sum += row->own.ticks;
		if (*sum > most) {
			most = *sum;
			work->place =
				(struct annotated_place){ row->object, row->offset, row->function };
		}
	}
	return most ? 0 : -ENOENT;
}

static int find_line(struct annotating *work, struct error *err)
{
	const struct report_options options = annotated_rows(work->request);
	const char *place = work->request->place, *colon = strrchr(place, ':');
	cleanup_free char *file = NULL;
	struct report_rows rows;
	uint64_t line;
	int ret;

	if (!colon || !work->request->opener || parse_u64(colon + 1, &line))
		return -ENOENT;
	file = strndup(place, (size_t)(colon - place));
	if (!file)
		return -ENOMEM;
	ret = rows_of_bins(work->profile, &options, &rows, err);
	if (!ret)
		ret = rows_find_lines(work->profile, work->request->opener, &rows, err);
	if (!ret)
		ret = hottest_on_line(work, &rows, file, line);
	if (ret == -ENOENT)
		ret = error_with_hint(err, -EINVAL, "bpfprofil report --by lines",
				      "%.256s: no tick is known to be of that line", place);
	rows_free(&rows);
	return ret;
}

static int find_by_words(struct annotating *work, struct error *err)
{
	cleanup_free uint64_t *ticks = count_functions(work);
	const char *place = work->request->place;
	int ret;

	if (!ticks)
		return -ENOMEM;
	ret = find_symbol(work, NULL, place, ticks);
	if (ret == -ENOENT)
		ret = find_in_object(work, ticks, err);
	if (ret == -ENOENT)
		ret = find_line(work, err);
	if (ret == -ENOENT)
		ret = find_inlined(work, NULL, place, ticks, err);
	return ret;
}

int annotate_find_place(struct annotating *work, struct error *err)
{
	const struct profile_function *function = work->request->function;

	if (!function)
		return find_by_words(work, err);
	work->place = (struct annotated_place){ function->object, function->offset, function };
	return 0;
}
