/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_HELPER_PROCESS_H
#define BPFPROFIL_HELPER_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Children that run this program anew, by a hidden command, to do what must not be done in it. Nobody waits for
 * them: one that waits in the kernel for a user's file system cannot end, not even when it is killed, until that
 * answers.
 */
enum { ABANDONED_MAX = 64 };

/*
 * Starts one. Its standard input is the socket, it has no other descriptor, and of the environment only what
 * libraries need: tokens in it are none of its business. argument may be NULL. Returns 0 or -errno.
 */
int helper_start(const char *command, const char *argument, int socket, pid_t *pid);

/* Kills one. */
void helper_abandon(pid_t pid);

/* How many have not ended yet; those that have are gone by then. At ABANDONED_MAX no more should be started. */
size_t helpers_abandoned(void);

#endif
