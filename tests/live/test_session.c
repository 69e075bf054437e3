// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* The engine itself, cut into pieces while ticks fall: each tick is in one piece. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "host/engine/child.h"
#include "host/engine/session.h"
#include "host.h"
#include "need.h"
#include "profile/profile_io.h"

#define CUTS 200
#define PAUSES 12
#define PAUSE_US 25000
#define HZ 4595
/* Then one of two threads ran for more than four periods. */
#define RAN_NS 2000000
/* Two threads that run longer than all cuts take. */
#define BUSY                                                                                       \
	{                                                                                          \
		WORKLOADS "/threads", "2", "10000000", NULL                                        \
	}

TestSuite(live_session, .timeout = 240);
/* They compare the time that was sampled with the time that a thread ran. */
TestSuite(live_cuts, .timeout = 120);

struct sampled {
	struct session *session;
	struct child child;
	uint64_t total; /* of all pieces */
	uint64_t throttled; /* which does not count ticks that fell */
	uint64_t binned;
	uint64_t wide; /* of these, ticks in bins wider than a byte */
	size_t pieces;
	uint64_t since_ns; /* the child's CPU time after the last piece */
	size_t empty; /* pieces without a tick in which the child ran for several periods */
	size_t objects;
	uint64_t delivered; /* of all CPUs */
	uint64_t cpu_ns; /* of the last piece */
	uint64_t split_ns; /* of these, what its splits have */
};

static void begin_within(struct sampled *sampled, enum split split, uint64_t memory, uint64_t hz,
			 char **argv)
{
	struct target target = { .kind = TARGET_COMMAND, .name = argv[0] };
	const struct session_options options = {
		.targets = &target,
		.nr_targets = 1,
		.period_ns = 1000000000 / hz,
		.requested_hz = (double)hz,
		.split = split,
		.memory = memory,
	};
	struct error err = { 0 };

	memset(sampled, 0, sizeof(*sampled));
	host_clock_begin();
	cr_assert_eq(child_fork(argv, NULL, NULL, &sampled->child, &err), 0, "%s", err.text);
	target.pid = sampled->child.pid;
	cr_assert_eq(session_open(&options, &sampled->session, &err), 0, "%s", err.text);
	cr_assert_eq(session_start(sampled->session, &err), 0, "%s", err.text);
	cr_assert_eq(child_exec(&sampled->child, argv[0], NULL, &err), 0, "%s", err.text);
}

static void begin(struct sampled *sampled, enum split split, char **argv)
{
	begin_within(sampled, split, 64 << 20, HZ, argv);
}

static uint64_t throttled_of(const struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->ticks.nr_lost; i++)
		if (!strcmp(profile->ticks.lost[i].cause, "throttled"))
			return profile->ticks.lost[i].ticks;
	return 0;
}

static uint64_t wide_of(const struct profile *profile)
{
	uint64_t sum = 0;
	size_t i, b;

	for (i = 0; i < profile->nr_histograms; i++)
		for (b = 0;
		     profile->histograms[i].bytes_per_bin > 1 && b < profile->histograms[i].nr_bins;
		     b++)
			sum += profile->histograms[i].bins[b].count;
	return sum;
}

static uint64_t delivered_of(const struct profile *profile)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < profile->sampling.nr_delivered; i++)
		sum += profile->sampling.delivered[i];
	return sum;
}

/* Of all of the child's threads, so far; 0: it was waited for. */
static uint64_t ran_ns(const struct sampled *sampled)
{
	struct timespec time = { 0 };
	clockid_t clock;

	if (sampled->child.pid > 0 && !clock_getcpuclockid(sampled->child.pid, &clock))
		clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t split_ns_of(const struct profile *profile)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < profile->nr_splits; i++)
		sum += profile->splits[i].cpu_ns;
	return sum;
}

/* A piece must satisfy what every profile does, above all its identity. */
static void take(struct sampled *sampled)
{
	/* Read before the piece ends, and below after the one before has. */
	bool ran = ran_ns(sampled) > sampled->since_ns + RAN_NS;
	struct profile *profile;
	struct error err = { 0 };

	cr_assert_eq(session_take(sampled->session, &profile, &err), 0, "%s", err.text);
	sampled->since_ns = ran_ns(sampled);
	cr_assert_eq(profile_check(profile, "piece", &err), 0, "piece %zu: %s", sampled->pieces,
		     err.text);
	cr_assert(profile->complete);
	sampled->total += profile->ticks.total;
	sampled->binned += profile->ticks.binned;
	sampled->throttled += throttled_of(profile);
	sampled->pieces++;
	sampled->empty += ran && !profile->ticks.total;
	sampled->objects += profile->nr_objects;
	sampled->wide += wide_of(profile);
	sampled->delivered += delivered_of(profile);
	sampled->cpu_ns = profile->targets[0].cpu_ns;
	sampled->split_ns = split_ns_of(profile);
	profile_free(profile);
}

