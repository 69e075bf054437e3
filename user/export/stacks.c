// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "export/export_impl.h"
#include "profile/profile.h"
#include "profile/profile_splits.h"
#include "profile/profile_weights.h"

static int compare_processes(const struct profile_histogram *x, const struct profile_histogram *y)
{
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	/* One pid may have belonged to several processes, one after the other. */
	return compare_text(x->process, y->process);
}

int stack_compare_groups(const struct stacks *stacks, const struct stack *a, const struct stack *b)
{
	const struct profile_histogram *x = a->histogram, *y = b->histogram;
	int order = 0;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	if (stacks->by_process)
		order = compare_processes(x, y);
	return order ? order : compare_text(x->cgroup, y->cgroup);
}

const char *stack_function(const struct stack *stack)
{
	return stack->function && *stack->function->name ? stack->function->name : "[unknown]";
}

/* Functions are compared by index, because the profile has the hottest first. */
static int compare_stacks(const void *left, const void *right, void *stacks)
{
	const struct stack *a = left, *b = right;
	int order = stack_compare_groups(stacks, a, b);

	if (order)
		return order;
	if (a->histogram->object != b->histogram->object)
		return a->histogram->object < b->histogram->object ? -1 : 1;
	return (a->function > b->function) - (a->function < b->function);
}

static void add_up_stacks(struct stack *sum, const struct stack *stack)
{
	sum->ticks += stack->ticks;
	if (__builtin_add_overflow(sum->ns, stack->ns, &sum->ns))
		sum->ns = UINT64_MAX;
}

static int add_stack_histogram(struct stacks *stacks, const struct profile_index *index,
			       struct profile_weights *weights,
			       const struct profile_histogram *histogram)
{
	size_t first = stacks->nr, i;
	int ret;

	for (i = 0; i < histogram->nr_bins; i++) {
		const struct profile_bin *bin = &histogram->bins[i];
		struct stack stack = { .histogram = histogram, .ticks = bin->count };

		stack.function = profile_index_find(index, histogram->object,
						    profile_bin_start(histogram, i),
						    histogram->bytes_per_bin);
		stack.ns = profile_weights_take(weights, histogram, bin->count);
		/* Bins ascend, so those of a function are consecutive. */
		if (stacks->nr > first && stacks->all[stacks->nr - 1].function == stack.function) {
			add_up_stacks(&stacks->all[stacks->nr - 1], &stack);
			continue;
		}
		ret = grow((void **)&stacks->all, &stacks->room, stacks->nr + 1,
			   sizeof(*stacks->all));
		if (ret)
			return ret;
		stacks->all[stacks->nr++] = stack;
	}
	return 0;
}

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

int stacks_build(const struct profile *profile, const struct export_options *options,
		 struct stacks *stacks)
{
	struct profile_index *index = profile_index_new(profile);
	struct profile_weights *weights = profile_weights_new(profile);
	int ret = index && weights ? 0 : -ENOMEM;
	size_t i;

	*stacks = (struct stacks){ 0 };
	for (i = 0; !ret && i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];

		if (!export_chosen(profile, options, histogram))
			continue;
		if (profile_histogram_is_split(profile, histogram))
			stacks->by_process = true;
		ret = add_stack_histogram(stacks, index, weights, histogram);
	}
	profile_index_free(index);
	profile_weights_free(weights);
	merge_stacks(stacks);
	return ret;
}

void stacks_free(struct stacks *stacks)
{
	free(stacks->all);
}
