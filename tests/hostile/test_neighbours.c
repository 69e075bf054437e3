// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Root profiles, with callers, a host on which a user uses up as much as can be had of what all programs'
 * callers share: rules, lines, numbers of texts, and nodes of the table. Those of others stay complete. Without callers
 * others keep their places and accounts of time.
 */
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "cgroup.h"
#include "doc_callers.h"
#include "hostile.h"
#include "live.h"
#include "need.h"
#include "test_burn_fixture.h"

#define NEIGHBOUR HOSTILE_PROGRAMS "/neighbour"
#define TINY HOSTILE_PROGRAMS "/tiny"
#define NOBODY "setpriv --reuid 65534 --regid 65534 --clear-groups "
#define ANOTHER "setpriv --reuid 2 --regid 2 --clear-groups "

/* A few ticks are amid an exec. On a busy host a table may be late, but not for most of the time. */
#define MOSTLY 0.95
#define FEW_TICKS 200

/* At defaults but for the rate, and so that what is read at an interval's end is seen too. */
static const char *const once[] = { "--callers", "--split", "process", NULL };
static const char *const often[] = { "--callers", "--split", "process", "--interval", "1", NULL };
static const char *const by_thread[] = { "--split", "thread", "--interval", "1", NULL };

TestSuite(hostile_neighbours, .timeout = 170);

static void begin(struct live *live)
{
	NEED_ROOT();
	live_begin(live);
	/* Other users reach it, and make files there. */
	cr_assert_eq(chmod(live->dir, 01777), 0);
	child_do(ARGS("cp", NEIGHBOUR, live_path(live, "neighbour")));
	child_do(ARGS("cp", TINY, live_path(live, "tiny")));
	child_do(ARGS("cp", MAPPED, live_path(live, "mapped")));
	child_do(ARGS("cp", MAPPED, live_path(live, "victim_mapped")));
	live_copy(live, WORKLOAD("callers"), "victim");
}

#define NEIGHBOUR_TEST(name, ...) FIXTURE_TEST(live, begin, hostile_neighbours, name, ##__VA_ARGS__)

/* The ticks of a process in all profiles of a run, and some of them by how their walks ended. */
struct ended {
	uint64_t ticks, complete, late, full;
};

static struct ended ended_in(struct live *live, const char *process)
{
	struct ended sum = { 0 };
	glob_t found;
	size_t i;

	cr_assert_eq(glob(live_path(live, "p*.json"), 0, NULL, &found), 0);
	for (i = 0; i < found.gl_pathc; i++) {
		struct json_object *doc = doc_load(found.gl_pathv[i]);

		doc_assert_sound(doc);
		doc_assert_chains(doc);
		sum.ticks += doc_ended_in(doc, process, NULL);
		sum.complete += doc_ended_in(doc, process, "complete");
		sum.late += doc_ended_in(doc, process, "late");
		sum.full += doc_ended_in(doc, process, "full");
		json_object_put(doc);
	}
	globfree(&found);
	return sum;
}

static void run_at(struct live *live, const char *hz, const char *const options[],
		   const char *memory, const char *script)
{
	const char *argv[32], *command[] = { "sh", "-c", script, live->dir, NULL };
	const char *all[16] = { "-F", hz, "--force" };
	bool by_interval = false;
	size_t n = 3;

	for (; *options; options++) {
		by_interval |= !strcmp(*options, "--interval");
		all[n++] = *options;
	}
	if (memory) {
		all[n++] = "--memory";
		all[n++] = memory;
	}
	snprintf(live->profile, sizeof(live->profile), "%s/%s", live->dir,
		 by_interval ? "p-%t.json" : "p.json");
	live_command(live, argv, 32, all, command, false);
	child_run(&live->end, NULL, argv);
	cr_assert_eq(live->end.status, 0, "%s", live->end.err);
}

static void run(struct live *live, const char *const options[], const char *memory,
		const char *script)
{
	run_at(live, "997", options, memory, script);
}

