/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REGISTRY_H
#define BPFPROFIL_REGISTRY_H

#include <stdint.h>
#include <sys/types.h>

#include "calls/call_state.h"

/* Who has which call, and who is charged for it. */

/*
 * The number of the user who is charged, by charge_of(); -EDQUOT: too many users at the same time.
 * The lock must be held.
 */
int calls_owner(struct calls *calls, uint64_t charge);

/*
 * Makes the spec that a request asks for, within its user's limits and share. `replaced`, which may
 * be NULL, is the spec that it will replace and does not count. -EDQUOT, or errors of spec_make().
 * The lock must be held.
 */
int calls_add_spec(struct calls *calls, const struct spec *like, const struct call_entry *entries,
		   uint32_t nr_entries, const struct spec *replaced, struct spec **result);

/* Frees the specs without calls. The lock must be held. */
void calls_sweep_specs(struct calls *calls);

/*
 * The caller of a call; if the kernel made the call for a child, it is taken in. NULL: the call is
 * gone. This and the following functions may only be used by the call's worker, without the lock.
 */
struct caller *calls_caller(struct calls *calls, const struct call_ref *ref);

/*
 * Makes a call with a spec; it is not on and has no process yet. Takes over process on success.
 * replaces: another call of the user will be released for it, so that a user at the limit can still
 * call again. -EDQUOT. The lock must be held.
 */
int calls_add_caller(struct calls *calls, struct spec *spec, struct process *process, bool replaces,
		     struct caller **result);

/* Copies what was counted, and handles a buffer that cannot be written. */
void calls_copy(struct calls *calls, struct caller *caller);

/* Turns a call off and copies all its counts. */
void calls_end(struct calls *calls, struct caller *caller);

/* The same, and then frees all it has. */
void calls_release(struct calls *calls, struct caller *caller);

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
