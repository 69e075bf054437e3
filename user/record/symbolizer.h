/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SYMBOLIZER_H
#define BPFPROFIL_SYMBOLIZER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/session.h"
#include "profile/profile.h"
#include "record/options.h"
#include "symbol/functions.h"

struct symbol_cache;

/*
 * Regions and names of a profile, found by a thread: the symbols of a large program take a second,
 * in which the session must be polled for the memory that new text needs, and keys be answered.
 */
struct symbolized {
	struct profile *profile; /* NULL: there is none */
	struct symbolizer_source *sources; /* by object */
};

struct symbolizer {
	struct session *session;
	const struct sampling_options *options;
	struct symbol_cache *symbols;
	int done_fd; /* readable when symbolizer_end() does not wait */
	struct symbolized work; /* under way */
	struct symbolized last; /* done */
	pthread_t thread;
	bool has_thread;
	int result;
	struct error why;
};

int symbolizer_init(struct symbolizer *symbolizer, struct session *session,
		    const struct sampling_options *options, struct error *err);

/* Takes over the last profile of the session, of which none may be taken until symbolizer_end(). */
int symbolizer_begin(struct symbolizer *symbolizer, struct profile *profile, struct error *err);

/* Waits for it: it is symbolizer->last.profile then, until the next one is. Failed, it is gone. */
int symbolizer_end(struct symbolizer *symbolizer, struct error *err);

/* symbolizer->last.profile, the caller's from then on, and none is there until the next one; or NULL. */
struct profile *symbolizer_give(struct symbolizer *symbolizer);

/* The objects' files of symbolizer->last, for as long as that is there; not for another thread. */
struct object_opener symbolizer_opener(struct symbolizer *symbolizer);

void symbolizer_free(struct symbolizer *symbolizer);

/*
 * All of that for one profile, which stays the caller's: returns when it has its names, and hears the
 * session meanwhile.
 */
int symbolizer_once(struct session *session, const struct sampling_options *options,
		    struct profile *profile, struct error *err);

#endif
