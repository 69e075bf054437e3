/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TASK_STORAGE_H
#define BPFPROFIL_TASK_STORAGE_H

/*
 * Sets what a map of type BPF_MAP_TYPE_TASK_STORAGE holds for the task of a pidfd. The kernel
 * refuses that with EAGAIN at the moment when another program, be it of another profiler, makes the
 * task's first record or deletes its last one; then this tries again. Returns 0 or a negative errno.
 */
int task_storage_set(int map_fd, int pid_fd, const void *value);

#endif
