// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Root profiles the waits of processes whose stacks cannot be read, or not in time. Nobody waits for them, and others
 * have their callers.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "attach.h"
#include "live.h"
#include "need.h"

#define STACKS HOSTILE_PROGRAMS "/stacks"

TestSuite(hostile_stacks, .init = need_root, .timeout = 170);

static bool sleeps(void *argument)
{
	const struct child *child = argument;
	char path[64], call[16] = "";
	FILE *file;

	if (process_state(child->pid) == 'Z')
		return true;
	snprintf(path, sizeof(path), "/proc/%d/syscall", child->pid);
	file = fopen(path, "r");
	if (file && fscanf(file, "%15s", call) != 1)
		call[0] = '\0';
	if (file)
		fclose(file);
	return process_state(child->pid) == 'S' && call[0] >= '0' && call[0] <= '9';
}

static void kill_child(struct child *child)
{
	struct child_end ended;

	kill(child->pid, SIGKILL);
	child_finish(child, &ended);
	child_end_free(&ended);
}

static void remove_all(char *text, const char *part)
{
	size_t length = strlen(part);

	while ((text = strstr(text, part)))
		memmove(text, text + length, strlen(text + length) + 1);
}

/* The lines of a profile's waits with a text. glibc 2.41 has frames between a function and its system call. */
static bool has_wait(const char *profile, const char *text)
{
	static const char *const frames[] = { "__syscall_cancel;", "__internal_syscall_cancel;",
					      "__syscall_cancel_arch;" };
	struct child_end folded;
	bool found;
	size_t i;

	child_run(&folded, NULL,
		  ARGS(BPFPROFIL_BIN, "export", "--format", "folded", "--waits", profile));
	for (i = 0; i < sizeof(frames) / sizeof(*frames); i++)
		remove_all(folded.out, frames[i]);
	found = strstr(folded.out, text);
	if (!found)
		cr_log_error("%s", folded.out);
	child_end_free(&folded);
	return found;
}

/* By value: each test is a process of its own. */
struct kind {
	char name[16];
};

ParameterizedTestParameters(hostile_stacks, are_left_alone)
{
	static struct kind kinds[] = { { "userfaultfd" }, { "file" } };

	return cr_make_param_array(struct kind, kinds, sizeof(kinds) / sizeof(*kinds));
}

/* Nobody has read a byte of the file that is the stack. */
static bool is_empty(pid_t pid)
{
	char path[64];
	struct stat stat_of;

	snprintf(path, sizeof(path), "/proc/%d/fd/3", pid);
	return !stat(path, &stat_of) && !stat_of.st_blocks;
}

/* Nobody reads its stack. Its wait has a place alone, for all of its time. */
ParameterizedTest(struct kind *kind, hostile_stacks, are_left_alone)
{
	struct child hostile, victim;
	char pids[2][16];
	struct live live;

	live_begin(&live);
	child_start(&hostile, NULL, ARGS(STACKS, kind->name));
	child_start(&victim, NULL, ARGS(WORKLOAD("asleep")));
	cr_assert(eventually(sleeps, &hostile));
	cr_assert(eventually(sleeps, &victim));
	if (process_state(hostile.pid) == 'Z') {
		skip_say("no userfaultfd");
	} else {
		snprintf(pids[0], sizeof(pids[0]), "%d", hostile.pid);
		snprintf(pids[1], sizeof(pids[1]), "%d", victim.pid);
		child_do(ARGS(BPFPROFIL_BIN, "attach", "-q", "--waits", "--callers", "--duration",
			      "1", "-o", live.profile, "--pid", pids[0], "--pid", pids[1]));
		cr_expect_eq(process_state(hostile.pid), 'S', "somebody has read the stack");
		if (!strcmp(kind->name, "file"))
			cr_expect(is_empty(hostile.pid));
		cr_expect(has_wait(live.profile, "[cut: late];sleep_at;[ppoll] 1"));
		cr_expect(has_wait(live.profile, "begin;wait_for_byte;read;[read] 1"));
	}
	kill_child(&hostile);
	kill_child(&victim);
	live_end(&live);
}

/* Attach, and the process that reads stacks for it. */
struct reading {
	struct child attach;
	pid_t helper;
};

/* One that it has killed may still be there. */
static pid_t find_helper(pid_t attach, pid_t other)
{
	pid_t pid, found = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", attach, attach);
	file = fopen(path, "r");
	while (file && !found && fscanf(file, "%d", &pid) == 1)
		found = pid != other && process_is_called(pid, "bpfprofil-stack") ? pid : 0;
	if (file)
		fclose(file);
	return found;
}

static bool has_helper(void *argument)
{
	struct reading *reading = argument;

	reading->helper = find_helper(reading->attach.pid, 0);
	return reading->helper;
}

static bool has_other_helper(void *argument)
{
	const struct reading *reading = argument;

	return find_helper(reading->attach.pid, reading->helper);
}

/* Whoever reads a stack may have to wait for ever. It is replaced, and then others have their callers. */
Test(hostile_stacks, helper_is_replaced)
{
	struct reading reading = { 0 };
	struct child first, second;
	struct live live;

	live_begin(&live);
	child_start(&first, NULL, ARGS(WORKLOAD("asleep")));
	cr_assert(eventually(sleeps, &first));
	attach_start(&live, &reading.attach, ARGS("--all", "--waits", "--callers"));
	cr_assert(eventually(has_helper, &reading));
	kill(reading.helper, SIGSTOP);
	/* Again and again it waits in text that is new, so that there is a stack to read. */
	child_start(
		&second, NULL,
		ARGS("sh", "-c",
		     "while cp \"$1\" \"$2/new.so\"; do \"$0\" \"$2/new.so\"; rm \"$2/new.so\"; done",
		     WORKLOAD("asleep"), WORKLOAD("asleep.so"), live.dir));
	cr_expect(eventually(has_other_helper, &reading));
	/* Time to read the stack of the first process, if the stopped helper did not come to it. */
	usleep(500000);
	kill_child(&second);
	attach_end(&live, &reading.attach, SIGTERM);
	cr_expect(has_wait(live.profile, "begin;wait_for_byte;read;[read]"));
	kill_child(&first);
	live_end(&live);
}
