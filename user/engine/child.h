/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CHILD_H
#define BPFPROFIL_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * COMMAND's process: forked first, so that it can be followed, it waits until sampling is armed.
 * If bpfprofil dies before that, it ends by itself.
 */
struct child {
	pid_t pid;
	int pid_fd; /* readable when it has ended */
	int go_fd;
	int failed_fd;
	uint64_t cpu_ns; /* after child_wait: its CPU time, and that of children it waited for */
};

/* user: NULL to stay who we are. argv ends with NULL. */
int child_fork(char *const *argv, const char *user, struct child *ret, struct error *err);

/*
 * Lets it exec. Returns when the new image is in place, or with the errno of exec: -ENOENT when
 * there is no such command, -ECHILD when its process is gone, otherwise why it cannot be executed.
 */
int child_exec(struct child *child, const char *command, struct error *err);

/* Waits for its end. Returns the exit status as a shell has it: 128 + n for signal n. */
int child_wait(struct child *child);

/* Ends one that never got to exec, closes what is open. */
void child_free(struct child *child);

#endif
