/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REGISTRY_H
#define BPFPROFIL_REGISTRY_H

#include <stdint.h>
#include <sys/types.h>

#include "calls/call_state.h"

/* Owners of calls, and the users who are charged for them. */

/*
 * Returns the number of a user by charge_of(); -EDQUOT: too many users at the same time. The lock
 * must be held.
 */
int calls_owner(struct calls *calls, uint64_t charge);

/*
 * Makes the spec of a request within its user's limits and share. `replaced`, which may be NULL, is
 * the spec that it will replace, which does not count. -EDQUOT, or errors of spec_make(). The lock
 * must be held.
 */
int calls_add_spec(struct calls *calls, const struct spec *like, const struct call_entry *entries,
		   uint32_t nr_entries, const struct spec *replaced, struct spec **result);

/* Frees specs without calls. The lock must be held. */
void calls_sweep_specs(struct calls *calls);

/*
 * Returns the caller of a call. If the kernel made the call for a child, opens the child. NULL: the
 * call is gone. Only the call's worker may use this and the following functions, without the lock.
 */
struct caller *calls_caller(struct calls *calls, const struct call_ref *ref);

/*
 * Makes a call with a spec, off and without a process. Owns process on success. replaces: another
 * call of the user will be released for it, so that a user at the limit can call again. -EDQUOT.
 * The lock must be held.
 */
int calls_add_caller(struct calls *calls, struct spec *spec, struct process *process, bool replaces,
		     struct caller **result);

/* Copies new counts, and handles a buffer that cannot be written. */
void calls_copy(struct calls *calls, struct caller *caller);

/* Turns a call off and copies all its counts. */
void calls_end(struct calls *calls, struct caller *caller);

/* Does the same, and then frees everything of the call. */
void calls_release(struct calls *calls, struct caller *caller);

/* Uids of 16 bits belong to the host's own users and are never subordinate. */
enum { CHARGE_SUBORDINATE_MIN = 1 << 16 };

/*
 * Finds the user who is charged for a process. A uid is not enough, because anybody who may make
 * user namespaces has thousands of uids. Therefore all uids in a namespace count as its owner's. If
 * root made the namespace, as container managers do, it is a user of its own, with the first uid
 * that it was given. Outside of namespaces, all subordinate uids of a range count as the first one.
 *
 * The result is a uid, or a number above all uids; 0: root. -errno: the process is gone, or there
 * is no descriptor left to find out.
 */
int charge_of(pid_t pid, int pid_fd, uid_t uid, uint64_t *result);

#endif