static void expect_complete(struct live *live, const char *process)
{
	const struct ended of = ended_in(live, process);

	cr_expect_gt(of.complete, FEW_TICKS);
	cr_expect_geq((double)(of.complete + of.late), MOSTLY * (double)of.ticks,
		      "%lu of %lu ticks of %s, %lu late", of.complete, of.ticks, process, of.late);
	cr_expect_lt(of.late, of.ticks / 2);
}

/* The victim has thousands of chains of its own, all of which begin with the same few frames. */
#define CHAINS                                                                                     \
	NOBODY "$0/neighbour chains 8000 & " NOBODY "$0/neighbour chains 8000 & sleep 4; " ANOTHER \
	       "$0/victim wide 20000; wait"

NEIGHBOUR_TEST(chains_at_random)
{
	run(live, once, NULL, CHAINS);
	expect_complete(live, "victim");
	/* What does not fit is counted with the part that does. */
	cr_expect_gt(ended_in(live, "neighbour").full, FEW_TICKS);
}

NEIGHBOUR_TEST(chains_at_random_by_interval)
{
	run(live, often, NULL, CHAINS);
	expect_complete(live, "victim");
}

/*
 * Without callers: a user runs more places than --memory has room for. Another's few ticks, which are as cold,
 * keep their exact places.
 */
NEIGHBOUR_TEST(places_at_random)
{
	static const char *const flat[] = { NULL };
	uint64_t ticks;

	live_copy(live, WORKLOAD("bigtext"), "much");
	live_copy(live, WORKLOAD("bigtext"), "little");
	run_at(live, "4595", flat, "256K",
	       NOBODY "$0/much 20 10 & sleep 3; " ANOTHER "$0/little 5 1; wait");
	live->doc = doc_load(live->profile);
	ticks = doc_object(live->doc, NULL, "/much");
	cr_expect_lt(doc_in_bins(live->doc, "/much", 1), ticks / 2, "memory was not full");
	ticks = doc_object(live->doc, NULL, "/little");
	cr_expect_gt(ticks, FEW_TICKS);
	cr_expect_geq((double)doc_in_bins(live->doc, "/little", 1), MOSTLY * (double)ticks);
}

/*
 * A user has more threads than there are accounts of time. Another's threads, which come later, have theirs: the
 * ticks of a thread without an account would be nobody's.
 */
NEIGHBOUR_TEST(accounts_of_threads)
{
	uint64_t ticks = 0, known = 0;
	glob_t found;
	size_t i;

	live_copy(live, WORKLOAD("waits"), "pool");
	live_copy(live, WORKLOAD("threads"), "victim_threads");
	run_at(live, "997", by_thread, "1M",
	       NOBODY "$0/pool 8000 1300 & sleep 4; " ANOTHER "$0/victim_threads 8 3000; wait");
	cr_assert_eq(glob(live_path(live, "p*.json"), 0, NULL, &found), 0);
	for (i = 0; i < found.gl_pathc; i++) {
		struct json_object *doc = doc_load(found.gl_pathv[i]);

		doc_assert_sound(doc);
		ticks += doc_object(doc, NULL, "/victim_threads");
		/* In a second in which nothing ran there is none. */
		if (json_object_object_get(doc, "splits"))
			known += doc_splits_named(doc, "process", "victim_threads").ticks;
		json_object_put(doc);
	}
	globfree(&found);
	cr_expect_gt(ticks, FEW_TICKS);
	cr_expect_geq((double)known, MOSTLY * (double)ticks, "%lu of %lu ticks", known, ticks);
}

