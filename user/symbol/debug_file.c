// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/debug_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/regular_file.h"
#include "elf/elf_image.h"

int (*debug_file_ask)(enum debug_place place, const char *name, char *found);

/* Limits for files without a build id, whose checksum must be computed. */
#define CHECKSUM_MAX (2ULL << 30)
#define HOLES_MAX (16ULL << 20)
#define PACKING_MAX 8

/* Requirements for a candidate. */
struct wanted {
	struct stat self;
	char *build_id; /* NULL: compare the checksum */
	const char *link;
	uint32_t checksum;
	struct debug_origin origin;
	char *found; /* PATH_MAX bytes for the path below root, or NULL */
};

/*
 * Whether to read the whole file. A file with huge holes costs its owner nothing, but its reader
 * time. Some file systems compress files, or report no blocks for small ones. Therefore allow small
 * differences.
 */
static bool is_worth_reading(const struct stat *stat)
{
	uint64_t size = (uint64_t)stat->st_size, stored = (uint64_t)stat->st_blocks * 512;

	return size <= CHECKSUM_MAX && size <= HOLES_MAX + stored * PACKING_MAX;
}

/* The CRC-32 of the file, as objcopy --add-gnu-debuglink stores it. */
static int file_checksum(int fd, const struct stat *stat, uint32_t *result)
{
	unsigned char buffer[65536];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t got;

	if (!is_worth_reading(stat))
		return -EFBIG;
	/* Use the first size: a file that grows meanwhile does not match anyway. */
	while (at < stat->st_size && (got = pread(fd, buffer, sizeof(buffer), at)) > 0) {
		crc = crc32(crc, buffer, (uInt)got);
		at += got;
	}
	*result = (uint32_t)crc;
	return at < stat->st_size ? -EIO : 0;
}

static int check_build_id(int fd, const char *build_id)
{
	struct elf_image image;
	char *found = NULL;
	int ret = elf_image_open(fd, &image, NULL);

	if (ret)
		return ret;
	ret = build_id_read(image.elf, &found);
	if (!ret && (!found || strcmp(found, build_id)))
		ret = -ENOENT;
	free(found);
	elf_image_close(&image);
	return ret;
}

static int check_candidate(int fd, const struct wanted *wanted)
{
	struct stat stat;
	uint32_t checksum;
	int ret;

	if (fstat(fd, &stat))
		return -errno;
	if (stat.st_dev == wanted->self.st_dev && stat.st_ino == wanted->self.st_ino)
		return -ENOENT;
	if (wanted->build_id)
		return check_build_id(fd, wanted->build_id);
	ret = file_checksum(fd, &stat, &checksum);
	if (ret)
		return ret;
	return checksum == wanted->checksum ? 0 : -ENOENT;
}

static int try_place(const struct wanted *wanted, enum debug_place place, const char *name)
{
	int ret, fd = debug_file_ask ?
			      debug_file_ask(place, name, wanted->found) :
			      debug_candidate_open(&wanted->origin, place, name, wanted->found);

	if (fd < 0)
		return fd;
	ret = check_candidate(fd, wanted);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static int try_link(const struct wanted *wanted)
{
	int fd;

	if (!wanted->link || strchr(wanted->link, '/'))
		return -ENOENT;
	fd = try_place(wanted, DEBUG_BESIDE, wanted->link);
	if (fd < 0 && fd != -ENOMEM)
		fd = try_place(wanted, DEBUG_BELOW, wanted->link);
	if (fd < 0 && fd != -ENOMEM)
		fd = try_place(wanted, DEBUG_OF_FOLDER, wanted->link);
	return fd;
}

static int try_build_id(const struct wanted *wanted)
{
	int fd;

	if (!wanted->build_id)
		return -ENOENT;
	fd = try_place(wanted, DEBUG_BY_ID, wanted->build_id);
	if (fd >= 0 || fd == -ENOMEM || !*wanted->origin.root)
		return fd;
	/* Containers seldom have debug files, but this host may have those of the same build. */
	return try_place(wanted, DEBUG_BY_ID_OF_HOST, wanted->build_id);
}

static int try_server(const struct wanted *wanted)
{
	return wanted->build_id && wanted->origin.may_ask ?
		       try_place(wanted, DEBUG_OF_SERVER, wanted->build_id) :
		       -ENOENT;
}

int debug_file_open(Elf *elf, int fd, const char *path, const char *root, char *found)
{
	struct wanted wanted = { .origin = { .path = path, .root = root }, .found = found };
	GElf_Word checksum = 0;
	int ret;

	if (fstat(fd, &wanted.self))
		return -errno;
	/*
	 * A server must not learn what other users run. Therefore contact it only for root's files
	 * and ours.
	 */
	wanted.origin.owner = wanted.self.st_uid;
	wanted.origin.may_ask = regular_file_is_from(&wanted.self, 0);
	ret = build_id_read(elf, &wanted.build_id);
	if (ret)
		return ret;
	wanted.link = dwelf_elf_gnu_debuglink(elf, &checksum);
	if (wanted.link && strnlen(wanted.link, NAME_MAX + 1) > NAME_MAX)
		wanted.link = NULL;
	wanted.checksum = checksum;
	ret = try_build_id(&wanted);
	if (ret < 0 && ret != -ENOMEM)
		ret = try_link(&wanted);
	if (ret < 0 && ret != -ENOMEM)
		ret = try_server(&wanted);
	free(wanted.build_id);
	return ret;
}

int shared_file_open(Dwarf *dwarf, const char *path, const char *root, uid_t owner, bool may_ask)
{
	struct wanted wanted = {
		.origin = { .path = path, .root = root, .owner = owner, .may_ask = may_ask }
	};
	const char *name;
	const void *id;
	ssize_t size;
	int ret;

	size = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
	if (size <= 0)
		return -ENOENT;
	ret = build_id_text(id, (size_t)size, &wanted.build_id);
	if (ret)
		return ret;
	ret = try_build_id(&wanted);
	if (ret < 0 && ret != -ENOMEM && strnlen(name, PATH_MAX) < PATH_MAX)
		ret = try_place(&wanted, DEBUG_AT_PATH, name);
	if (ret < 0 && ret != -ENOMEM)
		ret = try_server(&wanted);
	free(wanted.build_id);
	return ret;
}
