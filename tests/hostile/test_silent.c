// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Root profiles a host on which a user runs a program from a file system of the user's own, which stops answering one
 * kind of request. Whoever waits for it can neither go on nor end.
 */
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "attach.h"
#include "doc_callers.h"
#include "live.h"
#include "need.h"

#define SILENT HOSTILE_PROGRAMS "/silent"

/* At a rate and with memory that suffice for whatever else the host does. */
#define HOST "--all", "--callers", "-F", "997", "--memory", "512M"

enum { SOME_TICKS = 100, PROFILES = 4 };

TestSuite(hostile_silent, .init = need_root, .timeout = 170);

struct silence {
	struct live live;
	struct child silent, victim;
	pid_t program; /* of the silent file system */
};

/* Its program runs for as long as it is let. */
static void begin(struct silence *silence, const char *operation)
{
	struct live *live = &silence->live;
	char user[16];

	/* Of its own: a user's files are opened one after the other, and others' tests have a silent one too. */
	snprintf(user, sizeof(user), "%d", 1000000000 + getpid());
	live_begin(live);
	cr_assert_eq(chmod(live->dir, 0755), 0);
	cr_assert_eq(mknod(live_path(live, "fuse"), S_IFCHR, makedev(10, 229)), 0);
	cr_assert_eq(chmod(live_path(live, "fuse"), 0666), 0);
	live_copy(live, SILENT, "silent");
	live_copy(live, WORKLOAD("three_static"), "unheard");
	child_start(&silence->silent, NULL,
		    ARGS("setpriv", "--reuid", user, "--regid", user, "--clear-groups",
			 live_path(live, "silent"), operation, live_path(live, "fuse"),
			 live_path(live, "unheard"), "1000000000"));
	child_start(&silence->victim, NULL,
		    ARGS(live_copy(live, WORKLOAD("callers"), "victim"), "plain", "1000000"));
}

/* The child of any of a process's threads that has a name; 0: there is none. */
static pid_t only_child(pid_t pid, const char *name)
{
	char pattern[64];
	pid_t child = 0, next;
	glob_t found;
	FILE *file;
	size_t i;

	snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/children", pid);
	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (i = 0; i < found.gl_pathc; i++) {
		file = fopen(found.gl_pathv[i], "r");
		while (file && !child && fscanf(file, "%d", &next) == 1)
			child = process_is_called(next, name) ? next : 0;
		if (file)
			fclose(file);
	}
	globfree(&found);
	return child;
}

static bool has_begun(void *argument)
{
	const struct silence *silence = argument;

	return process_state(silence->silent.pid) == 'Z' ||
	       only_child(silence->silent.pid, "unheard");
}

/* False: the machine lets nobody make a user namespace. */
static bool fall_silent(struct silence *silence)
{
	siginfo_t ended = { 0 };

	cr_assert(eventually(has_begun, silence));
	silence->program = only_child(silence->silent.pid, "unheard");
	if (!silence->program) {
		waitid(P_PID, (id_t)silence->silent.pid, &ended, WEXITED | WNOWAIT);
		cr_assert_eq(ended.si_status, 77, "silent has ended with %d", ended.si_status);
		skip_say("no user namespaces");
		return false;
	}
	/* It has all its pages by then. */
	process_wait_cpu(silence->program, 0.2);
	kill(silence->silent.pid, SIGUSR1);
	return true;
}

/* Either has some 600 ticks, and alpha a half of them. On a busy machine one may run long before the other. */
static void let_both_run(const struct silence *silence)
{
	process_wait_cpu(silence->victim.pid, 0.6);
	process_wait_cpu(silence->program, 0.6);
}

static void end(struct silence *silence)
{
	struct child_end ignored;

	kill(silence->victim.pid, SIGKILL);
	child_finish(&silence->victim, &ignored);
	child_end_free(&ignored);
	kill(silence->silent.pid, SIGKILL);
	child_finish(&silence->silent, &ignored);
	child_end_free(&ignored);
	live_end(&silence->live);
}

/* By value: each test is a process of its own, in which a pointer of this one is valid no more. */
struct operation {
	char name[8];
};

ParameterizedTestParameters(hostile_silent, attach)
{
	static struct operation operations[] = {
		{ "open" },    { "getattr" }, { "read" }, { "flush" },
		{ "release" }, { "lookup" },  { "all" },
	};

	return cr_make_param_array(struct operation, operations,
				   sizeof(operations) / sizeof(*operations));
}

