// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/source_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "base/util.h"

/* Limit for a source file; generated parsers have some megabytes. */
#define FILE_MAX (64 << 20)

/*
 * The user chose the folder, but the path is from debug information. It must not lead out of the
 * folder.
 */
static int open_below(const char *folder, const char *path)
{
	char below[PATH_MAX];
	const char *end;
	int fd = -ENOENT;

	for (end = path; fd < 0 && end; end = strchr(end + 1, '/')) {
		if (strstr(end, "/../") || !strncmp(end, "../", 3))
			continue;
		snprintf(below, sizeof(below), "%s/%s", folder, end);
		fd = regular_file_open("", below, NULL);
	}
	return fd;
}

static int open_source(const char *path, const struct source_search *search)
{
	int fd = regular_file_open_as(search->owner, search->root, path), below;

	if (fd < 0 && *search->root && !search->contained)
		fd = regular_file_open_as(search->owner, "", path);
	if (fd >= 0 || !search->folder)
		return fd;
	below = open_below(search->folder, path);
	return below < 0 ? fd : below;
}

static int read_text(int fd, size_t size, struct source_file *result)
{
	ssize_t got;

	result->text = malloc(size + 1);
	if (!result->text)
		return -ENOMEM;
	got = read_range(fd, result->text, size, 0);
	result->text[got < 0 ? 0 : got] = '\0';
	return got < 0 ? (int)got : 0;
}

static int split_lines(struct source_file *file)
{
	size_t room = 0, at;
	char *newline;
	int ret;

	for (at = 0; file->text[at]; at = (size_t)(newline + 1 - file->text)) {
		ret = PUSH(file->lines, room, file->nr_lines, at);
		if (ret)
			return ret;
		newline = strchr(file->text + at, '\n');
		if (!newline)
			break;
		*newline = '\0';
		if (newline > file->text + at && newline[-1] == '\r')
			newline[-1] = '\0';
	}
	return 0;
}

int source_file_read(const char *path, const struct source_search *search,
		     struct source_file *result)
{
	cleanup_fd int fd = open_source(path, search);
	struct stat stat;
	int ret;

	*result = (struct source_file){ 0 };
	if (fd < 0)
		return fd;
	if (fstat(fd, &stat))
		return -errno;
	if (stat.st_size > FILE_MAX)
		return -EINVAL;
	result->changed = stat.st_mtime;
	result->bytes = (size_t)stat.st_size;
	ret = read_text(fd, (size_t)stat.st_size, result);
	if (!ret)
		ret = split_lines(result);
	if (ret)
		source_file_free(result);
	return ret;
}

const char *source_file_line(const struct source_file *file, uint32_t line)
{
	return line && line <= file->nr_lines ? file->text + file->lines[line - 1] : NULL;
}

void source_file_free(struct source_file *file)
{
	free(file->text);
	free(file->lines);
	*file = (struct source_file){ 0 };
}
