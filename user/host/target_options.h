/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TARGET_OPTIONS_H
#define BPFPROFIL_TARGET_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "option/opts.h"
#include "host/targets/targets.h"

struct target_word;

/* Whose ticks to count, as typed. */
struct target_options {
	struct target_word *list; /* in the order they were typed */
	size_t nr;
	size_t capacity;
	bool no_children;
	bool wait;
	uint64_t patience_ns; /* time to wait, set by the caller; then what is left; 0: no end */
	int interrupt_fd; /* waiting ends when it is readable; -1: none */
};

extern const struct opt target_opts[];

/* The group for a command's table; offset is that of struct target_options. */
#define TARGET_GROUP(offset)                                                                       \
	{                                                                                          \
		.title = "Targets", .opts = target_opts, .base = (offset)                          \
	}

void target_options_init(struct target_options *options);
void target_options_free(struct target_options *options);

/*
 * Call after parsing: finds the targets of the options on this host. command is the command's name.
 * *result must be freed in any case. -EINVAL: wrong usage, including no target. With options->wait
 * it returns when all are there; -ETIMEDOUT: not in time; -EINTR: interrupted.
 */
int target_options_resolve(struct target_options *options, const char *command,
			   struct targets *result, struct error *err);

/* Prints which processes the patterns matched, one line each. */
void target_options_say(const struct targets *targets, FILE *out);

/*
 * Refuses operands, which end with NULL and may have been meant as a target, or as a command to run
 * meanwhile. Returns -EINVAL.
 */
int target_options_refuse(const char *command, char **operands, struct error *err);

/*
 * For --split cgroup: sets targets->controller to the hierarchy of the targets, or, if there is no
 * cgroup among them, to the one that separates processes on this host.
 */
int target_options_choose_hierarchy(struct targets *targets, unsigned int split, struct error *err);

#endif
