// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <dirent.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "account.h"
#include "shared/abi.h"

#define MAX_MAPS 1024
#define MAX_PROG_MAPS 64

static bool prog_info(int fd, struct bpf_prog_info *info)
{
	uint32_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return fd >= 0 && !bpf_obj_get_info_by_fd(fd, info, &len);
}

int prog_open(uint32_t id)
{
	return id ? bpf_prog_get_fd_by_id(id) : -1;
}

static bool is_named(uint32_t id, const char *name)
{
	struct bpf_prog_info info;
	int fd = prog_open(id);
	bool found;

	found = prog_info(fd, &info) && info.type == BPF_PROG_TYPE_PERF_EVENT &&
		!strcmp(info.name, name);
	if (fd >= 0)
		close(fd);
	return found;
}

uint32_t newest_prog(void)
{
	uint32_t id = 0;

	while (!bpf_prog_get_next_id(id, &id))
		;
	return id;
}

uint32_t find_prog(uint32_t after, const char *name)
{
	uint32_t id = after;

	while (!bpf_prog_get_next_id(id, &id))
		if (is_named(id, name))
			return id;
	return 0;
}

struct prog_cost prog_fd_cost(int fd)
{
	struct bpf_prog_info info;

	if (!prog_info(fd, &info))
		return (struct prog_cost){ 0 };
	return (struct prog_cost){ .runs = info.run_cnt, .ns = info.run_time_ns };
}

struct prog_cost prog_cost(uint32_t id)
{
	int fd = prog_open(id);
	struct prog_cost cost = prog_fd_cost(fd);

	if (fd >= 0)
		close(fd);
	return cost;
}

/* The id of the program's map with that name; -1: none. */
static int prog_map(int prog, const char *name)
{
	struct bpf_prog_info info = { 0 };
	struct bpf_map_info map;
	uint32_t ids[MAX_PROG_MAPS], len = sizeof(info);

	info.map_ids = (uintptr_t)ids;
	info.nr_map_ids = MAX_PROG_MAPS;
	if (bpf_obj_get_info_by_fd(prog, &info, &len))
		return -1;
	for (uint32_t i = 0; i < info.nr_map_ids && i < MAX_PROG_MAPS; i++) {
		int fd = bpf_map_get_fd_by_id(ids[i]);

		len = sizeof(map);
		memset(&map, 0, sizeof(map));
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &map, &len) && !strcmp(map.name, name))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

struct prog_misses prog_misses(uint32_t id)
{
	struct prog_misses sum = { 0 };
	struct cpu_account account;
	int prog = prog_open(id), map = prog < 0 ? -1 : prog_map(prog, "cpu_accounts");

	for (uint32_t cpu = 0; map >= 0 && !bpf_map_lookup_elem(map, &cpu, &account); cpu++) {
		sum.misses += account.misses;
		sum.renewed += account.renewed;
	}
	if (map >= 0)
		close(map);
	if (prog >= 0)
		close(prog);
	return sum;
}

uint64_t process_cpu_ns(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct map_use {
	unsigned long long bytes;
	unsigned int id;
};

static bool read_map_use(const char *path, struct map_use *use)
{
	bool is_map = false;
	char line[256];
	FILE *f;

	*use = (struct map_use){ 0 };
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "memlock: %llu", &use->bytes);
		if (sscanf(line, "map_id: %u", &use->id) == 1)
			is_map = true;
	}
	fclose(f);
	return is_map;
}

uint64_t process_maps_kib(pid_t pid)
{
	struct map_use use[MAX_MAPS] = { 0 };
	struct dirent *entry;
	uint64_t bytes = 0;
	size_t n = 0, i;
	char path[300];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir)) && n < MAX_MAPS) {
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, entry->d_name);
		if (!read_map_use(path, &use[n]))
			continue;
		/* a map may be open twice */
		for (i = 0; use[i].id != use[n].id; i++)
			;
		if (i < n)
			continue;
		bytes += use[n++].bytes;
	}
	closedir(dir);
	return bytes / 1024;
}

uint64_t process_peak_kib(pid_t pid)
{
	unsigned long long kib = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %llu", &kib) == 1)
			break;
	fclose(f);
	return kib;
}
