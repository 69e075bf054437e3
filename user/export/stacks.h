/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_STACKS_H
#define BPFPROFIL_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/export.h"

/*
 * A function's ticks under what it belongs to, for viewers of stacks. A histogram knows no callers:
 * the frames are, from the outside in, its target, its process, its cgroup, its object, itself.
 */
struct stack {
	const struct profile_histogram *histogram; /* whose target, process, cgroup and object */
	const struct profile_function *function; /* NULL: none known */
	uint64_t ticks;
	uint64_t ns; /* of CPU time that they stand for */
};

struct stacks {
	struct stack *all; /* by target, process, cgroup, then object, then hottest function first */
	size_t nr;
	size_t room;
	bool by_process; /* the profile was split by it */
};

/* The function's name; perf's word where there is none. */
const char *stack_function(const struct stack *stack);

/* 0 or -ENOMEM. stacks_free() in either case. */
int stacks_build(const struct profile *profile, const struct export_options *options,
		 struct stacks *stacks);
void stacks_free(struct stacks *stacks);

/* Whether two are of one target, process and cgroup, as the numbers of strcmp(). */
int stack_compare_groups(const struct stacks *stacks, const struct stack *a, const struct stack *b);

#endif
