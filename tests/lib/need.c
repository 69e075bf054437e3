// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "need.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "child.h"

void skip_say(const char *reason)
{
	printf("SKIP %s::%s: %s\n", criterion_current_suite->name, criterion_current_test->name,
	       reason);
	fflush(stdout);
}

bool have_root(void)
{
	return geteuid() == 0;
}

void need_root(void)
{
	if (!have_root())
		cr_skip_test("not root");
}

bool have_tool(const char *name)
{
	const char *dirs = getenv("PATH");
	char path[PATH_MAX];

	while (dirs && *dirs) {
		int len = (int)strcspn(dirs, ":");

		snprintf(path, sizeof(path), "%.*s/%s", len, dirs, name);
		if (!access(path, X_OK))
			return true;
		dirs += len + (dirs[len] == ':');
	}
	return false;
}

bool have_mounts(void)
{
	struct child_end end;
	bool good;

	child_run(&end, NULL, ARGS("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"));
	good = end.status == 0;
	child_end_free(&end);
	return good;
}
