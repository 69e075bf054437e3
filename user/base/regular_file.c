// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

/* place is open by O_PATH: what it is cannot change any more. */
static int reopen(int place)
{
	struct stat stat;
	char path[32];
	int fd;

	if (place < 0)
		return -errno;
	if (fstat(place, &stat))
		return -errno;
	if (!S_ISREG(stat.st_mode))
		return -ENOEXEC;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static int place_below(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | flags, .resolve = resolve };

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

int regular_file_open(const char *root, const char *path)
{
	cleanup_fd int dir = -1, place = -1;

	if (!*root) {
		place = open(path, O_PATH | O_CLOEXEC);
		return reopen(place);
	}
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	place = place_below(dir, path, 0, RESOLVE_IN_ROOT);
	return reopen(place);
}

int regular_file_open_at(int dir, const char *name)
{
	cleanup_fd int place = place_below(dir, name, O_NOFOLLOW, RESOLVE_IN_ROOT);

	return reopen(place);
}
