// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Callgrind's profile format, version 1: a cost for each instruction, with its line. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/json_text.h"
#include "export/bin_walk.h"
#include "export/export_impl.h"
#include "export/place_lines.h"
#include "export/texts.h"
#include "profile/profile.h"
#include "profile/profile_weights.h"

/* What valgrind writes for an unknown file or function. */
static const char unknown[] = "???";

struct callgrind {
	const struct profile *profile;
	const struct profile_index *index;
	const struct profile_object *object;
	FILE *stream;
	struct place_lines lines;
	struct pointer_map files; /* the numbers of the object's files */
	uint64_t nr_files;
	uint64_t nr_functions;
	const struct profile_function *function; /* the current one */
	bool any_function; /* `function` has been set */
	const char *own; /* the file of that function */
	const char *file; /* the current one */
	struct profile_weights *weights; /* NULL: only ticks are counted */
	uint64_t total;
	uint64_t total_ns;
};

/* An instruction, and the sum of its ticks in all histograms. */
struct callgrind_cost {
	const struct profile_function *function;
	const struct source_line *line;
	uint64_t offset;
	uint64_t ticks;
	uint64_t ns;
};

static const char *file_of(const struct source_line *line)
{
	return line && line->file ? line->file : unknown;
}

/* Each name is preceded by a number, so that the name itself cannot be taken for one. */
static void put_callgrind_name(FILE *stream, const char *key, uint64_t number, const char *name)
{
	fprintf(stream, "%s=(%" PRIu64 ") ", key, number);
	export_text(stream, *name ? name : unknown, 0, NULL);
	fputc('\n', stream);
}

static int put_file(struct callgrind *callgrind, const char *key, const char *file)
{
	uint64_t *number = pointer_map_at(&callgrind->files, file, NULL);

	if (!number)
		return -ENOMEM;
	callgrind->file = file;
	if (*number) {
		fprintf(callgrind->stream, "%s=(%" PRIu64 ")\n", key, *number);
		return 0;
	}
	*number = ++callgrind->nr_files;
	put_callgrind_name(callgrind->stream, key, *number, file);
	return 0;
}

static void put_callgrind_line(const struct callgrind *callgrind, uint64_t offset, uint32_t line,
			       uint64_t ticks, uint64_t ns)
{
	FILE *stream = callgrind->stream;

	fprintf(stream, "0x%" PRIx64 " ", profile_object_address(callgrind->object, offset));
	json_text_u64(stream, line);
	fputc(' ', stream);
	json_text_u64(stream, ticks);
	if (callgrind->weights) {
		fputc(' ', stream);
		json_text_u64(stream, ns);
	}
	fputc('\n', stream);
}

/* A function belongs to the file in which its code was written, whatever was inlined there. */
static int put_callgrind_function(struct callgrind *callgrind, const struct callgrind_cost *cost)
{
	const struct source_line *line = cost->line ? source_line_outermost(cost->line) : NULL;
	int ret;

	callgrind->function = cost->function;
	callgrind->any_function = true;
	callgrind->own = file_of(line);
	ret = put_file(callgrind, "fl", callgrind->own);
	put_callgrind_name(callgrind->stream, "fn", ++callgrind->nr_functions,
			   cost->function ? cost->function->name : unknown);
	/* callgrind_annotate fails on a file without a line. */
	if (line && line != cost->line)
		put_callgrind_line(callgrind, cost->offset, line->line, 0, 0);
	return ret;
}

static int put_callgrind_cost(struct callgrind *callgrind, const struct callgrind_cost *cost)
{
	const char *file = file_of(cost->line);
	int ret = 0;

	if (!callgrind->any_function || callgrind->function != cost->function)
		ret = put_callgrind_function(callgrind, cost);
	if (!ret && file != callgrind->file)
		ret = put_file(callgrind, file == callgrind->own ? "fe" : "fi", file);
	put_callgrind_line(callgrind, cost->offset, cost->line ? cost->line->line : 0, cost->ticks,
			   cost->ns);
	callgrind->total += cost->ticks;
	callgrind->total_ns += cost->ns;
	return ret;
}

