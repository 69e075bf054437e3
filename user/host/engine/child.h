/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CHILD_H
#define BPFPROFIL_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * COMMAND's process. It is forked first, so that it can be followed, and waits until sampling is
 * armed. If bpfprofil dies before that, the child ends by itself.
 */
struct child {
	pid_t pid;
	int pid_fd; /* readable when the child has ended */
	int go_fd;
	int failed_fd;
	uint64_t cpu_ns; /* CPU time of it and of its waited-for children; set by child_wait */
};

/* -EINVAL: there is no such user. NULL is fine. */
int child_check_user(const char *user, struct error *err);

/*
 * user NULL: do not change the user. files NULL: keep the limit of open files. argv ends with NULL.
 */
int child_fork(char *const *argv, const char *user, const struct rlimit *files,
	       struct child *result, struct error *err);

/*
 * Lets the child exec. Returns 0 once the new image is in place, or exec's error: -ENOENT if there
 * is no such command, -ECHILD if the process is gone or could not become user, else why the command
 * cannot be executed. command and user are for messages.
 */
int child_exec(struct child *child, const char *command, const char *user, struct error *err);

/* Waits for its end. Returns the exit status as a shell does: 128 + n for signal n. */
int child_wait(struct child *child);

/* Ends a child that has not yet done its exec, and closes all descriptors. */
void child_free(struct child *child);

#endif
