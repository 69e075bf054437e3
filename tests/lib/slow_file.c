// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Speaks the protocol of /dev/fuse as far as one file needs it: linux/fuse.h. */
#include "slow_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

enum { FILE_INODE = 2, MESSAGE_MAX = 256 << 10, WAITING_MAX = 64 };

struct waiting {
	uint64_t unique;
	uint32_t size;
};

static struct waiting waiting[WAITING_MAX];
static int nr_waiting;

static void reply(int fd, uint64_t unique, int error, const void *data, size_t size)
{
	struct fuse_out_header head = {
		.len = (uint32_t)(sizeof(head) + size),
		.error = error,
		.unique = unique,
	};
	struct iovec parts[] = { { &head, sizeof(head) }, { (void *)data, size } };

	if (writev(fd, parts, size ? 2 : 1) < 0 && errno != ENOENT)
		_exit(1);
}

static struct fuse_attr attributes(uint64_t inode)
{
	return (struct fuse_attr){
		.ino = inode,
		.size = inode == FILE_INODE ? SLOW_FILE_SIZE : 0,
		.mode = inode == FILE_INODE ? S_IFREG | 0666 : S_IFDIR | 0755,
		.nlink = 1,
		.blksize = 4096,
	};
}

static void answer_lookup(int fd, uint64_t unique)
{
	struct fuse_entry_out out = {
		.nodeid = FILE_INODE,
		.entry_valid = 1000,
		.attr_valid = 1000,
		.attr = attributes(FILE_INODE),
	};

	reply(fd, unique, 0, &out, sizeof(out));
}

static void answer_read(int fd, uint64_t unique, uint32_t size)
{
	static const char zeros[MESSAGE_MAX];

	reply(fd, unique, 0, zeros, size);
}

static void answer(int fd, const struct fuse_in_header *in, const void *body, const int *serves)
{
	const struct fuse_read_in *read_in = body;
	/* Version of the protocol. */
	struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 4096 };
	struct fuse_attr_out attr = { .attr_valid = 1000, .attr = attributes(in->nodeid) };
	struct fuse_open_out open_out = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		reply(fd, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer_lookup(fd, in->unique);
		break;
	case FUSE_GETATTR:
		reply(fd, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		reply(fd, in->unique, 0, &open_out, sizeof(open_out));
		break;
	case FUSE_READ:
		if (__atomic_load_n(serves, __ATOMIC_RELAXED))
			answer_read(fd, in->unique, read_in->size);
		else if (nr_waiting < WAITING_MAX)
			waiting[nr_waiting++] = (struct waiting){ in->unique, read_in->size };
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		reply(fd, in->unique, 0, NULL, 0);
		break;
	default:
		reply(fd, in->unique, -ENOSYS, NULL, 0);
	}
}

__attribute__((noreturn)) static void live(int fd, const int *serves)
{
	static char message[MESSAGE_MAX] __attribute__((aligned(8)));
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	const struct fuse_in_header *in = (const struct fuse_in_header *)message;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		while (nr_waiting && __atomic_load_n(serves, __ATOMIC_RELAXED)) {
			nr_waiting--;
			answer_read(fd, waiting[nr_waiting].unique, waiting[nr_waiting].size);
		}
		if (poll(&poll_fd, 1, 10) > 0 && read(fd, message, sizeof(message)) > 0)
			answer(fd, in, in + 1, serves);
		if (poll_fd.revents & POLLERR)
			_exit(0);
	}
}

void slow_file_begin(struct slow_file *file)
{
	char options[96];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	cr_assert_geq(fd, 0, "/dev/fuse: %s", strerror(errno));
	strcpy(file->dir, "/tmp/bpfprofil-slow-XXXXXX");
	cr_assert_not_null(mkdtemp(file->dir));
	snprintf(file->path, sizeof(file->path), "%s/file", file->dir);
	file->serves =
		mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(file->serves != MAP_FAILED);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fd);
	cr_assert_eq(mount("slow", file->dir, "fuse", MS_NODEV | MS_NOSUID, options), 0,
		     "mount: %s", strerror(errno));
	file->daemon = fork();
	cr_assert_geq(file->daemon, 0);
	if (!file->daemon)
		live(fd, file->serves);
	close(fd);
}

void slow_file_serve(struct slow_file *file)
{
	__atomic_store_n(file->serves, 1, __ATOMIC_RELAXED);
}

/* The connection ends when its last descriptor is closed, which is the daemon's. */
void slow_file_end(struct slow_file *file)
{
	kill(file->daemon, SIGKILL);
	waitpid(file->daemon, NULL, 0);
	umount2(file->dir, MNT_DETACH);
	rmdir(file->dir);
	munmap(file->serves, sizeof(int));
}
