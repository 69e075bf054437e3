/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_ATTACH_H
#define TEST_ATTACH_H

#include <stdbool.h>

#include "live.h"

/* `bpfprofil attach` to programs that are already running. */

/* Starts attach with the profile where live expects it, and returns when it samples. */
void attach_start(struct live *live, struct child *child, const char *const options[]);
void attach_start_tick(struct live *live, struct child *child, const char *const options[]);

/*
 * Ends attach by a signal, or with signal 0 waits until it ends by itself. Asserts that all went
 * well.
 */
void attach_finish(struct live *live, struct child *child, int signal);

/* The same, and then reads its profile, which must be sound. */
void attach_end(struct live *live, struct child *child, int signal);

/*
 * A program with a unique name that runs only when it is allowed to. So all its CPU time is
 * counted, although nobody knows when sampling begins.
 */
struct burner {
	struct child child;
	const char *name;
	double from_ns; /* CPU time before it was allowed to run */
	double cpu_ns; /* since then, as of the last stop */
	double turns; /* how often its threads were given a CPU */
};

/* Copies the workload; returns when it is executed, has this many threads, and is stopped. */
void burner_start(struct burner *burner, struct live *live, const char *name, const char *workload,
		  int threads, const char *const arguments[]);

/* Lets it run until it has used that much CPU time, and stops it again. */
void burner_run(struct burner *burner, double seconds);

void burner_let(struct burner *burner);
void burner_wait(struct burner *burner, double seconds);

/* Sets cpu_ns of a burner that is running. */
void burner_look(struct burner *burner);

void burner_hold(struct burner *burner);
void burner_end(struct burner *burner);

/* The target with a name; each target must have another one. */
struct json_object *doc_target(struct json_object *doc, const char *name);

/* The target's ticks in files whose path ends with that name. */
uint64_t doc_target_file(struct json_object *doc, struct json_object *target, const char *name);

/* Whether the ticks agree with the CPU time within what live_run_timed() allows. Says so if not. */
bool ticks_agree(struct json_object *doc, uint64_t ticks, double cpu_ns, double turns);

#endif
