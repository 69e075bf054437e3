/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_APART_H
#define BPFPROFIL_APART_H

/*
 * A thread that waits for what a user keeps from it (a page of a FUSE file) is one that no signal
 * ends, and a process lasts as long as its last thread. So what serves users is a child, and whoever
 * started us does not wait for more than its word that it is done.
 *
 * Runs body in it, which calls apart_tell() with what a service manager is to hear from the process
 * that it knows. Signals to end reach the child; it ends with this process. Returns its exit status.
 */
struct apart;

int apart_run(int (*body)(void *argument, struct apart *apart), void *argument);
void apart_tell(struct apart *apart, const char *state);

/* The child has such a thread: nobody is to wait for its end, nor for that of what it has open. */
void apart_leave(struct apart *apart);

#endif
