// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* The wall time of threads whose waits are known. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "attach.h"
#include "cgroup.h"
#include "container.h"
#include "need.h"

TestSuite(live_waits, .init = need_root, .timeout = 180);

/* All that the accounts with a name have, in nanoseconds. */
struct waited {
	size_t nr;
	double wall, cpu, runnable, stolen, unaccounted, blocked;
	double class; /* of these, in the class that was asked for, */
	double io; /* and, of these, for I/O */
};

static void add_classes(struct json_object *doc, struct json_object *account, const char *class,
			struct waited *sum)
{
	struct json_object *sums = doc_get(account, "classes"), *of, *found;
	double ns;
	size_t i;

	for (i = 0; i < json_object_array_length(sums); i++) {
		of = json_object_array_get_idx(sums, i);
		ns = (double)json_object_get_uint64(json_object_array_get_idx(of, 1));
		sum->blocked += ns;
		found = json_object_array_get_idx(
			doc_get(doc, "waits.classes"),
			json_object_get_uint64(json_object_array_get_idx(of, 0)));
		if (strcmp(json_object_get_string(doc_get(found, "name")), class) != 0)
			continue;
		sum->class += ns;
		sum->io += json_object_object_get(found, "io") ? ns : 0;
	}
}

/* name NULL: all accounts. tid 0: all of the name. */
static struct waited waited_by(struct json_object *doc, const char *name, int tid,
			       const char *class)
{
	struct json_object *accounts = doc_get(doc, "waits.accounts"), *account;
	struct waited sum = { 0 };
	const char *process;
	size_t i;

	for (i = 0; i < json_object_array_length(accounts); i++) {
		account = json_object_array_get_idx(accounts, i);
		process = json_object_get_string(json_object_object_get(account, "process"));
		if (name && (!process || strcmp(process, name) != 0))
			continue;
		if (tid && json_object_get_int(json_object_object_get(account, "pid")) != tid)
			continue;
		sum.nr++;
		sum.wall += (double)doc_number(account, "wall_ns");
		sum.cpu += (double)doc_number(account, "cpu_ns");
		sum.runnable += (double)doc_number(account, "runnable_ns");
		sum.stolen += (double)doc_number(account, "stolen_ns");
		sum.unaccounted += (double)doc_number(account, "unaccounted_ns");
		add_classes(doc, account, class, &sum);
	}
	return sum;
}

static void add_waited(struct waited *sum, const struct waited *part)
{
	sum->nr += part->nr;
	sum->wall += part->wall;
	sum->cpu += part->cpu;
	sum->runnable += part->runnable;
	sum->stolen += part->stolen;
	sum->unaccounted += part->unaccounted;
	sum->blocked += part->blocked;
	sum->class += part->class;
}

static void assert_identity(const struct waited *sum, const char *name)
{
	cr_expect_float_eq(sum->wall,
			   sum->cpu + sum->runnable + sum->stolen + sum->unaccounted + sum->blocked,
			   1, "%s", name);
}

/* A millisecond of a real CPU, or a thousandth of the wall time. */
static double allowed(double wall)
{
	const char *slowness = getenv("SPIN_SLOWNESS");

	return fmax(1e6 * (slowness ? strtod(slowness, NULL) : 1), wall / 1000);
}

