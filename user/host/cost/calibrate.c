// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/cost/cost.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "base/util.h"
#include "host/engine/sampler.h"

#define BUSY_TRIES 5
#define COST_LIMIT 0.20
#define USUAL_TRIES 6
#define USUAL_SHOWN 3

/*
 * At this rate even a tick of 50 us, four times the most expensive one seen, stays below the limit.
 */
#define UNMEASURED_HZ 4000

/*
 * A round is shorter than a time slice. Therefore some rounds are undisturbed even on a shared CPU.
 */
#define ROUNDS 20
#define TRIES 100 /* the most rounds to try */
#define ROUND_NS 1000000
#define PERIOD_NS 50000

/* Measure a cheaper tick with more ticks, at four fifths of the kernel's usual limit. */
#define CHEAP_NS 4000
#define SHORT_PERIOD_NS 12500

#define SIBLINGS "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list"

/*
 * How often a fixed piece of work fits into a round, by the wall clock: with
 * CONFIG_IRQ_TIME_ACCOUNTING no thread's CPU time includes interrupts.
 */
static uint64_t calibration_work(void)
{
	uint64_t end = monotonic_ns() + ROUND_NS, done = 0;
	volatile uint32_t sink = 0;
	int i;

	while (monotonic_ns() < end) {
		for (i = 0; i < 200; i++)
			sink += i;
		done++;
	}
	return done;
}

/* Measures how much time a tick costs one thread. */
struct trial {
	pthread_t thread;
	int cpu; /* the only CPU it runs on; -1: any */
	uint64_t period_ns; /* of the ticks during the measurement */
	double best_ns; /* from the best rounds: other work only makes rounds worse */
	double median_ns; /* the median of pairs of rounds */
};

static double tick_ns(const struct trial *trial, uint64_t with, uint64_t without)
{
	return with < without ? (1 - (double)with / (double)without) * (double)trial->period_ns : 0;
}

