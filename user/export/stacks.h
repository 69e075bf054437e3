/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_STACKS_H
#define BPFPROFIL_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/export.h"
#include "profile/profile_chains.h"

/*
 * Ticks of a function in viewers of stacks. From the outside: its target, process, cgroup, and its
 * callers, or without callers its object.
 */
struct stack {
	const struct profile_histogram *histogram; /* with the target, process, cgroup and object */
	const struct profile_function *function; /* NULL: unknown */
	uint32_t callers; /* a context of stacks->callers; 0: none */
	bool in_kernel; /* add a frame below: the kernel on its behalf */
	uint64_t ticks;
	uint64_t ns; /* their CPU time */
};

struct stacks {
	const struct profile *profile;
	struct stack *all; /* by target, process, cgroup, object; hottest function first */
	size_t nr;
	size_t room;
	struct chain_tree callers; /* stack_caller() names its frames */
	const struct profile_object **programs; /* by context of callers; NULL: unknown */
	bool by_process; /* the profile was split by process */
	bool by_program; /* stacks begin with their programs, because there are several */
};

/* The function's name, or perf's word for none. */
const char *stack_function(const struct stack *stack);

const char *stack_caller(const struct stacks *stacks, uint32_t frame);

/* The object of such a frame; NULL: it is the end of a walk. */
const struct profile_object *stack_caller_object(const struct stacks *stacks, uint32_t frame);

/* The number of frames. With callers, the last one means omitted callers. */
uint32_t stacks_nr_frames(const struct stacks *stacks);

/* The first frame of a stack with by_program: its program, or the kernel. NULL: unknown. */
const struct profile_object *stack_program(const struct stacks *stacks, const struct stack *stack);

/*
 * Returns 0, or -ENOMEM; -EINVAL: the options need programs, but the profile has no callers. The
 * message starts with format. Call stacks_free() in any case.
 */
int stacks_build(const struct profile *profile, const struct export_options *options,
		 const char *format, struct stacks *stacks, struct error *err);
void stacks_free(struct stacks *stacks);

/*
 * Viewers need all frames of each stack. Therefore a small profile with long names and deep chains
 * would have gigabytes. Beyond this limit, the coldest stacks lose their callers.
 */
#define STACKS_MAX (128ULL << 20)

/*
 * Limits the bytes of frames. frame_size: bytes of a frame; bare: bytes without callers. A note
 * says what was omitted. Returns 0 or -ENOMEM.
 */
int stacks_limit(struct stacks *stacks,
		 uint64_t (*frame_size)(const struct stacks *stacks, uint32_t frame), uint64_t bare,
		 char *note);

/* Compares target, process and cgroup, like strcmp(). */
int stack_compare_groups(const struct stacks *stacks, const struct stack *a, const struct stack *b);

#endif
