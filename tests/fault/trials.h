/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRIALS_H
#define TRIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A command of bpfprofil is run once to learn where it calls what (shim/fault.h), then once more
 * for each of these places, with that call failing. Whatever fails: it ends by itself, with an
 * exit status that is right, one line that says why, and nothing left behind.
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

struct subject {
	const char *name;
	const char *program;
	const char *const *arguments; /* of bpfprofil */
	const char *file; /* FILE's name in the folder where it runs; NULL: it writes none */
	bool out_varies; /* from run to run */
	int good; /* its exit status when nothing fails */
	/* What is wrong with what a run has written whose exit status is good; NULL: nothing. */
	const char *(*judge)(const struct outcome *outcome);
	/* The same where it is 1; NULL: one clear line on stderr, and FILE as it was. */
	const char *(*judge_failure)(const struct outcome *outcome);
};

struct trial_kind {
	const char *const *classes; /* "memory", ... ; NULL ends */
	int error; /* the errno; 0: what the class has */
	bool from_then_on; /* all later calls of the class fail, too */
	int every; /* only every so many stacks */
};

/*
 * Each trial that goes wrong is a failed expectation of the test. What the same test has tried
 * with another subject, by the same way through the same program, is not tried again.
 */
void trials_run(const struct subject *subject, const struct trial_kind *kind);

#endif
