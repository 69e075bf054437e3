/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_LIVE_H
#define TEST_LIVE_H

#include "child.h"
#include "doc.h"

/*
 * One `bpfprofil run` of a workload and the profile it left. BPFPROFIL_BIN and WORKLOADS come
 * from the build.
 */
#define WORKLOAD(name) WORKLOADS "/" name

/*
 * Enough ticks for 2 % within seconds, at some 6 % of a CPU where an interrupt costs 12 us. By
 * force, as a busy machine may measure more at the start; what ticks cost is another test's matter.
 */
#define FAST "-F", "4999", "--force"

struct live {
	char dir[64]; /* for this test alone; live_end() removes it, a failed test leaves it */
	char profile[96]; /* where the profile goes */
	struct child_end end;
	struct json_object *doc; /* NULL until there is one */
	double cpu_ns; /* CPU time of the tree, by the kernel's own account */
};

void live_begin(struct live *live);
void live_end(struct live *live);

/* A file in the test's directory; the text lives until the next but seven calls. */
const char *live_path(struct live *live, const char *name);

/* Copies a workload into the test's directory and returns its path there. */
const char *live_copy(struct live *live, const char *workload, const char *name);

/* The command line of a run; argv has room for max. treetime: measure the tree's CPU time. */
void live_command(struct live *live, const char **argv, size_t max, const char *const options[],
		  const char *const command[], bool treetime);

/*
 * Runs and reads what came of it: live->end always, live->doc and live->cpu_ns when there is a
 * profile. live_run() also asserts that all went well, and the profile is sound.
 */
void live_try(struct live *live, const char *const options[], const char *const command[]);
void live_run(struct live *live, const char *const options[], const char *const command[]);

/* Reads live->profile into live->doc, in place of what was there. */
void live_load(struct live *live);

/*
 * All ticks, times the period, are the tree's CPU time within 2 %, or three standard errors where
 * those are more. stretches: how many times, about, a process of the tree began or ended; each
 * adds a tick or none by chance.
 */
void live_assert_time(struct live *live, double stretches);

#endif