/* A peek takes nothing, and sees no more than there is. */
static void peek(struct sampled *sampled)
{
	struct profile *profile;
	struct error err = { 0 };

	cr_assert_eq(session_peek(sampled->session, &profile, &err), 0, "%s", err.text);
	cr_assert_not(profile->complete);
	profile_free(profile);
}

static void cut(struct sampled *sampled, size_t times)
{
	struct error err = { 0 };
	size_t i;

	for (i = 0; i < times; i++) {
		usleep(PAUSE_US);
		cr_assert_eq(session_poll(sampled->session, &err), 0, "%s", err.text);
		if (i % 10 == 0)
			peek(sampled);
		take(sampled);
	}
}

/* How much of BPF maps is in this process. */
static size_t mapped_bytes(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	size_t start, stop, sum = 0;
	char line[512];

	cr_assert(file);
	while (fgets(line, sizeof(line), file))
		if (strstr(line, "bpf-map") && sscanf(line, "%zx-%zx", &start, &stop) == 2)
			sum += stop - start;
	fclose(file);
	return sum;
}

/* Ends the command; the last piece's total is the independent count less all others. */
static void finish(struct sampled *sampled)
{
	struct session_live live;
	struct error err = { 0 };

	kill(sampled->child.pid, SIGKILL);
	child_wait(&sampled->child);
	cr_assert_eq(session_stop(sampled->session, &err), 0, "%s", err.text);
	take(sampled);
	session_live(sampled->session, &live);
	cr_assert_eq(sampled->total - sampled->throttled, live.total,
		     "%zu pieces have %lu ticks, %lu fell", sampled->pieces,
		     sampled->total - sampled->throttled, live.total);
	cr_assert_eq(sampled->delivered, live.total, "CPUs delivered %lu ticks, %lu fell",
		     sampled->delivered, live.total);
	/* Nothing is left. */
	take(sampled);
	cr_assert_eq(sampled->total - sampled->throttled, live.total);
	cr_expect_lt(mapped_bytes(), 1 << 20, "halves are mapped only while they are read");
}

static void end(struct sampled *sampled)
{
	child_free(&sampled->child);
	session_close(sampled->session);
}

Test(live_cuts, lose_nothing)
{
	char *argv[] = BUSY;
	struct sampled sampled;
	double expected;

	NEED_ROOT();
	begin(&sampled, SPLIT_NONE, argv);
	cut(&sampled, CUTS);
	finish(&sampled);
	expected = (double)sampled.child.cpu_ns * HZ / 1e9;
	cr_expect_float_eq(sampled.total / expected, 1, 0.02 + host_stolen_part(),
			   "%lu ticks, by CPU time %.0f", sampled.total, expected);
	cr_expect_leq(sampled.empty, 2, "%zu pieces without a tick", sampled.empty);
	end(&sampled);
}

/* A pause has no ticks and no time, and what is taken between two pauses has one period. */
Test(live_cuts, part_periods)
{
	static const uint64_t periods[] = { 1000000000 / HZ, 1189207, 420448 };
	char *argv[] = BUSY;
	struct sampled sampled;
	struct profile *profile;
	struct error err = { 0 };
	double seconds = 0, used;
	size_t i;

	NEED_ROOT();
	begin(&sampled, SPLIT_NONE, argv);
	for (i = 0; i < PAUSES; i++) {
		usleep(500000);
		session_pause(sampled.session);
		usleep(PAUSE_US);
		cr_assert_eq(session_take(sampled.session, &profile, &err), 0, "%s", err.text);
		cr_assert_eq(profile_check(profile, "piece", &err), 0, "%s", err.text);
		cr_assert_eq(profile->sampling.period_ns, periods[i % 3]);
		seconds += (double)profile->ticks.total * (double)periods[i % 3] / 1e9;
		sampled.total += profile->ticks.total;
		sampled.throttled += throttled_of(profile);
		sampled.delivered += delivered_of(profile);
		profile_free(profile);
		cr_assert_eq(session_resume(sampled.session, periods[(i + 1) % 3], &err), 0, "%s",
			     err.text);
	}
	finish(&sampled);
	/* In the pauses two threads went on, for slightly longer than asked. */
	used = (double)sampled.child.cpu_ns / 1e9;
	cr_expect_leq(seconds, used * (1.02 + host_stolen_part()), "%.3f s of %.3f", seconds, used);
	cr_expect_geq(seconds, used * (0.97 - host_stolen_part()) - PAUSES * 2 * 2 * PAUSE_US / 1e6,
		      "%.3f s of %.3f", seconds, used);
	end(&sampled);
}