/* It ends at a signal while nothing is answered. Nothing is lost, and others have their names and callers. */
ParameterizedTest(struct operation *operation, hostile_silent, attach)
{
	struct silence silence = { 0 };
	struct live *live = &silence.live;
	struct child attach;
	struct child_end ended;

	begin(&silence, operation->name);
	if (fall_silent(&silence)) {
		attach_start(live, &attach, ARGS(HOST));
		let_both_run(&silence);
		attach_end(live, &attach, SIGTERM);
		cr_expect_eq(doc_lost(live->doc, "no_memory"), 0, "%s",
			     json_object_to_json_string(doc_get(live->doc, "ticks")));
		cr_expect_gt(doc_function(live->doc, "leaf", "/victim"), SOME_TICKS);
		cr_expect_gt(doc_object(live->doc, "file", "/unheard"), SOME_TICKS);
		cr_expect_gt(doc_called(live->doc, "leaf", "first"), SOME_TICKS);
		cr_expect_eq(doc_ended(live->doc, "full"), 0,
			     "the file is not read, and memory is free");
		/* It looks for the file below the roots of processes. */
		child_run(&ended, NULL,
			  ARGS(BPFPROFIL_BIN, "report", "--by", "lines", "--object", "victim",
			       live->profile));
		cr_expect_eq(ended.status, 0, "%s", ended.err);
		cr_expect(strstr(ended.out, "callers.c:"), "%s", ended.out);
		child_end_free(&ended);
	}
	end(&silence);
}

/* CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE and CAP_CHECKPOINT_RESTORE. */
#define RIGHTS 0x10000080004ULL

static bool has_opener(void *argument)
{
	const struct child *attach = argument;

	return only_child(attach->pid, "bpfprofil-open");
}

static bool has_ended(void *argument)
{
	const pid_t *pid = argument;
	char state = process_state(*pid);

	return !state || state == 'Z';
}

/* The process that opens for us has few rights, and ends with us. */
Test(hostile_silent, rights)
{
	struct silence silence = { 0 };
	struct live *live = &silence.live;
	char path[64], line[256];
	struct child attach;
	pid_t opener = 0;
	FILE *status;

	begin(&silence, "release");
	if (fall_silent(&silence)) {
		attach_start(live, &attach, ARGS(HOST));
		cr_assert(eventually(has_opener, &attach));
		opener = only_child(attach.pid, "bpfprofil-open");
		snprintf(path, sizeof(path), "/proc/%d/status", opener);
		status = fopen(path, "r");
		cr_assert(status);
		while (fgets(line, sizeof(line), status))
			if (!strncmp(line, "CapPrm:", 7) || !strncmp(line, "CapEff:", 7))
				cr_expect_eq(strtoull(line + 7, NULL, 16), RIGHTS, "%s", line);
			else if (!strncmp(line, "NoNewPrivs:", 11))
				cr_expect_eq(atoi(line + 11), 1);
		fclose(status);
		let_both_run(&silence);
		attach_end(live, &attach, SIGTERM);
		cr_expect_gt(doc_function(live->doc, "alpha", "/unheard"), SOME_TICKS, "%lu of %lu",
			     doc_function(live->doc, "alpha", "/unheard"),
			     doc_object(live->doc, "file", "/unheard"));
		cr_expect(eventually(has_ended, &opener));
	}
	end(&silence);
}

/* Its profiles go on, with others' names, and it ends by a signal. */
Test(hostile_silent, agent)
{
	struct silence silence = { 0 };
	struct live *live = &silence.live;
	struct child agent;
	struct child_end ended;

	begin(&silence, "all");
	if (fall_silent(&silence)) {
		mkdir(live_path(live, "files"), 0755);
		child_start(&agent, NULL,
			    ARGS(BPFPROFIL_BIN, "agent", "-q", "--interval", "1", "--duty", "100",
				 "--dir", live_path(live, "files")));
		live_await_profiles(live, PROFILES);
		/* On a busy machine the victim may not have run yet. */
		process_wait_cpu(silence.victim.pid, 0.3);
		live_await_profiles(live, 2);
		kill(agent.pid, SIGTERM);
		child_finish(&agent, &ended);
		cr_assert_eq(ended.status, 0, "%d: %s", ended.status, ended.err);
		child_end_free(&ended);
		child_run(&ended, NULL,
			  ARGS(BPFPROFIL_BIN, "report", "--object", "victim",
			       live_path(live, "files")));
		cr_expect(strstr(ended.out, "leaf"), "%s%s", ended.out, ended.err);
		child_end_free(&ended);
	}
	end(&silence);
}
