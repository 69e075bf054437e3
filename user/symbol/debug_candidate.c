// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/debug_candidate.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "base/util.h"
#include "symbol/debug_server.h"

#define DEBUG_DIRECTORY "/usr/lib/debug"

static bool has_debug_information(int fd)
{
	struct {
		unsigned char ident[EI_NIDENT];
		uint16_t type;
	} head;

	return read_range(fd, &head, sizeof(head), 0) == sizeof(head) &&
	       !memcmp(head.ident, ELFMAG, SELFMAG) && head.ident[EI_DATA] == ELFDATA2LSB &&
	       head.type != ET_CORE;
}

static int __attribute__((format(printf, 3, 4)))
open_path(const struct debug_origin *origin, char *found, const char *format, ...)
{
	/*
	 * A file of another user would be read with our rights, and does not come from the
	 * program's owner.
	 */
	const struct regular_file_rule rule = { .is_owned = true, .user = origin->owner };
	char path[PATH_MAX];
	va_list args;
	int length, fd;

	va_start(args, format);
	length = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	/*
	 * Resolve below root: an absolute symbolic link in a container points into the container.
	 */
	fd = regular_file_open(origin->root, path, &rule);
	if (fd >= 0 && !has_debug_information(fd)) {
		close(fd);
		return -ENOEXEC;
	}
	if (fd >= 0 && found)
		memcpy(found, path, (size_t)length + 1);
	return fd;
}

static bool is_build_id(const char *name)
{
	return strlen(name) > 2 && strspn(name, "0123456789abcdef") == strlen(name);
}

static int open_by_id(const struct debug_origin *origin, const char *id, char *found)
{
	return is_build_id(id) ? open_path(origin, found,
					   DEBUG_DIRECTORY "/.build-id/%.2s/%s.debug", id, id + 2) :
				 -ENOENT;
}

/* Whether the name is a plain file name. A hostile one must not lead out of the folder. */
static bool is_plain(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int open_beside(const struct debug_origin *origin, const char *before, const char *behind,
		       const char *name, char *found)
{
	const char *slash = strrchr(origin->path, '/');

	if (!slash || !is_plain(name))
		return -ENOENT;
	return open_path(origin, found, "%s%.*s%s/%s", before, (int)(slash - origin->path),
			 origin->path, behind, name);
}

static int open_at_path(const struct debug_origin *origin, const char *name, char *found)
{
	const char *slash = strrchr(origin->path, '/');

	if (name[0] == '/')
		return open_path(origin, found, "%s", name);
	if (!slash || !*name)
		return -ENOENT;
	return open_path(origin, found, "%.*s/%s", (int)(slash - origin->path), origin->path, name);
}

int debug_candidate_open(const struct debug_origin *origin, enum debug_place place,
			 const char *name, char *found)
{
	struct debug_origin of_host = *origin;

	switch (place) {
	case DEBUG_BY_ID:
		return open_by_id(origin, name, found);
	case DEBUG_BY_ID_OF_HOST:
		/* A user's file there could rename other users' functions. */
		of_host.root = "";
		of_host.owner = 0;
		return open_by_id(&of_host, name, found);
	case DEBUG_BESIDE:
		return open_beside(origin, "", "", name, found);
	case DEBUG_BELOW:
		return open_beside(origin, "", "/.debug", name, found);
	case DEBUG_OF_FOLDER:
		return open_beside(origin, DEBUG_DIRECTORY, "", name, found);
	case DEBUG_AT_PATH:
		return open_at_path(origin, name, found);
	case DEBUG_OF_SERVER:
		return origin->may_ask && is_build_id(name) ?
			       debug_server_open(name, found, PATH_MAX) :
			       -ENOENT;
	}
	return -EINVAL;
}
