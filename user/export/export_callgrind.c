// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Writes Callgrind's profile format, version 1: a cost for each instruction, with its line, and for
 * each call in a chain. callgrind_annotate computes a function's inclusive cost as the sum of its
 * calls. Therefore each tick counts in one call only of each function in its chain, the outermost
 * one. [all] calls the first frames.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "base/util.h"
#include "export/export_impl.h"
#include "export/samples.h"

/* valgrind's name for an unknown file or function. */
static const char unknown[] = "???";

struct cost {
	uint64_t ticks;
	uint64_t ns;
};

/*
 * A function, an object's text without functions, or a place outside of text. They are numbered in
 * this order. [all] is the first place of the last kind.
 */
struct callee {
	uint32_t place; /* the first place */
	uint32_t seen; /* 1 + the last sample with it in the chain */
	bool named;
};

/* The ticks below a call. */
struct callgrind_call {
	uint32_t place; /* of the call; 0: in [all] */
	uint32_t callee;
	struct cost cost;
};

struct callgrind {
	const struct profile *profile;
	const struct samples *samples;
	FILE *stream;
	bool with_ns; /* the CPU time is known */
	struct cost *costs; /* by place, exclusive */
	struct callee *callees;
	struct chain_tree pairs; /* of a call's place and callee; they number the calls */
	struct callgrind_call *calls;
	size_t nr_calls, room_calls;
	bool *files, *objects; /* by number: its name was written */
	int64_t object, callee, file; /* the current ones; -1: none */
};

static void add_cost(struct cost *sum, const struct sample *sample)
{
	sum->ticks = add_saturating(sum->ticks, sample->ticks);
	sum->ns = add_saturating(sum->ns, sample->ns);
}

/* The profile's number of objects means none. */
static uint32_t object_of(const struct callgrind *callgrind, uint32_t number)
{
	const struct samples *samples = callgrind->samples;
	const uint32_t mapping = samples->places[number].mapping;

	return mapping ? samples->mappings[mapping].object :
			 (uint32_t)callgrind->profile->nr_objects;
}

static uint32_t callee_of(const struct callgrind *callgrind, uint32_t number)
{
	const struct sample_place *place = &callgrind->samples->places[number];
	const struct profile *profile = callgrind->profile;

	if (place->function)
		return (uint32_t)(place->function - profile->functions);
	return (uint32_t)profile->nr_functions + object_of(callgrind, number) +
	       (place->mapping ? 0 : number);
}

/* --- costs --- */

static int add_call(struct callgrind *callgrind, uint32_t place, uint32_t callee,
		    const struct sample *sample)
{
	const uint32_t number = chain_tree_child(&callgrind->pairs, place, callee);

	if (!number || GROW(callgrind->calls, callgrind->room_calls, number))
		return -ENOMEM;
	if (number > callgrind->nr_calls)
		callgrind->calls[callgrind->nr_calls++] =
			(struct callgrind_call){ .place = place, .callee = callee };
	add_cost(&callgrind->calls[number - 1].cost, sample);
	return 0;
}

static int add_chain(struct callgrind *callgrind, size_t i)
{
	const struct sample *sample = &callgrind->samples->all[i];
	const struct chain_context *callers = callgrind->samples->callers.all;
	uint32_t places[PROFILE_CHAIN_DEPTH + 2], at, caller = 0;
	size_t nr = 0;
	int ret = 0;

	places[nr++] = sample->place;
	for (at = sample->callers; at; at = callers[at].parent)
		places[nr++] = callers[at].frame;
	for (; !ret && nr--; caller = places[nr]) {
		const uint32_t number = callee_of(callgrind, places[nr]);
		struct callee *callee = &callgrind->callees[number];

		if (callee->seen != i + 1)
			ret = add_call(callgrind, caller, number, sample);
		callee->seen = (uint32_t)i + 1;
	}
	return ret;
}

DEFINE_COMPARE_2(compare_calls, struct callgrind_call, place, callee)

static int add_costs(struct callgrind *callgrind)
{
	const struct samples *samples = callgrind->samples;
	size_t i;
	int ret = 0;

	for (i = samples->nr_places; i-- > 0;)
		callgrind->callees[callee_of(callgrind, (uint32_t)i)].place = (uint32_t)i;
	for (i = 0; !ret && i < samples->nr; i++) {
		add_cost(&callgrind->costs[samples->all[i].place], &samples->all[i]);
		if (callgrind->profile->callers)
			ret = add_chain(callgrind, i);
	}
	SORT(callgrind->calls, callgrind->nr_calls, compare_calls);
	return ret;
}

