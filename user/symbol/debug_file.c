// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/debug_file.h"

#include <dlfcn.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/regular_file.h"
#include "base/util.h"
#include "elf/elf_image.h"

#define URLS "DEBUGINFOD_URLS"

/*
 * libdebuginfod comes with an HTTP client and its libraries, which nobody needs who asks no server.
 * So it is loaded only when it is asked for.
 */
struct client;
typedef struct client *(*client_begin)(void);
typedef int (*client_find)(struct client *client, const unsigned char *build_id, int length,
			   char **path);
typedef void (*client_watch)(struct client *client, int (*progress)(struct client *, long, long));
typedef void (*client_end)(struct client *client);

struct library {
	client_begin begin;
	client_find find;
	client_watch watch;
	client_end end;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of these: a thread may look for names */
static bool is_quiet;
static uint64_t span_ns; /* when the current span began */
static uint64_t spent_ns; /* time spent on questions in it */
static uint64_t until_ns; /* when the current question will have taken too long */

static bool find_debuginfod(struct library *result)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW);

	if (!library)
		return false;
	result->begin = (client_begin)dlsym(library, "debuginfod_begin");
	result->find = (client_find)dlsym(library, "debuginfod_find_debuginfo");
	result->watch = (client_watch)dlsym(library, "debuginfod_set_progressfn");
	result->end = (client_end)dlsym(library, "debuginfod_end");
	return result->begin && result->find && result->watch && result->end;
}

static int is_too_long(struct client *client, long done, long all)
{
	(void)client;
	(void)done;
	(void)all;
	return monotonic_ns() > until_ns;
}

/* False: the time for questions is used up. */
static bool begin_question(uint64_t now)
{
	const uint64_t second = 1000000000;

	if (!span_ns || now - span_ns > DEBUG_SERVER_SPAN * second) {
		span_ns = now;
		spent_ns = 0;
	}
	if (spent_ns >= DEBUG_SERVER_SECONDS * second)
		return false;
	until_ns = now + DEBUG_SERVER_SECONDS * second - spent_ns;
	return true;
}

static int ask_debuginfod(const struct library *library, const char *build_id, char *found,
			  size_t found_size)
{
	struct client *client = library->begin();
	char *path = NULL;
	int fd;

	if (!client)
		return -ENOMEM;
	library->watch(client, is_too_long);
	fd = library->find(client, (const unsigned char *)build_id, 0, &path);
	if (found && path)
		snprintf(found, found_size, "%s", path);
	free(path);
	library->end(client);
	return fd;
}

static int debug_server_open(const char *build_id, char *found, size_t found_size)
{
	const char *urls = getenv(URLS);
	uint64_t now = monotonic_ns();
	struct library library;
	int fd = -ENOENT;

	if (is_quiet || !urls || !*urls || !find_debuginfod(&library))
		return -ENOENT;
	pthread_mutex_lock(&lock);
	if (begin_question(now)) {
		fd = ask_debuginfod(&library, build_id, found, found_size);
		spent_ns += monotonic_ns() - now;
	}
	pthread_mutex_unlock(&lock);
	return fd;
}

void debug_server_quiet(bool quiet)
{
	is_quiet = quiet;
}

void debug_server_forbid(void)
{
	unsetenv(URLS);
}

#define DEBUG_DIRECTORY "/usr/lib/debug"

/* Limits for the few files without a build id, whose checksum must be computed. */
#define CHECKSUM_MAX (2ULL << 30)
#define HOLES_MAX (16ULL << 20)
#define PACKING_MAX 8

/* What a candidate must match. */
struct wanted {
	struct stat self;
	uid_t owner;
	char *build_id; /* NULL: the checksum decides */
	const char *link;
	uint32_t checksum;
	const char *root;
	char *found; /* PATH_MAX bytes for the path below root, or NULL */
	bool may_ask; /* a server may be asked */
};

/*
 * Whether all of a file may be read: a file with huge holes costs its owner nothing and only its
 * reader. Small differences are allowed, because some file systems compress what they store, or
 * report no blocks for a small file.
 */
static bool is_worth_reading(const struct stat *stat)
{
	uint64_t size = (uint64_t)stat->st_size, stored = (uint64_t)stat->st_blocks * 512;

	return size <= CHECKSUM_MAX && size <= HOLES_MAX + stored * PACKING_MAX;
}

