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
 * What is a user's can keep whoever touches it waiting: a page of a buffer that a FUSE file stands
 * behind, a descriptor whose close lingers. So each user has a thread for that, which is the only one
 * to wait. A call is one worker's for its life, which alone looks at its caller and its process.
 *
 * Threads and not processes: counters, callers and what is known of them stay in one place, and a
 * copy is a few system calls and no message. What they share (who has which slot, specs, users'
 * limits, the journal, the clocks) is behind calls->lock, and nobody waits for a user with it. That
 * a thread in an uninterruptible wait keeps its process from ending is for who owns that to know:
 * workers_end() says so.
 */
struct calls;
struct worker;

/* Something to do in a user's thread: one piece of memory, which is freed when it is done. */
struct job {
	STAILQ_ENTRY(job) link;
	/* NULL: it is done; else who is to run it. worker NULL: it is too late for all but an end. */
	struct worker *(*run)(struct job *job, struct worker *worker);
	/* In the main thread, calls->lock held: it will be run late, if at all. */
	void (*give_up)(struct job *job);
};

/* What waits to be done for a call. A slot stands in one list at most. */
struct work {
	TAILQ_ENTRY(work) link;
	struct worker *worker; /* NULL: in none */
	struct work_list *list;
	struct call_ref ref;
	bool gone; /* to be released */
};

TAILQ_HEAD(work_list, work);
STAILQ_HEAD(job_list, job);

struct worker {
	struct calls *calls;
	uint64_t who; /* it works for: a uid, or charge_of() where a uid says little */
	uid_t uid; /* who first asked */
	uint32_t specs; /* that are its calls' */
	pid_t pid; /* whose request it is at; 0: none's */
	struct work_list urgent; /* to release, or to take in before the process is gone */
	struct work_list dirty; /* to copy when the timer says so, */
	struct work_list due; /* and when it has */
	struct job_list jobs;
	uint32_t nr_jobs;
	struct job *current;
	pthread_cond_t wake;
	pthread_t thread;
	pid_t tid; /* of it; 0: not known yet */
	bool running; /* there is a thread, */
	bool busy; /* and it is at something */
	bool stuck;
	uint64_t cpu_ns; /* of the thread when it last moved, */
	uint64_t moved_ns; /* and when that was */
};

enum { WORKERS_MAX = 1024 }; /* users at the same time */

/* With calls->lock held, but for one. */

/* A user as workers know them, of a process and its uid. It waits for nothing; without the lock. */
uint64_t worker_key(pid_t pid, uid_t uid);

/* The user's worker; NULL: too many users. */
struct worker *worker_of(struct calls *calls, uint64_t who, uid_t uid);

/*
 * Who is to answer a process: whoever has its call, or is at a request of its already, else the
 * user's. So two of its threads that are different users cannot undo each other's work.
 */
struct worker *worker_for(struct calls *calls, pid_t pid, uint64_t who, uid_t uid);

/* Queues a job. -EAGAIN: the user has too many waiting, or there is no thread for it. */
int worker_give(struct worker *worker, struct job *job);

/* The call is to be released, or looked at anew: what is known of it changes. */
void worker_mark(struct calls *calls, const struct call_ref *ref, bool gone);

/* All that is dirty is due now. */
void workers_copy(struct calls *calls);

/*
 * Finds the users whose thread has not moved for some seconds: their calls are ended and they are
 * refused until it does.
 */
void workers_check(struct calls *calls);

bool workers_dirty(const struct calls *calls);
bool workers_busy(const struct calls *calls);

/*
 * Releases all calls and ends all threads, but for those that are stuck: false when there are any,
 * who may go on some time, so that nothing of calls can be freed.
 */
bool workers_end(struct calls *calls);

#endif
