/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NAMING_H
#define BPFPROFIL_NAMING_H

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
struct named {
	struct profile *profile; /* NULL: there is none */
	struct naming_source *sources; /* by object */
};

struct naming {
	struct session *session;
	const struct sampling_options *options;
	struct symbol_cache *symbols;
	int done_fd; /* readable when naming_end() does not wait */
	struct named work; /* under way */
	struct named last; /* done */
	pthread_t thread;
	bool has_thread;
	int result;
	struct error why;
};

int naming_init(struct naming *naming, struct session *session,
		const struct sampling_options *options, struct error *err);

/* Takes over the last profile of the session, of which none may be taken until naming_end(). */
int naming_begin(struct naming *naming, struct profile *profile, struct error *err);

/* Waits for it: it is naming->last.profile then, until the next one is. Failed, it is gone. */
int naming_end(struct naming *naming, struct error *err);

/* The objects' files of naming->last, for as long as that is there; not for another thread. */
struct object_opener naming_opener(struct naming *naming);

void naming_free(struct naming *naming);

/*
 * All of that for one profile, which stays the caller's: returns when it has its names, and hears the
 * session meanwhile.
 */
int naming_once(struct session *session, const struct sampling_options *options,
		struct profile *profile, struct error *err);

#endif
