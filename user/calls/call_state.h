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
 * What the server of calls has: calls.c runs it, worker.c has the threads that wait for users,
 * request.c answers, and registry.c knows who has which call.
 */

/*
 * What calls counted, as targets of a profile. It is kept when calls end, if somebody wants to read
 * it.
 */
struct journal {
	struct profile *profile; /* NULL: there is nothing yet */
	size_t targets_capacity;
	size_t objects_capacity;
	size_t histograms_capacity;
	bool incomplete; /* memory ran out */
};

struct calls_options {
	uint64_t memory; /* hard limit, in bytes of kernel memory */
	uint32_t max_calls; /* at the same time, for all users together */
	/* Limits for one user; root has only those of all. */
	uint32_t user_calls;
	uint32_t user_regions;
	uint64_t user_memory;
	bool restrict_fast; /* only root may use PROF_FAST */
	bool record; /* keep what was counted, for calls_finish */
	void (*stuck)(uid_t uid); /* called for a user who is dropped; may be NULL */
};

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

/* Whether nothing waits to be done now. */
static inline bool worker_is_idle(const struct worker *worker)
{
	return TAILQ_EMPTY(&worker->urgent) && TAILQ_EMPTY(&worker->due) &&
	       STAILQ_EMPTY(&worker->jobs);
}

enum { WORKERS_MAX = 1024 }; /* most users at the same time, of whom one is root */

struct calls_user {
	uint64_t charge; /* identifies the user: charge_of() */
	bool used;
	uint32_t regions; /* sum over the user's specs */
	uint32_t lines; /* lines of these in the kernel's table */
};

struct calls {
	struct calls_options options;
	pthread_mutex_t lock; /* for what follows, except what only a call's worker uses */
	struct call_engine engine;
	struct caller **callers; /* by slot */
	struct spec **specs; /* by number */
	struct calls_user *users; /* by number of owner */
	uint32_t lines; /* of all specs */
	struct journal journal;
	uint32_t missed; /* globals.missed when all calls were last looked at */
	struct worker *workers;
	size_t nr_workers; /* number that were ever used */
	struct work *work; /* by slot */
	uint64_t checked_ns; /* when the workers were last checked */
	pthread_cond_t ended; /* signalled when a worker has ended */
	bool ending;
	bool ended_all; /* all have ended, and none was stuck */
	bool look_again; /* look at all calls at the timer, as some were not taken in */
	int epoll_fd;
	int timer_fd;
	uint64_t due_ns; /* when the timer expires; 0: it is not running */
	struct wall_clock clock; /* at the start */
	uint64_t start_ns;
};

/* Sets the timer for what there is to do. The lock must be held. */
void calls_set_timer(struct calls *calls);

/* Adds a call whose counters have all been copied. */
void journal_add(struct journal *journal, struct caller *caller, const struct call_engine *engine);

/*
 * Adds the account of a call whose counters cannot be reached, nor what was copied of them: its
 * ticks are unwritten.
 */
void journal_add_unread(struct journal *journal, const struct caller *caller,
			const struct call_engine *engine);

void journal_free(struct journal *journal);

#endif
