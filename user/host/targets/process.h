/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROCESS_H
#define BPFPROFIL_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * What is read from /proc to find processes. Pin a process by a descriptor first, then read its
 * files.
 */

#define PROCESS_OF_KERNEL 0x00200000 /* include/linux/sched.h: PF_KTHREAD */

/* Values from /proc/PID/stat. */
struct proc_stat {
	char name[64]; /* a kernel worker's name is longer than the usual 15 bytes */
	pid_t parent;
	unsigned int flags;
};

/* The pid that /proc/PID/status has under that name; 0: it has none. proc is where procfs is. */
pid_t proc_status_pid(const char *proc, pid_t pid, const char *name);

#endif
