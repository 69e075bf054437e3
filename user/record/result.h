/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RESULT_H
#define BPFPROFIL_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/session.h"
#include "record/options.h"
#include "record/segments.h"
#include "record/series.h"

/*
 * From a session to files and a summary on stderr: names, regions, FILE, the account and the
 * hottest functions. One file at the end, or with --interval one after the other.
 */
struct result {
	const struct sampling_options *options;
	/* Takes each profile instead of a file; NULL: there are files. */
	void (*deliver)(void *context, const struct profile *profile);
	/* Sees each part of them, as soon as it was taken; NULL: nobody does. */
	void (*observe)(void *context, const struct profile *part);
	void *context;
	char **argv; /* COMMAND; NULL without one */
	struct series series; /* the files' names */
	struct profile_account sum; /* of all profiles so far, those that could not be written too */
	double sum_ns; /* the same as time: each tick by its period */
	uint64_t cpu_ns; /* what the scheduler gave meanwhile, */
	bool cpu_unknown; /* unless one of them does not know it */
	struct profile *calls; /* for the last file: what run --preload served; or NULL */
	struct segments segments; /* of the next file, before the last one */
	struct profile_cost cost; /* for the next file; all 0: not known */
	bool failed; /* at least once; it was said */
};

/* Names the first file and makes sure that it could be written. */
int result_begin_files(struct result *result, const struct sampling_options *options, char **argv,
		       pid_t pid, struct error *err);

/* Once the session has started, which may take long: the first file is named by that. */
int result_started(struct result *result, const struct session *session, struct error *err);

/* Writes what was counted since the last time. A failure is one line, and result->failed. */
void result_cut(struct result *result, struct session *session);

/*
 * Puts aside what was counted with one period, before the session goes on with another: the next
 * file has it. A failure is as with a file, and returned.
 */
int result_put_aside(struct result *result, struct session *session);

/* The last file, after stop, and the summary. */
void result_finish(struct result *result, struct session *session);

void result_free(struct result *result);

/* Sets measured_hz by the CPU time that the scheduler gave, where that is known. */
void result_measure_rate(struct profile *profile);

#endif
