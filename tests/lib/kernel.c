// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "kernel.h"

#include <dirent.h>
#include <limits.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "child.h"

/* The number after "prog_id:" in an fdinfo file, or 0. A link's file has that line too. */
static uint32_t fdinfo_program(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[256];
	uint32_t id = 0;

	if (!file)
		return 0;
	while (!id && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "prog_id: %u", &id) != 1)
			id = 0;
	}
	fclose(file);
	return id;
}

static bool known(const uint32_t *ids, size_t n, uint32_t id)
{
	while (n--) {
		if (ids[n] == id)
			return true;
	}
	return false;
}

size_t process_bpf_programs(pid_t pid, uint32_t *ids, size_t max)
{
	char path[PATH_MAX];
	struct dirent *entry;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	dir = opendir(path);
	while (dir && n < max && (entry = readdir(dir))) {
		uint32_t id;

		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, entry->d_name);
		id = fdinfo_program(path);
		if (id && !known(ids, n, id))
			ids[n++] = id;
	}
	if (dir)
		closedir(dir);
	return n;
}

size_t process_fds(pid_t pid, const char *text)
{
	char path[PATH_MAX], target[PATH_MAX];
	struct dirent *entry;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, entry->d_name);
		len = readlink(path, target, sizeof(target) - 1);
		if (len < 0)
			continue;
		target[len] = '\0';
		n += strstr(target, text) != NULL;
	}
	if (dir)
		closedir(dir);
	return n;
}

static bool program_is_gone(uint32_t id)
{
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id;
	fd = syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &attr, sizeof(attr));
	if (fd >= 0)
		close((int)fd);
	return fd < 0;
}

struct programs {
	const uint32_t *ids;
	size_t n;
};

static bool all_gone(void *argument)
{
	struct programs *programs = argument;
	size_t i;

	for (i = 0; i < programs->n; i++) {
		if (!program_is_gone(programs->ids[i]))
			return false;
	}
	return true;
}

bool bpf_programs_gone(const uint32_t *ids, size_t n)
{
	struct programs programs = { .ids = ids, .n = n };

	/* Some programs are freed by a worker after a grace period. */
	return eventually(all_gone, &programs);
}
