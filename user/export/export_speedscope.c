// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Writes speedscope's own format: a "sampled" profile for each target, process and cgroup of a
 * split, and another one for its waits. A sample has its frames, outermost first: its callers, or
 * else its object. Weights are nanoseconds.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "base/util.h"
#include "export/export_impl.h"
#include "export/stacks.h"

#define FRAME_BYTES 11 /* a number and a comma */
#define BARE_BYTES 64 /* a stack without callers, and its weight */

struct speedscope {
	const struct profile *profile;
	const struct stacks *stacks;
	FILE *stream;
};

/* Frames have the numbers of struct stacks. Two more follow. */
enum other_frame {
	UNKNOWN,
	AT_WORK, /* the kernel, called by the frame above */
};

static uint32_t other_frame(const struct speedscope *speedscope, enum other_frame which)
{
	return stacks_nr_frames(speedscope->stacks) + which;
}

static uint32_t object_frame(const struct speedscope *speedscope,
			     const struct profile_object *object)
{
	const struct profile *profile = speedscope->profile;

	return (uint32_t)(profile->nr_functions + (size_t)(object - profile->objects));
}

/* If callers are shown, text without a function has its object's name. */
static uint32_t own_frame(const struct speedscope *speedscope, const struct stack *stack)
{
	const struct profile *profile = speedscope->profile;

	if (stack->function)
		return (uint32_t)(stack->function - profile->functions);
	return profile->callers ?
		       object_frame(speedscope, &profile->objects[stack->histogram->object]) :
		       other_frame(speedscope, UNKNOWN);
}

/* All omitted callers share a frame, whatever their object. */
static uint32_t caller_frame(const struct speedscope *speedscope, uint32_t frame)
{
	const uint32_t last = stacks_nr_frames(speedscope->stacks) - 1;

	return frame < last ? frame : last;
}

static void put_speedscope_frame(const struct speedscope *speedscope, const char *name,
				 const struct profile_object *object, const char *end)
{
	fputs("{\"name\": ", speedscope->stream);
	json_text_string(speedscope->stream, name);
	if (object) {
		fputs(", \"file\": ", speedscope->stream);
		json_text_string(speedscope->stream, object->path);
	}
	fprintf(speedscope->stream, "}%s\n", end);
}

static void put_speedscope_frames(const struct speedscope *speedscope)
{
	const struct stacks *stacks = speedscope->stacks;
	const uint32_t nr = stacks_nr_frames(stacks);
	const char *name;
	bool is_left_out;
	uint32_t i;

	fputs("\"shared\": {\"frames\": [\n", speedscope->stream);
	for (i = 0; i < nr; i++) {
		name = stack_caller(stacks, i);
		is_left_out = speedscope->profile->callers && i == nr - 1;
		put_speedscope_frame(speedscope, name && *name ? name : "[unknown]",
				     is_left_out ? NULL : stack_caller_object(stacks, i), ",");
	}
	put_speedscope_frame(speedscope, "[unknown]", NULL, ",");
	put_speedscope_frame(speedscope, PROFILE_KERNEL_FRAME, NULL, "");
	fputs("]},\n", speedscope->stream);
}

/* The name of a group, which the caller frees; NULL: out of memory. */
static char *name_group(const struct speedscope *speedscope,
			const struct profile_histogram *histogram)
{
	const struct profile_target *target = &speedscope->profile->targets[histogram->target];
	const char *process = histogram->process ? histogram->process : "process";
	char pid[24] = "";
	bool by_process = speedscope->stacks->by_process &&
			  (histogram->pid >= 0 || histogram->process);

	if (by_process && histogram->pid >= 0)
		snprintf(pid, sizeof(pid), " %" PRId64, histogram->pid);
	return format_text("%s%s%s%s%s%s%s", *target->name ? target->name : target->kind,
			   histogram->cgroup ? ", " : "",
			   histogram->cgroup ? histogram->cgroup : "", by_process ? ", " : "",
			   by_process ? process : "", pid, target->waits ? ", waits" : "");
}

/* Outermost frame first. */
static void put_speedscope_callers(const struct speedscope *speedscope, uint32_t context)
{
	const struct chain_context *all = speedscope->stacks->callers.all;
	uint32_t frames[PROFILE_CHAIN_DEPTH + 1];
	size_t nr = 0;

	for (; context; context = all[context].parent)
		frames[nr++] = caller_frame(speedscope, all[context].frame);
	while (nr)
		fprintf(speedscope->stream, "%" PRIu32 ",", frames[--nr]);
}

