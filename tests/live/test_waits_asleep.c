// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Callers of threads that sleep already when sampling begins, or whose text is new when they begin to. */
#include <fnmatch.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "attach.h"
#include "live.h"
#include "need.h"

TestSuite(live_waits_asleep, .init = need_root, .timeout = 180);

/* A process that is attached to when so many threads of it sleep. */
struct asleep {
	struct child child;
	char pid[16];
	size_t threads;
};

static bool are_asleep(void *argument)
{
	const struct asleep *asleep = argument;
	char pattern[64], state;
	size_t i, nr = 0;
	glob_t found;
	FILE *file;

	snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/stat", asleep->child.pid);
	if (glob(pattern, 0, NULL, &found))
		return false;
	for (i = 0; i < found.gl_pathc; i++) {
		file = fopen(found.gl_pathv[i], "r");
		nr += file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1 && state == 'S';
		if (file)
			fclose(file);
	}
	globfree(&found);
	return nr == asleep->threads;
}

static void begin(struct asleep *asleep, size_t threads, const char *const argv[])
{
	asleep->threads = threads;
	child_start(&asleep->child, NULL, argv);
	snprintf(asleep->pid, sizeof(asleep->pid), "%d", asleep->child.pid);
	cr_assert(eventually(are_asleep, asleep));
}

static void end(struct asleep *asleep)
{
	struct child_end ended;

	kill(asleep->child.pid, SIGKILL);
	child_finish(&asleep->child, &ended);
	child_end_free(&ended);
}

/* Which part of the blocked time has complete or guessed chains. */
static double share_with_callers(const char *profile)
{
	struct json_object *doc = doc_load(profile), *waits = doc_get(doc, "waits"), *nodes, *node;
	double ns, all = 0, with = 0;
	int64_t parent;
	const char *how;
	size_t i;

	nodes = doc_get(waits, "nodes");
	for (i = 0; i < json_object_array_length(nodes); i++) {
		node = json_object_array_get_idx(nodes, i);
		ns = (double)json_object_get_uint64(json_object_array_get_idx(node, 2));
		parent = json_object_get_int64(json_object_array_get_idx(node, 0));
		while (parent >= 0)
			parent = json_object_get_int64(json_object_array_get_idx(
				json_object_array_get_idx(nodes, (size_t)parent), 0));
		how = json_object_get_string(doc_get(
			json_object_array_get_idx(doc_get(waits, "roots"), (size_t)(-1 - parent)),
			"end"));
		all += ns;
		if (!strcmp(how, "complete") || !strcmp(how, "guessed"))
			with += ns;
	}
	json_object_put(doc);
	cr_assert_gt(all, 0);
	return with / all;
}

/* Whether a profile has a chain, as a pattern of fnmatch(), for so many nanoseconds. */
static void assert_chain(const char *profile, const char *pattern, double least_ns)
{
	struct child_end folded;
	char *line, *space, *rest;
	double ns = 0;

	child_run(&folded, NULL,
		  ARGS(BPFPROFIL_BIN, "export", "--format", "folded", "--waits", profile));
	for (line = strtok_r(folded.out, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		space = strrchr(line, ' ');
		cr_assert(space);
		*space = '\0';
		if (!fnmatch(pattern, line, 0))
			ns += strtod(space + 1, NULL);
		else
			*space = ' ';
	}
	cr_expect_geq(ns, least_ns, "%s: %.0f ns", pattern, ns);
	child_end_free(&folded);
}

static const char *const chains[] = {
	"*start_thread;begin;wait_for_lock;*[[]futex]",
	"*start_thread;begin;wait_for_condition;*[[]futex]",
	"*start_thread;begin;wait_for_byte;*[[]read]",
	"*start_thread;begin;wait_for_time;*[[]clock_nanosleep]",
	"*start_thread;begin;wait_deep;wait_far_below;wait_far_below;wait_far_below;wait_far_below;"
	"wait_for_byte;*[[]read]",
	"*start_thread;begin;wait_in_handler;*wait_for_byte;*[[]read]",
	"*main;wait_for_byte;*[[]read]",
};

static void assert_chains(const char *profile, double least_ns)
{
	size_t i;

	for (i = 0; i < sizeof(chains) / sizeof(*chains); i++)
		assert_chain(profile, chains[i], least_ns);
	cr_expect_geq(share_with_callers(profile), 0.99, "%f", share_with_callers(profile));
}

LIVE_TEST(live_waits_asleep, when_attach_begins)
{
	struct asleep asleep;

	begin(&asleep, 7, ARGS(WORKLOAD("asleep")));
	child_do(ARGS(BPFPROFIL_BIN, "attach", "-q", "--waits", "--callers", "--duration", "1",
		      "-o", live->profile, "--pid", asleep.pid));
	end(&asleep);
	assert_chains(live->profile, 0.99e9);
}

/* The chains were found in the first profile, and each of the others has its part. */
LIVE_TEST(live_waits_asleep, in_each_interval)
{
	const char *pattern = live_path(live, "p-*.json");
	struct asleep asleep;
	glob_t found;
	size_t i;

	begin(&asleep, 7, ARGS(WORKLOAD("asleep")));
	child_do(ARGS(BPFPROFIL_BIN, "attach", "-q", "--waits", "--callers", "--duration", "3.5",
		      "--interval", "1", "-o", live_path(live, "p-%t.json"), "--pid", asleep.pid));
	end(&asleep);
	cr_assert_eq(glob(pattern, 0, NULL, &found), 0);
	cr_expect_geq(found.gl_pathc, 3);
	for (i = 0; i < found.gl_pathc; i++)
		assert_chains(found.gl_pathv[i], 0.4e9);
	globfree(&found);
}

/* One that others have too, with chains through an interpreter. */
LIVE_TEST(live_waits_asleep, python)
{
	struct asleep asleep;

	begin(&asleep, 5,
	      ARGS("/usr/bin/python3", "-c",
		   "import threading, time\n"
		   "for i in range(4): threading.Thread(target=threading.Event().wait).start()\n"
		   "time.sleep(100000)\n"));
	child_do(ARGS(BPFPROFIL_BIN, "attach", "-q", "--waits", "--callers", "--duration", "2",
		      "-o", live->profile, "--pid", asleep.pid));
	end(&asleep);
	cr_expect_geq(share_with_callers(live->profile), 0.99, "%f",
		      share_with_callers(live->profile));
}

/* Nobody knows the library's text when the wait in it begins. */
LIVE_TEST(live_waits_asleep, in_new_text)
{
	live_run(live, ARGS("--waits", "--callers"),
		 ARGS(WORKLOAD("asleep"), WORKLOAD("asleep.so")));
	assert_chain(live->profile, "*main;sleep_in_plugin;*[[]clock_nanosleep]", 1.49e9);
}
