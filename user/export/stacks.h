/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_STACKS_H
#define BPFPROFIL_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/export.h"
#include "profile/profile_chains.h"

/*
 * A function's ticks under what it belongs to, for viewers of stacks: from the outside in its target,
 * its process, its cgroup and then, with callers, these, or else its object.
 */
struct stack {
	const struct profile_histogram *histogram; /* has the target, process, cgroup and object */
	const struct profile_function *function; /* NULL: it is unknown */
	uint32_t callers; /* a context of stacks->callers; 0: nothing called it */
	bool in_kernel; /* the kernel at work for it is a frame below */
	uint64_t ticks;
	uint64_t ns; /* CPU time that they stand for */
};

struct stacks {
	const struct profile *profile;
	struct stack *all; /* by target, process, cgroup, object; hottest function first */
	size_t nr;
	size_t room;
	struct chain_tree callers; /* its frames have names by stack_caller() */
	bool by_process; /* the profile was split by process */
};

/* The function's name, or perf's word if there is none. */
const char *stack_function(const struct stack *stack);

/* The name of a frame of stacks->callers. */
const char *stack_caller(const struct stacks *stacks, uint32_t frame);

/* The object that such a frame is in; NULL: it is none, but says how a walk ended. */
const struct profile_object *stack_caller_object(const struct stacks *stacks, uint32_t frame);

/* A context that stands for callers that are left out, of that object or NULL. 0: out of memory. */
uint32_t stacks_left_out(struct stacks *stacks, const struct profile_object *object);

/* Sorts the stacks, and adds up those that have become equal. */
void stacks_merge(struct stacks *stacks);

/* Returns 0 or -ENOMEM. Call stacks_free() in any case. */
int stacks_build(const struct profile *profile, const struct export_options *options,
		 bool with_callers, struct stacks *stacks);
void stacks_free(struct stacks *stacks);

/* Compares target, process and cgroup, with results as from strcmp(). */
int stack_compare_groups(const struct stacks *stacks, const struct stack *a, const struct stack *b);

#endif
