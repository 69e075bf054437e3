// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "symbol/build_id.h"

#define DEBUG_DIRECTORY "/usr/lib/debug"

/* What a candidate must match. */
struct wanted {
	struct stat self;
	char *build_id; /* or NULL: the checksum decides */
	const char *link;
	uint32_t checksum;
	const char *root;
};

/*
 * An absolute symbolic link in a container points into the container, so ours must be resolved
 * below root. O_NONBLOCK: a FIFO there must not hang us.
 */
static int open_below(const char *root, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
				.resolve = RESOLVE_IN_ROOT };
	int directory, fd;

	if (!*root) {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		return fd < 0 ? -errno : fd;
	}
	directory = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));
	if (fd < 0)
		fd = -errno;
	close(directory);
	return fd;
}

static void make_checksums(uint32_t table[256])
{
	uint32_t i, bit, value;

	for (i = 0; i < 256; i++) {
		value = i;
		for (bit = 0; bit < 8; bit++)
			value = (value >> 1) ^ (value & 1 ? 0xedb88320 : 0);
		table[i] = value;
	}
}

/* The CRC-32 that objcopy --add-gnu-debuglink stores, of the whole file. */
static int file_checksum(int fd, uint32_t *ret)
{
	unsigned char buffer[16384];
	uint32_t table[256], crc = UINT32_MAX;
	off_t at = 0;
	ssize_t got, i;

	make_checksums(table);
	while ((got = pread(fd, buffer, sizeof(buffer), at)) > 0) {
		for (i = 0; i < got; i++)
			crc = (crc >> 8) ^ table[(crc ^ buffer[i]) & 255];
		at += got;
	}
	*ret = ~crc;
	return got < 0 ? -errno : 0;
}

static int check_build_id(int fd, const char *build_id)
{
	char *found = NULL;
	Elf *elf;
	int code;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return -ENOEXEC;
	code = build_id_read(elf, &found);
	if (!code && (!found || strcmp(found, build_id)))
		code = -ENOENT;
	free(found);
	elf_end(elf);
	return code;
}

static int check_candidate(int fd, const struct wanted *wanted)
{
	struct stat stat;
	uint32_t checksum;
	int code;

	if (fstat(fd, &stat))
		return -errno;
	if (!S_ISREG(stat.st_mode))
		return -ENOENT;
	if (stat.st_dev == wanted->self.st_dev && stat.st_ino == wanted->self.st_ino)
		return -ENOENT;
	if (wanted->build_id)
		return check_build_id(fd, wanted->build_id);
	code = file_checksum(fd, &checksum);
	if (code)
		return code;
	return checksum == wanted->checksum ? 0 : -ENOENT;
}

static int __attribute__((format(printf, 2, 3)))
try_path(const struct wanted *wanted, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int length, fd, code;

	va_start(args, format);
	length = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open_below(wanted->root, path);
	if (fd < 0)
		return fd;
	code = check_candidate(fd, wanted);
	if (code) {
		close(fd);
		return code;
	}
	return fd;
}

static int try_link(const struct wanted *wanted, const char *path)
{
	const char *slash = strrchr(path, '/');
	int length = slash ? (int)(slash - path) : 0;
	int fd;

	/* The link is a plain name; a hostile one must not lead out of these three places. */
	if (!wanted->link || !slash || strchr(wanted->link, '/'))
		return -ENOENT;
	fd = try_path(wanted, "%.*s/%s", length, path, wanted->link);
	if (fd < 0 && fd != -ENOMEM)
		fd = try_path(wanted, "%.*s/.debug/%s", length, path, wanted->link);
	if (fd < 0 && fd != -ENOMEM)
		fd = try_path(wanted, DEBUG_DIRECTORY "%.*s/%s", length, path, wanted->link);
	return fd;
}

int debug_file_open(Elf *elf, int fd, const char *path, const char *root)
{
	struct wanted wanted = { .root = root };
	GElf_Word checksum = 0;
	int code;

	if (fstat(fd, &wanted.self))
		return -errno;
	code = build_id_read(elf, &wanted.build_id);
	if (code)
		return code;
	wanted.link = dwelf_elf_gnu_debuglink(elf, &checksum);
	wanted.checksum = checksum;
	code = -ENOENT;
	if (wanted.build_id && strlen(wanted.build_id) > 2)
		code = try_path(&wanted, DEBUG_DIRECTORY "/.build-id/%.2s/%s.debug",
				wanted.build_id, wanted.build_id + 2);
	if (code < 0 && code != -ENOMEM)
		code = try_link(&wanted, path);
	free(wanted.build_id);
	return code;
}
