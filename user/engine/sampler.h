/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SAMPLER_H
#define BPFPROFIL_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/grace_period.h"
#include "shared/abi.h"

/*
 * What ticks. The clock of an online CPU is a few perf CPU-clock events of fixed periods, each with
 * the program attached: unlike periods, which have the rate asked for in sum. One alone locks with
 * programs that come and go at its own pace: a sleeper's timer is served in our interrupt, and what
 * it wakes begins just behind the tick. Never the adaptive frequency mode, which counts idle hosts wrong by an order
 * of magnitude, and never PERF_EVENT_IOC_REFRESH, which can deadlock 6.16 and 6.17. The scheduler's
 * tick is one program for all CPUs; those that have no such tick get the clock.
 */
enum { SAMPLER_CLOCKS = 3 };

struct sampler_event {
	int fd; /* -1: this CPU is not sampled by the clock */
	int link_fd;
	uint64_t period_ns;
};

/* The session's. */
struct sampler_programs {
	int clock_fd;
	int tick_fd; /* -1: the clock ticks on all CPUs */
	const __u64 *tickless; /* a bit for each of TICKLESS_CPUS: the clock ticks on these */
};

struct sampler {
	uint64_t period_ns;
	struct sampler_programs programs;
	int tick_link_fd; /* -1: none */
	struct grace_period grace;
	int uevent_fd; /* CPUs that come; -1: cannot be known here */
	bool running;
	struct sampler_event *events; /* SAMPLER_CLOCKS for each CPU, by its number */
	size_t nr_events;
	uint64_t withheld; /* ticks the kernel's throttle took, of events that are closed */
};

/* cpus: possible CPUs. Opens nothing yet. */
int sampler_init(struct sampler *sampler, uint64_t period_ns, uint32_t cpus, struct error *err);

int sampler_start(struct sampler *sampler, const struct sampler_programs *programs,
		  struct error *err);

/* The period of one of the clocks whose rates add up to that of period_ns. */
uint64_t sampler_clock_period(uint64_t period_ns, unsigned int clock);

/* After uevent_fd became readable: samples CPUs that came since. */
int sampler_follow_cpus(struct sampler *sampler, struct error *err);

/* After it no handler runs. */
void sampler_stop(struct sampler *sampler);

void sampler_free(struct sampler *sampler);

/* kernel.perf_event_max_sample_rate, or INFINITY: the kernel throttles above it. */
double sampler_max_hz(void);

/* The rate against it. */
int sampler_check_rate(double hz, struct error *err);

/* CPUs in a list as sysfs has it ("0-3,7"), told to each; a negative return ends and is returned. */
int cpu_list_each(const char *list, int (*each)(void *ctx, uint32_t cpu), void *ctx);

#endif