/* Nobody's files, which are run, and then root's with rules that no other file has. */
static void run_files(struct live *live, const char *const options[], struct hostile_rules wanted,
		      unsigned int nr)
{
	char offset[32], path[128], script[512];
	unsigned int i;

	burn_offset(offset, sizeof(offset));
	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/nobody-%u", live->dir, i);
		hostile_make_rules(BURN, path, wanted);
		cr_assert_eq(chown(path, 65534, 65534), 0);
		wanted.seed++;
	}
	wanted.rules = wanted.rules < 500 ? wanted.rules : 500;
	wanted.rows = wanted.rows / 2 < 20000 ? 20000 : wanted.rows / 2;
	snprintf(path, sizeof(path), "%s/honest", live->dir);
	hostile_make_rules(BURN, path, wanted);
	snprintf(script, sizeof(script),
		 NOBODY "$0/mapped %s 300000000 $0/nobody-*; sleep 2; "
			"$0/victim_mapped %s 1500000000 $0/honest",
		 offset, offset);
	run(live, options, NULL, script);
}

NEIGHBOUR_TEST(rules)
{
	run_files(live, once, (struct hostile_rules){ .rules = 1900, .rows = 2000 }, 9);
	expect_complete(live, "victim_mapped");
}

NEIGHBOUR_TEST(rules_by_interval)
{
	run_files(live, often, (struct hostile_rules){ .rules = 1900, .rows = 2000 }, 9);
	expect_complete(live, "victim_mapped");
}

NEIGHBOUR_TEST(rows)
{
	run_files(live, once, (struct hostile_rules){ .rules = 10, .rows = 1900000 }, 4);
	expect_complete(live, "victim_mapped");
}

NEIGHBOUR_TEST(rows_by_interval)
{
	run_files(live, often, (struct hostile_rules){ .rules = 10, .rows = 1900000 }, 4);
	expect_complete(live, "victim_mapped");
}

/* Nobody's files, each of which takes long to read, while root's program begins. */
NEIGHBOUR_TEST(queue)
{
	char offset[32], path[128], script[512];
	struct hostile_rules wanted = { .rules = 10, .rows = 1900000 };

	burn_offset(offset, sizeof(offset));
	for (; wanted.seed < 14; wanted.seed++) {
		snprintf(path, sizeof(path), "%s/nobody-%u", live->dir, wanted.seed);
		hostile_make_rules(BURN, path, wanted);
		cr_assert_eq(chown(path, 65534, 65534), 0);
	}
	snprintf(script, sizeof(script),
		 NOBODY "$0/mapped %s 20000000 $0/nobody-*; $0/victim plain 3000", offset);
	run(live, once, NULL, script);
	expect_complete(live, "victim");
}

/* A user's process runs text in so many files, and then another user a program, while few files may be open. */
static void run_limited(struct live *live, const char *descriptors, unsigned int files,
			const char *user)
{
	char offset[32], script[512];

	burn_offset(offset, sizeof(offset));
	snprintf(live->profile, sizeof(live->profile), "%s/p.json", live->dir);
	snprintf(
		script, sizeof(script),
		"i=0; while [ $i -lt %u ]; do i=$((i + 1)); cp $1 $0/many-$i; chown %s $0/many-$i; done;"
		"for i in 1 2 3; do setpriv --reuid %s --regid %s --clear-groups"
		" $0/mapped %s 2000000 $0/many-$i*; done; " ANOTHER "$0/victim plain 3000",
		files, user, user, user, offset);
	child_do(ARGS("sh", "-c", "ulimit -n $0; exec \"$@\"", descriptors, BPFPROFIL_BIN, "run",
		      FAST, "-q", "--split", "process", "-o", live->profile, "--callers", "--",
		      "sh", "-c", script, live->dir, BURN));
	live->doc = doc_load(live->profile);
}

/* Descriptors of files are shared by owner. */
NEIGHBOUR_TEST(descriptors)
{
	run_limited(live, "512", 600, "65534");
	cr_expect_gt(doc_function(live->doc, "leaf", "/victim"), FEW_TICKS);
}

/* A file that may not stay open is read for its callers before. */
NEIGHBOUR_TEST(few_descriptors)
{
	run_limited(live, "256", 200, "0");
	expect_complete(live, "victim");
}