static void add_callgrind_place(const struct callgrind *callgrind, const struct bin_place *place,
				struct callgrind_cost *cost)
{
	cost->ticks += place->ticks;
	if (callgrind->weights)
		cost->ns +=
			profile_weights_take(callgrind->weights, place->histogram, place->ticks);
}

static int put_callgrind_object(struct callgrind *callgrind, struct bin_walk *walk, uint32_t object)
{
	struct callgrind_cost cost = { 0 };
	struct bin_place place;
	int ret;

	callgrind->object = &callgrind->profile->objects[object];
	callgrind->any_function = false;
	pointer_map_clear(&callgrind->files);
	put_callgrind_name(callgrind->stream, "ob", object + 1, callgrind->object->path);
	ret = place_lines_load(&callgrind->lines, callgrind->object, walk);
	while (!ret && !ferror(callgrind->stream) && bin_walk_next(walk, &place)) {
		if (place.again) {
			add_callgrind_place(callgrind, &place, &cost);
			continue;
		}
		if (cost.ticks)
			ret = put_callgrind_cost(callgrind, &cost);
		cost.line = place_lines_next(&callgrind->lines, &place);
		cost.function = profile_bin_function(callgrind->index, place.histogram, place.bin);
		cost.offset = place.offset;
		cost.ticks = cost.ns = 0;
		add_callgrind_place(callgrind, &place, &cost);
	}
	return ret || !cost.ticks ? ret : put_callgrind_cost(callgrind, &cost);
}

static void put_callgrind_head(const struct callgrind *callgrind, uint64_t period)
{
	char *const *word = callgrind->profile->command;
	FILE *stream = callgrind->stream;

	fputs("# callgrind format\nversion: 1\ncreator: bpfprofil ", stream);
	export_text(stream, callgrind->profile->tool ? callgrind->profile->tool : "", 0, NULL);
	fputs("\ncmd:", stream);
	for (; word && *word; word++) {
		fputc(' ', stream);
		export_text(stream, *word, 0, NULL);
	}
	fputs("\npositions: instr line\n", stream);
	if (callgrind->weights)
		fputs("event: Ticks : Ticks of the clock\n"
		      "event: ns : Nanoseconds of CPU time\nevents: Ticks ns\n",
		      stream);
	else
		fprintf(stream,
			"event: Ticks : Ticks of %" PRIu64 " ns of CPU time\nevents: Ticks\n",
			period);
}

static int put_callgrind(struct callgrind *callgrind, struct bin_walk *walk, uint64_t period,
			 struct error *err)
{
	uint32_t object;
	int ret = 0;

	errno = 0;
	put_callgrind_head(callgrind, period);
	while (!ret && bin_walk_object(walk, &object))
		ret = put_callgrind_object(callgrind, walk, object);
	fprintf(callgrind->stream, "totals: %" PRIu64, callgrind->total);
	if (callgrind->weights)
		fprintf(callgrind->stream, " %" PRIu64, callgrind->total_ns);
	fputc('\n', callgrind->stream);
	return ret ? error_errno(err, ret, "callgrind") :
		     export_end(callgrind->stream, "callgrind", err);
}

int export_callgrind(const struct profile *profile, const struct export_options *options,
		     FILE *stream, struct error *err)
{
	struct callgrind callgrind = { .profile = profile, .stream = stream };
	struct profile_index *index;
	struct bin_walk *walk;
	bool known;
	uint64_t period = 0;
	int ret = 0;

	known = export_knows_cpu_time(profile, options);
	if (!known)
		ret = export_one_period(profile, options, "callgrind", &period, err);
	if (ret)
		return ret;
	index = profile_index_new(profile);
	walk = bin_walk_new(profile, options);
	callgrind.index = index;
	callgrind.weights = known ? profile_weights_new(profile) : NULL;
	if (index && walk && (callgrind.weights || !known))
		ret = put_callgrind(&callgrind, walk, period, err);
	else
		ret = error_errno(err, -ENOMEM, "callgrind");
	place_lines_end(&callgrind.lines, options);
	pointer_map_clear(&callgrind.files);
	bin_walk_free(walk);
	profile_weights_free(callgrind.weights);
	profile_index_free(index);
	return ret;
}