/* The CRC-32 of the whole file, as objcopy --add-gnu-debuglink stores it. */
static int file_checksum(int fd, const struct stat *stat, uint32_t *result)
{
	unsigned char buffer[65536];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t got;

	if (!is_worth_reading(stat))
		return -EFBIG;
	/* The first size is kept, because a file that grows meanwhile is another one anyway. */
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

/* What others own would be read with our rights, and is nothing that the program's owner made. */
static bool may_be_candidate(int place, const struct stat *stat, const void *ctx)
{
	const struct wanted *wanted = ctx;

	(void)place;
	return regular_file_is_from(stat, wanted->owner);
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

static int __attribute__((format(printf, 2, 3)))
try_path(const struct wanted *wanted, const char *format, ...)
{
	const struct regular_file_rule rule = { may_be_candidate, wanted };
	char path[PATH_MAX];
	va_list args;
	int length, fd, ret;

	va_start(args, format);
	length = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	/*
	 * An absolute symbolic link in a container points into the container, so it is resolved
	 * below root.
	 */
	fd = regular_file_open(wanted->root, path, &rule);
	if (fd < 0)
		return fd;
	ret = check_candidate(fd, wanted);
	if (ret) {
		close(fd);
		return ret;
	}
	if (wanted->found)
		memcpy(wanted->found, path, (size_t)length + 1);
	return fd;
}

static int try_link(const struct wanted *wanted, const char *path)
{
	const char *slash = strrchr(path, '/');
	int length = slash ? (int)(slash - path) : 0;
	int fd;

	/* The link is a plain file name; a hostile one must not lead out of these three folders. */
	if (!wanted->link || !slash || strchr(wanted->link, '/'))
		return -ENOENT;
	fd = try_path(wanted, "%.*s/%s", length, path, wanted->link);
	if (fd < 0 && fd != -ENOMEM)
		fd = try_path(wanted, "%.*s/.debug/%s", length, path, wanted->link);
	if (fd < 0 && fd != -ENOMEM)
		fd = try_path(wanted, DEBUG_DIRECTORY "%.*s/%s", length, path, wanted->link);
	return fd;
}

static int try_build_id_below(const struct wanted *wanted)
{
	return try_path(wanted, DEBUG_DIRECTORY "/.build-id/%.2s/%s.debug", wanted->build_id,
			wanted->build_id + 2);
}

static int try_build_id(const struct wanted *wanted)
{
	struct wanted of_host = *wanted;
	int fd;

	if (!wanted->build_id || strlen(wanted->build_id) <= 2)
		return -ENOENT;
	fd = try_build_id_below(wanted);
	if (fd >= 0 || fd == -ENOMEM || !*wanted->root)
		return fd;
	/*
	 * A container seldom has debug files, but this host may have those of the same build. Only
	 * root's, because what anyone put there would name another's functions.
	 */
	of_host.root = "";
	of_host.owner = 0;
	return try_build_id_below(&of_host);
}

static int try_server(const struct wanted *wanted)
{
	int fd, ret;

	if (!wanted->build_id || !wanted->may_ask)
		return -ENOENT;
	fd = debug_server_open(wanted->build_id, wanted->found, PATH_MAX);
	if (fd < 0)
		return fd;
	ret = check_candidate(fd, wanted);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

int debug_file_open(Elf *elf, int fd, const char *path, const char *root, char *found)
{
	struct wanted wanted = { .root = root, .found = found };
	GElf_Word checksum = 0;
	int ret;

	if (fstat(fd, &wanted.self))
		return -errno;
	/*
	 * A server must not learn what another user runs, so it is asked only for root's files and
	 * ours.
	 */
	wanted.owner = wanted.self.st_uid;
	wanted.may_ask = regular_file_is_from(&wanted.self, 0);
	ret = build_id_read(elf, &wanted.build_id);
	if (ret)
		return ret;
	wanted.link = dwelf_elf_gnu_debuglink(elf, &checksum);
	if (wanted.link && strnlen(wanted.link, NAME_MAX + 1) > NAME_MAX)
		wanted.link = NULL;
	wanted.checksum = checksum;
	ret = try_build_id(&wanted);
	if (ret < 0 && ret != -ENOMEM)
		ret = try_link(&wanted, path);
	if (ret < 0 && ret != -ENOMEM)
		ret = try_server(&wanted);
	free(wanted.build_id);
	return ret;
}

int shared_file_open(Dwarf *dwarf, const char *path, const char *root, uid_t owner, bool may_ask)
{
	struct wanted wanted = { .root = root, .owner = owner, .may_ask = may_ask };
	const char *name, *slash = strrchr(path, '/');
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
	if (ret < 0 && ret != -ENOMEM && strnlen(name, PATH_MAX) < PATH_MAX) {
		/* An absolute path, or one relative to the folder of the file that names it. */
		if (name[0] == '/')
			ret = try_path(&wanted, "%s", name);
		else if (slash)
			ret = try_path(&wanted, "%.*s/%s", (int)(slash - path), path, name);
	}
	if (ret < 0 && ret != -ENOMEM)
		ret = try_server(&wanted);
	free(wanted.build_id);
	return ret;
}
