/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WORKER_H
#define BPFPROFIL_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "calls/call_state.h"

/*
 * A user's memory can block a thread that accesses it: a page of a buffer may be backed by a FUSE
 * file, or closing a descriptor may linger. Therefore each user has a thread, and only that thread
 * waits. A call has the same worker for its whole life, and only this worker uses its caller and
 * its process.
 *
 * These are threads and not processes, so that counters and callers stay in one place, and a copy
 * needs a few system calls and no message. calls->lock protects what they share (slots, specs,
 * limits of users, the journal, the clocks), and nobody waits for a user while holding it. A thread
 * in an uninterruptible wait prevents its process from ending. The owner must know that. Therefore
 * workers_end() reports it.
 */
/* calls->lock must be held, unless stated otherwise. */

/* The worker key of a process's user. It never blocks; call it without the lock. */
uint64_t worker_key(pid_t pid, uid_t uid);

/* Returns the user's worker; NULL: too many users. Root always gets one. */
struct worker *worker_of(struct calls *calls, uint64_t key, uid_t uid);

/*
 * Returns the worker that serves a process: the one with its call or its current request, else the
 * user's. Two threads of a process with different uids thus cannot undo each other's work.
 */
struct worker *worker_for(struct calls *calls, pid_t pid, uint64_t key, uid_t uid);

/* Queues a job. -EAGAIN: too many of the user's jobs wait, or no thread can be started. */
int worker_enqueue(struct worker *worker, struct job *job);

/* The call must be released, or checked again because it changed. */
void worker_mark(struct calls *calls, const struct call_ref *ref, bool gone);

/* Makes everything dirty due now. */
void workers_copy(struct calls *calls);

/*
 * Finds users whose thread has made no progress for some seconds. Their calls end, and they are
 * refused until there is progress.
 */
void workers_check(struct calls *calls);

/*
 * Releases all calls and ends all threads, except stuck ones. False: there are some, which may
 * still wake up. Therefore nothing may be freed.
 */
bool workers_end(struct calls *calls);

#endif
