/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SAMPLER_H
#define BPFPROFIL_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "host/engine/maps.h"
#include "shared/abi.h"

/*
 * The source of ticks. The clock of an online CPU consists of a few perf CPU-clock events with
 * different fixed periods. Their rates add up to the requested one, and each runs the program. A
 * single event would fall in step with programs that wake at the same pace: its interrupt also
 * serves a sleeper's timer, and the sleeper begins just after the tick.
 *
 * The adaptive frequency mode is never used, because it miscounts idle hosts by an order of
 * magnitude, nor is PERF_EVENT_IOC_REFRESH, which can deadlock 6.16 and 6.17. The scheduler's tick
 * is one program for all CPUs; CPUs without such a tick get the clock.
 */
enum { SAMPLER_CLOCKS = 3 };

struct sampler_event {
	int fd; /* -1: the clock does not sample this CPU */
	int link_fd;
	uint64_t period_ns;
};

/* Belongs to the session. */
struct sampler_programs {
	int clock_fd;
	int tick_fd; /* -1: the clock ticks on all CPUs */
	const __u64 *tickless; /* a bit for each of TICKLESS_CPUS: the clock ticks on these CPUs */
};

struct sampler {
	uint64_t period_ns;
	struct sampler_programs programs;
	int tick_link_fd; /* -1: none */
	struct grace_period grace;
	int uevent_fd; /* reports CPUs that come and go; -1: not possible here */
	int resume_fd; /* reports the end of a suspension, likewise */
	int changes_fd; /* readable when one of these is */
	bool running;
	struct sampler_event *events; /* SAMPLER_CLOCKS for each CPU, by CPU number */
	size_t nr_events;
	bool *left_out; /* by CPU number: it is not sampled */
	uint64_t withheld; /* ticks that the throttle withheld from events now closed */
};

/*
 * Opens one such event, stopped, for a thread and a CPU; -1: all of them. Returns a descriptor or
 * -errno.
 */
int cpu_clock_open(uint64_t period_ns, pid_t pid, int cpu);

/* cpus is the number of possible CPUs. This opens nothing yet. */
int sampler_init(struct sampler *sampler, uint64_t period_ns, uint32_t cpus, struct error *err);

/*
 * Call before it starts: samples only the CPUs in this list; -EINVAL: a CPU does not exist, or none
 * is online.
 */
int sampler_choose_cpus(struct sampler *sampler, const char *list, struct error *err);

int sampler_start(struct sampler *sampler, const struct sampler_programs *programs,
		  struct error *err);

/*
 * Call when changes_fd is readable: samples new CPUs, and restarts all clocks after a suspension to
 * memory. Only the clock of the first CPU survives that.
 */
int sampler_follow_cpus(struct sampler *sampler, struct error *err);

/* Afterwards no program runs any more. */
void sampler_stop(struct sampler *sampler);

void sampler_free(struct sampler *sampler);

/* kernel.perf_event_max_sample_rate, above which the kernel throttles, or INFINITY. */
double sampler_max_hz(void);

/* Checks a rate against that limit. */
int sampler_check_rate(double hz, struct error *err);

/* A list of CPUs as sysfs has it ("0-3,7"). Set only `rest`, to the list. */
struct cpu_list {
	const char *rest;
	uint64_t next, end; /* of the current range */
};

/* False: there are no more CPUs. */
bool cpu_list_next(struct cpu_list *list, uint32_t *cpu);

#endif