/* What a line of the program says of one thread, or of several that have one name. */
static void assert_thread(struct waited sum, const char *name, const char *class,
			  const double ns[3], size_t nr)
{
	/* An exec ends this wait at a moment between the two times. */
	const double most = strcmp(name, "is_ended") ? ns[2] : ns[1];
	const bool reads = !strcmp(name, "files") || !strcmp(name, "faults");
	const bool is_process = !strcmp(name, "stops") || !strcmp(name, "execs");
	double off, waited = sum.class + sum.runnable + sum.cpu + sum.stolen;

	cr_assert_eq(sum.nr, nr, "%zu accounts of %s", sum.nr, name);
	assert_identity(&sum, name);
	cr_expect_leq(sum.unaccounted, allowed(sum.wall), "%s", name);
	cr_expect_geq(sum.wall, ns[0] - allowed(ns[0]) * (double)nr,
		      "%s: wall %.0f of %.0f ns, cpu %.0f, runnable %.0f, blocked %.0f", name,
		      sum.wall, ns[0], sum.cpu, sum.runnable, sum.blocked);
	/* It may be ready for a while after its creator has seen its end. A process also exits. */
	cr_expect_leq(sum.wall - sum.runnable - (is_process ? sum.cpu : 0),
		      ns[1] + allowed(ns[1]) * (double)nr,
		      "%s: wall %.0f of %.0f ns, cpu %.0f, runnable %.0f, stolen %.0f", name,
		      sum.wall, ns[1], sum.cpu, sum.runnable, sum.stolen);
	if (!strcmp(class, "runnable")) {
		/* Between its last word and its end it may have been ready for a while. */
		cr_expect_geq(sum.runnable, ns[2] - allowed(ns[1]) * (double)nr, "%s", name);
		cr_expect_leq(sum.runnable,
			      ns[2] + fmax(sum.wall, ns[1]) - ns[0] + allowed(ns[1]) * (double)nr,
			      "%s", name);
		return;
	}
	/* The call took the wait, and until the thread had a CPU again; the thread did little else. */
	cr_expect_leq(sum.class, most + allowed(ns[1]), "%s: %s %.0f of %.0f ns", name, class,
		      sum.class, most);
	off = waited - ns[2];
	cr_expect_geq(off, -allowed(ns[1]), "%s: %s %.0f of %.0f ns", name, class, sum.class,
		      ns[2]);
	/*
	 * An exec waits until the other threads have ended, and threads that end together wait for each
	 * other. Between its reads, a thread drops a file's pages, which is a wait for all CPUs.
	 */
	if (nr == 1 && strcmp(name, "execs") != 0)
		cr_expect_leq(sum.blocked - sum.class, allowed(ns[1]) + (reads ? ns[1] - ns[2] : 0),
			      "%s: other classes than %s", name, class);
	/* A guest's files are in memory, and are read with hardly a wait. */
	if (reads && sum.class > allowed(ns[1]))
		cr_expect_geq(sum.io, 0.9 * sum.class, "%s: for I/O %.0f of %.0f ns", name, sum.io,
			      sum.class);
}

/* Compares all lines; those of the spinners are added up. */
static void assert_threads(struct json_object *doc, const char *lines)
{
	struct waited spun = { 0 }, sum;
	double ns[3], spins[3] = { 0 };
	char name[16], class[32];
	size_t compared = 0, i;
	int tid, used;

	for (; sscanf(lines, "%15s %d %31[^:]: %lf %lf %lf%n", name, &tid, class, &ns[0], &ns[1],
		      &ns[2], &used) == 6;
	     lines += used) {
		sum = waited_by(doc, name, tid, class);
		if (strcmp(name, "spins") != 0) {
			assert_thread(sum, name, class, ns, 1);
			compared++;
			continue;
		}
		add_waited(&spun, &sum);
		for (i = 0; i < 3; i++)
			spins[i] += ns[i];
	}
	cr_assert_eq(compared, 12);
	assert_thread(spun, "spins", "runnable", spins, 8);
}

LIVE_TEST(live_waits, by_thread)
{
	live_run(live, ARGS("--waits", "--split", "thread"), ARGS(WORKLOAD("waits")));
	assert_threads(live->doc, live->end.out);
}

/* Each chain, and the sums do not change. */
LIVE_TEST(live_waits, with_callers)
{
	live_run(live, ARGS("--waits", "--callers", "--split", "thread"), ARGS(WORKLOAD("waits")));
	assert_threads(live->doc, live->end.out);
}

/* What only sleeps has hardly a tick, and its summary says where it slept. */
/*
 * Each wakeup preempts a program that is not sampled. The scheduler counts the woken thread's CPU
 * time from the wakeup on.
 */
