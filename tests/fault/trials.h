/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRIALS_H
#define TRIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Runs a command of bpfprofil once to learn where it calls what (shim/fault.h), then once more for
 * each of these places, with that call failing. Whatever fails, the command must end by itself,
 * with the right exit status, one line that says why, and nothing left behind.
 */

/* A run that has ended. */
struct outcome {
	int status; /* as in the shell */
	char *out;
	size_t out_len;
	char *err;
	size_t err_len;
	const char *file; /* where the subject's FILE is, or would be */
	const char *good_out; /* what the undisturbed run wrote to stdout */
	size_t good_out_len;
};

/*
 * What a judge returns if all is well except that the target had no tick, which a busy machine can
 * be the reason of. The trial is repeated then; an error of ours comes again.
 */
extern const char trials_no_tick[];

struct subject {
	const char *name;
	const char *program;
	const char *const *arguments; /* of bpfprofil */
	const char *file; /* name of FILE in the folder where it runs; NULL: it writes none */
	bool out_varies; /* differs from run to run */
	int good; /* the exit status when nothing fails */
	/*
	 * Returns what is wrong with the output of a run whose exit status is `good`; NULL:
	 * nothing.
	 */
	const char *(*judge)(const struct outcome *outcome);
	/*
	 * The same for exit status 1; if it is NULL, there must be one clear line on stderr, and
	 * FILE unchanged.
	 */
	const char *(*judge_failure)(const struct outcome *outcome);
};

struct trial_kind {
	const char *const *classes; /* "memory", ...; terminated by NULL */
	int error; /* the errno; 0: the class's */
	bool from_then_on; /* all later calls of the class fail too */
	int every; /* only one in so many stacks, other ones each day */
};

/*
 * Each failed trial is a failed expectation of the test. What the same test has tried with another
 * subject, by the same path through the same program, is not tried again.
 */
void trials_run(const struct subject *subject, const struct trial_kind *kind);

#endif
