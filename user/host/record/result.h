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
 * From a session to files and to a summary on stderr: names, regions, FILE, the account and the
 * hottest functions. There is one file at the end, or with --interval a series of files.
 */
struct result {
	const struct sampling_options *options;
	/* Gets each profile instead of a file; NULL: files are written. */
	void (*deliver)(void *context, const struct profile *profile);
	/* Gets each part as soon as it was taken, and may add labels; may be NULL. */
	void (*observe)(void *context, struct profile *part);
	void *context;
	char **argv; /* COMMAND; NULL if there is none */
	struct series series; /* the names of the files */
	struct profile_account sum; /* of all profiles so far, even if not written */
	double sum_ns; /* the same as time: each tick by its period */
	uint64_t kernel_ticks; /* of these, those in the kernel */
	uint64_t duration_ns; /* how long they are, */
	uint64_t sampled_ns; /* and the share of it that the ticks are which count, */
	bool partly_sampled; /* if that is not all of it */
	uint64_t cpu_ns; /* CPU time that the scheduler gave meanwhile, */
	bool cpu_unknown; /* unless a profile does not know it */
	struct profile *calls; /* for the last file: what run --preload served; may be NULL */
	struct cgroup_labels labels; /* not for the agent, which has its own */
	struct symbol_cache *symbols; /* for all profiles of a series; NULL: there is but one */
	struct segments segments; /* earlier parts of the next file */
	struct profile_cost cost; /* for the next file; all 0: unknown */
	bool failed; /* at least one failure was reported */
};

/* Names the first file and checks that it could be written. */
int result_begin_files(struct result *result, const struct sampling_options *options, char **argv,
		       pid_t pid, struct error *err);

/* Names the first file again once the session has started, because starting may take long. */
int result_started(struct result *result, const struct session *session, struct error *err);

/*
 * Writes what was counted since the last call. A failure prints one line, sets result->failed and is
 * returned.
 */
int result_cut(struct result *result, struct session *session);

/*
 * Puts aside what was counted with one period, before the session goes on with another; it becomes
 * part of the next file. A failure is treated as with a file, and also returned.
 */
int result_put_aside(struct result *result, struct session *session);

/* Writes the last file, after stop, and the summary. */
void result_finish(struct result *result, struct session *session);

void result_free(struct result *result);

/* Sets measured_hz by the CPU time that the scheduler gave, if it is known. */
void result_measure_rate(struct profile *profile);

/*
 * The same for a profile that cannot be made again; a file that it replaces stays as FILE.old. If
 * it cannot be written to FILE it is kept where there may be room. That still counts as a failure,
 * and the message says where the file is.
 */
int save_last_profile(const struct profile *profile, const char *path, struct error *err);

#endif
