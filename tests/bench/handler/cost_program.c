// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bench/handler/cost_program.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

#define DESCRIPTORS "/proc/self/fdinfo"
#define OBJECTS_MAX 256
#define EMPTY_NAME "bench_empty"

int program_cost(const struct sampler_programs *programs, struct program_cost *result,
		 struct error *err)
{
	struct program_cost sum = { 0 };
	int ret = program_add_cost(programs->clock_fd, &sum, err);

	if (!ret)
		ret = program_add_cost(programs->tick_fd, &sum, err);
	if (!ret)
		*result = sum;
	return ret;
}

/* Loads an empty program for the tracepoint that the tick's program uses. */
static int load_on_tracepoint(void)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP);
	int id = libbpf_find_vmlinux_btf_id("hrtimer_expire_entry", BPF_TRACE_RAW_TP);

	if (id < 0)
		return id;
	opts.attach_btf_id = (__u32)id;
	return empty_program_load(BPF_PROG_TYPE_TRACING, EMPTY_NAME, &opts);
}

int empty_open(struct empty_programs *empty, const struct sampler_programs *like,
	       uint64_t period_ns, struct error *err)
{
	int cpus = libbpf_num_possible_cpus();

	empty->programs = (struct sampler_programs){ .tick_fd = -1, .tickless = like->tickless };
	empty->programs.clock_fd = empty_program_load(BPF_PROG_TYPE_PERF_EVENT, EMPTY_NAME, NULL);
	if (empty->programs.clock_fd < 0)
		return error_errno(err, empty->programs.clock_fd, "loading an empty BPF program");
	if (like->tick_fd >= 0) {
		empty->programs.tick_fd = load_on_tracepoint();
		if (empty->programs.tick_fd < 0)
			return error_errno(err, empty->programs.tick_fd,
					   "loading an empty BPF program on the tick");
	}
	if (cpus < 0)
		return error_errno(err, cpus, "/sys/devices/system/cpu/possible");
	return sampler_init(&empty->sampler, period_ns, (uint32_t)cpus, err);
}

void empty_close(struct empty_programs *empty)
{
	sampler_free(&empty->sampler);
	if (empty->programs.clock_fd > 0)
		close(empty->programs.clock_fd);
	if (empty->programs.tick_fd > 0)
		close(empty->programs.tick_fd);
	*empty = (struct empty_programs){ 0 };
}

struct object_memory {
	uint64_t bytes;
	unsigned int id; /* a program and a map may have the same id */
	bool is_map;
};

static bool read_memory(const char *name, struct object_memory *result)
{
	unsigned long long bytes;
	char path[300], line[256];
	cleanup_file FILE *file = NULL;
	bool found = false;

	snprintf(path, sizeof(path), DESCRIPTORS "/%s", name);
	file = fopen(path, "re");
	*result = (struct object_memory){ 0 };
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			result->bytes = bytes;
		result->is_map |= sscanf(line, "map_id: %u", &result->id) == 1;
		found |= result->is_map || sscanf(line, "prog_id: %u", &result->id) == 1;
	}
	return found;
}

/*
 * A map may be open twice, so ids are compared. Links are skipped: what they hold open is open by
 * itself too.
 */
uint64_t program_memory(void)
{
	struct object_memory objects[OBJECTS_MAX];
	struct dirent *entry;
	uint64_t bytes = 0;
	size_t nr = 0, i;
	DIR *dir = opendir(DESCRIPTORS);

	if (!dir)
		return 0;
	while (nr < OBJECTS_MAX && (entry = readdir(dir))) {
		if (!read_memory(entry->d_name, &objects[nr]) || !objects[nr].bytes)
			continue;
		for (i = 0;
		     objects[i].id != objects[nr].id || objects[i].is_map != objects[nr].is_map;
		     i++)
			;
		if (i == nr)
			bytes += objects[nr++].bytes;
	}
	closedir(dir);
	return bytes;
}
