/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_LIVE_H
#define TEST_LIVE_H

#include "child.h"
#include "doc.h"
#include "fixture.h"

/*
 * One `bpfprofil run` of a workload and the profile it made. BPFPROFIL_BIN and WORKLOADS come from
 * the build.
 */
#define WORKLOAD(name) WORKLOADS "/" name

/*
 * A rate that gives enough ticks for 2 % within seconds, at some 6 % of a CPU where an interrupt
 * costs 12 us. The scheduler's tick, at which turns begin and end on a busy machine, comes every
 * 18.38 of these periods. If that were near a whole number, as at 4,999 Hz, the two would beat for
 * seconds, and each turn would have a tick too many or too few. --force is needed because a busy
 * machine may measure a higher cost at the start.
 */
#define FAST "-F", "4595", "--force"

struct live {
	char dir[64]; /* for this test only; live_end() removes it, a failed test leaves it */
	char profile[96]; /* where the profile is written */
	struct child_end end;
	struct json_object *doc; /* NULL until there is one */
	double cpu_ns; /* CPU time of the process tree, from the kernel's account */
	double turns; /* how often its tasks were given a CPU */
	double system_ns; /* of the CPU time, the kernel's: an estimate, see expect_kernel() */
};

void live_begin(struct live *live);
void live_end(struct live *live);

/* A test whose body, which follows, has a `live`. */
#define LIVE_TEST(suite, name, ...) FIXTURE_TEST(live, live_begin, suite, name, ##__VA_ARGS__)

/* A file in the test's directory; the text stays valid for seven more calls. */
const char *live_path(struct live *live, const char *name);

/* Copies a workload into the test's directory and returns its path there. */
const char *live_copy(struct live *live, const char *workload, const char *name);

/*
 * Makes the command line of a run; argv has room for max elements. treetime: also measure the
 * tree's CPU time.
 */
void live_command(struct live *live, const char **argv, size_t max, const char *const options[],
		  const char *const command[], bool treetime);

/* Runs the command and reads the results: live->end always, the rest if there is a profile. */
void live_try(struct live *live, const char *const options[], const char *const command[]);

/*
 * Also asserts that all went well and the profile is sound. False: the command said, by exit status
 * 77, that this machine cannot do what it should.
 */
bool live_run(struct live *live, const char *const options[], const char *const command[]);

/*
 * Also asserts that all ticks, times the period, are the tree's CPU time within 2 %, or within
 * CHANCE_ERRORS if that is more.
 *
 * It may take three runs, because a shared machine can make the two differ: a hypervisor that takes
 * a CPU away for longer than a period swallows ticks, and another program that wakes on a timer
 * begins just after a tick, so that its time is billed to what it interrupts. Neither lasts, but an
 * error of ours does.
 */
bool live_run_timed(struct live *live, const char *const options[], const char *const command[]);

/* Reads what `treetime` wrote into live->cpu_ns and the like; all are 0 if it wrote nothing. */
void live_read_usage(struct live *live);

/* The ticks divided by what the CPU time says they should be: 1 if they agree. */
double live_time_ratio(struct live *live);

/*
 * How far, relatively, ticks may differ from what CPU time in so many turns says: more if a
 * hypervisor has taken CPUs away (host.h) since live_begin() or the last try.
 */
double live_allowed_part(double expected, double turns);

/*
 * Reads what the workload `syscalls` printed: the shares of its time in alpha, ask_parent and
 * read_zeros.
 */
void live_read_parts(const struct live *live, double ret[3]);

/* Reads live->profile into live->doc, replacing it. */
void live_load(struct live *live);

/* Waits until the agent has written so many more profiles into "files" in the test's directory; asserts that it does. */
void live_await_profiles(struct live *live, size_t more);

#endif
