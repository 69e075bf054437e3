// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "host/targets/targets_impl.h"
#include "test_targets_fixture.h"

/* As systemd sets up a host with its hybrid layout, and a service in it. */
static void hybrid(struct host *host)
{
	host_begin(host);
	host_mount(host, "cg/systemd", "rw,xattr,name=systemd", "/");
	host_mount(host, "cg/cpu,cpuacct", "rw,cpu,cpuacct", "/");
	host_mount(host, "cg/memory", "rw,memory", "/");
	host_mount(host, "cg/unified", NULL, "/");
	cr_assert(!symlink("cpu,cpuacct", host_path("cg/cpu", host)));
}

#define ADD(host, path) targets_add_cgroup(&(host)->targets, path, &(host)->err)

FIXTURE_TEST(host, hybrid, targets_cgroup, relative_is_looked_for_in_version_2_first)
{
	host_cgroup(host, "cg/unified/a/b", "7\n");
	host_cgroup(host, "cg/memory/a/b", "7\n");
	host_ready(host);
	host_expect(host, ADD(host, "a/b"), "cg/unified/a/b", "");
	cr_expect_str_eq(host->targets.list[0].path, "/a/b");
	cr_expect_str_eq(host->targets.list[0].name, "a/b");
}

FIXTURE_TEST(host, hybrid, targets_cgroup, version_2_without_anybody_is_not_used)
{
	host_cgroup(host, "cg/unified/a", "");
	host_cgroup(host, "cg/memory/a", "");
	host_cgroup(host, "cg/memory/a/deep", "7\n");
	host_ready(host);
	host_expect(host, ADD(host, "/a"), "cg/memory/a", "memory");
}

FIXTURE_TEST(host, hybrid, targets_cgroup, may_be_empty)
{
	host_cgroup(host, "cg/unified/a", "");
	host_ready(host);
	host_expect(host, ADD(host, "/a/"), "cg/unified/a", "");
	cr_expect_str_eq(host->targets.list[0].path, "/a");
}

FIXTURE_TEST(host, hybrid, targets_cgroup, absolute_says_which_hierarchy)
{
	host_cgroup(host, "cg/unified/a", "7\n");
	host_cgroup(host, "cg/cpu,cpuacct/a", "7\n");
	host_ready(host);
	/* By the symbolic link that distributions make. */
	host_expect(host, ADD(host, host_path("cg/cpu/a", host)), "cg/cpu,cpuacct/a", "cpu");
	cr_expect_str_eq(host->targets.list[0].path, "/a");
}

FIXTURE_TEST(host, hybrid, targets_cgroup, beside_the_mounts)
{
	host_cgroup(host, "cg/memory/a", "7\n");
	host_ready(host);
	host_expect(host, ADD(host, "memory/a"), "cg/memory/a", "memory");
}

FIXTURE_TEST(host, hybrid, targets_cgroup, root)
{
	host_cgroup(host, "cg/unified", "1\n");
	host_ready(host);
	host_expect(host, ADD(host, "/"), "cg/unified", "");
	cr_expect_str_eq(host->targets.list[0].path, "/");
}

/*
 * As in a container without a cgroup namespace: the mount shows only its own part, under its path.
 */
FIXTURE_TEST(host, host_begin, targets_cgroup, part_of_a_hierarchy)
{
	host_mount(host, "cg/memory", "rw,memory", "/docker/abc");
	host_cgroup(host, "cg/memory/worker", "7\n");
	host_ready(host);
	host_expect(host, ADD(host, "worker"), "cg/memory/worker", "memory");
	cr_expect_str_eq(host->targets.list[0].path, "/docker/abc/worker");
}

FIXTURE_TEST(host, host_begin, targets_cgroup, widest_view_of_a_hierarchy)
{
	host_mount(host, "part", "rw,memory", "/docker");
	host_mount(host, "whole", "rw,memory", "/");
	host_cgroup(host, "whole/x", "7\n");
	host_cgroup(host, "part/y", "7\n");
	host_ready(host);
	cr_assert_eq(host->targets.cgroups->nr, 2);
	cr_expect_str_eq(host->targets.cgroups->list[0].root, "/");
	cr_expect_eq(host->targets.cgroups->list[1].hierarchy, 0);
	/* By its directory even the mount with the narrow view is used. */
	host_expect(host, ADD(host, host_path("part/y", host)), "part/y", "memory");
	cr_expect_str_eq(host->targets.list[0].path, "/docker/y");
}

FIXTURE_TEST(host, host_begin, targets_cgroup, mounts_that_are_none)
{
	const struct cgroups *cgroups;

	/*
	 * Another mount lies over it; another kind of mount; no known controller; a truncated line.
	 */
	host_mount_line(host, "31 1 0:4095 / /tmp rw - cgroup2 none rw\n");
	host_mount_line(host, "32 1 8:1 / /data rw - ext4 /dev/sda1 rw,errors=remount-ro\n");
	host_mount_line(host, "33 1 0:33 / / rw - cgroup none rw,mystery\n");
	host_mount_line(host, "34 1 0:34 / - cgroup2\n");
	host_mount_line(host, "garbage - cgroup2 none rw\n");
	host_mount_line(host, " - cgroup\n");
	host_ready(host);
	cr_assert_eq(targets_cgroups(&host->targets, &cgroups, &host->err), -EOPNOTSUPP);
	host_expect_error(host, ADD(host, "/"), -EOPNOTSUPP,
			  "cgroups: no hierarchy of them is mounted here",
			  "mount -t cgroup2 none /sys/fs/cgroup");
}

/* As mountinfo writes them. */
FIXTURE_TEST(host, host_begin, targets_cgroup, mount_point_with_a_blank_and_a_backslash)
{
	host_mount(host, "a b\\c", "rw,memory", "/");
	host_cgroup(host, "a b\\c/x", "7\n");
	host_ready(host);
	host_expect(host, ADD(host, "x"), "a b\\c/x", "memory");
}

