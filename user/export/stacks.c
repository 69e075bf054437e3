// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/util.h"
#include "export/export_impl.h"

int stack_compare_groups(const struct stacks *stacks, const struct stack *a, const struct stack *b)
{
	const struct profile_histogram *x = a->histogram, *y = b->histogram;
	int order = compare_u64(x->target, y->target);

	if (!order && stacks->by_process) {
		/* Several processes may have had one pid, one after the other. */
		order = compare_i64(x->pid, y->pid) ?: compare_text(x->process, y->process);
	}
	return order ?: compare_text(x->cgroup, y->cgroup);
}

const char *stack_function(const struct stack *stack)
{
	return stack->function && *stack->function->name ? stack->function->name : "[unknown]";
}

/*
 * Numbers of frames: functions, each object's text without functions, incomplete ends of walks, and
 * omitted callers by object.
 */
static uint32_t cut_frame(const struct profile *profile, uint32_t end)
{
	return (uint32_t)(profile->nr_functions + profile->nr_objects) + end;
}

enum { LEFT_OUT = WALK_END_COUNT + 1 };

const char *stack_caller(const struct stacks *stacks, uint32_t frame)
{
	const struct profile *profile = stacks->profile;

	if (frame < profile->nr_functions)
		return profile->functions[frame].name;
	if (frame < cut_frame(profile, 0))
		return profile_object_base(stack_caller_object(stacks, frame));
	frame -= cut_frame(profile, 0);
	return frame >= LEFT_OUT ? "[callers left out]" : profile_cut_names[frame];
}

const struct profile_object *stack_caller_object(const struct stacks *stacks, uint32_t frame)
{
	const struct profile *profile = stacks->profile;

	if (frame < profile->nr_functions)
		return &profile->objects[profile->functions[frame].object];
	if (frame < cut_frame(profile, 0))
		return &profile->objects[frame - profile->nr_functions];
	frame -= cut_frame(profile, LEFT_OUT);
	return frame < profile->nr_objects ? &profile->objects[frame] : NULL;
}

uint32_t stacks_nr_frames(const struct stacks *stacks)
{
	return cut_frame(stacks->profile, stacks->profile->callers ? LEFT_OUT + 1 : 0);
}

/* The context of omitted callers of that object, or NULL. 0: out of memory. */
static uint32_t left_out(struct stacks *stacks, const struct profile_object *object)
{
	const struct profile *profile = stacks->profile;
	size_t number = object ? (size_t)(object - profile->objects) : profile->nr_objects;

	return chain_tree_child(&stacks->callers, 0,
				cut_frame(profile, LEFT_OUT + (uint32_t)number));
}

/* Compares functions by index, because the profile has the hottest first. */
static int compare_stacks(const void *left, const void *right, void *stacks)
{
	const struct stack *a = left, *b = right;
	int order = stack_compare_groups(stacks, a, b);

	order = order ?: compare_u64(a->histogram->object, b->histogram->object);
	order = order ?: compare_u64((uintptr_t)a->function, (uintptr_t)b->function);
	return order ?: compare_u64(a->callers, b->callers) ?: a->in_kernel - b->in_kernel;
}

static void add_up_stacks(struct stack *sum, const struct stack *stack)
{
	sum->ticks += stack->ticks;
	sum->ns = add_saturating(sum->ns, stack->ns);
}

struct stacks_maker {
	struct stacks *stacks;
	struct profile_rows rows;
};

/* An object's nameless text is one frame. */
static size_t frame_of_text(void *of, const struct profile_row *row, uint32_t *frames)
{
	struct stacks_maker *maker = of;
	const struct profile *profile = maker->stacks->profile;
	const struct profile_function *function = profile_rows_function(&maker->rows, row);

	frames[0] = function && *function->name ? (uint32_t)(function - profile->functions) :
						  (uint32_t)profile->nr_functions + row->object;
	return 1;
}

static uint32_t frame_of_cut(void *of, enum walk_end end)
{
	const struct stacks_maker *maker = of;

	return cut_frame(maker->stacks->profile, end);
}

static int add_stack(struct stacks_maker *maker, const struct profile_row *row)
{
	struct stacks *stacks = maker->stacks;
	struct stack *last = stacks->nr ? &stacks->all[stacks->nr - 1] : NULL;
	const struct stack stack = { .histogram = row->histogram,
				     .function = profile_rows_function(&maker->rows, row),
				     .callers = profile_rows_above(&maker->rows, row->node),
				     .in_kernel = row->in_kernel,
				     .ticks = row->ticks,
				     .ns = profile_rows_next_ns(&maker->rows, row) };

	/* Bins ascend. Therefore those of a function are consecutive. */
	if (last && last->histogram == stack.histogram && last->function == stack.function &&
	    last->callers == stack.callers && last->in_kernel == stack.in_kernel) {
		add_up_stacks(last, &stack);
		return 0;
	}
	return PUSH(stacks->all, stacks->room, stacks->nr, stack);
}

static int add_stacks(struct stacks_maker *maker)
{
	const struct profile_frames frames = { .tree = &maker->stacks->callers,
					       .of_text = frame_of_text,
					       .of_cut = frame_of_cut,
					       .of = maker };
	const struct profile_row *row;
	int ret = profile_rows_add_callers(&maker->rows, &frames);

	profile_rows_start(&maker->rows, PROFILE_ROWS_OF_CHAINS);
	while (!ret && (row = profile_rows_of_all(&maker->rows)))
		ret = add_stack(maker, row);
	return ret;
}

