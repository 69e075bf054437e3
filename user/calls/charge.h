/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CHARGE_H
#define BPFPROFIL_CHARGE_H

#include <stdint.h>
#include <sys/types.h>

/* Nobody lends uids of 16 bits: the host's own users have them. */
enum { CHARGE_SUBORDINATE_MIN = 1 << 16 };

/*
 * Who it is charged to what a process takes. Uids are no people: who may make user namespaces has
 * thousands of them. So all that are in one are its owner's, and where root made it, as managers of
 * containers do, it is a user by itself, by the first of the uids that it was given. Outside too
 * subordinate uids are one user by the first of their range.
 *
 * The result is a uid, or a number above all uids; 0: root. -errno: the process is gone, or there is
 * no descriptor to look by.
 */
int charge_of(pid_t pid, int pid_fd, uid_t uid, uint64_t *ret);

#endif
