/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_KERNEL_H
#define TEST_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a process holds in the kernel, from /proc/PID/fd and fdinfo. */

/* The ids of its BPF programs, at most max. */
size_t process_bpf_programs(pid_t pid, uint32_t *ids, size_t max);

/* How many of its descriptors are links to something whose name contains text. */
size_t process_fds(pid_t pid, const char *text);

/* Waits until the kernel has freed all of these programs; true if it has. */
bool bpf_programs_gone(const uint32_t *ids, size_t n);

#endif
