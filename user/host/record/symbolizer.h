/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SYMBOLIZER_H
#define BPFPROFIL_SYMBOLIZER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "host/engine/session.h"
#include "profile/profile.h"
#include "host/record/options.h"
#include "naming/functions.h"

struct symbol_cache;

/*
 * Finds regions and names of a profile in a thread, because symbols of a large program take a
 * second. Meanwhile the session must be polled for memory for new text, and keys must be handled.
 */
struct symbolized {
	struct profile *profile; /* NULL: none */
	struct session_source *sources; /* by object; opened by the session's thread */
	_Atomic uint64_t until_ns; /* gives up on names at this time; 0: no limit */
	bool is_limited; /* by a signal */
};

/* Least time for the names of a profile in a series, even if its interval is shorter. */
#define NAMES_LEAST_NS (5 * SECOND_NS)

struct symbolizer {
	struct session *session;
	const struct sampling_options *options;
	struct symbol_cache *symbols;
	int done_fd; /* readable when symbolizer_end() would not block */
	struct symbolized work; /* in progress */
	struct symbolized last; /* finished */
	pthread_t thread;
	bool has_thread;
	int result;
	struct error why;
};

int symbolizer_init(struct symbolizer *symbolizer, struct session *session,
		    const struct sampling_options *options, struct error *err);

/* Owns the last profile of the session. Read no other profile until symbolizer_end(). */
int symbolizer_begin(struct symbolizer *symbolizer, struct profile *profile, struct error *err);

/*
 * Waits for the thread. Then symbolizer->last.profile is the profile, until the next one is done.
 * After a failure it is freed.
 */
int symbolizer_end(struct symbolizer *symbolizer, struct error *err);

/* Returns symbolizer->last.profile, which may be NULL, to the caller, and sets it to NULL. */
struct profile *symbolizer_detach_profile(struct symbolizer *symbolizer);

/* Opens the files of symbolizer->last while that exists; not for other threads. */
struct object_opener symbolizer_opener(struct symbolizer *symbolizer);

void symbolizer_free(struct symbolizer *symbolizer);

/*
 * Does all of this for one profile, which the caller keeps. Returns when it has its names, and
 * serves the session meanwhile. symbols keeps tables for the next profile; may be NULL.
 */
int symbolizer_once(struct session *session, const struct sampling_options *options,
		    struct symbol_cache *symbols, struct profile *profile, struct error *err);

#endif
