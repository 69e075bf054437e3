// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "serve.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <criterion/criterion.h>

enum { OPTIONS_MAX = 16 };

/*
 * Whether it is listening with its mode set: the socket of a killed server exists too, but nobody
 * is listening.
 */
static bool listens(void *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	bool there;

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	there = !connect(fd, (const struct sockaddr *)&address, sizeof(address));
	close(fd);
	return there;
}

void serve_find(struct serve *serve)
{
	char path[64];
	FILE *children;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", serve->child.pid,
		 serve->child.pid);
	children = fopen(path, "re");
	cr_assert_not_null(children, "%s", path);
	cr_assert_eq(fscanf(children, "%d", &serve->pid), 1);
	fclose(children);
}

void serve_again(struct serve *serve, const char *const options[])
{
	const char *argv[OPTIONS_MAX + 5] = { BPFPROFIL_BIN, "serve", "--socket", serve->path };
	int i;

	for (i = 0; options[i]; i++) {
		cr_assert_lt(i, OPTIONS_MAX);
		argv[4 + i] = options[i];
	}
	child_start(&serve->child, NULL, argv);
	cr_assert(eventually(listens, serve->path), "nobody listens");
	serve_find(serve);
}

void serve_begin(struct serve *serve, const char *const options[])
{
	strcpy(serve->dir, "/tmp/bpfprofil-serve-XXXXXX");
	cr_assert_not_null(mkdtemp(serve->dir));
	chmod(serve->dir, 0755);
	snprintf(serve->path, sizeof(serve->path), "%s/socket", serve->dir);
	serve_again(serve, options);
}

const char *serve_said(const struct child_end *end)
{
	const char *line = end->err;

	if (strncmp(line, "bpfprofil: serve: ready at ", 27))
		return line;
	return strchr(line, '\n') ? strchr(line, '\n') + 1 : line;
}

void serve_stop(struct serve *serve)
{
	struct child_end end;

	kill(serve->child.pid, SIGTERM);
	child_finish(&serve->child, &end);
	cr_assert_eq(end.status, 0, "status %d: %s", end.status, end.err);
	cr_assert_str_empty(serve_said(&end));
	child_end_free(&end);
}

void serve_kill(struct serve *serve)
{
	struct child_end end;

	kill(serve->child.pid, SIGKILL);
	child_finish(&serve->child, &end);
	cr_assert_eq(end.status, 128 + SIGKILL);
	cr_assert_str_empty(serve_said(&end));
	child_end_free(&end);
}

void serve_clean(struct serve *serve)
{
	child_do(ARGS("rm", "-rf", serve->dir));
}

void serve_end(struct serve *serve)
{
	serve_stop(serve);
	serve_clean(serve);
}

int serve_descriptors(const struct serve *serve, const char *name)
{
	char path[64], target[128];
	struct dirent *entry;
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", serve->pid);
	dir = opendir(path);
	if (!dir)
		return -1;
	while ((entry = readdir(dir))) {
		ssize_t got = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[got > 0 ? got : 0] = '\0';
		n += got > 0 && strstr(target, name);
	}
	closedir(dir);
	return n;
}

static bool waits_in(const struct serve *serve, const char *thread, const char *function)
{
	char path[320], name[128] = "";
	FILE *stream;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/wchan", serve->pid, thread);
	stream = fopen(path, "re");
	if (!stream)
		return false;
	if (!fgets(name, sizeof(name), stream))
		name[0] = '\0';
	fclose(stream);
	return !strcmp(name, function);
}

int serve_waiting(const struct serve *serve, const char *function)
{
	char path[64];
	struct dirent *entry;
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", serve->pid);
	dir = opendir(path);
	if (!dir)
		return -1;
	while ((entry = readdir(dir)))
		n += waits_in(serve, entry->d_name, function);
	closedir(dir);
	return n;
}

long serve_number(const struct serve *serve, const char *file, const char *name)
{
	char path[64], line[256];
	long value = -1;
	FILE *stream;

	snprintf(path, sizeof(path), "/proc/%d/%s", serve->pid, file);
	stream = fopen(path, "re");
	if (!stream)
		return -1;
	while (fgets(line, sizeof(line), stream))
		if (!strncmp(line, name, strlen(name)))
			value = strtol(line + strlen(name), NULL, 10);
	fclose(stream);
	return value;
}

const char *serve_file(const struct serve *serve, const char *name)
{
	static char paths[4][160];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", serve->dir, name);
	return path;
}
