/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WORKER_H
#define BPFPROFIL_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "shared/call_abi.h"

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
struct calls;
struct worker;

/* Something to do in a user's thread: one block of memory, which is freed when it is done. */
struct job {
	STAILQ_ENTRY(job) link;
	/*
	 * Returns NULL when it is done, else the worker that shall run it next. worker NULL: it is
	 * too late for anything but cleaning up.
	 */
	struct worker *(*run)(struct job *job, struct worker *worker);
	/* Called in the main thread with calls->lock held: the job will run late, if at all. */
	void (*give_up)(struct job *job);
};

/* Work that waits to be done for a call. A slot is in at most one list. */
struct work {
	TAILQ_ENTRY(work) link;
	struct worker *worker; /* NULL: in no list */
	struct work_list *list;
	struct call_ref ref;
	bool gone; /* the call is to be released */
};

TAILQ_HEAD(work_list, work);
STAILQ_HEAD(job_list, job);

struct worker {
	struct calls *calls;
	uint64_t who; /* whom it works for: a uid, or charge_of() for subordinate uids */
	uid_t uid; /* of the process that asked first */
	uint32_t specs; /* number of specs of its calls */
	pid_t pid; /* the process whose request it is handling; 0: none */
	struct work_list urgent; /* to release, or to take in before the process is gone */
	struct work_list dirty; /* to copy when the timer expires, */
	struct work_list due; /* and to copy now */
	struct job_list jobs;
	uint32_t nr_jobs;
	struct job *current;
	pthread_cond_t wake;
	pthread_t thread;
	pid_t tid; /* of its thread; 0: not known yet */
	bool running; /* the thread exists, */
	bool busy; /* and is doing something */
	bool stuck;
	uint64_t cpu_ns; /* CPU time of the thread when it last made progress, */
	uint64_t moved_ns; /* and when that was */
};

enum { WORKERS_MAX = 1024 }; /* most users at the same time */

/* calls->lock must be held, except where stated. */

/*
 * The key of a user for workers, from a process and its uid. It never blocks; call it without the
 * lock.
 */
uint64_t worker_key(pid_t pid, uid_t uid);

/* The user's worker; NULL: too many users. */
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

bool workers_dirty(const struct calls *calls);
bool workers_busy(const struct calls *calls);

/*
 * Releases all calls and ends all threads, except those that are stuck. False: there are some,
 * which may still go on at some time, so nothing of calls can be freed.
 */
bool workers_end(struct calls *calls);

#endif