/* Sorts the stacks, and combines equal ones. */
static void merge_stacks(struct stacks *stacks)
{
	size_t i, kept = 0;

	if (!stacks->nr)
		return;
	qsort_r(stacks->all, stacks->nr, sizeof(*stacks->all), compare_stacks, stacks);
	for (i = 1; i < stacks->nr; i++) {
		if (compare_stacks(&stacks->all[kept], &stacks->all[i], stacks))
			stacks->all[++kept] = stacks->all[i];
		else
			add_up_stacks(&stacks->all[kept], &stacks->all[i]);
	}
	stacks->nr = kept + 1;
}

/* --- programs --- */

static const struct profile_object *object_of_frame(const void *stacks, uint32_t frame)
{
	return stack_caller_object(stacks, frame);
}

static const struct profile_object *program_of(const struct stacks *stacks,
					       const struct stack *stack)
{
	const struct profile_object *first = stacks->programs[stack->callers];

	return first ?: profile_as_program(&stacks->profile->objects[stack->histogram->object]);
}

const struct profile_object *stack_program(const struct stacks *stacks, const struct stack *stack)
{
	const struct profile_object *own = &stacks->profile->objects[stack->histogram->object];

	return program_of(stacks, stack) ?: (own->kind == PROFILE_KERNEL ? own : NULL);
}

/* A split by process has better names. Returns 0 or -ENOMEM. */
static int find_programs(struct stacks *stacks)
{
	const struct profile_object *first = NULL, *program;
	size_t i;

	free(stacks->programs);
	stacks->programs = chain_tree_programs(&stacks->callers, object_of_frame, stacks);
	if (!stacks->programs)
		return -ENOMEM;
	for (i = 0; stacks->profile->callers && !stacks->by_process && i < stacks->nr; i++) {
		program = program_of(stacks, &stacks->all[i]);
		stacks->by_program |= first && program && program != first;
		first = first ?: program;
	}
	return 0;
}

int stacks_build(const struct profile *profile, const struct export_options *options,
		 const char *format, struct stacks *stacks, struct error *err)
{
	struct stacks_maker maker = { .stacks = stacks };
	int ret = export_rows_begin(&maker.rows, profile, options, PROFILE_ROWS_WITH_CALLERS);

	*stacks = (struct stacks){ .profile = profile, .by_process = maker.rows.is_split };
	if (!ret)
		ret = add_stacks(&maker);
	profile_rows_end(&maker.rows);
	merge_stacks(stacks);
	if (!ret)
		ret = find_programs(stacks);
	if (ret)
		return error_errno(err, ret, "%s", format);
	if (options->programs && !profile->callers)
		return error_set(err, -EINVAL, "%s: --program-first: this profile has no callers",
				 format);
	stacks->by_program |= options->programs;
	return 0;
}

void stacks_free(struct stacks *stacks)
{
	free(stacks->all);
	free(stacks->programs);
	chain_tree_free(&stacks->callers);
}

/* --- limit for the bytes of all frames --- */

/* By time, because the ticks of waits are nanoseconds. */
DEFINE_COMPARE_AS(compare_time, struct stack,
		  compare_u64(b->ns, a->ns) ?: compare_u64(b->ticks, a->ticks))

/* Stacks that lost their callers. */
struct left_stacks {
	uint64_t ticks;
	uint64_t waits_ns;
};

static void add_left_stack(const struct stacks *stacks, const struct stack *stack,
			   struct left_stacks *left)
{
	const bool waits = stacks->profile->targets[stack->histogram->target].waits;
	uint64_t *sum = waits ? &left->waits_ns : &left->ticks;

	*sum = add_saturating(*sum, stack->ticks);
}

/* Keeps the callers of the hottest stacks as long as there is room. */
static int drop_callers(struct stacks *stacks, const uint64_t *sizes, uint64_t room,
			struct left_stacks *left)
{
	size_t i;

	SORT(stacks->all, stacks->nr, compare_time);
	for (i = 0; i < stacks->nr; i++) {
		struct stack *stack = &stacks->all[i];

		if (sizes[stack->callers] <= room) {
			room -= sizes[stack->callers];
			continue;
		}
		room = 0; /* colder ones lose theirs, too */
		add_left_stack(stacks, stack, left);
		stack->callers = left_out(stacks, program_of(stacks, stack));
		if (!stack->callers)
			return -ENOMEM;
	}
	merge_stacks(stacks);
	return find_programs(stacks);
}

static void note_left_stacks(const struct left_stacks *left, uint64_t full, char *note)
{
	char waits[48] = "";

	if (left->waits_ns)
		snprintf(waits, sizeof(waits), " and %.3f s of waits",
			 (double)left->waits_ns / SECOND_NS);
	export_add_note(note,
			"%" PRIu64 " ticks%s are without callers, because all stacks have %" PRIu64
			" MiB, of which %llu are written; pprof has them",
			left->ticks, waits, full >> 20, STACKS_MAX >> 20);
}

int stacks_limit(struct stacks *stacks,
		 uint64_t (*frame_size)(const struct stacks *stacks, uint32_t frame), uint64_t bare,
		 char *note)
{
	const struct chain_context *all = stacks->callers.all;
	cleanup_free uint64_t *sizes = calloc(stacks->callers.nr + 1, sizeof(*sizes));
	struct left_stacks left = { 0 };
	uint64_t full = bare;
	size_t i;
	int ret;

	if (!sizes)
		return -ENOMEM;
	for (i = 1; i < stacks->callers.nr; i++)
		sizes[i] = sizes[all[i].parent] + frame_size(stacks, all[i].frame);
	for (i = 0; i < stacks->nr; i++)
		full += sizes[stacks->all[i].callers];
	if (full <= STACKS_MAX)
		return 0;
	ret = drop_callers(stacks, sizes, bare < STACKS_MAX ? STACKS_MAX - bare : 0, &left);
	if (!ret && note)
		note_left_stacks(&left, full, note);
	return ret;
}