/* --- the file --- */

/* Writes a name only with the first use of its number. */
static void put_callgrind_name(FILE *stream, const char *key, uint32_t number, bool *named,
			       const char *name)
{
	fprintf(stream, "%s=(%" PRIu64 ")", key, UINT64_C(1) + number);
	if (!*named) {
		fputc(' ', stream);
		export_text(stream, *name ? name : unknown, 0, NULL);
	}
	*named = true;
	fputc('\n', stream);
}

static void put_object(struct callgrind *callgrind, const char *key, uint32_t object)
{
	const struct profile *profile = callgrind->profile;

	put_callgrind_name(callgrind->stream, key, object, &callgrind->objects[object],
			   object < profile->nr_objects ? profile->objects[object].path : "");
}

static void put_file(struct callgrind *callgrind, const char *key, uint32_t file)
{
	put_callgrind_name(callgrind->stream, key, file, &callgrind->files[file],
			   callgrind->samples->texts.all[file]);
}

static void put_callee(struct callgrind *callgrind, const char *key, uint32_t number)
{
	const struct samples *samples = callgrind->samples;
	struct callee *callee = &callgrind->callees[number];
	const struct sample_place *place = &samples->places[callee->place];
	const char *name = unknown;

	if (place->function)
		name = place->function->name;
	else if (!callee->place)
		name = "[all]";
	else if (!place->mapping)
		name = samples->texts
			       .all[samples->functions[samples->lines[place->first].function].name];
	put_callgrind_name(callgrind->stream, key, number, &callee->named, name);
}

/* The source line of a place; the outermost one is the function's own. */
static const struct sample_line *line_of(const struct callgrind *callgrind, uint32_t place,
					 bool outermost)
{
	const struct sample_place *of = &callgrind->samples->places[place];

	return &callgrind->samples->lines[of->first + (outermost && of->nr ? of->nr - 1 : 0)];
}

static uint32_t file_of(const struct callgrind *callgrind, uint32_t place, bool outermost)
{
	return callgrind->samples->functions[line_of(callgrind, place, outermost)->function].file;
}

/* The file of the current function. */
static uint32_t own_file(const struct callgrind *callgrind)
{
	return file_of(callgrind, callgrind->callees[callgrind->callee].place, true);
}

static void put_callgrind_line(const struct callgrind *callgrind, uint32_t place, uint32_t line,
			       const struct cost *cost)
{
	FILE *stream = callgrind->stream;

	fprintf(stream, "0x%" PRIx64 " ", callgrind->samples->places[place].address);
	json_text_u64(stream, line);
	fputc(' ', stream);
	json_text_u64(stream, cost->ticks);
	if (callgrind->with_ns) {
		fputc(' ', stream);
		json_text_u64(stream, cost->ns);
	}
	fputc('\n', stream);
}

/* A function belongs to the file of its own source, whatever was inlined there. */
static void put_callgrind_function(struct callgrind *callgrind, uint32_t place)
{
	const uint32_t callee = callee_of(callgrind, place), object = object_of(callgrind, place);
	const struct cost none = { 0 };

	if (object != callgrind->object)
		put_object(callgrind, "ob", object);
	callgrind->object = object;
	callgrind->callee = callee;
	callgrind->file = own_file(callgrind);
	put_file(callgrind, "fl", (uint32_t)callgrind->file);
	put_callee(callgrind, "fn", callee);
	/* callgrind_annotate fails on a file without a line. */
	if (callgrind->samples->places[place].nr > 1)
		put_callgrind_line(callgrind, place, line_of(callgrind, place, true)->line, &none);
}

static void put_call(struct callgrind *callgrind, const struct callgrind_call *call)
{
	const uint32_t first = callgrind->callees[call->callee].place;
	const uint32_t object = object_of(callgrind, first);
	const uint32_t file = file_of(callgrind, first, true);

	if (object != callgrind->object)
		put_object(callgrind, "cob", object);
	/*
	 * callgrind_annotate may take a file that is named here for another one. Therefore name
	 * few.
	 */
	if (file != callgrind->file || file != own_file(callgrind))
		put_file(callgrind, "cfi", file);
	put_callee(callgrind, "cfn", call->callee);
	fputs("calls=", callgrind->stream);
	json_text_u64(callgrind->stream, call->cost.ticks);
	fprintf(callgrind->stream, " 0x%" PRIx64 " 0\n", callgrind->samples->places[first].start);
	put_callgrind_line(callgrind, call->place, line_of(callgrind, call->place, false)->line,
			   &call->cost);
}

