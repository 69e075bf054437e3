/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_STATE_H
#define BPFPROFIL_CALL_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "profile/profile.h"
#include "profile/profile_head.h"
#include "calls/call_engine.h"
#include "calls/caller.h"
#include "calls/spec.h"

/*
 * The state of serve. calls.c runs it, worker.c has the threads that wait for users, request.c
 * answers requests, and registry.c maps calls to their owners.
 */

/*
 * The counts of calls, as targets of a profile. They are kept after calls end, if a record is
 * wanted.
 */
struct journal {
	struct profile *profile; /* NULL: empty */
	size_t targets_capacity;
	size_t objects_capacity;
	size_t histograms_capacity;
	bool incomplete; /* memory ran out */
};

struct calls_options {
	uint64_t memory; /* hard limit in bytes of kernel memory */
	uint64_t max_calls; /* at the same time, of all users */
	/* Limits for each user. Root is only bound by the limits for all. */
	uint64_t user_calls;
	uint64_t user_regions;
	uint64_t user_memory;
	bool restrict_fast; /* only root may use PROF_FAST */
	bool record; /* keep counts for calls_finish() */
	void (*stuck)(uid_t uid); /* called when a user's calls are ended; may be NULL */
};

struct calls;
struct worker;

/* Work for a user's thread: one block of memory, freed when it is done. */
struct job {
	STAILQ_ENTRY(job) link;
	/*
	 * Returns NULL when done, else the worker that must run it next. worker NULL: only clean
	 * up, because the server ends.
	 */
	struct worker *(*run)(struct job *job, struct worker *worker);
	/* Called in the main thread with calls->lock held: the job will run late, if at all. */
	void (*give_up)(struct job *job);
};

/* Pending work for a call. A slot is in at most one list. */
struct work {
	TAILQ_ENTRY(work) link;
	struct worker *worker; /* NULL: not in a list */
	struct work_list *list;
	struct call_ref ref;
	bool gone; /* the call must be released */
};

TAILQ_HEAD(work_list, work);
STAILQ_HEAD(job_list, job);

struct worker {
	struct calls *calls;
	uint64_t key; /* the user: a uid, or charge_of() for subordinate uids */
	uid_t uid; /* of the first process */
	uint32_t specs; /* number of specs of its calls */
	pid_t pid; /* the process whose request is being handled; 0: none */
	struct work_list urgent; /* release, or open before the process is gone */
	struct work_list dirty; /* to copy when the timer expires */
	struct work_list due; /* to copy now */
	struct job_list jobs;
	uint32_t nr_jobs;
	struct job *current;
	pthread_cond_t wake;
	pthread_t thread;
	pid_t tid; /* of its thread; 0: unknown yet */
	bool running; /* the thread exists */
	bool busy; /* and is working */
	bool stuck;
	uint64_t cpu_ns; /* CPU time of the thread at its last progress */
	uint64_t moved_ns; /* time of its last progress */
};

/* Whether there is no work for now. */
static inline bool worker_is_idle(const struct worker *worker)
{
	return TAILQ_EMPTY(&worker->urgent) && TAILQ_EMPTY(&worker->due) &&
	       STAILQ_EMPTY(&worker->jobs);
}

enum { WORKERS_MAX = 1024 }; /* limit for users at the same time; one of them is root */

struct calls_user {
	uint64_t charge; /* the user's key: charge_of() */
	bool used;
	uint32_t regions; /* in all of the user's specs */
	uint32_t lines; /* of those, in the kernel's table */
};

struct calls {
	struct calls_options options;
	pthread_mutex_t lock; /* for the rest, except what only a call's worker uses */
	struct call_engine engine;
	struct caller **callers; /* by slot */
	struct spec **specs; /* by number */
	struct calls_user *users; /* by number of the owner */
	uint32_t lines; /* of all specs */
	struct journal journal;
	uint32_t missed; /* globals.missed at the last check of all calls */
	struct worker *workers;
	size_t nr_workers; /* number that were ever used */
	struct work *work; /* by slot */
	uint64_t checked_ns; /* when workers were last checked */
	pthread_cond_t ended; /* signalled when a worker has ended */
	bool ending;
	bool ended_all; /* all have ended, none is stuck */
	bool look_again; /* check all calls at the timer, because some children are not open */
	int epoll_fd;
	int timer_fd;
	uint64_t due_ns; /* when the timer expires; 0: not running */
	struct wall_clock clock; /* at the start */
	uint64_t start_ns;
};

/* Sets the timer for the next work. The lock must be held. */
void calls_set_timer(struct calls *calls);

/* Adds a call whose counters were all copied. */
void journal_add(struct journal *journal, struct caller *caller, const struct call_engine *engine);

/*
 * Adds the account of a call if neither its counters nor its copies are accessible: all ticks are
 * unwritten.
 */
void journal_add_unread(struct journal *journal, const struct caller *caller,
			const struct call_engine *engine);

void journal_free(struct journal *journal);

#endif
