/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_ATTACH_H
#define TEST_ATTACH_H

#include <stdbool.h>

#include "live.h"

/* `bpfprofil attach`, and programs that already run. */

/* Starts it, with its profile where live has it, and returns when it samples. */
void attach_start(struct live *live, struct child *child, const char *const options[]);
void attach_start_tick(struct live *live, struct child *child, const char *const options[]);

/* Ends it by a signal, or lets it end by itself with 0. Asserts that all went well. */
void attach_finish(struct live *live, struct child *child, int signal);

/* The same, and reads its profile, which is sound. */
void attach_end(struct live *live, struct child *child, int signal);

/*
 * A program, by a name of its own, that runs only when it is let: so what it used of the CPU is
 * all counted, although nobody knows when sampling begins.
 */
struct burner {
	struct child child;
	const char *name;
	double from_ns; /* CPU time, before it was let go */
	double cpu_ns; /* since then, as of the last hold */
	double turns; /* how many times its threads were given a CPU */
};

/* Copies the workload; returns when it is executed, has so many threads, and is stopped. */
void burner_start(struct burner *burner, struct live *live, const char *name, const char *workload,
		  int threads, const char *const arguments[]);

/* Lets it run until it has used that much CPU time, and holds it again. */
void burner_run(struct burner *burner, double seconds);

void burner_let(struct burner *burner);
void burner_wait(struct burner *burner, double seconds);

/* Takes cpu_ns of one that runs. */
void burner_look(struct burner *burner);

void burner_hold(struct burner *burner);
void burner_end(struct burner *burner);

/* The target of a name; each has its own. */
struct json_object *doc_target(struct json_object *doc, const char *name);

/* Ticks of a target in files whose path ends with that name. */
uint64_t doc_target_file(struct json_object *doc, struct json_object *target, const char *name);

/* These ticks are that CPU time within what live_run_timed() allows. Says so if they are not. */
bool ticks_agree(struct json_object *doc, uint64_t ticks, double cpu_ns, double turns);

#endif
