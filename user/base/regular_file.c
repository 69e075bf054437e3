// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/opener.h"
#include "base/util.h"

/* The gid of a group without files. */
#define NOBODY 65534
#ifndef GROUPS_MAX
#define GROUPS_MAX 65536
#endif

/* Not in linux/magic.h of Linux 6.1. */
#define CONFIGFS_MAGIC 0x62656570
#define FUSE_CTL_MAGIC 0x65735543

/*
 * Whether the file is an interface of the kernel rather than stored bytes. A list of file systems
 * with stored bytes is impossible, because anybody can write one.
 */
static bool is_of_kernel(int place)
{
	static const unsigned int kernels[] = {
		PROC_SUPER_MAGIC,     SYSFS_MAGIC,	 TRACEFS_MAGIC,	       DEBUGFS_MAGIC,
		SECURITYFS_MAGIC,     CONFIGFS_MAGIC,	 CGROUP_SUPER_MAGIC,   CGROUP2_SUPER_MAGIC,
		BPF_FS_MAGIC,	      PSTOREFS_MAGIC,	 EFIVARFS_MAGIC,       BINFMTFS_MAGIC,
		SELINUX_MAGIC,	      SMACK_MAGIC,	 RDTGROUP_SUPER_MAGIC, FUSE_CTL_MAGIC,
		BINDERFS_SUPER_MAGIC, XENFS_SUPER_MAGIC, NSFS_MAGIC,
	};
	struct statfs fs;
	size_t i;

	if (fstatfs(place, &fs))
		return true;
	for (i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		if ((unsigned int)fs.f_type == kernels[i])
			return true;
	return false;
}

static bool allows(const struct regular_file_rule *rule, const struct stat *stat)
{
	if (rule->is_owned && !regular_file_is_from(stat, rule->user))
		return false;
	return !rule->is_sized || ((uint64_t)stat->st_size == rule->size &&
				   (!rule->inode || stat->st_ino == rule->inode));
}

int regular_file_reopen(int place, const struct regular_file_rule *rule)
{
	struct stat stat;
	char path[FD_PATH];
	int fd;

	if (place < 0)
		return -errno;
	if (fstat(place, &stat))
		return -errno;
	if (!S_ISREG(stat.st_mode) || is_of_kernel(place))
		return -ENOEXEC;
	if (rule && !allows(rule, &stat))
		return -EPERM;
	fd = open(fd_path(place, path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static int place_below(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | flags, .resolve = resolve };

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

int regular_file_open_below(int dir, const char *path, const struct regular_file_rule *rule)
{
	cleanup_fd int place = place_below(dir, path, 0, RESOLVE_IN_ROOT);

	return regular_file_reopen(place, rule);
}

int regular_file_open(const char *root, const char *path, const struct regular_file_rule *rule)
{
	cleanup_fd int dir = -1, place = -1;
	const char *far;
	uint64_t owner;

	if (!*root) {
		place = open(path, O_PATH | O_CLOEXEC);
		return regular_file_reopen(place, rule);
	}
	far = opener_root_dir(root, &owner);
	dir = open(far ? far : root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	return far ? opener_open(owner, dir, path, rule) : regular_file_open_below(dir, path, rule);
}

/*
 * The identity of this thread alone. Use system calls directly, because libc's wrappers change all
 * threads.
 */
struct credentials {
	gid_t groups[GROUPS_MAX];
	long nr_groups;
	gid_t group;
};

static void restore_credentials(const struct credentials *own)
{
	setfsuid(geteuid());
	setfsgid(own->group);
	syscall(SYS_setgroups, own->nr_groups, own->groups);
}

/* Uses no groups at all: the user's are unknown, and ours do not apply. */
static bool become_user(uid_t user, struct credentials *own)
{
	own->nr_groups = syscall(SYS_getgroups, GROUPS_MAX, own->groups);
	if (own->nr_groups < 0 || syscall(SYS_setgroups, 0, NULL))
		return false;
	own->group = (gid_t)setfsgid(NOBODY);
	setfsuid(user);
	/* These calls return the previous id and no error. Therefore read the new id back. */
	if (setfsgid(-1U) == NOBODY && (uid_t)setfsuid(-1U) == user)
		return true;
	restore_credentials(own);
	return false;
}

int regular_file_open_as(uid_t owner, const char *root, const char *path)
{
	const struct regular_file_rule theirs = { .is_owned = true, .user = owner };
	struct credentials *own;
	uint64_t ignored;
	int fd = -EPERM;

	/* A file that the user owns reveals nothing of others. */
	if (opener_root_dir(root, &ignored))
		return regular_file_open(root, path, &theirs);
	/* A process that is not root has no rights that the user lacks. */
	if (geteuid() || !owner)
		return regular_file_open(root, path, NULL);
	own = malloc(sizeof(*own));
	if (!own)
		return -ENOMEM;
	if (become_user(owner, own)) {
		fd = regular_file_open(root, path, NULL);
		restore_credentials(own);
	}
	free(own);
	return fd;
}

int regular_file_open_at(int dir, const char *name, const struct regular_file_rule *rule)
{
	cleanup_fd int place = place_below(dir, name, O_NOFOLLOW, RESOLVE_IN_ROOT);

	return regular_file_reopen(place, rule);
}

FILE *regular_file_stream(const char *path, const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat stat;
	FILE *stream;

	if (fd >= 0 && !fstat(fd, &stat) && !S_ISREG(stat.st_mode)) {
		close(fd);
		*why = "not a regular file";
		return NULL;
	}
	stream = fd < 0 ? NULL : fdopen(fd, "r");
	if (stream)
		return stream;
	*why = strerror(errno);
	close_fd(&fd);
	return NULL;
}

bool regular_file_is_from(const struct stat *stat, uid_t user)
{
	return !stat->st_uid || stat->st_uid == user || is_our_user(stat->st_uid);
}

bool regular_file_stat(int fd, struct stat *result)
{
	struct statx known;

	*result = (struct stat){ .st_uid = NO_UID };
	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &known))
		return false;
	result->st_dev = makedev(known.stx_dev_major, known.stx_dev_minor);
	result->st_ino = known.stx_ino;
	result->st_uid = known.stx_uid;
	result->st_nlink = known.stx_nlink;
	result->st_mode = known.stx_mode;
	result->st_size = (off_t)known.stx_size;
	opener_copy_of(fd, result);
	return true;
}

bool regular_file_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}
