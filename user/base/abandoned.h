/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ABANDONED_H
#define BPFPROFIL_ABANDONED_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Children that nobody waits for. One that waits in the kernel for a user's file system cannot end, not even when
 * it is killed, until that answers.
 */
enum { ABANDONED_MAX = 64 };

/* Kills a child of ours. */
void abandon_process(pid_t pid);

/* How many have not ended yet; those that have are gone by then. At ABANDONED_MAX no more should be started. */
size_t abandoned_processes(void);

#endif
