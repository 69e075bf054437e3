/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_APART_H
#define BPFPROFIL_APART_H

/*
 * Runs the server in a child process. A thread that is blocked by a user's memory (a page of a FUSE
 * file) cannot be ended by any signal, and a process exists as long as its last thread. So what
 * serves users is a child, and whoever started us only waits until it says that it is done.
 *
 * Runs body in the child, which calls apart_tell() with what a service manager must be told by the
 * process that it knows. Signals that end us are passed on to the child, and the child ends with
 * this process. Returns its exit status.
 */
struct apart;

int apart_run(int (*body)(void *argument, struct apart *apart), void *argument);
void apart_tell(struct apart *apart, const char *state);

/*
 * Call if the child has such a thread: nobody shall wait for its end, nor for its descriptors to be
 * closed.
 */
void apart_leave(struct apart *apart);

#endif
