// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "cgroup.h"
#include "container.h"
#include "live.h"
#include "need.h"
#include "host/targets/cgroups.h"
#include "host/targets/targets.h"

TestSuite(targets, .init = need_root);

/* One set of targets, in this host's own cgroups. */
struct live_targets {
	struct targets targets;
	struct error err;
	int fd;
};

static void finish(struct live_targets *live)
{
	cr_assert_eq(targets_finish(&live->targets, &live->err), 0, "%s", live->err.text);
}

static void watch(struct live_targets *live)
{
	cr_assert_eq(targets_watch(&live->targets, &live->fd, &live->err), 0, "%s", live->err.text);
	cr_assert_geq(live->fd, 0);
}

static bool readable(const struct live_targets *live, int timeout)
{
	struct pollfd fd = { .fd = live->fd, .events = POLLIN };

	return poll(&fd, 1, timeout) > 0;
}

/* Waits as a command does for its targets' end. */
static void wait_until_left(struct live_targets *live, size_t left)
{
	while (targets_left(&live->targets) > left)
		cr_assert(readable(live, 30000), "nothing tells of the end");
	cr_expect_eq(targets_left(&live->targets), left);
}

static pid_t start_in(const char *cgroup)
{
	pid_t pid = fork();

	cr_assert(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	cgroup_enter(cgroup, pid);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

static void remove_cgroups(void *path)
{
	container_remove_cgroups(path);
}

/*
 * Calls test() for each hierarchy of this host in which ticks can be compared, with the directory
 * of a new cgroup in it.
 */
static void in_each_hierarchy(void (*test)(const char *directory, const char *controller))
{
	char path[64], directory[PATH_MAX];
	struct cgroups cgroups;
	struct guard guard;
	size_t i, tested = 0;

	snprintf(path, sizeof(path), "/bpfprofil-%d", getpid());
	cr_assert(!cgroups_read(&cgroups, "/proc", NULL));
	guard_begin(&guard, remove_cgroups, path);
	for (i = 0; i < cgroups.nr; i++) {
		const struct cgroup_mount *mount = &cgroups.list[i];

		/* cpuset accepts no process before it was given CPUs. */
		if (mount->hierarchy != i || !strcmp(mount->key, "cpuset") ||
		    (!cgroup_mount_is_v2(mount) && !mount->controller))
			continue;
		snprintf(directory, sizeof(directory), "%s%s", mount->where, path);
		cgroup_make(directory);
		test(directory, mount->controller ?: "");
		cgroup_remove(directory);
		tested++;
	}
	cr_expect_gt(tested, 0);
	guard_end(&guard);
	cgroups_free(&cgroups);
}

struct path {
	char text[PATH_MAX];
};

static struct path below(const char *directory, const char *name)
{
	struct path path;

	cr_assert_lt(snprintf(path.text, sizeof(path.text), "%s/%s", directory, name), PATH_MAX);
	return path;
}

static void add_cgroup(struct live_targets *live, const char *directory, const char *controller)
{
	cr_assert_eq(targets_add_cgroup(&live->targets, directory, &live->err), 0, "%s",
		     live->err.text);
	finish(live);
	cr_expect_str_eq(live->targets.controller ?: "", controller);
	cr_expect_eq(live->targets.list[0].cgroup, cgroup_number(directory));
}

/* Populated or empty, it ends when it is removed. */
static void removed(const char *directory, const char *controller)
{
	struct live_targets live = { 0 };
	struct path inner = below(directory, "inner");
	pid_t pid;

	cgroup_make(inner.text);
	add_cgroup(&live, inner.text, controller);
	watch(&live);
	pid = start_in(inner.text);
	wait_until_left(&live, 1);
	stop(pid);
	cr_expect_eq(targets_left(&live.targets), 1);
	cr_expect_not(readable(&live, 0));
	cgroup_remove(inner.text);
	wait_until_left(&live, 0);
	targets_free(&live.targets);
}

Test(targets, cgroup_is_removed)
{
	in_each_hierarchy(removed);
}

/* A new one of the same name is another one. */
static void made_anew(const char *directory, const char *controller)
{
	struct live_targets live = { 0 };
	struct path inner = below(directory, "inner");

	cgroup_make(inner.text);
	add_cgroup(&live, inner.text, controller);
	cgroup_remove(inner.text);
	cgroup_make(inner.text);
	watch(&live);
	cr_expect(readable(&live, 0));
	cr_expect_eq(targets_left(&live.targets), 0);
	targets_free(&live.targets);
}

Test(targets, cgroup_is_removed_before_the_watch)
{
	in_each_hierarchy(made_anew);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* A container's directory stays while its runtime decides what to do next. */
static void emptied(const char *directory, const char *controller)
{
	struct live_targets live = { 0 };
	struct path outer = below(directory, "docker-" ID ".scope");
	struct path inner = below(outer.text, "init.scope");
	pid_t first, second, third;

	cgroup_make(outer.text);
	cgroup_make(inner.text);
	first = start_in(inner.text);
	second = start_in(inner.text);
	cr_assert_eq(targets_add_container(&live.targets, ID, &live.err), 0, "%s", live.err.text);
	finish(&live);
	cr_expect_str_eq(live.targets.controller ?: "", controller);
	cr_expect_eq(live.targets.list[0].cgroup, cgroup_number(outer.text));
	watch(&live);
	cr_expect_eq(targets_left(&live.targets), 1);
	stop(first);
	cr_expect_eq(targets_left(&live.targets), 1);
	third = start_in(inner.text);
	stop(second);
	cr_expect_eq(targets_left(&live.targets), 1);
	cr_expect_not(readable(&live, 0));
	stop(third);
	wait_until_left(&live, 0);
	cr_expect_eq(access(outer.text, F_OK), 0);
	targets_free(&live.targets);
	cgroup_remove(outer.text);
}

Test(targets, container_is_empty)
{
	in_each_hierarchy(emptied);
}

static void unit(const char *directory, const char *controller)
{
	struct live_targets live = { 0 };
	struct path slice = below(directory, "bpfprofiltest.slice");
	struct path service = below(slice.text, "bpfprofiltest.service");
	pid_t pid;

	cgroup_make(slice.text);
	cgroup_make(service.text);
	pid = start_in(service.text);
	cr_assert_eq(targets_add_unit(&live.targets, "bpfprofiltest", &live.err), 0, "%s",
		     live.err.text);
	cr_assert_eq(targets_add_unit(&live.targets, "bpfprofiltest.slice", &live.err), 0, "%s",
		     live.err.text);
	finish(&live);
	cr_expect_str_eq(live.targets.controller ?: "", controller);
	cr_expect_eq(live.targets.list[0].cgroup, cgroup_number(service.text));
	cr_expect_eq(live.targets.list[1].cgroup, cgroup_number(slice.text));
	watch(&live);
	cr_expect_eq(targets_left(&live.targets), 2);
	stop(pid);
	wait_until_left(&live, 0);
	targets_free(&live.targets);
	cgroup_remove(slice.text);
}

Test(targets, unit_is_empty)
{
	in_each_hierarchy(unit);
}

static bool in_version_2(const struct container *container, char *result, size_t size)
{
	char where[256];

	if (!cgroup_mount(NULL, where, sizeof(where)))
		return false;
	snprintf(result, size, "%s%s", where, container->cgroup);
	return true;
}

static void check_container(struct container *container, const char *typed)
{
	struct live_targets live = { 0 };
	char directory[PATH_MAX];
	int ret;

	ret = targets_add_container(&live.targets, typed, &live.err);
	cr_assert_eq(ret, 0, "%s", live.err.text);
	finish(&live);
	cr_assert_eq(live.targets.nr, 1);
	cr_expect_str_eq(live.targets.list[0].path, container->cgroup);
	if (in_version_2(container, directory, sizeof(directory))) {
		cr_expect_null(live.targets.controller);
		cr_expect_eq(live.targets.list[0].cgroup, cgroup_number(directory));
	}
	watch(&live);
	cr_expect_eq(targets_left(&live.targets), 1);
	container_kill(container);
	wait_until_left(&live, 0);
	targets_free(&live.targets);
}

/*
 * The container is where it was told to be, and is found by the runtime, which knows its process.
 */
Test(targets, container_by_name)
{
	struct container container = { 0 };

	NEED_TOOL("runc");
	container_start(&container, ARGS(NULL), ARGS("/bin/sleep", "1000"));
	check_container(&container, container.name);
	container_end(&container);
}

/* As docker has containers made, by runc. */
Test(targets, container_by_id)
{
	struct container container = { 0 };

	NEED_TOOL("runc");
	snprintf(container.name, sizeof(container.name), "%056d%08x", 7, (unsigned int)getpid());
	snprintf(container.cgroup, sizeof(container.cgroup), "/bpfprofil-%d/%s", getpid(),
		 container.name);
	container_start(&container, ARGS(NULL), ARGS("/bin/sh", "-c", "sleep 1000; true"));
	check_container(&container, container.name);
	container_end(&container);
}

Test(targets, container_that_is_none)
{
	struct container container = { 0 };
	struct live_targets live = { 0 };
	char typed[100], hint[120];

	NEED_TOOL("runc");
	container_start(&container, ARGS(NULL), ARGS("/bin/sleep", "1000"));
	snprintf(typed, sizeof(typed), "%sx", container.name);
	cr_expect_eq(targets_add_container(&live.targets, typed, &live.err), -ENOENT);
	snprintf(hint, sizeof(hint), "--container %s", container.name);
	cr_expect_str_eq(live.err.hint, hint);
	targets_free(&live.targets);
	container_end(&container);
}

/* In another mount namespace, until it ends by itself; what runs beside it is not included. */
LIVE_TEST(targets, container_is_profiled)
{
	struct container container = { 0 };
	struct json_object *target;
	struct child beside;

	NEED_TOOL("runc");
	child_start(&beside, NULL, ARGS(WORKLOAD("forever")));
	container_start(&container, ARGS(WORKLOAD("three_static")),
			ARGS("/test/three_static", "30000"));
	child_run(&live->end, NULL,
		  ARGS(BPFPROFIL_BIN, "attach", "--container", container.name, FAST, "-o",
		       live->profile));
	stop(beside.pid);
	cr_assert_eq(live->end.status, 0, "%s", live->end.err);
	live_load(live);
	doc_assert_sound(live->doc);
	target = json_object_array_get_idx(doc_get(live->doc, "targets"), 0);
	cr_expect_str_eq(json_object_get_string(doc_get(target, "name")), container.name);
	doc_assert_shares(live->doc, SHARES({ "alpha", 5 }, { "beta", 3 }, { "delta", 2 }), 0.98);
	container_end(&container);
}

/* Its row among all cgroups has its name, which only its process tells. */
LIVE_TEST(targets, container_row)
{
	struct container container = { 0 };
	struct child_end rows;
	char row[400];

	NEED_TOOL("runc");
	snprintf(container.cgroup, sizeof(container.cgroup), "/bpfprofil-%d/group", getpid());
	container_start(&container, ARGS(WORKLOAD("three_static")),
			ARGS("/test/three_static", "30000"));
	child_run(&live->end, NULL,
		  ARGS(BPFPROFIL_BIN, "attach", "--all", "--split", "cgroup", "--duration", "2",
		       "-q", "-o", live->profile));
	cr_assert_eq(live->end.status, 0, "%s", live->end.err);
	child_run(&rows, NULL,
		  ARGS(BPFPROFIL_BIN, "report", "--by", "cgroup", "--format", "csv",
		       live->profile));
	snprintf(row, sizeof(row), ",%s,%s,", container.cgroup, container.name);
	cr_expect_not_null(strstr(rows.out, row), "%s", rows.out);
	child_end_free(&rows);
	container_end(&container);
}

/* A hierarchy in which processes are in more than one cgroup must be found; here some are. */
Test(targets, split)
{
	struct container container = { 0 };
	struct error err = { 0 };
	struct cgroups cgroups;
	char *controller;

	NEED_TOOL("runc");
	container_start(&container, ARGS(NULL), ARGS("/bin/sleep", "1000"));
	cr_assert(!cgroups_read(&cgroups, "/proc", NULL));
	cr_expect_eq(targets_split_hierarchy(&controller, &err), 0, "%s", err.text);
	cr_expect(controller || cgroup_mount_is_v2(&cgroups.list[0]));
	free(controller);
	cgroups_free(&cgroups);
	container_end(&container);
}
