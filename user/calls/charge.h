/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CHARGE_H
#define BPFPROFIL_CHARGE_H

#include <stdint.h>
#include <sys/types.h>

/* Uids of 16 bits belong to the host's own users and are never subordinate. */
enum { CHARGE_SUBORDINATE_MIN = 1 << 16 };

/*
 * Who is charged for what a process uses. It is not just the uid, because anybody who may make user
 * namespaces has thousands of uids. So all uids in a namespace count as its owner's. A namespace
 * that root made, as container managers do, is a user of its own, identified by the first uid that
 * it was given. Outside of namespaces, subordinate uids count as one user by the first of their
 * range.
 *
 * The result is a uid, or a number above all uids; 0: root. -errno: the process is gone, or no
 * descriptor is available to find out.
 */
int charge_of(pid_t pid, int pid_fd, uid_t uid, uint64_t *result);

#endif
