/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SESSION_H
#define BPFPROFIL_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"
#include "profile/profile.h"
#include "shared/abi.h"
#include "host/targets/target.h"

/* perf's CPU clock, or the tick that the scheduler takes anyway. */
enum tick_source { SOURCE_CLOCK, SOURCE_TICK };

/* The words for sources, modes and splits in options and profiles; NULL ends each list. */
extern const char *const tick_source_words[];
extern const char *const tick_mode_words[];
extern const char *const split_words[];

/*
 * One run of the sampler, in this order:
 *
 *     open (maps and programs loaded, targets followed) -> start (clock runs) -> poll... -> stop
 *          -> take -> close
 *
 * A session owns its programs, maps, events and open files; close releases all of them at any
 * point. A killed process leaves nothing behind, because only descriptors hold them.
 */
struct session_options {
	enum tick_source source;
	uint64_t period_ns; /* for the scheduler's tick: see sched_tick_period_ns() */
	double requested_hz; /* as asked for; written to the profile */
	/*
	 * How many of the ticks count, chosen at random; 0: all. A tick that counts stands for the
	 * others too.
	 */
	double duty_percent;
	enum tick_mode mode;
	enum split split;
	bool callers; /* count the chain of callers of each tick too */
	bool waits; /* count wall time too: where threads wait, and for how long */
	uint32_t bin_shift; /* log2 of the bytes of text in a bin */
	uint64_t memory; /* hard limit for what was counted, in bytes */
	/*
	 * Sample only these CPUs, in a list like 0,2-3; NULL: all. With a list CPU time is unknown
	 * and samples have no weights, because the scheduler's accounts are of all CPUs. Must
	 * outlive the session.
	 */
	const char *cpus;
	bool unweighted; /* each sample counts as one tick, to measure the clock itself */
	bool measure; /* let the kernel measure all its programs: see session_cost() */
	const struct target *targets; /* at least one; the array is copied */
	size_t nr_targets;
	/*
	 * The version 1 hierarchy for cgroup targets and SPLIT_CGROUP, by one of its controllers
	 * ("memory"); NULL: version 2.
	 */
	const char *cgroup_controller;
	/*
	 * With SPLIT_CGROUP: decides by its path whether the ticks of a cgroup count.
	 * SPACE_ANNOUNCED means that this is unknown yet: then ticks are counted, and the function
	 * is called again. Ticks of a cgroup that is left out are filtered, and no profile has its
	 * name. NULL: all count.
	 */
	enum space_state (*choose)(void *context, const char *cgroup);
	/*
	 * With SPLIT_CGROUP: called once for each new cgroup, probably before it ends. May be NULL.
	 */
	void (*first_seen)(void *context, const char *cgroup);
	void *choose_context; /* of both */
};

struct session;
struct sampler_programs;
struct wall_clock;

int session_open(const struct session_options *options, struct session **result, struct error *err);

int session_start(struct session *session, struct error *err);

/* Starts paused; session_resume() ends the pause. */
void session_start_paused(struct session *session);

/* Readable when session_poll has something to do: a new file, a need for memory, a new CPU. */
int session_fd(const struct session *session);
int session_poll(struct session *session, struct error *err);

/*
 * Ticks stop in three ways:
 *
 *     session_pause()       no tick is counted and no time passes, neither for the session nor for
 *                           CPUs, until session_resume()
 *     session_stop_ticks()  no tick falls, but the CPU time of targets counts: ticks after
 *                           session_start_ticks() stand for it
 *     session_stop()        the end: the programs are detached
 *
 * Resume may set another period for the clock, if a profile has all ticks of the old one; the
 * scheduler's tick has only its own period. A session may also end while it is paused.
 */
void session_pause(struct session *session);
int session_resume(struct session *session, uint64_t period_ns, struct error *err);

/* Each needs a pass over all threads. If a profile is made in between, the duty may change. */
void session_stop_ticks(struct session *session);
void session_start_ticks(struct session *session, double duty_percent);

/* The time of the session's programs so far, on all CPUs; zeros without options.measure. */
struct session_cost {
	uint64_t runs; /* runs of the program on the clock or tick that count a tick */
	uint64_t ticking_ns; /* their time */
	uint64_t ns; /* time of all its programs */
	uint64_t time_ns; /* all the time in which this was measured */
	uint64_t all_ns; /* estimate of ns if all the time had been measured */
};
void session_cost(struct session *session, struct session_cost *result);

/* Adds the difference of two readings, without the estimate. */
void session_cost_add_since(struct session_cost *sum, const struct session_cost *now,
			    const struct session_cost *last);

/*
 * Measuring reads a clock twice for each run of a program. Therefore it can be switched off for a
 * time. With options.measure it is on at first.
 */
void session_measure_cost(struct session *session, bool on);

int session_stop(struct session *session, struct error *err);

/*
 * Makes a profile of all ticks since the start or the last profile. Each tick is in exactly one
 * profile, even if it falls meanwhile. The last profile, after stop, computes its total from an
 * independent count less all earlier profiles, so that its account checks all of them. The caller
 * frees *result and fills in its command. If it fails, the next profile has the ticks.
 */
int session_take(struct session *session, struct profile **result, struct error *err);

/* Does the same, but the ticks stay for the next profile. It is not exact while sampling runs. */
int session_peek(struct session *session, struct profile **result, struct error *err);

/*
 * Closes files without a tick in the last two profiles, and files whose last ticks were all of
 * processes or cgroups that have ended. Open that profile's objects first; afterwards that is not
 * possible.
 */
void session_let_go(struct session *session);

/*
 * A minimum for the next profile: the CPU time of targets and of cgroups, in a profile without
 * ticks, and the number of ticks. It needs a pass over all threads. A cgroup without a name yet is
 * in no split.
 */
int session_times(struct session *session, struct profile **result, uint64_t *ticks,
		  struct error *err);

/* The begin of a profile that is made now, on the clock of monotonic_ns(). */
uint64_t session_since_ns(const struct session *session);

/* Converts a time of that clock to the time of day, by the host's clock as it is set now. */
struct timespec session_time(const struct session *session, uint64_t at_ns);

/*
 * The clock by which the next profile notes that the host's clock was set, or the host was
 * suspended. If you drop a profile, set the clock from before it again, so that the next profile
 * has its note.
 */
struct wall_clock session_clock(const struct session *session);
void session_set_clock(struct session *session, const struct wall_clock *clock);

/* The file of an object, as it was when first seen, or the perf map of a jit object. */
struct session_source {
	int fd; /* -errno: none */
	bool far; /* fd only pins it: opener_open() must open it, as that may need a user's program */
	uint64_t owner; /* for opener_open() */
	int places_fd; /* for a jit object: a map of the places of replaced code; -errno: none */
	uint64_t limit; /* bytes of the perf map when the profile was made */
	char *root; /* the prefix of its debug files */
};

/* Opens an object by its id in the last profile. -ENOMEM; close the source in any case. */
int session_open_source(const struct session *session, uint32_t object,
			struct session_source *result);
void session_close_source(struct session_source *source);

/* Figures that are cheap to get while the session runs. */
struct session_live {
	uint64_t total;
	uint64_t lost;
	uint64_t hits;
	uint64_t misses;
	uint64_t memory; /* bytes used for what was counted */
	uint64_t elapsed_ns; /* without pauses */
};
void session_live(struct session *session, struct session_live *result);

/* How many processes or cgroups of splits were announced so far. */
size_t session_nr_splits(const struct session *session);

void session_close(struct session *session); /* NULL is fine */

#endif
