// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * speedscope's own format: a "sampled" profile for each target, process and cgroup that is told
 * apart, with two frames a sample, the object and its function. Weights are nanoseconds.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "export/export_impl.h"
#include "export/stacks.h"

struct speedscope {
	const struct profile *profile;
	const struct stacks *stacks;
	FILE *stream;
};

/* Frames are numbered: first the objects, then the functions, then what has no name. */
static uint64_t function_frame(const struct speedscope *speedscope, const struct stack *stack)
{
	const struct profile *profile = speedscope->profile;
	size_t i = profile->nr_functions;

	if (stack->function)
		i = (size_t)(stack->function - profile->functions);
	return profile->nr_objects + i;
}

static void put_speedscope_frame(const struct speedscope *speedscope, const char *name,
				 const char *file, bool last)
{
	fputs("{\"name\": ", speedscope->stream);
	json_text_string(speedscope->stream, name);
	if (file) {
		fputs(", \"file\": ", speedscope->stream);
		json_text_string(speedscope->stream, file);
	}
	fputs(last ? "}\n" : "},\n", speedscope->stream);
}

static void put_speedscope_frames(const struct speedscope *speedscope)
{
	const struct profile *profile = speedscope->profile;
	const struct profile_function *function;
	struct stack nameless = { 0 };
	size_t i;

	fputs("\"shared\": {\"frames\": [\n", speedscope->stream);
	for (i = 0; i < profile->nr_objects; i++)
		put_speedscope_frame(speedscope, profile_object_base(&profile->objects[i]),
				     profile->objects[i].path, false);
	for (i = 0; i < profile->nr_functions; i++) {
		function = &profile->functions[i];
		nameless.function = function;
		put_speedscope_frame(speedscope, stack_function(&nameless),
				     profile->objects[function->object].path, false);
	}
	nameless.function = NULL;
	put_speedscope_frame(speedscope, stack_function(&nameless), NULL, true);
	fputs("]},\n", speedscope->stream);
}

/* The name of a group; NULL: out of memory. The caller frees it. */
static char *name_group(const struct speedscope *speedscope,
			const struct profile_histogram *histogram)
{
	const struct profile_target *target = &speedscope->profile->targets[histogram->target];
	const char *process = histogram->process ? histogram->process : "process";
	char pid[24] = "", *name;
	bool by_process = speedscope->stacks->by_process &&
			  (histogram->pid >= 0 || histogram->process);

	if (by_process && histogram->pid >= 0)
		snprintf(pid, sizeof(pid), " %" PRId64, histogram->pid);
	if (asprintf(&name, "%s%s%s%s%s%s", *target->name ? target->name : target->kind,
		     histogram->cgroup ? ", " : "", histogram->cgroup ? histogram->cgroup : "",
		     by_process ? ", " : "", by_process ? process : "", pid) < 0)
		return NULL;
	return name;
}

/* Returns the sum of the weights. */
static uint64_t put_speedscope_samples(const struct speedscope *speedscope, size_t first,
				       size_t end)
{
	FILE *stream = speedscope->stream;
	const struct stack *stack;
	uint64_t total = 0;
	size_t i;

	fputs("\"samples\": [", stream);
	for (i = first; i < end; i++) {
		stack = &speedscope->stacks->all[i];
		fprintf(stream, "%s[%" PRIu32 ",%" PRIu64 "]", i == first ? "" : ",",
			stack->histogram->object, function_frame(speedscope, stack));
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

static int put_group(const struct speedscope *speedscope, size_t first, size_t end, uint64_t *total)
{
	FILE *stream = speedscope->stream;
	char *name = name_group(speedscope, speedscope->stacks->all[first].histogram);

	if (!name)
		return -ENOMEM;
	fprintf(stream, "%s{\"type\": \"sampled\", \"unit\": \"nanoseconds\", \"name\": ",
		first ? ",\n" : "\n");
	json_text_string(stream, name);
	fputs(",\n", stream);
	*total = put_speedscope_samples(speedscope, first, end);
	free(name);
	return 0;
}

/* Stacks are sorted by group. The group with the most time is the one shown first. */
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
		if (total > most) {
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

int export_speedscope(const struct profile *profile, const struct export_options *options,
		      FILE *stream, struct error *err)
{
	struct stacks stacks;
	const struct speedscope speedscope = { .profile = profile,
					       .stacks = &stacks,
					       .stream = stream };
	int ret;

	if (stacks_build(profile, options, false, &stacks))
		ret = error_errno(err, -ENOMEM, "speedscope");
	else
		ret = put_speedscope(&speedscope, err);
	stacks_free(&stacks);
	return ret;
}
