// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * Programs that come and go, which a CPU's clock samples less or more often than they run: the CPU
 * time in the profile is the scheduler's, and the ticks add up to it. With one clock and unweighted
 * samples, a sleeper of 50 us had 0.3 to 0.8 of its ticks here, and a program that a pipe woke 0.04
 * to 0.9.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "attach.h"
#include "cgroup.h"
#include "chance.h"
#include "host.h"
#include "need.h"

#define TICK "--source", "tick"

/* The pass over all threads finds a running thread's account as old as the last scheduler tick. */
#define WALK_NS 10e6

TestSuite(live_bursts, .init = need_root, .timeout = 180);

static void expect_cpu(const char *what, double ns, double truth_ns)
{
	cr_expect_leq(fabs(ns - truth_ns), 0.02 * truth_ns + WALK_NS,
		      "%s: %.4f s of CPU time, of %.4f s that it had", what, ns / 1e9,
		      truth_ns / 1e9);
}

/*
 * A thread's first and last samples may be some ticks off, and its account one tick old. What a
 * hypervisor took since live_begin() is made up for by a quarter of a tick with each sample, and
 * perhaps not completely by the end.
 */
static void expect_ticks(const char *what, double ticks, double period_ns, double cpu_ns)
{
	cr_expect_leq(fabs(ticks * period_ns - cpu_ns),
		      (0.03 + host_stolen_part()) * cpu_ns + 8 * period_ns + WALK_NS,
		      "%s: %.0f ticks of %.3f ms for %.4f s", what, ticks, period_ns / 1e6,
		      cpu_ns / 1e9);
}

static void expect_run(struct live *live, const char *what)
{
	expect_cpu(what, (double)doc_number(live->doc, "cpu_ns"), live->cpu_ns);
	expect_ticks(what, (double)doc_number(live->doc, "ticks.total"),
		     (double)doc_number(live->doc, "sampling.period_ns"), live->cpu_ns);
}

static void run(const char *const options[], const char *const command[])
{
	struct live live;

	live_begin(&live);
	cr_assert(live_run(&live, options, command));
	expect_run(&live, command[1]);
	live_end(&live);
}

Test(live_bursts, sleeper_of_20_us)
{
	run(ARGS("-q"), ARGS(WORKLOAD("bursts"), "20", "50", "1.5"));
}

Test(live_bursts, sleeper_of_50_us)
{
	run(ARGS("-q"), ARGS(WORKLOAD("bursts"), "50", "100", "1.5"));
}

Test(live_bursts, sleeper_of_300_us)
{
	run(ARGS("-q"), ARGS(WORKLOAD("bursts"), "300", "300", "1.5"));
}

Test(live_bursts, woken_by_a_pipe)
{
	run(ARGS("-q"), ARGS(WORKLOAD("bursts"), "100", "100", "1.5", "pipe"));
}

/*
 * It works after one tick and sleeps through the next: USENIX Security 2007 robbed schedulers this
 * way.
 */
Test(live_bursts, dodger)
{
	run(ARGS("-q"), ARGS(WORKLOAD("bursts"), "900", "1003", "1.5", "dodge"));
}

Test(live_bursts, sleeper_by_the_schedulers_tick)
{
	run(ARGS("-q", TICK), ARGS(WORKLOAD("bursts"), "50", "100", "3"));
}

/* Rivals for one CPU: the tick that ends a turn is its owner's, and the sleeper gets too few. */
Test(live_bursts, rivals_by_the_schedulers_tick)
{
	run(ARGS("-q", TICK), ARGS(WORKLOAD("forktree"), "6000"));
}

/* Most have no tick or one, and together they have as many as they should. */
LIVE_TEST(live_bursts, short_lived)
{
	cr_assert(live_run(live, ARGS("-q", "--split", "process"),
			   ARGS(WORKLOAD("swarm"), "400", "20")));
	expect_cpu("swarm", (double)doc_number(live->doc, "cpu_ns"), live->cpu_ns);
}

