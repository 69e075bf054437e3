// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * silent OPERATION FUSE PROGRAM ARGUMENT...: runs a copy of PROGRAM, a static one, in a root of its own file
 * system below its own overlay, as any user can who may make a user namespace. FUSE is a node of /dev/fuse. After SIGUSR1 one kind of
 * request is read and never answered: open, getattr, read, flush, release, lookup, or all of them.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOT = 1, FILE_INODE = 2, MESSAGE_MAX = 256 << 10, READ_MAX = 128 << 10 };

static const char *program; /* its last part is the only name */
static int bytes_fd;
static struct stat bytes;
static uint32_t silent_opcode; /* 0: all */
static volatile sig_atomic_t is_silent;

static const struct {
	const char *word;
	uint32_t opcode;
} operations[] = {
	{ "all", 0 },
	{ "open", FUSE_OPEN },
	{ "getattr", FUSE_GETATTR },
	{ "read", FUSE_READ },
	{ "flush", FUSE_FLUSH },
	{ "release", FUSE_RELEASE },
	{ "lookup", FUSE_LOOKUP },
};

static void fall_silent(int signal)
{
	(void)signal;
	is_silent = 1;
}

static void reply(int fd, uint64_t unique, int error, const void *data, size_t size)
{
	struct fuse_out_header head = { (uint32_t)(sizeof(head) + size), error, unique };
	struct iovec parts[] = { { &head, sizeof(head) }, { (void *)data, size } };

	if (writev(fd, parts, size ? 2 : 1) < 0 && errno != ENOENT)
		err(1, "reply");
}

static struct fuse_attr attributes(uint64_t inode)
{
	return (struct fuse_attr){
		.ino = inode,
		.size = inode == FILE_INODE ? (uint64_t)bytes.st_size : 0,
		.mode = inode == FILE_INODE ? S_IFREG | 0755 : S_IFDIR | 0755,
		.nlink = 1,
		.blksize = 4096,
	};
}

/* Nothing is valid for any time, so that all is asked again. */
static void answer_lookup(int fd, uint64_t unique, const char *name)
{
	struct fuse_entry_out out = { .nodeid = FILE_INODE, .attr = attributes(FILE_INODE) };

	if (strcmp(name, program))
		reply(fd, unique, -ENOENT, NULL, 0);
	else
		reply(fd, unique, 0, &out, sizeof(out));
}

static void answer_read(int fd, uint64_t unique, const struct fuse_read_in *in)
{
	static char buffer[READ_MAX];
	ssize_t got = pread(bytes_fd, buffer, in->size < READ_MAX ? in->size : READ_MAX,
			    (off_t)in->offset);

	reply(fd, unique, 0, buffer, got > 0 ? (size_t)got : 0);
}

static void answer(int fd, const struct fuse_in_header *in, const void *body)
{
	struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 4096 };
	struct fuse_attr_out attr = { .attr = attributes(in->nodeid) };
	struct fuse_open_out open_out = { .fh = 1, .open_flags = FOPEN_KEEP_CACHE };
	struct fuse_statfs_out statfs = { .st = { .bsize = 4096, .namelen = 255 } };

	switch (in->opcode) {
	case FUSE_INIT:
		reply(fd, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer_lookup(fd, in->unique, body);
		break;
	case FUSE_GETATTR:
		reply(fd, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		reply(fd, in->unique, 0, &open_out, sizeof(open_out));
		break;
	case FUSE_READ:
		answer_read(fd, in->unique, body);
		break;
	case FUSE_STATFS:
		reply(fd, in->unique, 0, &statfs, sizeof(statfs));
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	case FUSE_READDIR:
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_ACCESS:
		reply(fd, in->unique, 0, NULL, 0);
		break;
	default:
		reply(fd, in->unique, -ENOSYS, NULL, 0);
	}
}

__attribute__((noreturn)) static void serve(int fd, pid_t parent)
{
	static char message[MESSAGE_MAX] __attribute__((aligned(8)));
	const struct fuse_in_header *in = (const struct fuse_in_header *)message;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	for (;;) {
		if (read(fd, message, sizeof(message)) <= 0) {
			if (errno == ENODEV)
				_exit(0);
			continue;
		}
		if (!is_silent || (silent_opcode && in->opcode != silent_opcode))
			answer(fd, in, in + 1);
	}
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err(1, "%s", path);
	close(fd);
}

/*
 * Becomes root of a namespace of its own, as this user. A change of credentials cancels the signal that ends a
 * test's child with the test, so ask for it again.
 */
static void be_alone(void)
{
	char map[64], groups[64];
	pid_t parent = getppid();

	snprintf(map, sizeof(map), "0 %u 1", getuid());
	snprintf(groups, sizeof(groups), "0 %u 1", getgid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		err(77, "unshare");
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", map);
	write_file("/proc/self/gid_map", groups);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

static int mount_fuse(const char *node)
{
	char options[96];
	int fd = open(node, O_RDWR | O_CLOEXEC);

	if (fd < 0 || mount("silent", "/mnt", "tmpfs", 0, NULL))
		err(1, "%s", node);
	if (mkdir("/mnt/fuse", 0755) || mkdir("/mnt/empty", 0755) || mkdir("/mnt/all", 0755))
		err(1, "/mnt");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (mount("silent", "/mnt/fuse", "fuse", 0, options))
		err(1, "fuse");
	return fd;
}

static pid_t begin_serving(const char *node)
{
	pid_t parent = getpid(), pid;
	int fd = mount_fuse(node);

	signal(SIGUSR1, fall_silent);
	pid = fork();
	if (!pid)
		serve(fd, parent);
	close(fd);
	return pid;
}

static pid_t daemon_pid;

static void pass_on(int signal)
{
	kill(daemon_pid, signal);
}

int main(int argc, char **argv)
{
	char path[256];
	size_t i;
	pid_t pid;
	int status;

	if (argc < 4)
		errx(2, "silent OPERATION FUSE PROGRAM ARGUMENT...");
	for (i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		if (!strcmp(argv[1], operations[i].word))
			silent_opcode = operations[i].opcode;
	bytes_fd = open(argv[3], O_RDONLY | O_CLOEXEC);
	if (bytes_fd < 0 || fstat(bytes_fd, &bytes))
		err(1, "%s", argv[3]);
	program = strrchr(argv[3], '/') + 1;
	be_alone();
	daemon_pid = begin_serving(argv[2]);
	if (mount("silent", "/mnt/all", "overlay", 0, "lowerdir=/mnt/fuse:/mnt/empty"))
		err(1, "overlay");
	snprintf(path, sizeof(path), "/%s", program);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chroot("/mnt/all") || chdir("/"))
			err(1, "chroot");
		execv(path, argv + 3);
		err(1, "%s", path);
	}
	signal(SIGUSR1, pass_on);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	kill(daemon_pid, SIGKILL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