static void put_speedscope_stack(const struct speedscope *speedscope, const struct stack *stack)
{
	const struct stacks *stacks = speedscope->stacks;
	const struct profile_object *first = NULL;
	FILE *stream = speedscope->stream;

	if (!speedscope->profile->callers)
		first = &speedscope->profile->objects[stack->histogram->object];
	else if (stacks->by_program)
		first = stack_program(stacks, stack);
	fputc('[', stream);
	if (first || stacks->by_program)
		fprintf(stream, "%" PRIu32 ",",
			first ? object_frame(speedscope, first) : other_frame(speedscope, UNKNOWN));
	put_speedscope_callers(speedscope, stack->callers);
	fprintf(stream, "%" PRIu32, own_frame(speedscope, stack));
	if (stack->in_kernel)
		fprintf(stream, ",%" PRIu32, other_frame(speedscope, AT_WORK));
	fputc(']', stream);
}

/* Returns the sum of the weights. */
static uint64_t put_speedscope_samples(const struct speedscope *speedscope, size_t first,
				       size_t end)
{
	FILE *stream = speedscope->stream;
	uint64_t total = 0;
	size_t i;

	fputs("\"samples\": [", stream);
	for (i = first; i < end && !ferror(stream); i++) {
		fputs(i == first ? "" : ",", stream);
		put_speedscope_stack(speedscope, &speedscope->stacks->all[i]);
	}
	fputs("],\n\"weights\": [", stream);
	for (i = first; i < end; i++) {
		fputs(i == first ? "" : ",", stream);
		json_text_u64(stream, speedscope->stacks->all[i].ns);
		total += speedscope->stacks->all[i].ns;
	}
	fprintf(stream, "],\n\"startValue\": 0, \"endValue\": %" PRIu64 "}", total);
	return total;
}

static bool is_of_waits(const struct speedscope *speedscope, const struct stack *stack)
{
	return speedscope->profile->targets[stack->histogram->target].waits;
}

static int put_group(const struct speedscope *speedscope, size_t first, size_t end, uint64_t *total)
{
	FILE *stream = speedscope->stream;
	cleanup_free char *name = name_group(speedscope, speedscope->stacks->all[first].histogram);

	if (!name)
		return -ENOMEM;
	fprintf(stream, "%s{\"type\": \"sampled\", \"unit\": \"nanoseconds\", \"name\": ",
		first ? ",\n" : "\n");
	json_text_string(stream, name);
	fputs(",\n", stream);
	*total = put_speedscope_samples(speedscope, first, end);
	return 0;
}

/* Stacks are sorted by group. The group with the most CPU time is shown first. */
static int put_speedscope_groups(const struct speedscope *speedscope)
{
	const struct stacks *stacks = speedscope->stacks;
	size_t first, end, nr = 0, active = 0;
	uint64_t total = 0, most = 0;
	int ret = 0;

	fputs("\"profiles\": [", speedscope->stream);
	for (first = 0; !ret && first < stacks->nr; first = end) {
		end = first + 1;
		while (end < stacks->nr &&
		       !stack_compare_groups(stacks, &stacks->all[first], &stacks->all[end]))
			end++;
		ret = put_group(speedscope, first, end, &total);
		if (total > most && !is_of_waits(speedscope, &stacks->all[first])) {
			most = total;
			active = nr;
		}
		nr++;
	}
	fprintf(speedscope->stream, "\n],\n\"activeProfileIndex\": %zu}\n", active);
	return ret;
}

static int put_speedscope(const struct speedscope *speedscope, struct error *err)
{
	const struct stacks *stacks = speedscope->stacks;
	FILE *stream = speedscope->stream;
	const char *name = "";
	int ret;

	if (stacks->nr)
		name = speedscope->profile->targets[stacks->all[0].histogram->target].name;
	errno = 0;
	fputs("{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\": \"bpfprofil\", \"name\": ",
	      stream);
	json_text_string(stream, name);
	fputs(",\n", stream);
	put_speedscope_frames(speedscope);
	ret = put_speedscope_groups(speedscope);
	return ret ? error_errno(err, ret, "speedscope") : export_end(stream, "speedscope", err);
}

static uint64_t frame_size(const struct stacks *stacks, uint32_t frame)
{
	(void)stacks;
	(void)frame;
	return FRAME_BYTES;
}

int export_speedscope(const struct profile *profile, const struct export_options *options,
		      FILE *stream, struct error *err)
{
	struct stacks stacks;
	const struct speedscope speedscope = { .profile = profile,
					       .stacks = &stacks,
					       .stream = stream };
	int ret = stacks_build(profile, options, "speedscope", &stacks, err);

	if (!ret && stacks_limit(&stacks, frame_size, stacks.nr * BARE_BYTES, options->note))
		ret = error_errno(err, -ENOMEM, "speedscope");
	if (!ret)
		ret = put_speedscope(&speedscope, err);
	stacks_free(&stacks);
	return ret;
}
