// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>

#include <criterion/criterion.h>

#include "test_targets_fixture.h"

#define ADD(host, name) targets_add_unit(&(host)->targets, name, &(host)->err)

#define USER "cg/user.slice/user-1000.slice/user@1000.service/app.slice/"
#define OTHER "cg/user.slice/user-1001.slice/user@1001.service/app.slice/"

static void v2(struct host *host)
{
	host_begin(host);
	host_mount(host, "cg", NULL, "/");
	host_cgroup(host, "cg/system.slice/nginx.service", "7\n");
	host_cgroup(host, "cg/system.slice/system-getty.slice/getty@tty1.service", "8\n");
	host_cgroup(host, "cg/system.slice/_cpu.service", "9\n");
	host_cgroup(host, "cg/system.slice/empty.service", "");
	host_cgroup(host, "cg/user.slice/user-1000.slice/session-2.scope", "10\n");
	host_cgroup(host, USER "nginx.service", "11\n");
	host_cgroup(host, USER "code.service", "12\n");
	host_cgroup(host, USER "twice.service", "13\n");
	host_cgroup(host, OTHER "twice.service", "14\n");
	host_ready(host);
}

static void check_found(const char *name, const char *directory)
{
	struct host host;

	v2(&host);
	host_expect(&host, ADD(&host, name), directory, "");
	host_end(&host);
}

Test(targets_unit, found)
{
	check_found("nginx.service", "cg/system.slice/nginx.service");
	check_found("getty@tty1", "cg/system.slice/system-getty.slice/getty@tty1.service");
	check_found("session-2.scope", "cg/user.slice/user-1000.slice/session-2.scope");
	check_found("user-1000.slice", "cg/user.slice/user-1000.slice");
	check_found("code", USER "code.service");
}

/* The system's unit comes before a user's. */
Test(targets_unit, service_by_default)
{
	check_found("nginx", "cg/system.slice/nginx.service");
}

/* A name that begins like a controller's file. */
Test(targets_unit, escaped_by_systemd)
{
	check_found("cpu", "cg/system.slice/_cpu.service");
}

FIXTURE_TEST(host, v2, targets_unit, not_found)
{
	host_expect_error(host, ADD(host, "ngnix"), -ENOENT,
			  "--unit 'ngnix.service': no running unit has this name",
			  "--unit nginx.service");
	host_expect_error(host, ADD(host, "backup.timer"), -ENOENT,
			  "--unit 'backup.timer.service': no running unit has this name", "");
	host_expect_error(host, ADD(host, "empty"), -ESRCH,
			  "--unit 'empty.service': nobody is in its cgroup", "");
	host_expect_error(host, ADD(host, "twice"), -ENOTUNIQ,
			  "--unit 'twice.service': several of that name, as "
			  "/user.slice/user-1000.slice/user@1000.service/app.slice/twice.service "
			  "and /user.slice/user-1001.slice/user@1001.service/app.slice/"
			  "twice.service",
			  "--cgroup /user.slice/user-1000.slice/user@1000.service/app.slice/"
			  "twice.service");
	host_expect_error(host, ADD(host, "a/b"), -EINVAL,
			  "--unit 'a/b': must be a unit's name, like nginx", "");
	host_expect_error(host, ADD(host, ""), -EINVAL,
			  "--unit '': must be a unit's name, like nginx", "");
}

static void legacy(struct host *host)
{
	host_begin(host);
	host_mount(host, "cg/systemd", "rw,xattr,name=systemd", "/");
	host_mount(host, "cg/pids", "rw,pids", "/");
	host_cgroup(host, "cg/systemd/system.slice/nginx.service", "7\n");
}

/* If systemd uses version 1, a unit is in the hierarchy of each controller that it needs. */
FIXTURE_TEST(host, legacy, targets_unit, version_1)
{
	host_cgroup(host, "cg/pids/system.slice/nginx.service", "7\n");
	host_ready(host);
	host_expect(host, ADD(host, "nginx"), "cg/pids/system.slice/nginx.service", "pids");
}

FIXTURE_TEST(host, legacy, targets_unit, version_1_without_a_controller)
{
	host_ready(host);
	cr_assert_eq(ADD(host, "nginx"), 0);
	host_expect_error(host, targets_finish(&host->targets, &host->err), -EOPNOTSUPP,
			  "--unit 'nginx.service': only in the cgroup hierarchy name=systemd, "
			  "which has no controller, and the kernel tells BPF programs a process's "
			  "cgroup of version 1 by a controller",
			  "systemctl set-property --runtime nginx.service MemoryAccounting=yes");
}
