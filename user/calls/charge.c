// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/charge.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/nsfs.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

/*
 * Opens a file in /proc of the process that pid_fd refers to, and not of a later one with its pid.
 */
static int open_of(pid_t pid, int pid_fd, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	if (process_has_ended(pid_fd) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -ESRCH;
}

/*
 * The outermost namespace around this one that does not contain the server, and how many levels
 * further in this one is; 0 and *result -1: it is the server's own. Takes over fd. The kernel has
 * 32 levels.
 */
static int find_outermost(int fd, int *result, unsigned int *ret_levels)
{
	int outermost = -1, parent;

	*ret_levels = 0;
	while ((parent = ioctl(fd, NS_GET_PARENT)) >= 0) {
		if (outermost >= 0)
			close(outermost);
		outermost = fd;
		fd = parent;
		++*ret_levels;
	}
	/* EPERM: the parent is not below the server's own namespace. */
	parent = errno == EPERM ? 0 : -errno;
	close(fd);
	*result = outermost;
	return parent;
}

/*
 * The first of the uids that were assigned together with this one by a line of the file; without
 * such a line the uid itself.
 */
static uid_t first_of_range(FILE *file, bool is_map, uid_t uid)
{
	unsigned int first, nr;
	uid_t found = uid;
	char line[256];
	int got;

	while (fgets(line, sizeof(line), file)) {
		got = is_map ? sscanf(line, "%*u %u %u", &first, &nr) :
			       sscanf(line, "%*[^:]:%u:%u", &first, &nr);
		if (got == 2 && uid - first < nr && first)
			found = first;
	}
	return found;
}

static int first_of_map(pid_t pid, int pid_fd, uid_t uid, uint64_t *result)
{
	cleanup_file FILE *map = NULL;
	int fd = open_of(pid, pid_fd, "uid_map");

	if (fd < 0)
		return fd;
	map = fdopen(fd, "re");
	if (!map) {
		close(fd);
		return -ENOMEM;
	}
	*result = first_of_range(map, true, uid);
	return 0;
}

/*
 * At deeper levels a map does not lead to the uids that root assigned; then the namespace itself is
 * charged.
 */
static int charge_made_by_root(int outermost, unsigned int levels, pid_t pid, int pid_fd, uid_t uid,
			       uint64_t *result)
{
	struct stat status;

	if (levels == 1)
		return first_of_map(pid, pid_fd, uid, result);
	if (fstat(outermost, &status))
		return -errno;
	*result = (uint64_t)status.st_ino << 32;
	return 0;
}

static int charge_namespace(pid_t pid, int pid_fd, uid_t uid, uint64_t *result)
{
	cleanup_fd int outermost = -1;
	unsigned int levels;
	int fd, ret;
	uid_t owner;

	*result = uid;
	fd = open_of(pid, pid_fd, "ns/user");
	if (fd == -ENOENT) /* a kernel without user namespaces */
		return 0;
	ret = fd < 0 ? fd : find_outermost(fd, &outermost, &levels);
	if (ret || outermost < 0)
		return ret;
	if (ioctl(outermost, NS_GET_OWNER_UID, &owner))
		return -errno;
	if (!owner)
		return charge_made_by_root(outermost, levels, pid, pid_fd, uid, result);
	*result = owner;
	return 0;
}

/*
 * A set-user-ID file made in a namespace makes processes of a subordinate uid outside of it. All
 * such uids of one person are one user, so it does not matter who runs it.
 */
static uid_t charge_subordinate(uid_t uid)
{
	cleanup_file FILE *file = NULL;

	if (uid < CHARGE_SUBORDINATE_MIN)
		return uid;
	file = fopen("/etc/subuid", "re");
	return file ? first_of_range(file, false, uid) : uid;
}

int charge_of(pid_t pid, int pid_fd, uid_t uid, uint64_t *result)
{
	int ret;

	*result = 0;
	if (!uid)
		return 0;
	ret = charge_namespace(pid, pid_fd, uid, result);
	if (!ret && *result <= UINT32_MAX)
		*result = charge_subordinate((uid_t)*result);
	return ret;
}
