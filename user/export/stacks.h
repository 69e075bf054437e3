/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_STACKS_H
#define BPFPROFIL_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/export.h"

/*
 * A function's ticks under what it belongs to, for viewers of stacks. A histogram has no callers:
 * the frames are, from the outside in, its target, its process, its cgroup, its object and itself.
 */
struct stack {
	const struct profile_histogram *histogram; /* has the target, process, cgroup and object */
	const struct profile_function *function; /* NULL: it is unknown */
	uint64_t ticks;
	uint64_t ns; /* CPU time that they stand for */
};

struct stacks {
	struct stack *all; /* by target, process, cgroup, object; hottest function first */
	size_t nr;
	size_t room;
	bool by_process; /* the profile was split by process */
};

/* The function's name, or perf's word if there is none. */
const char *stack_function(const struct stack *stack);

/* Returns 0 or -ENOMEM. Call stacks_free() in any case. */
int stacks_build(const struct profile *profile, const struct export_options *options,
		 struct stacks *stacks);
void stacks_free(struct stacks *stacks);

/* Compares target, process and cgroup, with results as from strcmp(). */
int stack_compare_groups(const struct stacks *stacks, const struct stack *a, const struct stack *b);

#endif
