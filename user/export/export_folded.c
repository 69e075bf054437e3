// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* FlameGraph's collapsed stacks: frames separated by semicolons, a blank, the ticks. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/util.h"
#include "export/export_impl.h"
#include "export/stacks.h"

/*
 * Each line has all of its frames, so a small profile with long names and deep chains would be gigabytes.
 * Beyond this many bytes the coldest stacks lose their callers.
 */
#define FOLDED_MAX (128ULL << 20)

#define NUMBERS_BYTES 48 /* of a pid, of ticks, and what separates them */

struct folded {
	const struct profile *profile;
	struct stacks *stacks;
	bool by_target; /* there are several targets */
	bool by_program; /* there are several programs */
	const struct profile_object **programs; /* by context of stacks->callers */
	FILE *stream;
};

/* A semicolon becomes a colon, as in other collapsers. */
static void put_folded_frame(FILE *stream, const char *name)
{
	export_text(stream, name, ';', ":");
	fputc(';', stream);
}

/* flamegraph.pl takes two numbers at the end of a line for the two sides of a comparison. */
static bool ends_in_number(const char *name)
{
	size_t at = strlen(name), end = at;

	while (at && (isdigit((unsigned char)name[at - 1]) || name[at - 1] == '.'))
		at--;
	return at < end && at && name[at - 1] == ' ';
}

static void put_folded_groups(const struct folded *folded,
			      const struct profile_histogram *histogram)
{
	const struct profile_target *target = &folded->profile->targets[histogram->target];

	if (folded->by_target)
		put_folded_frame(folded->stream, *target->name ? target->name : target->kind);
	if (folded->stacks->by_process && (histogram->pid >= 0 || histogram->process)) {
		if (histogram->process)
			export_text(folded->stream, histogram->process, ';', ":");
		if (histogram->pid >= 0)
			fprintf(folded->stream, "%s%" PRId64, histogram->process ? "-" : "",
				histogram->pid);
		fputc(';', folded->stream);
	}
	if (histogram->cgroup)
		put_folded_frame(folded->stream, histogram->cgroup);
}

/* Whether a file is called like a shared library: NAME.so, or NAME.so.VERSION. */
static bool is_library(const char *name)
{
	const char *end = strstr(name, ".so");

	return end && (!end[3] || end[3] == '.');
}

static const struct profile_object *program_or_null(const struct profile_object *object)
{
	if (!object || object->kind != PROFILE_FILE || is_library(profile_object_base(object)))
		return NULL;
	return object;
}

/*
 * The program that a stack belongs to: the first file among its frames that is no library. NULL: it is
 * not known, because the chain was cut before it.
 */
static const struct profile_object *program_of(const struct folded *folded,
					       const struct stack *stack)
{
	const struct profile_object *first = stack->callers ? folded->programs[stack->callers] :
							      NULL;

	return first ?: program_or_null(&folded->profile->objects[stack->histogram->object]);
}

/*
 * A split by process has a better name for each. Parents come before their children. Returns 0 or
 * -ENOMEM.
 */
static int find_programs(struct folded *folded)
{
	const struct stacks *stacks = folded->stacks;
	const struct chain_context *all = stacks->callers.all;
	const struct profile_object *first = NULL, *program;
	size_t i;

	free(folded->programs);
	folded->programs = calloc(stacks->callers.nr + 1, sizeof(*folded->programs));
	if (!folded->programs)
		return -ENOMEM;
	for (i = 1; i < stacks->callers.nr; i++)
		folded->programs[i] =
			folded->programs[all[i].parent] ?:
				program_or_null(stack_caller_object(stacks, all[i].frame));
	for (i = 0; folded->profile->callers && !stacks->by_process && i < stacks->nr; i++) {
		program = program_of(folded, &stacks->all[i]);
		folded->by_program |= first && program && program != first;
		first = first ?: program;
	}
	return 0;
}

/* As collapsers of perf's stacks put the command first. */
static void put_program(const struct folded *folded, const struct stack *stack)
{
	const struct profile_object *program = program_of(folded, stack);
	const struct profile_object *own = &folded->profile->objects[stack->histogram->object];

	if (!program && own->kind == PROFILE_KERNEL)
		program = own;
	put_folded_frame(folded->stream, program ? profile_object_base(program) : "[unknown]");
}

/* Text without a function is called by its object, as in stackcollapse-perf.pl. */
static void put_folded_callers(const struct folded *folded, uint32_t context)
{
	const struct chain_tree *callers = &folded->stacks->callers;
	const char *frames[PROFILE_CHAIN_DEPTH + 1];
	size_t nr = 0;

	for (; context; context = callers->all[context].parent)
		frames[nr++] = stack_caller(folded->stacks, callers->all[context].frame);
	while (nr)
		put_folded_frame(folded->stream, frames[--nr]);
}