/*
 * What a run leaves over is no reason to give the next one more: programs with more left over are sampled
 * sooner, and many of the others end before they are. With the weights of a thread of many ticks these had 1.12
 * of their ticks.
 */
LIVE_TEST(live_bursts, short_lived_of_several_runs)
{
	double cpu_ns, ticks_ns;

	cr_assert(live_run(live, ARGS("-q", "-F", "250"),
			   ARGS(WORKLOAD("resters"), "2000", "40", "2")));
	cpu_ns = (double)doc_number(live->doc, "cpu_ns");
	ticks_ns = (double)(doc_number(live->doc, "ticks.total") *
			    doc_number(live->doc, "sampling.period_ns"));
	expect_cpu("resters", cpu_ns, live->cpu_ns);
	cr_expect_leq(fabs(ticks_ns - cpu_ns), (0.03 + host_stolen_part()) * cpu_ns,
		      "%.3f s by ticks, of %.3f", ticks_ns / 1e9, cpu_ns / 1e9);
}

/*
 * Processes come and go all the time: those that are exiting at the end are waited for, and what
 * the others run meanwhile is in no profile.
 */
LIVE_TEST(live_bursts, no_more_than_the_cpus_gave)
{
	struct child swarm, attach;
	struct child_end end;
	double given;

	child_start(&swarm, NULL, ARGS(WORKLOAD("swarm"), "1000000", "0"));
	attach_start(live, &attach, ARGS("-q", "--all", "--duration", "1"));
	attach_end(live, &attach, 0);
	given = (double)doc_number(live->doc, "duration_ns") *
		(double)sysconf(_SC_NPROCESSORS_ONLN);
	cr_expect_leq((double)doc_number(live->doc, "cpu_ns"), 1.02 * given + WALK_NS);
	kill(swarm.pid, SIGKILL);
	child_finish(&swarm, &end);
	child_end_free(&end);
}

/* By process: a sleeper's time is not given to a neighbour that is always busy. */
static void expect_split(struct json_object *doc, const char *process, double truth_ns)
{
	struct json_object *splits = doc_get(doc, "splits"), *name;
	double ns = 0;
	size_t i;

	for (i = 0; i < json_object_array_length(splits); i++) {
		struct json_object *split = json_object_array_get_idx(splits, i);

		if (json_object_object_get_ex(split, "process", &name) &&
		    !strcmp(json_object_get_string(name), process))
			ns += (double)doc_number(split, "cpu_ns");
	}
	expect_cpu(process, ns, truth_ns);
}

LIVE_TEST(live_bursts, sleeper_beside_a_busy_neighbour)
{
	struct burner sleeper, busy;
	struct child attach;

	burner_start(&sleeper, live, "sleeper", WORKLOAD("bursts"), 1, ARGS("50", "100", "1000"));
	burner_start(&busy, live, "busy", WORKLOAD("forever"), 1, ARGS(live_path(live, "pid")));
	attach_start(live, &attach, ARGS("-q", "--all", "--split", "process"));
	burner_let(&sleeper);
	burner_let(&busy);
	burner_wait(&busy, 1.5);
	burner_hold(&sleeper);
	burner_hold(&busy);
	attach_end(live, &attach, SIGINT);
	expect_split(live->doc, "sleeper", sleeper.cpu_ns);
	expect_split(live->doc, "busy", busy.cpu_ns);
	burner_end(&sleeper);
	burner_end(&busy);
}

/* usage_usec of cpu.stat, in ns: the time of everything that ran in the cgroup. */
static double cgroup_ns(const char *path)
{
	unsigned long long usec = 0;
	char file[300];
	FILE *stat;

	snprintf(file, sizeof(file), "%s/cpu.stat", path);
	stat = fopen(file, "re");
	cr_assert_not_null(stat, "%s", file);
	cr_assert_eq(fscanf(stat, "usage_usec %llu", &usec), 1, "%s", file);
	fclose(stat);
	return (double)usec * 1000;
}

