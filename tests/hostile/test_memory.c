// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The agent of a host, with the memory that a container gives it, while somebody runs files that are made
 * to take all of it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "cgroup.h"
#include "hostile.h"
#include "live.h"
#include "need.h"
#include "test_burn_fixture.h"

#define MEMORY "134217728"

enum { PROFILES = 4, COMMAND_WORDS = 3 + HOSTILE_KINDS + 2 };

TestSuite(hostile_memory, .timeout = 170);

static char group[256];

/* The version of control groups decides how the limit is called. False: there is no such controller. */
static bool make_group(const char **limit)
{
	char place[200], controllers[300];
	bool old = cgroup_mount("memory", place, sizeof(place));

	*limit = old ? "memory.limit_in_bytes" : "memory.max";
	if (!old && !cgroup_mount(NULL, place, sizeof(place)))
		return false;
	snprintf(controllers, sizeof(controllers), "echo +memory >%s/cgroup.subtree_control",
		 place);
	if (!old && system(controllers))
		return false;
	snprintf(group, sizeof(group), "%s/bpfprofil-hostile-%d", place, getpid());
	cgroup_make(group);
	return true;
}

static void start_agent(struct live *live, const char *limit, struct child *agent)
{
	char script[1024];

	snprintf(script, sizeof(script),
		 "echo " MEMORY
		 " >%s/%s && echo $$ >%s/cgroup.procs && mkdir %s/files && exec %s agent "
		 "-q --interval 1 --duty 100 --dir %s/files",
		 group, limit, group, live->dir, BPFPROFIL_BIN, live->dir);
	child_start(agent, NULL, ARGS("sh", "-c", script));
}

/* The honest file comes last, so that all others have been read. */
static void run_files(struct live *live)
{
	static char paths[HOSTILE_KINDS][160], offset[32];
	const char *command[COMMAND_WORDS] = { MAPPED, offset, BURN_COUNT };
	struct child_end end;
	int kind;

	burn_offset(offset, sizeof(offset));
	for (kind = 0; kind < HOSTILE_KINDS; kind++) {
		hostile_make(BURN, live->dir, (enum hostile_kind)kind);
		snprintf(paths[kind], sizeof(paths[0]), "%s",
			 live_path(live, hostile_name((enum hostile_kind)kind)));
		command[3 + kind] = paths[kind];
	}
	command[3 + HOSTILE_KINDS] = live_copy(live, BURN, "honest.so");
	child_run(&end, NULL, command);
	cr_assert_eq(end.status, 0, "%s", end.err);
	child_end_free(&end);
}

/* The kernel does not end it, and others' names are in its profiles. */
LIVE_TEST(hostile_memory, agent)
{
	struct child_end end;
	struct child agent;
	const char *limit;

	NEED_ROOT();
	NEED(make_group(&limit), "no controller of memory");
	start_agent(live, limit, &agent);
	live_await_profiles(live, PROFILES);
	run_files(live);
	live_await_profiles(live, PROFILES);
	kill(agent.pid, SIGTERM);
	child_finish(&agent, &end);
	cgroup_remove(group);
	cr_assert_eq(end.status, 0, "status %d: %s", end.status, end.err);
	child_end_free(&end);
	child_run(&end, NULL,
		  ARGS(BPFPROFIL_BIN, "report", "--object", "honest.so", live_path(live, "files")));
	cr_assert_eq(end.status, 0, "%s", end.err);
	cr_assert(strstr(end.out, "burn"), "%s", end.out);
	child_end_free(&end);
}
