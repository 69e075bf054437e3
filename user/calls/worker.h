/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WORKER_H
#define BPFPROFIL_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "calls/call_state.h"

/*
 * What belongs to a user can block whoever touches it: a page of a buffer that is backed by a FUSE
 * file, or a descriptor whose close lingers. So each user has a thread for this, and only that
 * thread waits. A call belongs to one worker for its life, and only this worker uses its caller and
 * its process.
 *
 * These are threads and not processes, so counters, callers and what is known of them stay in one
 * place, and a copy takes a few system calls and no message. What they share (which slot is whose,
 * specs, users' limits, the journal, the clocks) is protected by calls->lock, and nobody waits for
 * a user while holding it. A thread in an uninterruptible wait keeps its process from ending, which
 * the owner must know, so workers_end() reports it.
 */
/* calls->lock must be held, except where stated. */

/*
 * The key of a user for workers, from a process and its uid. It never blocks; call it without the
 * lock.
 */
uint64_t worker_key(pid_t pid, uid_t uid);

/* The user's worker; NULL: too many users, of whom root is none. */
struct worker *worker_of(struct calls *calls, uint64_t who, uid_t uid);

/*
 * The worker that answers a process: the one that has its call or handles a request of it, else the
 * user's. So two threads of the process that are different users cannot undo each other's work.
 */
struct worker *worker_for(struct calls *calls, pid_t pid, uint64_t who, uid_t uid);

/* Queues a job. -EAGAIN: the user has too many waiting, or there is no thread for it. */
int worker_give(struct worker *worker, struct job *job);

/* The call must be released, or looked at again because something about it changes. */
void worker_mark(struct calls *calls, const struct call_ref *ref, bool gone);

/* Makes everything dirty due now. */
void workers_copy(struct calls *calls);

/*
 * Finds users whose thread has made no progress for some seconds: their calls are ended, and they
 * are refused until it does.
 */
void workers_check(struct calls *calls);

/*
 * Releases all calls and ends all threads, except those that are stuck. False: there are some,
 * which may still go on at some time, so nothing of calls can be freed.
 */
bool workers_end(struct calls *calls);

#endif
