// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "others.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "child.h"

const char *others_copy(const char *folder, const char *program)
{
	static char paths[8][256];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, strrchr(program, '/') + 1);
	cr_assert_eq(chmod(folder, 0755), 0);
	child_do(ARGS("install", "-m", "755", program, path));
	return path;
}