/* With 1 MiB there are 1,024 numbers. */
#define FILES                                                                                      \
	"mkdir -m 1777 $0/files; " NOBODY "$0/neighbour files $0/tiny $0/files 1500; "             \
	"cp $0/victim $0/fresh; " ANOTHER "$0/fresh plain 3000"

NEIGHBOUR_TEST(numbers)
{
	run(live, once, "1M", FILES);
	expect_complete(live, "fresh");
}

NEIGHBOUR_TEST(numbers_by_interval)
{
	run(live, often, "1M", FILES);
	expect_complete(live, "fresh");
}

/*
 * Files that were executed and have no tick, as most of a build's, give their numbers back while one profile is
 * made, to others of the same owner too. Some have a tick, and the table keeps these until it ends.
 */
NEIGHBOUR_TEST(numbers_without_a_tick)
{
	run_at(live, "250", once, "1M",
	       "mkdir $0/files; $0/neighbour files $0/tiny $0/files 800; "
	       "cp $0/victim $0/fresh; sleep 2; $0/fresh plain 12000");
	expect_complete(live, "fresh");
}

/*
 * Two processes wait for each other as often as they can, with 200 callers at random. Walks to the callers of these waits
 * are limited, and those of others have their callers.
 */
NEIGHBOUR_TEST(waits_at_random)
{
	static const char *const waits[] = { "--waits", "--callers", "--split", "process", NULL };
	uint64_t all, complete;

	child_do(ARGS("cp", WORKLOAD("waits"), live_path(live, "sleeper")));
	/* Rules of the sleeper's files are read before. */
	run(live, waits, NULL,
	    NOBODY "$0/neighbour waits 5000 & " NOBODY
		   "$0/neighbour waits 5000 & ln $0/sleeper $0/before; " ANOTHER
		   "$0/before 100; sleep 2; " ANOTHER "$0/sleeper 500; wait");
	live->doc = doc_load(live->profile);
	all = doc_waited_in(live->doc, "sleeper", NULL);
	complete = doc_waited_in(live->doc, "sleeper", "complete");
	cr_expect_gt(all, 1000000000);
	cr_expect_geq((double)complete, MOSTLY * (double)all, "%lu of %lu ns", complete, all);
	cr_expect_gt(doc_waited_in(live->doc, "neighbour", "late"), 0);
}

/* Makes a cgroup in a hierarchy, if that is mounted; else the path stays empty. */
static void make_group(const char *controller, char path[256])
{
	char mount[200];

	if (!cgroup_mount(controller, mount, sizeof(mount)))
		return;
	snprintf(path, 256, "%s/bpfprofil-names-%d", mount, getpid());
	cgroup_make(path);
}

/* Two cgroups whose names differ only in a byte that is not UTF-8, for which a file has one character. */
NEIGHBOUR_TEST(names_that_are_not_text)
{
	static const char *const by_cgroup[] = { "--callers", "--split", "cgroup", NULL };
	char groups[2][256] = { "", "" }, text[1024];
	int i;

	/* The hierarchy of a split is one of these two. */
	make_group(NULL, groups[0]);
	make_group("memory", groups[1]);
	NEED(groups[0][0] || groups[1][0], "no control groups");
	snprintf(text, sizeof(text),
		 "for byte in 376 377; do ("
		 "for group in %s %s; do group=$group/$(printf \"\\\\$byte\"); mkdir $group;"
		 " echo 0 >$group/cgroup.procs; done; exec $0/victim plain 1500); done",
		 groups[0], groups[1]);
	run(live, by_cgroup, NULL, text);
	for (i = 0; i < 2; i++)
		if (groups[i][0])
			cgroup_remove(groups[i]);
	snprintf(text, sizeof(text), "/bpfprofil-names-%d/\xef\xbf\xbd", getpid());
	live->doc = doc_load(live->profile);
	cr_expect_gt(doc_splits_named(live->doc, "cgroup", text).ticks, FEW_TICKS);
	child_do(ARGS(BPFPROFIL_BIN, "report", live->profile));
}
