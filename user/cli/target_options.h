/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TARGET_OPTIONS_H
#define BPFPROFIL_TARGET_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/opts.h"
#include "target/targets.h"

struct target_word;

/* Whose ticks, as typed. */
struct target_options {
	struct target_word *list; /* in the order they were typed */
	size_t nr;
	size_t capacity;
	bool no_children;
};

extern const struct opt target_opts[];

/* The group to put into a command's table; offset is where struct target_options sits. */
#define TARGET_GROUP(offset)                                                                       \
	{                                                                                          \
		.title = "Targets", .opts = target_opts, .base = (offset)                          \
	}

void target_options_init(struct target_options *options);
void target_options_free(struct target_options *options);

/*
 * After parsing: finds what was typed on this host. command is the command's name. *ret is to be
 * freed whatever is returned. -EINVAL: the usage is wrong, also when no target was typed.
 */
int target_options_resolve(const struct target_options *options, const char *command,
			   struct targets *ret, struct error *err);

/* Which processes patterns named, a line each. */
void target_options_say(const struct targets *targets, FILE *out);

/* For an operand, which may have been meant for a target. Returns -EINVAL. */
int target_options_refuse(const char *command, const char *operand, struct error *err);

/*
 * For --split cgroup: in targets->controller the hierarchy that the targets are in, or without a
 * cgroup among them that by which processes are told apart here.
 */
int target_options_choose_hierarchy(struct targets *targets, unsigned int split, struct error *err);

#endif
