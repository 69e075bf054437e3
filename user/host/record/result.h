/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RESULT_H
#define BPFPROFIL_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "host/engine/session.h"
#include "host/record/cgroup_labels.h"
#include "host/record/options.h"
#include "host/record/series.h"
#include "profile/profile.h"
#include "symbol/symbol_cache.h"

/*
 * Turns a session into files and a summary on stderr: names, regions, FILE, the account, and the
 * hottest functions. There is one file at the end, or with --interval a series.
 */
struct result {
	const struct sampling_options *options;
	/* Receives each profile instead of a file; NULL: write files. */
	void (*deliver)(void *context, const struct profile *profile);
	/* Receives each part as soon as it was read, and may add labels; may be NULL. */
	void (*observe)(void *context, struct profile *part);
	void *context;
	/* Is called when counts were read, before their names are looked up; NULL: nothing to do. */
	void (*taken)(void *loop);
	void *loop;
	char **argv; /* COMMAND; NULL: none */
	struct series series; /* names of files */
	struct profile_account sum; /* of all profiles so far, even if not written */
	double sum_ns; /* the same as time, each tick by its period */
	uint64_t kernel_ticks; /* part of it in the kernel */
	uint64_t duration_ns; /* total of the profiles, */
	uint64_t sampled_ns; /* and the share that counted ticks stand for */
	bool partly_sampled; /* that is less than the duration */
	uint64_t cpu_ns; /* scheduler's CPU time, */
	bool cpu_unknown; /* unless a profile lacks it */
	struct profile *calls; /* for the last file: calls of run --preload; or NULL */
	struct cgroup_labels labels; /* not for the agent, which has its own */
	struct symbol_cache *symbols; /* for all profiles of a series; NULL: there is one only */
	struct segments segments; /* earlier parts of the next file */
	struct profile_cost cost; /* for the next file; all 0: unknown */
	bool failed; /* a failure was reported */
};

/* Names the first file, and checks that it could be written. */
int result_begin_files(struct result *result, const struct sampling_options *options, char **argv,
		       pid_t pid, struct error *err);

/* Names the first file again after the session's start, which may take long. */
int result_started(struct result *result, const struct session *session, struct error *err);

/*
 * Writes everything since the last call. A failure is printed, sets result->failed and is returned.
 */
int result_cut(struct result *result, struct session *session);

/*
 * Puts the counts of one period aside, before the period changes. They become part of the next
 * file. A failure is handled as with a file, and returned.
 */
int result_put_aside(struct result *result, struct session *session);

/* Writes the last file and the summary, after the session has stopped. */
void result_finish(struct result *result, struct session *session);

void result_free(struct result *result);

/* Sets measured_hz by the scheduler's CPU time, if it is known. */
void result_measure_rate(struct profile *profile);

/*
 * Saves a profile that cannot be made again. If it replaces a file, that stays as FILE.old. If FILE
 * cannot be written, the profile goes where there may be room. That still counts as a failure, and
 * the message says where the file is.
 */
int save_last_profile(const struct profile *profile, const char *path, struct error *err);

#endif