static void put_stack(const struct folded *folded, const struct stack *stack)
{
	const struct profile_histogram *histogram = stack->histogram;
	const char *object = profile_object_base(&folded->profile->objects[histogram->object]);
	const char *last = stack_function(stack);

	put_folded_groups(folded, histogram);
	if (folded->by_program)
		put_program(folded, stack);
	put_folded_callers(folded, stack->callers);
	if (!folded->profile->callers)
		put_folded_frame(folded->stream, object);
	else if (!stack->function)
		last = object;
	if (stack->in_kernel) {
		put_folded_frame(folded->stream, last);
		last = PROFILE_KERNEL_FRAME;
	}
	export_text(folded->stream, last, ';', ":");
	fputs(ends_in_number(last) ? "_ " : " ", folded->stream);
	json_text_u64(folded->stream, stack->ticks);
	fputc('\n', folded->stream);
}

/* Stacks are sorted by target. */
static int put_stacks(struct folded *folded, struct error *err)
{
	const struct stacks *stacks = folded->stacks;
	size_t i;

	folded->by_target = stacks->nr && stacks->all[0].histogram->target !=
						  stacks->all[stacks->nr - 1].histogram->target;
	errno = 0;
	for (i = 0; i < stacks->nr && !ferror(folded->stream); i++)
		put_stack(folded, &stacks->all[i]);
	return export_end(folded->stream, "folded", err);
}

static size_t text_size(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

/* About how many bytes a line has without callers. */
static uint64_t bare_size(const struct folded *folded, const struct stack *stack)
{
	const struct profile_histogram *histogram = stack->histogram;
	const struct profile_object *object = &folded->profile->objects[histogram->object];

	return text_size(folded->profile->targets[histogram->target].name) +
	       text_size(histogram->process) + text_size(histogram->cgroup) +
	       text_size(profile_object_base(object)) + text_size(stack_function(stack)) +
	       NUMBERS_BYTES;
}

static int compare_ticks(const void *left, const void *right)
{
	const struct stack *a = left, *b = right;

	return compare_u64(b->ticks, a->ticks);
}

/* How many bytes the frames of each context have. NULL: out of memory. */
static uint64_t *measure_contexts(const struct stacks *stacks)
{
	const struct chain_context *all = stacks->callers.all;
	uint64_t *sizes = calloc(stacks->callers.nr + 1, sizeof(*sizes));
	size_t i;

	for (i = 1; sizes && i < stacks->callers.nr; i++)
		sizes[i] = sizes[all[i].parent] + text_size(stack_caller(stacks, all[i].frame));
	return sizes;
}

static uint64_t measure_bare(const struct folded *folded)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < folded->stacks->nr; i++)
		size += bare_size(folded, &folded->stacks->all[i]);
	return size;
}

/* The hottest stacks keep their callers, as far as there is room. *ticks: of those that do not. */
static int drop_callers(struct folded *folded, const uint64_t *sizes, uint64_t room,
			uint64_t *ticks)
{
	struct stacks *stacks = folded->stacks;
	size_t i;

	*ticks = 0;
	SORT(stacks->all, stacks->nr, compare_ticks);
	for (i = 0; i < stacks->nr; i++) {
		struct stack *stack = &stacks->all[i];

		if (sizes[stack->callers] <= room) {
			room -= sizes[stack->callers];
			continue;
		}
		room = 0; /* colder ones do not keep theirs either */
		*ticks += stack->ticks;
		stack->callers = stacks_left_out(stacks, program_of(folded, stack));
		if (!stack->callers)
			return -ENOMEM;
	}
	stacks_merge(stacks);
	return find_programs(folded);
}

/* The lines in full have so many bytes. */
static int shorten(struct folded *folded, const uint64_t *sizes, uint64_t full, char *note,
		   struct error *err)
{
	uint64_t bare = measure_bare(folded), ticks;
	int ret = drop_callers(folded, sizes, bare < FOLDED_MAX ? FOLDED_MAX - bare : 0, &ticks);

	if (ret)
		return error_errno(err, ret, "folded");
	if (measure_bare(folded) > FOLDED_MAX)
		return error_with_hint(err, -E2BIG, "--target or --object, or --format pprof",
				       "folded: more than %llu MiB, even without callers",
				       FOLDED_MAX >> 20);
	if (note)
		export_add_note(note,
				"%" PRIu64
				" ticks are without callers, because all stacks have %" PRIu64
				" MiB, of which %llu are written; pprof has them",
				ticks, full >> 20, FOLDED_MAX >> 20);
	return 0;
}

static int limit_size(struct folded *folded, char *note, struct error *err)
{
	cleanup_free uint64_t *sizes = measure_contexts(folded->stacks);
	uint64_t full = measure_bare(folded);
	size_t i;

	if (!sizes)
		return error_errno(err, -ENOMEM, "folded");
	for (i = 0; i < folded->stacks->nr; i++)
		full += sizes[folded->stacks->all[i].callers];
	return full > FOLDED_MAX ? shorten(folded, sizes, full, note, err) : 0;
}

int export_folded(const struct profile *profile, const struct export_options *options, FILE *stream,
		  struct error *err)
{
	struct stacks stacks;
	struct folded folded = { .profile = profile, .stacks = &stacks, .stream = stream };
	int ret = stacks_build(profile, options, true, &stacks);

	if (!ret)
		ret = find_programs(&folded);
	if (ret)
		ret = error_errno(err, ret, "folded");
	else
		ret = limit_size(&folded, options->note, err);
	if (!ret)
		ret = put_stacks(&folded, err);
	free(folded.programs);
	stacks_free(&stacks);
	return ret;
}
