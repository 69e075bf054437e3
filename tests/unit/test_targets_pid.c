// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "child.h"
#include "need.h"
#include "host/targets/targets_impl.h"

struct case_ {
	struct targets targets;
	struct error err;
};

static int add(struct case_ *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int add(struct case_ *c, const char *format, ...)
{
	char list[64];
	va_list args;

	va_start(args, format);
	vsnprintf(list, sizeof(list), format, args);
	va_end(args);
	return targets_add_pids(&c->targets, list, false, &c->err);
}

/* A name for this test's processes only, because other tests run at the same time. */
static char own_name[16];

static pid_t start(void)
{
	pid_t pid;

	snprintf(own_name, sizeof(own_name), "odd) (%d", getpid());
	pid = fork();

	cr_assert(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, own_name);
		for (;;)
			pause();
	}
	return pid;
}

static bool is_named(void *argument)
{
	char path[64], name[32] = "";
	const pid_t *pid = argument;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", *pid);
	file = fopen(path, "re");
	cr_assert_not_null(file);
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	name[strcspn(name, "\n")] = '\0';
	return !strcmp(name, own_name);
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(targets_pid, list)
{
	struct case_ c = { 0 };
	pid_t child = start();

	cr_assert_eq(add(&c, "%d,%d,%d", getpid(), child, getpid()), 0, "%s", c.err.text);
	cr_assert_eq(targets_finish(&c.targets, &c.err), 0, "%s", c.err.text);
	cr_assert_eq(c.targets.nr, 2);
	cr_expect_eq(c.targets.list[0].kind, TARGET_PID);
	cr_expect_eq(c.targets.list[0].pid, getpid());
	cr_expect_eq(c.targets.list[1].pid, child);
	cr_expect_not(c.targets.list[1].no_children);
	cr_expect_null(c.targets.controller);
	stop(child);
	targets_free(&c.targets);
}

static void check_text(const char *list)
{
	struct case_ c = { 0 };
	char text[128];

	snprintf(text, sizeof(text),
		 "--pid '%s': must be a process's number, or several like 12,345", list);
	cr_expect_eq(add(&c, "%s", list), -EINVAL, "%s", list);
	cr_expect_str_eq(c.err.text, text);
	targets_free(&c.targets);
}

Test(targets_pid, text)
{
	check_text("");
	check_text("x");
	check_text("0");
	check_text("-1");
	check_text("1,");
	check_text(",1");
	check_text("1 2");
	check_text("2147483648");
	check_text("99999999999999999999");
}

Test(targets_pid, named)
{
	struct case_ c = { 0 };
	pid_t child, other;
	const char *text;
	char pattern[32], wanted[64];

	child = start();
	other = start();
	snprintf(pattern, sizeof(pattern), "o?d) (%d", getpid());
	cr_assert(eventually(is_named, &child));
	cr_assert(eventually(is_named, &other));
	cr_assert_eq(targets_add_named(&c.targets, own_name, true, &c.err), 0, "%s", c.err.text);
	cr_assert_eq(targets_add_named(&c.targets, pattern, true, &c.err), 0, "%s", c.err.text);
	cr_assert_eq(targets_finish(&c.targets, &c.err), 0, "%s", c.err.text);
	cr_assert_eq(c.targets.nr, 1, "the same processes are two targets");
	cr_expect_eq(c.targets.list[0].kind, TARGET_PID);
	cr_expect_eq(c.targets.list[0].nr_others, 1);
	cr_expect_eq(c.targets.list[0].pid + c.targets.list[0].others[0], child + other);
	cr_expect(c.targets.list[0].no_children);
	text = targets_chosen(&c.targets, 0);
	snprintf(wanted, sizeof(wanted), "%s (%d)", own_name, child);
	cr_expect(strstr(text, wanted), "%s", text);
	stop(child);
	stop(other);
	targets_free(&c.targets);
}

Test(targets_pid, named_like_nobody)
{
	struct case_ c = { 0 };
	pid_t child = start();
	char typed[16], wanted[64];

	cr_assert(eventually(is_named, &child));
	snprintf(typed, sizeof(typed), "add) (%d", getpid());
	cr_expect_eq(targets_add_named(&c.targets, typed, false, &c.err), -ESRCH);
	snprintf(wanted, sizeof(wanted), "--name '%s': no process has this name", typed);
	cr_expect_str_eq(c.err.text, wanted);
	snprintf(wanted, sizeof(wanted), "--name %s", own_name);
	cr_expect_str_eq(c.err.hint, wanted);
	cr_expect_eq(targets_add_named(&c.targets, "", false, &c.err), -EINVAL);
	cr_expect_eq(c.targets.nr, 0);
	stop(child);
	targets_free(&c.targets);
}

/* A target of several processes ends with the last of them. */
Test(targets_pid, named_end)
{
	struct case_ c = { 0 };
	pid_t child = start(), other = start();
	int fd;

	cr_assert(eventually(is_named, &child));
	cr_assert(eventually(is_named, &other));
	cr_assert_eq(targets_add_named(&c.targets, own_name, false, &c.err), 0, "%s", c.err.text);
	cr_assert_eq(targets_watch(&c.targets, &fd, &c.err), 0, "%s", c.err.text);
	cr_expect_eq(targets_left(&c.targets), 1);
	stop(child);
	cr_expect_eq(targets_left(&c.targets), 1);
	stop(other);
	cr_expect_eq(targets_left(&c.targets), 0);
	targets_free(&c.targets);
}

/* It has ended but was not reaped; its number is nobody's. */
Test(targets_pid, ended)
{
	struct case_ c = { 0 };
	pid_t child = start();
	siginfo_t info;
	char text[128];

	kill(child, SIGKILL);
	cr_assert_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	cr_expect_eq(add(&c, "%d", child), -ESRCH);
	snprintf(text, sizeof(text), "--pid %d (", child);
	cr_expect_eq(strncmp(c.err.text, text, strlen(text)), 0, "%s", c.err.text);
	snprintf(text, sizeof(text), "has ended; its parent %d (", getpid());
	cr_expect(strstr(c.err.text, text), "%s", c.err.text);
	stop(child);
	cr_expect_eq(add(&c, "%d", child), -ESRCH);
	snprintf(text, sizeof(text), "--pid %d: no such process", child);
	cr_expect_str_eq(c.err.text, text);
	cr_expect_eq(c.targets.nr, 0);
	targets_free(&c.targets);
}

static void *wait_for_main(void *argument)
{
	pid_t *thread = argument;

	__atomic_store_n(thread, (pid_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	while (pause())
		;
	return NULL;
}

Test(targets_pid, thread)
{
	struct case_ c = { 0 };
	char text[128], hint[32];
	pthread_t handle;
	pid_t thread = 0;

	cr_assert_eq(pthread_create(&handle, NULL, wait_for_main, &thread), 0);
	while (!__atomic_load_n(&thread, __ATOMIC_SEQ_CST))
		usleep(1000);
	cr_expect_eq(add(&c, "%d", thread), -ESRCH);
	snprintf(text, sizeof(text), "--pid %d: a thread of process %d (", thread, getpid());
	cr_expect_eq(strncmp(c.err.text, text, strlen(text)), 0, "%s", c.err.text);
	snprintf(hint, sizeof(hint), "--pid %d", getpid());
	cr_expect_str_eq(c.err.hint, hint);
	targets_free(&c.targets);
}

static bool looks_dead(void *argument)
{
	return process_state(*(pid_t *)argument) == 'Z';
}

/* The first thread has ended but others have not: it is still a process. */
Test(targets_pid, first_thread_ended)
{
	struct case_ c = { 0 };
	pid_t child = fork();
	int fd;

	cr_assert(child >= 0);
	if (!child) {
		static pid_t thread;
		pthread_t handle;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&handle, NULL, wait_for_main, &thread);
		syscall(SYS_exit, 0);
	}
	cr_assert(eventually(looks_dead, &child));
	cr_assert_eq(add(&c, "%d", child), 0, "%s", c.err.text);
	cr_assert_eq(targets_watch(&c.targets, &fd, &c.err), 0, "%s", c.err.text);
	cr_expect_eq(targets_left(&c.targets), 1);
	stop(child);
	cr_expect_eq(targets_left(&c.targets), 0);
	targets_free(&c.targets);
}

Test(targets_pid, kernel_thread)
{
	struct case_ c = { 0 };
	char name[32] = "";
	FILE *file = fopen("/proc/2/comm", "re");

	NEED(file && fgets(name, sizeof(name), file) && !strcmp(name, "kthreadd\n"),
	     "no kernel threads here: a pid namespace");
	fclose(file);
	cr_expect_eq(add(&c, "2"), -EOPNOTSUPP);
	cr_expect_str_eq(c.err.text,
			 "--pid 2 (kthreadd): a kernel thread, which has no text of its own");
	targets_free(&c.targets);
}

static bool readable(int fd, int timeout)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

	return poll(&one, 1, timeout) > 0;
}

Test(targets_pid, watch)
{
	struct case_ c = { 0 };
	pid_t first = start(), second = start(), third = start();
	int fd;

	cr_assert_eq(add(&c, "%d,%d,%d", first, second, third), 0, "%s", c.err.text);
	cr_assert_eq(targets_finish(&c.targets, &c.err), 0);
	/* Ended before the watch: its pid may be reused by now, but is not mistaken for it. */
	stop(first);
	cr_assert_eq(targets_watch(&c.targets, &fd, &c.err), 0, "%s", c.err.text);
	cr_expect(readable(fd, 0));
	cr_expect_eq(targets_left(&c.targets), 2);
	cr_expect(c.targets.origins[0].ended);
	cr_expect_not(c.targets.origins[1].ended);
	cr_expect_not(readable(fd, 0));
	kill(third, SIGKILL);
	cr_expect(readable(fd, -1));
	cr_expect_eq(targets_left(&c.targets), 1);
	/* A process that has ended does not keep the descriptor readable. */
	cr_expect_not(readable(fd, 0));
	stop(second);
	cr_expect(readable(fd, 0));
	cr_expect_eq(targets_left(&c.targets), 0);
	waitpid(third, NULL, 0);
	targets_free(&c.targets);
}

Test(targets_pid, all_never_ends)
{
	struct case_ c = { 0 };
	int fd = 7;

	cr_assert_eq(targets_add_all(&c.targets, &c.err), 0);
	cr_assert_eq(targets_add_all(&c.targets, &c.err), 0);
	cr_assert_eq(targets_finish(&c.targets, &c.err), 0);
	cr_assert_eq(c.targets.nr, 1);
	cr_expect_eq(c.targets.list[0].kind, TARGET_SYSTEM);
	cr_assert_eq(targets_watch(&c.targets, &fd, &c.err), 0);
	cr_expect_eq(fd, -1);
	cr_expect_eq(targets_left(&c.targets), 1);
	targets_free(&c.targets);
}
