// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Whose perf maps are accepted. */
#include "host/engine/spaces.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "test_symbol_fixture.h"

#define PROCESS_USER 23456

/* The folder of the test as another root directory, in which the process is 77. */
static struct space_info process;

static void setup(void)
{
	fixture_begin();
	fixture_shell("mkdir tmp && echo '1000 10 f' >tmp/perf-77.map");
	process = (struct space_info){ .fd = -1, .ns_fd = -1, .ns_pid = 77, .uid = PROCESS_USER };
	process.root_fd = open(fixture_path("."), O_PATH | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(process.root_fd, 0);
}

static void teardown(void)
{
	close(process.root_fd);
	fixture_end();
}

TestSuite(spaces, .init = setup, .fini = teardown);

static void check_opens(void)
{
	int fd = space_open_perf_map(&process);

	cr_assert_geq(fd, 0, "%d", fd);
	close(fd);
}

Test(spaces, map_of_ours)
{
	check_opens();
}

Test(spaces, map_by_owner)
{
	if (geteuid()) {
		cr_skip_test("needs root, to make files that are somebody else's");
		return;
	}
	fixture_shell("chown %d tmp/perf-77.map", PROCESS_USER);
	check_opens();
	fixture_shell("chown 12345 tmp/perf-77.map");
	cr_assert_eq(space_open_perf_map(&process), -EPERM);
}

Test(spaces, map_that_is_none)
{
	fixture_shell("mv tmp/perf-77.map map && ln -s ../map tmp/perf-77.map");
	cr_assert_lt(space_open_perf_map(&process), 0);
	fixture_shell("rm tmp/perf-77.map && mkfifo tmp/perf-77.map");
	cr_assert_eq(space_open_perf_map(&process), -ENOEXEC);
	fixture_shell("rm tmp/perf-77.map");
	cr_assert_eq(space_open_perf_map(&process), -ENOENT);
	fixture_shell("rm -r tmp && mkdir elsewhere && cp map elsewhere/perf-77.map && "
		      "ln -s $PWD/elsewhere tmp");
	cr_assert_lt(space_open_perf_map(&process), 0);
}

/* The first one of a session: there is no list yet, which a build with sanitizers minds. */
Test(spaces, first_of_all)
{
	const struct record record = { .tgid = (uint32_t)getpid(), .space.kind = SPACE_ANON };
	struct spaces spaces = { 0 };
	struct error err;

	cr_assert_eq(spaces_add(&spaces, &record, &err), 0);
	cr_assert_eq(spaces.nr, 1);
	spaces_free(&spaces);
}
