// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/cost/bench_report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "host/engine/sched_tick.h"

/* The value of a line "NAME\t: VALUE" of /proc/cpuinfo; NULL if it has another name. */
static const char *value_of(char *line, const char *name)
{
	size_t length = strlen(name);
	char *colon = strchr(line, ':');

	if (strncmp(line, name, length) || !colon || colon[1] != ' ')
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	return colon + 2;
}

/*
 * Reads about the first CPU. Only x86 tells both; in a guest, a CPU flag tells of the hypervisor.
 */
static void read_cpu(struct bench_host *host)
{
	cleanup_file FILE *file = fopen("/proc/cpuinfo", "re");
	cleanup_free char *line = NULL;
	const char *value;
	size_t size = 0;

	while (file && host->machine == MACHINE_UNKNOWN && getline(&line, &size, file) > 0) {
		value = value_of(line, "model name");
		if (value)
			snprintf(host->model, sizeof(host->model), "%s", value);
		value = value_of(line, "flags");
		if (value)
			host->machine = strstr(value, " hypervisor") ? MACHINE_VIRTUAL :
								       MACHINE_METAL;
	}
}

void bench_host_read(struct bench_host *result)
{
	uint64_t period_ns = sched_tick_period_ns();

	memset(result, 0, sizeof(*result));
	uname(&result->system);
	result->started = time(NULL);
	result->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	result->tick_hz = period_ns ? 1e9 / (double)period_ns : 0;
	read_cpu(result);
}
