// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Writes FlameGraph's collapsed stacks: frames separated by semicolons, a blank, and the ticks. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/util.h"
#include "export/export_impl.h"
#include "export/stacks.h"

#define NUMBERS_BYTES 48 /* of a pid, ticks and separators */

struct folded {
	const struct profile *profile;
	struct stacks *stacks;
	bool by_target; /* there are several targets */
	FILE *stream;
};

/* A semicolon becomes a colon, as in other collapsers. */
static void put_folded_frame(FILE *stream, const char *name)
{
	export_text(stream, name, ';', ":");
	fputc(';', stream);
}

/* flamegraph.pl interprets two numbers at the end of a line as the two sides of a comparison. */
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

/* Collapsers of perf's stacks put the command first, too. */
static void put_program(const struct folded *folded, const struct stack *stack)
{
	const struct profile_object *program = stack_program(folded->stacks, stack);

	put_folded_frame(folded->stream, program ? profile_object_base(program) : "[unknown]");
}

/* Text without a function has its object's name, as in stackcollapse-perf.pl. */
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
	if (folded->stacks->by_program)
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

/* The approximate length of a line without callers. */
static uint64_t bare_size(const struct folded *folded, const struct stack *stack)
{
	const struct profile_histogram *histogram = stack->histogram;
	const struct profile_object *object = &folded->profile->objects[histogram->object];

	return text_size(folded->profile->targets[histogram->target].name) +
	       text_size(histogram->process) + text_size(histogram->cgroup) +
	       text_size(profile_object_base(object)) + text_size(stack_function(stack)) +
	       NUMBERS_BYTES;
}

static uint64_t frame_size(const struct stacks *stacks, uint32_t frame)
{
	return text_size(stack_caller(stacks, frame));
}

static uint64_t measure_bare(const struct folded *folded)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < folded->stacks->nr; i++)
		size += bare_size(folded, &folded->stacks->all[i]);
	return size;
}

int export_folded(const struct profile *profile, const struct export_options *options, FILE *stream,
		  struct error *err)
{
	struct stacks stacks;
	struct folded folded = { .profile = profile, .stacks = &stacks, .stream = stream };
	int ret = stacks_build(profile, options, "folded", &stacks, err);

	if (!ret && stacks_limit(&stacks, frame_size, measure_bare(&folded), options->note))
		ret = error_errno(err, -ENOMEM, "folded");
	if (!ret && measure_bare(&folded) > STACKS_MAX)
		ret = error_with_hint(err, -E2BIG, "--target or --object, or --format pprof",
				      "folded: more than %llu MiB, even without callers",
				      STACKS_MAX >> 20);
	if (!ret)
		ret = put_stacks(&folded, err);
	stacks_free(&stacks);
	return ret;
}