/* Returns the first call of the next place. */
static size_t put_place(struct callgrind *callgrind, uint32_t place, size_t call)
{
	const struct cost *cost = &callgrind->costs[place];
	const struct callgrind_call *calls = callgrind->calls;
	const bool any = call < callgrind->nr_calls && calls[call].place == place;
	const uint32_t file = file_of(callgrind, place, false),
		       callee = callee_of(callgrind, place);

	if (!cost->ticks && !any)
		return call;
	if (callgrind->callee != callee)
		put_callgrind_function(callgrind, place);
	if (callgrind->file != file)
		put_file(callgrind, file == own_file(callgrind) ? "fe" : "fi", file);
	callgrind->file = file;
	if (cost->ticks)
		put_callgrind_line(callgrind, place, line_of(callgrind, place, false)->line, cost);
	for (; call < callgrind->nr_calls && calls[call].place == place; call++)
		put_call(callgrind, &calls[call]);
	return call;
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
	if (callgrind->with_ns)
		fputs("event: Ticks : Ticks of the clock\n"
		      "event: ns : Nanoseconds of CPU time\nevents: Ticks ns\n",
		      stream);
	else
		fprintf(stream,
			"event: Ticks : Ticks of %" PRIu64 " ns of CPU time\nevents: Ticks\n",
			period);
}

/* Places are ordered by object and address. */
static int put_callgrind(struct callgrind *callgrind, uint64_t period, struct error *err)
{
	const struct samples *samples = callgrind->samples;
	struct cost total = { 0 };
	size_t i, call = 0;

	errno = 0;
	put_callgrind_head(callgrind, period);
	for (i = 0; i < samples->nr_places && !ferror(callgrind->stream); i++)
		call = put_place(callgrind, (uint32_t)i, call);
	for (i = 0; i < samples->nr; i++)
		add_cost(&total, &samples->all[i]);
	fprintf(callgrind->stream, "totals: %" PRIu64, total.ticks);
	if (callgrind->with_ns)
		fprintf(callgrind->stream, " %" PRIu64, total.ns);
	fputc('\n', callgrind->stream);
	return export_end(callgrind->stream, "callgrind", err);
}

static int begin(struct callgrind *callgrind)
{
	const struct profile *profile = callgrind->profile;
	const struct samples *samples = callgrind->samples;
	const size_t callees = profile->nr_functions + profile->nr_objects + samples->nr_places;

	callgrind->object = callgrind->callee = callgrind->file = -1;
	callgrind->costs = calloc(samples->nr_places, sizeof(*callgrind->costs));
	callgrind->callees = calloc(callees, sizeof(*callgrind->callees));
	callgrind->files = calloc(samples->texts.nr, sizeof(*callgrind->files));
	callgrind->objects = calloc(profile->nr_objects + 1, sizeof(*callgrind->objects));
	if (!callgrind->costs || !callgrind->callees || !callgrind->files || !callgrind->objects)
		return -ENOMEM;
	return add_costs(callgrind);
}

static void end(struct callgrind *callgrind)
{
	free(callgrind->costs);
	free(callgrind->callees);
	free(callgrind->files);
	free(callgrind->objects);
	free(callgrind->calls);
	chain_tree_free(&callgrind->pairs);
}

int export_callgrind(const struct profile *profile, const struct export_options *options,
		     FILE *stream, struct error *err)
{
	struct export_options exact = *options;
	struct samples samples;
	struct callgrind callgrind = { .profile = profile, .samples = &samples, .stream = stream };
	uint64_t period = 0;
	int ret = 0;

	callgrind.with_ns = export_knows_cpu_time(profile, options);
	if (!callgrind.with_ns)
		ret = export_one_period(profile, options, "callgrind", &period, err);
	if (ret)
		return ret;
	exact.detail = EXPORT_ADDRESS;
	exact.binned_only = true;
	ret = samples_build(&samples, profile, &exact, err);
	if (!ret && begin(&callgrind))
		ret = error_errno(err, -ENOMEM, "callgrind");
	if (!ret)
		ret = put_callgrind(&callgrind, period, err);
	end(&callgrind);
	samples_free(&samples);
	return ret;
}