/* Processes come and go all the time: forks, execs, exits and deferred ticks at every cut. */
static void check_storm(enum split split)
{
	char *argv[] = { "/bin/sh", "-c",
			 "while :; do " WORKLOADS "/one 1 & " WORKLOADS "/nothing; wait; done",
			 NULL };
	struct sampled sampled;

	NEED_ROOT();
	begin(&sampled, split, argv);
	cut(&sampled, 80);
	finish(&sampled);
	cr_expect_gt(sampled.binned, 500);
	end(&sampled);
}

Test(live_session, cuts_in_a_storm)
{
	check_storm(SPLIT_NONE);
}

Test(live_session, cuts_in_a_storm_split)
{
	check_storm(SPLIT_PROCESS);
}

/* Number of descriptors of this process. */
static size_t descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	cr_assert(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void remove_folder(const char *folder)
{
	char path[300];
	struct dirent *entry;
	DIR *dir = opendir(folder);

	cr_assert(dir);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	closedir(dir);
	rmdir(folder);
}

/*
 * An endless number of new programs: with 4 MiB for counters all would get wide
 * bins after the first few hundred if the memory of ended programs were not reused. How many come
 * between two cuts depends on the host, so a few may find too little. Nothing else may grow either.
 */
static void check_new_text(enum split split, uint64_t memory)
{
	char folder[] = "/tmp/bpfprofil-test-XXXXXX";
	char *argv[] = { "/bin/sh", "-c",
			 "i=0; while :; do cp " WORKLOADS
			 "/one \"$0/$i\" 2>/dev/null; \"$0/$i\" 1; "
			 "rm \"$0/$i\"; i=$((i+1)); done",
			 folder, NULL };
	struct sampled sampled;
	size_t before, i;

	NEED_ROOT();
	cr_assert(mkdtemp(folder));
	begin_within(&sampled, split, memory, HZ, argv);
	cut(&sampled, 40);
	before = descriptors();
	for (i = 0; i < 8; i++) {
		cut(&sampled, 40);
		cr_expect_leq(descriptors(), before + 40, "%zu descriptors, %zu before",
			      descriptors(), before);
	}
	finish(&sampled);
	cr_expect_gt(sampled.binned, 500);
	cr_expect_gt(sampled.objects, 200, "%zu objects", sampled.objects);
	cr_log_info("%lu of %lu ticks are in wide bins", sampled.wide, sampled.binned);
	cr_expect_leq(sampled.wide, sampled.binned / 50, "%lu of %lu ticks are in wide bins",
		      sampled.wide, sampled.binned);
	end(&sampled);
	remove_folder(folder);
}

Test(live_session, new_text_for_ever)
{
	check_new_text(SPLIT_NONE, 4 << 20);
}

Test(live_session, new_text_and_processes_for_ever)
{
	/* Each process has its own places, even in shared text. */
	check_new_text(SPLIT_PROCESS, 16 << 20);
}

/* Polls until the command has stopped itself. */
static void poll_until_stopped(const struct sampled *sampled)
{
	struct error err = { 0 };
	int status, i;

	for (i = 0; waitpid(sampled->child.pid, &status, WUNTRACED | WNOHANG) == 0; i++) {
		cr_assert_lt(i, 30000, "the command does not stop");
		cr_assert_eq(session_poll(sampled->session, &err), 0, "%s", err.text);
		usleep(2000);
	}
	cr_assert(WIFSTOPPED(status));
}

/*
 * Live processes of one owner have all accounts that it may have. They end, and after `between`
 * later ones must find accounts again, for as long as they come. At 20 Hz few of them have a tick or
 * a root, which would request a swap, too.
 */
static void check_later_ones(char *between, size_t takes)
{
	char *argv[] = { "/bin/sh", "-c",
			 "for i in $(seq 850); do sleep 1000 & p=\"$p $!\"; done; kill -STOP $$; "
			 "kill $p; wait; eval \"$0\"; "
			 "for i in $(seq 1500); do /bin/true; done; kill -STOP $$",
			 between, NULL };
	struct sampled sampled;
	size_t i;

	NEED_ROOT();
	begin_within(&sampled, SPLIT_PROCESS, 4 << 20, 20, argv);
	poll_until_stopped(&sampled);
	take(&sampled);
	kill(sampled.child.pid, SIGCONT);
	if (takes) {
		poll_until_stopped(&sampled);
		for (i = 0; i < takes; i++)
			take(&sampled);
		kill(sampled.child.pid, SIGCONT);
	}
	poll_until_stopped(&sampled);
	take(&sampled);
	cr_expect_geq(sampled.split_ns, sampled.cpu_ns / 100 * 95, "%.3f of %.3f s have a process",
		      (double)sampled.split_ns / 1e9, (double)sampled.cpu_ns / 1e9);
	finish(&sampled);
	end(&sampled);
}

Test(live_session, accounts_after_takes)
{
	check_later_ones("kill -STOP $$", 3);
}

Test(live_session, accounts_without_a_take)
{
	check_later_ones("sleep 1.5", 0);
}
