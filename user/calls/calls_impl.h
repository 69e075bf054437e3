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
#include "base/wall_clock.h"
#include "profile/profile.h"

/*
 * The inside of calls: calls.c runs them, registry.c knows who has which call, request.c answers,
 * and worker.c has the threads that wait for users.
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

/* --- registry.c --- */

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

/* --- journal.c --- */

/* Adds a call whose counters have all been copied. */
void journal_add(struct journal *journal, struct caller *caller, const struct call_engine *engine);

/*
 * Adds the account of a call whose counters cannot be reached, nor what was copied of them: its
 * ticks are unwritten.
 */
void journal_add_unread(struct journal *journal, const struct caller *caller,
			const struct call_engine *engine);

void journal_free(struct journal *journal);

/* --- calls.c --- */

/* Sets the timer for what there is to do. The lock must be held. */
void calls_set_timer(struct calls *calls);

#endif
