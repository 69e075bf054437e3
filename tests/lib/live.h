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
 * Enough ticks for 2 % within seconds, at some 6 % of a CPU where an interrupt costs 12 us. The
 * scheduler's tick, which begins and ends a task's turns on a busy machine, comes every 18.38 of
 * these periods: near a whole number, as with 4,999 Hz, the two beat for seconds, and a turn has
 * a tick too many or too few each time. By force, as a busy machine may measure a higher cost at
 * the start.
 */
#define FAST "-F", "4595", "--force"

struct live {
	char dir[64]; /* for this test alone; live_end() removes it, a failed test leaves it */
	char profile[96]; /* where the profile goes */
	struct child_end end;
	struct json_object *doc; /* NULL until there is one */
	double cpu_ns; /* CPU time of the tree, by the kernel's own account */
	double turns; /* how many times its tasks were given a CPU */
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

/* Runs and reads what came of it: live->end always, the rest when there is a profile. */
void live_try(struct live *live, const char *const options[], const char *const command[]);

/*
 * Also asserts that all went well and the profile is sound. False: the command said, by exit 77,
 * that this machine cannot do what it should.
 */
bool live_run(struct live *live, const char *const options[], const char *const command[]);

/*
 * Also asserts that all ticks, times the period, are the tree's CPU time within 2 %, or
 * CHANCE_ERRORS where those are more.
 *
 * It may take three runs. A shared machine has its own ways to part the two: a hypervisor that
 * keeps a CPU for longer than a period swallows ticks, and what else runs there and wakes on a
 * timer begins just after a tick, so that its time is billed to whom it interrupts. Neither
 * stays; an error of ours does.
 */
bool live_run_timed(struct live *live, const char *const options[], const char *const command[]);

/* Reads what `treetime` wrote into live->cpu_ns and live->turns; both 0 when it did not. */
void live_read_usage(struct live *live);

/* The ticks by what the CPU time says they should be: 1 when they agree. */
double live_time_ratio(struct live *live);

/*
 * The part by which ticks may differ from what CPU time, in so many turns, says: more where a
 * hypervisor took CPUs away (host.h) since live_begin() or the last try.
 */
double live_allowed_part(double expected, double turns);

/* What the workload `syscalls` said: the parts of its time in alpha, ask_parent and read_zeros. */
void live_read_parts(const struct live *live, double ret[3]);

/* Reads live->profile into live->doc, in place of what was there. */
void live_load(struct live *live);

#endif
