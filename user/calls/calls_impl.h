/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLS_IMPL_H
#define BPFPROFIL_CALLS_IMPL_H

#include <pthread.h>
#include <time.h>

#include "calls/call_engine.h"
#include "calls/caller.h"
#include "calls/calls.h"
#include "calls/spec.h"
#include "calls/worker.h"
#include "profile/profile.h"

/*
 * The inside of calls: calls.c runs them, registry.c knows who is who, request.c answers, worker.c
 * has the threads that wait for users.
 */

/* What calls counted, as targets of a profile: kept when they end, for those who want to read it. */
struct journal {
	struct profile *profile; /* NULL: nothing yet */
	size_t targets_capacity;
	size_t objects_capacity;
	size_t histograms_capacity;
	bool incomplete; /* memory ran out */
};

struct calls_user {
	uint64_t charge; /* who it is: charge_of() */
	bool used;
	uint32_t regions; /* of its specs */
	uint32_t lines; /* likewise, in the kernel's table */
};

struct calls {
	struct calls_options options;
	pthread_mutex_t lock; /* of what follows, but for what a call's worker alone looks at */
	struct call_engine engine;
	struct caller **callers; /* by slot */
	struct spec **specs; /* by number */
	struct calls_user *users; /* by number of owner */
	uint32_t lines; /* of all specs */
	struct journal journal;
	uint32_t missed; /* records that had not fitted when all calls were last looked at */
	struct worker *workers;
	size_t nr_workers; /* that were ever used */
	struct work *work; /* by slot */
	uint64_t checked_ns; /* when the workers were last looked at */
	pthread_cond_t ended; /* a worker has */
	bool ending;
	bool ended_all; /* and nobody is stuck */
	bool look_again; /* at all calls, when the timer says so: some could not be taken in */
	int epoll_fd;
	int timer_fd;
	uint64_t due_ns; /* when it runs out; 0: it does not run */
	time_t started;
	uint64_t start_ns;
};

/* --- registry.c --- */

/*
 * The number of who is charged, as charge_of() says; -EDQUOT: too many users at the same time. The
 * lock is held.
 */
int calls_owner(struct calls *calls, uint64_t charge);

/*
 * A spec that the request asks for, within its user's limits and share, in which `replaced` does not
 * count that will go for it (NULL: none): -EDQUOT, or as spec_make(). The lock is held.
 */
int calls_add_spec(struct calls *calls, const struct spec *like, const struct call_entry *entries,
		   uint32_t nr_entries, const struct spec *replaced, struct spec **ret);

/* Frees the specs that no call has any more. The lock is held. */
void calls_sweep_specs(struct calls *calls);

/*
 * Who has the call; one that the kernel made for a child is taken in. NULL: it is no more. This and
 * what follows is for the call's worker alone, without the lock.
 */
struct caller *calls_caller(struct calls *calls, const struct call_ref *ref);

/*
 * A new call of a spec, not yet on and nobody's. process is taken over when it succeeds. replaces:
 * another of the user's will go for it, so that a user at the limit can still call anew. -EDQUOT.
 * The lock is held.
 */
int calls_add_caller(struct calls *calls, struct spec *spec, struct process *process, bool replaces,
		     struct caller **ret);

/* Copies what there is, and does what a buffer that cannot be written asks for. */
void calls_copy(struct calls *calls, struct caller *caller);

/* Turns a call off and copies all it has counted. */
void calls_end(struct calls *calls, struct caller *caller);

/* The same and gives everything back. */
void calls_release(struct calls *calls, struct caller *caller);

/* --- journal.c --- */

/* Adds a call whose counters are all copied. */
void journal_add(struct journal *journal, struct caller *caller, const struct call_engine *engine);

/* The account of one whose counters, and what was copied, are out of reach: unwritten. */
void journal_add_unread(struct journal *journal, const struct caller *caller,
			const struct call_engine *engine);

void journal_free(struct journal *journal);

/* --- calls.c --- */

/* Sets the timer for what is there to do. The lock is held. */
void calls_set_timer(struct calls *calls);

#endif