/* It ran before it came into the cgroup, and runs on after it left. */
static void move(const char *workload, int threads, const char *const arguments[])
{
	struct burner burner;
	struct child attach;
	char path[256], parent[200];
	struct live live;
	double truth;

	NEED(cgroup_mount(NULL, parent, sizeof(parent)), "no cgroup2 is mounted");
	snprintf(path, sizeof(path), "%s/bursts-%d", parent, getpid());
	live_begin(&live);
	cgroup_make(path);
	burner_start(&burner, &live, "mover", workload, threads, arguments);
	burner_run(&burner, 0.3);
	attach_start(&live, &attach, ARGS("-q", "--cgroup", path));
	burner_run(&burner, 0.3);
	cgroup_enter(path, burner.child.pid);
	burner_run(&burner, 0.6);
	truth = cgroup_ns(path);
	cgroup_enter(parent, burner.child.pid);
	burner_run(&burner, 0.3);
	attach_end(&live, &attach, SIGINT);
	expect_cpu("the cgroup", (double)doc_number(live.doc, "cpu_ns"), truth);
	expect_ticks("the cgroup", (double)doc_number(live.doc, "ticks.total"),
		     (double)doc_number(live.doc, "sampling.period_ns"), truth);
	burner_end(&burner);
	cgroup_remove(path);
	live_end(&live);
}

Test(live_bursts, moved_into_a_cgroup_and_out)
{
	move(WORKLOAD("bursts"), 1, ARGS("100", "100", "1000"));
}

/* The kernel reports only one thread when it moves all of them. */
Test(live_bursts, threads_moved_into_a_cgroup_and_out)
{
	move(WORKLOAD("threads"), 5, ARGS("4", "1000000"));
}

/*
 * How much more than its share of a burst the function that comes first may have: a CPU that wakes
 * up is slow, and what was due from the previous burst is made up for by a sample in this one.
 */
#define FIRST 0.025

/* A sample may be several ticks, so sums vary more than with independent ticks. */
static double variance(struct json_object *doc)
{
	struct json_object *target = json_object_array_get_idx(doc_get(doc, "targets"), 0), *excess;

	if (!json_object_object_get_ex(target, "excess", &excess))
		return 1;
	return 1 +
	       (double)json_object_get_uint64(excess) / (double)doc_number(target, "ticks.total");
}

static void expect_parts(struct json_object *doc)
{
	static const struct share parts[] = { { "sixty", 0.6 }, { "thirty", 0.3 }, { "ten", 0.1 } };
	double ticks[3], sum = 0, error;
	size_t i;

	for (i = 0; i < 3; i++) {
		ticks[i] = (double)doc_function(doc, parts[i].name, NULL);
		sum += ticks[i];
	}
	cr_assert_gt(sum, 500);
	for (i = 0; i < 3; i++) {
		error = sqrt(parts[i].weight * (1 - parts[i].weight) * variance(doc) / sum);
		cr_expect_leq(fabs(ticks[i] / sum - parts[i].weight), CHANCE_ERRORS * error + FIRST,
			      "%s: %.0f of %.0f ticks, expected %.2f +- %.4f", parts[i].name,
			      ticks[i], sum, parts[i].weight, error);
	}
}

/* The functions of a burst have their shares of the ticks, wherever in the burst they come. */
static void shares(const char *on, const char *off)
{
	struct live live;

	live_begin(&live);
	cr_assert(live_run(&live, ARGS("-q", "-F", "2003", "--force"),
			   ARGS(WORKLOAD("bursts"), on, off, "4")));
	expect_parts(live.doc);
	live_end(&live);
}

Test(live_bursts, functions_of_1000_us)
{
	shares("1000", "500");
}

Test(live_bursts, functions_of_300_us)
{
	shares("300", "200");
}
