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
	const struct profile_object **programs; /* by context of callers; NULL: unknown */
	bool by_process; /* the profile was split by process */
	bool by_program; /* stacks begin with their programs, because there are several */
};

/* The function's name, or perf's word if there is none. */
const char *stack_function(const struct stack *stack);

/* The name of a frame of stacks->callers. */
const char *stack_caller(const struct stacks *stacks, uint32_t frame);

/* The object that such a frame is in; NULL: it is none, but says how a walk ended. */
const struct profile_object *stack_caller_object(const struct stacks *stacks, uint32_t frame);

/* Frames are below this number; with callers, the last one stands for all that are left out. */
uint32_t stacks_nr_frames(const struct stacks *stacks);

/* The object that a stack with by_program begins with: its program, or the kernel. NULL: unknown. */
const struct profile_object *stack_program(const struct stacks *stacks, const struct stack *stack);

/*
 * Returns 0, or -ENOMEM; -EINVAL: the options ask for programs, which a profile without callers does
 * not have. The message starts with format. Call stacks_free() in any case.
 */
int stacks_build(const struct profile *profile, const struct export_options *options,
		 const char *format, struct stacks *stacks, struct error *err);
void stacks_free(struct stacks *stacks);

/*
 * Viewers want all frames of each stack, so a small profile with long names and deep chains would be
 * gigabytes. Beyond this many bytes the coldest stacks lose their callers.
 */
#define STACKS_MAX (128ULL << 20)

/*
 * Limits the bytes of frames: frame_size says how many one has, and bare how many there are without
 * callers. A note says what was left out. Returns 0 or -ENOMEM.
 */
int stacks_limit(struct stacks *stacks,
		 uint64_t (*frame_size)(const struct stacks *stacks, uint32_t frame), uint64_t bare,
		 char *note);

/* Compares target, process and cgroup, with results as from strcmp(). */
int stack_compare_groups(const struct stacks *stacks, const struct stack *a, const struct stack *b);

#endif