LIVE_TEST(live_waits, cpu_time_is_the_schedulers)
{
	struct child rival;
	struct child_end end;
	struct waited sum;
	double ns;

	child_start(&rival, NULL, ARGS("taskset", "-c", "0", WORKLOAD("forever")));
	live_run(live, ARGS("--waits"),
		 ARGS("taskset", "-c", "0", WORKLOAD("resters"), "1", "400", "3000"));
	kill(rival.pid, SIGKILL);
	child_finish(&rival, &end);
	child_end_free(&end);
	sum = waited_by(live->doc, NULL, 0, "");
	ns = (double)doc_number(live->doc, "cpu_ns");
	assert_identity(&sum, "resters");
	cr_expect_float_eq(sum.cpu, ns, allowed(sum.wall), "%.0f of %.0f ns", sum.cpu, ns);
}

LIVE_TEST(live_waits, summary_without_ticks)
{
	live_run(live, ARGS("--waits", "-F", "1"), ARGS("sleep", "0.2"));
	if (!doc_number(live->doc, "ticks.total"))
		cr_expect(strstr(live->end.err, " clock_nanosleep  libc.so.6"), "%s",
			  live->end.err);
}

/* Accounts and memory of many threads. */
LIVE_TEST(live_waits, of_ten_thousand)
{
	double ns[3];

	NEED(live_run(live, ARGS("--waits", "--split", "thread", "--memory", "128M"),
		      ARGS(WORKLOAD("waits"), "400", "10000")),
	     "not so many threads");
	cr_assert_eq(sscanf(live->end.out, "pool 0 clock_nanosleep: %lf %lf %lf", &ns[0], &ns[1],
			    &ns[2]),
		     3);
	assert_thread(waited_by(live->doc, "pool", 0, "clock_nanosleep"), "pool", "clock_nanosleep",
		      ns, 10000);
}

/* Attach begins before the program and ends after it. */
static void check_around(struct live *live, const char *const options[],
			 const char *const command[])
{
	struct child child;
	struct child_end end;

	attach_start(live, &child, options);
	child_run(&end, NULL, command);
	attach_end(live, &child, SIGINT);
	assert_threads(live->doc, end.out);
	child_end_free(&end);
}

LIVE_TEST(live_waits, of_the_host)
{
	check_around(live, ARGS("--waits", "--split", "thread", "--all"), ARGS(WORKLOAD("waits")));
}

static void remove_cgroup(void *path)
{
	container_remove_cgroups(path);
}

LIVE_TEST(live_waits, of_a_cgroup)
{
	char name[64], mount[128], path[256];
	struct guard guard;

	NEED(cgroup_mount(NULL, mount, sizeof(mount)), "no cgroups of version 2");
	snprintf(name, sizeof(name), "/bpfprofil-%d", getpid());
	snprintf(path, sizeof(path), "%s%s", mount, name);
	guard_begin(&guard, remove_cgroup, name);
	cgroup_make(path);
	check_around(live, ARGS("--waits", "--split", "thread", "--cgroup", path),
		     ARGS("sh", "-c", "echo $$ >\"$0/cgroup.procs\" && exec \"$1\"", path,
			  WORKLOAD("waits")));
	cgroup_remove(path);
	guard_end(&guard);
}

/* Without a split all threads are one account, which has no other time than theirs. */
LIVE_TEST(live_waits, of_a_target)
{
	struct waited sum;

	live_run(live, ARGS("--waits"), ARGS(WORKLOAD("waits")));
	sum = waited_by(live->doc, NULL, 0, "futex");
	cr_assert_eq(sum.nr, 1);
	assert_identity(&sum, "target");
	cr_expect_leq(sum.unaccounted, allowed(sum.wall));
	cr_expect_geq(sum.class, 2 * 199e6);
}

