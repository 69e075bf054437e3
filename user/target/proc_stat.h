/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROC_STAT_H
#define BPFPROFIL_PROC_STAT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* What --pid and --name ask /proc. Pin a process by a descriptor, then read what its files say. */

#define PROCESS_OF_KERNEL 0x00200000 /* include/linux/sched.h: PF_KTHREAD */

/* As of /proc/PID/stat. */
struct proc_stat {
	char name[64]; /* a kernel worker's is longer than the 15 bytes of others */
	pid_t parent;
	unsigned int flags;
};

int proc_stat_read(pid_t pid, struct proc_stat *process);

/* A process of which all threads have ended waits for its parent to ask. */
bool pidfd_has_ended(int pid_fd);

/* Ticks are known by the pids of the host's namespace, which cannot be had from within another. */
int pids_check_namespace(const char *option, struct error *err);

#endif