/* How often another thread has preempted this one. */
static long switches(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

DEFINE_COMPARE_AS(compare_numbers, double, compare_double(*a, *b))

/* Sorts the values; 0: there are none. */
static double median(double *values, size_t nr)
{
	SORT(values, nr, compare_numbers);
	return nr ? (values[(nr - 1) / 2] + values[nr / 2]) / 2 : 0;
}

/* Leave out rounds during which another thread ran: they say nothing about ticks. */
static void try_period(struct trial *trial, uint64_t period_ns)
{
	uint64_t with, without, most_with = 0, most_without = 0;
	double rounds[ROUNDS];
	cleanup_fd int fd = cpu_clock_open(period_ns, 0, -1); /* in this thread, on any CPU */
	long before;
	size_t nr = 0;
	int i;

	trial->period_ns = period_ns;
	trial->best_ns = trial->median_ns = 0;
	if (fd < 0)
		return;
	for (i = 0; i < TRIES && nr < ROUNDS; i++) {
		before = switches();
		without = calibration_work();
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		with = calibration_work();
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		if (switches() != before)
			continue;
		rounds[nr++] = tick_ns(trial, with, without);
		most_with = with > most_with ? with : most_with;
		most_without = without > most_without ? without : most_without;
	}
	trial->median_ns = median(rounds, nr);
	trial->best_ns = tick_ns(trial, most_with, most_without);
}

/* Rounds vary by more than cheap ticks cost. Therefore measure cheap ticks at a higher rate. */
static void try_ticks(struct trial *trial)
{
	try_period(trial, PERIOD_NS);
	if (trial->best_ns < CHEAP_NS)
		try_period(trial, SHORT_PERIOD_NS);
}

/* 0: it could not be measured. */
static double lone_tick_ns(void)
{
	struct trial trial = { .cpu = -1 };

	try_ticks(&trial);
	return trial.best_ns;
}

static void *try_on_cpu(void *arg)
{
	struct trial *trial = arg;
	cpu_mask only;

	memset(&only, 0, sizeof(only));
	CPU_SET_S(trial->cpu, sizeof(only), only.part);
	pthread_setaffinity_np(pthread_self(), sizeof(only), only.part);
	try_ticks(trial);
	return NULL;
}

struct neighbours {
	cpu_mask allowed;
	int first, second; /* -1: there is none */
};

static void choose_neighbour(struct neighbours *neighbours, uint32_t cpu)
{
	if (neighbours->second < 0 && cpu < CPU_MASK_CPUS && (int)cpu != neighbours->first &&
	    CPU_ISSET_S(cpu, sizeof(cpu_mask), neighbours->allowed.part))
		neighbours->second = (int)cpu;
}

/*
 * Finds two CPUs that share a core, if the kernel knows such a pair. In a VM perhaps only the
 * hypervisor knows.
 */
static void find_neighbours(struct neighbours *neighbours)
{
	char path[100], list[256];
	struct cpu_list siblings = { .rest = list };
	uint32_t sibling;
	int cpu;

	memset(neighbours, 0, sizeof(*neighbours));
	neighbours->first = neighbours->second = -1;
	if (sched_getaffinity(0, sizeof(cpu_mask), neighbours->allowed.part))
		return;
	for (cpu = 0; cpu < CPU_MASK_CPUS && neighbours->first < 0; cpu++)
		if (CPU_ISSET_S(cpu, sizeof(cpu_mask), neighbours->allowed.part))
			neighbours->first = cpu;
	snprintf(path, sizeof(path), SIBLINGS, neighbours->first);
	if (!read_first_line(path, list, sizeof(list)))
		while (cpu_list_next(&siblings, &sibling))
			choose_neighbour(neighbours, sibling);
	for (; cpu < CPU_MASK_CPUS; cpu++)
		choose_neighbour(neighbours, (uint32_t)cpu);
}

static double try_neighbours(void)
{
	struct neighbours neighbours;
	struct trial trials[2] = { { 0 } };
	double most = 0, tick;
	int i, begun = 0;

	find_neighbours(&neighbours);
	trials[0].cpu = neighbours.first;
	trials[1].cpu = neighbours.second;
	while (begun < 2 && trials[begun].cpu >= 0 &&
	       !pthread_create(&trials[begun].thread, NULL, try_on_cpu, &trials[begun]))
		begun++;
	for (i = 0; i < begun; i++) {
		pthread_join(trials[i].thread, NULL);
		/*
		 * On metal, half of the rounds of a busy host may show no cost. Then use the best
		 * rounds.
		 */
		tick = trials[i].median_ns > 0 ? trials[i].median_ns : trials[i].best_ns;
		most = tick > most ? tick : most;
	}
	return most;
}

/* On a crowded host one attempt may show no cost. Therefore repeat it. */
double calibrate_busy_tick_ns(void)
{
	double tick = 0;
	int i;

	for (i = 0; i < BUSY_TRIES && tick <= 0; i++)
		tick = try_neighbours();
	return tick;
}

/*
 * The median of three measurements that show a cost. On a crowded host other work may disturb all
 * rounds of one measurement, and a tick then seems to cost nothing.
 */
static double usual_tick_ns(void)
{
	double shown[USUAL_SHOWN], ns;
	int i;
	size_t nr = 0;

	for (i = 0; i < USUAL_TRIES && nr < USUAL_SHOWN; i++) {
		ns = lone_tick_ns();
		if (ns > 0)
			shown[nr++] = ns;
	}
	return median(shown, nr);
}

int calibrate_check(double hz, struct error *err)
{
	double ns;

	if (sampler_check_rate(hz, err))
		return -EINVAL;
	if (hz <= UNMEASURED_HZ)
		return 0;
	ns = usual_tick_ns();
	if (ns * hz / 1e9 <= COST_LIMIT)
		return 0;
	error_set(
		err, -EINVAL,
		"-F %.0f: a tick costs %.1f us here, that rate %.0f %% of each CPU (limit %.0f %%)",
		hz, ns / 1000, ns * hz / 1e7, COST_LIMIT * 100);
	error_hint(err, "-F %.0f, or --force", COST_LIMIT * 1e9 / ns);
	return -EINVAL;
}
