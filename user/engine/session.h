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
#include "target/target.h"

/* perf's CPU clock, or the tick that the scheduler takes anyway. */
enum tick_source { SOURCE_CLOCK, SOURCE_TICK };

/* The words of a source, a mode and a split, in options and profiles alike; NULL ends them. */
extern const char *const tick_source_words[];
extern const char *const tick_mode_words[];
extern const char *const split_words[];

/*
 * One run of the sampler, in this order:
 *
 *     open (maps and programs loaded, targets followed) -> start (clock runs) -> poll... -> stop
 *          -> take -> close
 *
 * A session owns its programs, maps, events and the files it pinned; close releases all, at any
 * point. Killed, the process leaves nothing behind: all of it hangs on descriptors.
 */
struct session_options {
	enum tick_source source;
	uint64_t period_ns; /* of the scheduler's tick: see sched_tick_period_ns() */
	double requested_hz; /* as asked, for the profile */
	enum tick_mode mode;
	enum split split;
	uint32_t bin_shift; /* log2 of the bytes in a bin */
	uint64_t memory; /* bytes of kernel memory for histograms, a hard limit */
	bool unweighted; /* each sample is a tick, whatever its thread has run: for the clock itself */
	bool measure; /* let the kernel measure its programs, all of them: see session_cost() */
	const struct target *targets; /* at least one; copied */
	size_t nr_targets;
	/*
	 * The hierarchy of version 1 that cgroup targets and SPLIT_CGROUP go by, as one of its
	 * controllers ("memory"); NULL: version 2.
	 */
	const char *cgroup_controller;
};

struct session;
struct sampler_programs;

int session_open(const struct session_options *options, struct session **ret, struct error *err);

int session_start(struct session *session, struct error *err);

/* The same up to a pause: session_resume() ends it. */
void session_start_paused(struct session *session);

/* Readable when session_poll has something to do: a new file, less memory, a new CPU. */
int session_fd(const struct session *session);
int session_poll(struct session *session, struct error *err);

/*
 * Between these no tick falls and no time counts, neither of the session nor of CPUs. After it the
 * clock may have another period, if all was taken that was counted with the one before; the
 * scheduler's tick has but its own. Not to go on with is an end.
 */
void session_pause(struct session *session);
int session_resume(struct session *session, uint64_t period_ns, struct error *err);

/* The programs that tick, once it has started. The descriptors stay the session's. */
struct sampler_programs session_programs(const struct session *session);

/* What its programs took since it was opened, on all CPUs; zeros without options.measure. */
struct session_cost {
	uint64_t runs; /* of the program on the clock or tick */
	uint64_t ns; /* of all its programs */
	uint64_t elapsed_ns;
};
void session_cost(struct session *session, struct session_cost *ret);

/* After it no tick is counted. */
int session_stop(struct session *session, struct error *err);

/*
 * What was counted since the session was started or last taken from, and takes it out: each tick
 * is in one profile, also when it falls while this goes on. A tick whose text is not known yet is
 * in the one in which that is found out. The last one, after stop, has as its total what is left
 * of a count of its own, so that its identity checks all of them. The caller frees *ret and fills
 * in command. Ticks of a failed call are in no profile.
 */
int session_take(struct session *session, struct profile **ret, struct error *err);

/* A look at the same: what it shows is still there to take. Not exact while it runs. */
int session_peek(struct session *session, struct profile **ret, struct error *err);

/* When what a take would give began, by the first start and a clock that nobody sets. */
time_t session_since(const struct session *session);

/* The same by the clock of monotonic_ns(). */
uint64_t session_since_ns(const struct session *session);

/*
 * An object's file by its id in the last profile, as it was when it was first seen: a new
 * descriptor for the caller to close, or a negative errno. For jit objects it is the perf map.
 * root gets the prefix under which its debug files are looked for.
 */
int session_open_object(void *session, uint32_t object, char *root, size_t root_size);

/*
 * Of a jit object also a map of the places that code has which others took the place of, and how many
 * bytes of the other map were there when the profile was made.
 */
int session_open_places(void *session, uint32_t object, uint64_t *limit);

/* Cheap figures while it runs. */
struct session_live {
	uint64_t total;
	uint64_t lost;
	uint64_t hits;
	uint64_t renewed; /* of the hits, those whose mapping had to be looked at */
	uint64_t misses;
	uint64_t memory; /* bytes of kernel memory in use for histograms */
	uint64_t elapsed_ns; /* without pauses */
};
void session_live(struct session *session, struct session_live *ret);

void session_close(struct session *session); /* NULL is fine */

#endif