/* A wait without end: each profile has its part. */
LIVE_TEST(live_waits, cut_by_an_interval)
{
	const char *pattern = live_path(live, "p-%t.json");
	struct child_end end;
	double wall = 0, waited = 0;
	struct waited sum;
	char command[512], *line, *rest = NULL;
	size_t nr = 0;

	child_do(ARGS(BPFPROFIL_BIN, "run", "-q", "--waits", "--interval", "1", "-o", pattern, "--",
		      "sleep", "3.5"));
	snprintf(command, sizeof(command), "ls %s/p-*.json", live->dir);
	child_run(&end, NULL, ARGS("sh", "-c", command));
	for (line = strtok_r(end.out, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest), nr++) {
		struct json_object *doc = doc_load(line);

		sum = waited_by(doc, NULL, 0, "clock_nanosleep");
		assert_identity(&sum, line);
		cr_expect_leq(sum.class, (double)doc_number(doc, "duration_ns") + 50e6);
		wall += sum.wall;
		waited += sum.class;
		json_object_put(doc);
	}
	child_end_free(&end);
	cr_expect_geq(nr, 3);
	cr_expect_float_eq(waited, 3.5e9, 3.5e6, "%.0f", waited);
	cr_expect_geq(wall, waited);
}

/* Attached in the middle of the waits: from there on. */
LIVE_TEST(live_waits, of_a_running_process)
{
	struct child child;
	struct child_end end;
	struct waited sum;
	char pid[16];

	child_start(&child, NULL, ARGS(WORKLOAD("waits"), "20000"));
	usleep(500000);
	snprintf(pid, sizeof(pid), "%d", child.pid);
	child_do(ARGS(BPFPROFIL_BIN, "attach", "-q", "--waits", "--split", "thread", "--duration",
		      "1", "-o", live->profile, "--pid", pid));
	kill(child.pid, SIGKILL);
	child_finish(&child, &end);
	child_end_free(&end);
	live_load(live);
	sum = waited_by(live->doc, "conditions", 0, "futex");
	cr_assert_eq(sum.nr, 1);
	assert_identity(&sum, "conditions");
	cr_expect_float_eq(sum.wall, (double)doc_number(live->doc, "duration_ns"), 50e6, "%.0f",
			   sum.wall);
	cr_expect_eq(sum.wall, sum.class, "%.0f of %.0f", sum.class, sum.wall);
}

/* Processes that have ended are added up by name when they are too many. */
LIVE_TEST(live_waits, processes_in_little_memory)
{
	struct waited brief, all;

	live_run(live, ARGS("-q", "--waits", "--split", "process", "--memory", "256K"),
		 ARGS("sh", "-c", "for i in $(seq 2000); do \"$0\"; done", WORKLOAD("nothing")));
	brief = waited_by(live->doc, "nothing", 0, "wait4");
	all = waited_by(live->doc, NULL, 0, "wait4");
	cr_expect_lt(brief.nr, 1000, "%zu of 2,000 were not added up", brief.nr);
	cr_expect_gt(brief.wall - brief.blocked, 2000 * 100e3);
	cr_expect_gt(all.class, brief.wall - 2000 * 1e6);
	assert_identity(&brief, "nothing");
	assert_identity(&all, "all");
}

/* Its system calls have other numbers. On x86 they are made in a vDSO that is not the sampler's own. */
#ifdef __x86_64__
#define NANOSLEEP_32 "nanosleep"
#else
#define NANOSLEEP_32 "syscall 162 (32-bit)"
#endif

LIVE_TEST(live_waits, of_a_32_bit_program)
{
	struct child_end report;
	struct waited sum;

	NEED(system(WORKLOAD("narrow")) == 0, "a kernel that runs 32-bit programs");
	live_run(live, ARGS("--waits", "--callers"), ARGS(WORKLOAD("narrow")));
	sum = waited_by(live->doc, NULL, 0, NANOSLEEP_32);
	cr_assert_eq(sum.nr, 1);
	assert_identity(&sum, "narrow");
	cr_expect_geq(sum.class, 200e6);
	child_run(&report, NULL, ARGS(BPFPROFIL_BIN, "report", "--waits", live->profile));
#ifdef __x86_64__
	cr_expect(strstr(report.out, " [vdso32] "), "%s", report.out);
	cr_expect_not(strstr(report.out, " [vdso] "), "%s", report.out);
#endif
	child_end_free(&report);
}