FIXTURE_TEST(host, hybrid, targets_cgroup, no_way_out_of_the_mount)
{
	host_cgroup(host, "cg/memory/a", "7\n");
	host_cgroup(host, "outside", "7\n");
	host_ready(host);
	host_expect_error(host, ADD(host, "../../outside"), -ENOENT,
			  "--cgroup '../../outside': no such cgroup", "");
	host_expect_error(host, ADD(host, "a/cgroup.procs"), -ENOENT,
			  "--cgroup 'a/cgroup.procs': no such cgroup", "");
}

FIXTURE_TEST(host, hybrid, targets_cgroup, what_is_none)
{
	host_cgroup(host, "cg/unified/system.slice/cron.service", "7\n");
	host_cgroup(host, "cg/unified/system.slice/ssh.service", "8\n");
	host_ready(host);
	host_expect_error(host, ADD(host, ""), -EINVAL,
			  "--cgroup '': must be a path; / is the root", "");
	host_expect_error(host, ADD(host, "/proc"), -ENOTDIR,
			  "--cgroup '/proc': not in a cgroup file system", "");
	host_expect_error(host, ADD(host, "/system.slice/corn.service"), -ENOENT,
			  "--cgroup '/system.slice/corn.service': no such cgroup",
			  "--cgroup /system.slice/cron.service");
	host_expect_error(host, ADD(host, "system.slyce/cron.service/x"), -ENOENT,
			  "--cgroup 'system.slyce/cron.service/x': no such cgroup",
			  "--cgroup /system.slice/cron.service/x");
	host_expect_error(host, ADD(host, "ssh.service"), -ENOENT,
			  "--cgroup 'ssh.service': no such cgroup",
			  "--cgroup /system.slice/ssh.service");
	cr_expect_eq(host->targets.nr, 0);
}

Test(targets_cgroup, one_hierarchy_for_all)
{
	struct host host;
	struct targets *targets = &host.targets;

	hybrid(&host);
	host_cgroup(&host, "cg/unified/a", "7\n");
	host_cgroup(&host, "cg/memory/a", "7\n");
	host_cgroup(&host, "cg/memory/b", "8\n");
	host_ready(&host);
	cr_assert_eq(ADD(&host, "a"), 0);
	cr_assert_eq(ADD(&host, "b"), 0);
	/* The same one again, by another name. */
	cr_assert_eq(ADD(&host, host_path("cg/memory/a", &host)), 0);
	cr_assert_eq(targets_finish(targets, &host.err), 0, "%s", host.err.text);
	cr_assert_eq(targets->nr, 2);
	cr_expect_eq(targets->list[0].cgroup, host_cgroup_id(&host, "cg/memory/a"));
	cr_expect_str_eq(targets->list[0].name, "a");
	cr_expect_eq(targets->list[1].cgroup, host_cgroup_id(&host, "cg/memory/b"));
	cr_expect_str_eq(targets->controller, "memory");
	host_end(&host);
}

FIXTURE_TEST(host, hybrid, targets_cgroup, no_one_hierarchy)
{
	host_cgroup(host, "cg/unified/a", "7\n");
	host_cgroup(host, "cg/cpu,cpuacct/b", "8\n");
	host_cgroup(host, "cg/memory/b", "8\n");
	host_ready(host);
	cr_assert_eq(ADD(host, "a"), 0);
	cr_assert_eq(ADD(host, "b"), 0);
	host_expect_error(host, targets_finish(&host->targets, &host->err), -EOPNOTSUPP,
			  "no one cgroup hierarchy has them all: --cgroup 'a' is in version 2; "
			  "--cgroup 'b' is in cpu,cpuacct, memory",
			  "a bpfprofil for each");
}

#define NAMED(typed)                                                                               \
	typed ": only in the cgroup hierarchy name=systemd, which has no controller, and the "     \
	      "kernel tells BPF programs a process's cgroup of version 1 by a controller"

FIXTURE_TEST(host, hybrid, targets_cgroup, hierarchy_without_a_controller)
{
	char text[512], hint[256];

	host_cgroup(host, "cg/systemd/x", "7\n");
	host_cgroup(host, "cg/systemd/y", "7\n");
	host_cgroup(host, "cg/memory/y", "7\n");
	host_ready(host);
	cr_assert_eq(ADD(host, "x"), 0);
	host_expect_error(host, targets_finish(&host->targets, &host->err), -EOPNOTSUPP,
			  NAMED("--cgroup 'x'"), "--pid, for each process in it");
	targets_free(&host->targets);
	host_ready(host);
	cr_assert_eq(ADD(host, host_path("cg/systemd/y", host)), 0);
	snprintf(text, sizeof(text), NAMED("--cgroup '%s/cg/systemd/y'"), host->dir);
	snprintf(hint, sizeof(hint), "--cgroup %s/cg/memory/y", host->dir);
	host_expect_error(host, targets_finish(&host->targets, &host->err), -EOPNOTSUPP, text,
			  hint);
}

/* A tree that is deeper than any runtime's ends the walk and not the process. */
FIXTURE_TEST(host, hybrid, targets_cgroup, depth)
{
	char path[512] = "cg/unified";
	int i;

	for (i = 0; i < 100; i++)
		strcat(path, "/d");
	host_cgroup(host, path, "7\n");
	host_cgroup(host, "cg/unified/z", "7\n");
	host_ready(host);
	host_expect_error(host, ADD(host, "nowhere"), -ENOENT, "--cgroup 'nowhere': no such cgroup",
			  "");
	host_expect(host, ADD(host, path + strlen("cg/unified")), path, "");
}
