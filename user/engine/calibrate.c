// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "engine/calibrate.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

#define COST_LIMIT 0.20

/* A tick of 50 us, four times the dearest seen, stays below the limit at this rate. */
#define UNMEASURED_HZ 4000

/* Short beside a time slice: with others on the CPU some rounds still go undisturbed. */
#define ROUNDS 20
#define ROUND_NS 1000000
#define PERIOD_NS 50000

/*
 * How often a fixed piece of work fits into a round. Of the wall clock: with CONFIG_IRQ_TIME_ACCOUNTING
 * interrupts are in no thread's CPU time.
 */
static uint64_t work(void)
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

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* What a tick takes from one thread. */
struct trial {
	pthread_t thread;
	int cpu; /* the only one it runs on; -1: on any */
	double best_ns; /* of the best rounds: whatever else runs only takes away */
	double median_ns; /* of rounds one after the other */
};

static int event_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.disabled = 1,
	};

	/* Of this thread, on whichever CPU it runs. */
	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static double tick_ns(uint64_t with, uint64_t without)
{
	return with < without ? (1 - (double)with / (double)without) * PERIOD_NS : 0;
}

static void try_ticks(struct trial *trial)
{
	uint64_t with, without, most_with = 0, most_without = 0;
	double rounds[ROUNDS];
	cleanup_fd int fd = event_open();
	int i;

	trial->best_ns = trial->median_ns = 0;
	if (fd < 0)
		return;
	for (i = 0; i < ROUNDS; i++) {
		without = work();
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		with = work();
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		rounds[i] = tick_ns(with, without);
		most_with = with > most_with ? with : most_with;
		most_without = without > most_without ? without : most_without;
	}
	qsort(rounds, ROUNDS, sizeof(rounds[0]), compare_doubles);
	trial->median_ns = rounds[ROUNDS / 2];
	trial->best_ns = tick_ns(most_with, most_without);
}

double calibrate_tick_ns(void)
{
	struct trial trial = { .cpu = -1 };

	try_ticks(&trial);
	return trial.best_ns;
}

static void *try_on_cpu(void *arg)
{
	struct trial *trial = arg;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(trial->cpu, &cpus);
	pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	try_ticks(trial);
	return NULL;
}

/* Two neighbours: what the hypervisor or the core lets them share, it lets these. */
static int neighbours(struct trial trials[2])
{
	cpu_set_t cpus;
	int cpu, nr = 0;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return 0;
	for (cpu = 0; cpu < CPU_SETSIZE && nr < 2; cpu++)
		if (CPU_ISSET(cpu, &cpus))
			trials[nr++].cpu = cpu;
	return nr;
}

double calibrate_busy_tick_ns(void)
{
	struct trial trials[2] = { { 0 } };
	int i, nr = neighbours(trials), begun = 0;
	double most = 0;

	while (begun < nr &&
	       !pthread_create(&trials[begun].thread, NULL, try_on_cpu, &trials[begun]))
		begun++;
	for (i = 0; i < begun; i++) {
		pthread_join(trials[i].thread, NULL);
		most = trials[i].median_ns > most ? trials[i].median_ns : most;
	}
	return most;
}

int calibrate_check(double hz, struct error *err)
{
	double ns;

	if (hz <= UNMEASURED_HZ)
		return 0;
	ns = calibrate_tick_ns();
	if (ns * hz / 1e9 <= COST_LIMIT)
		return 0;
	error_set(
		err, -EINVAL,
		"-F %.0f: a tick costs %.1f us here, that rate %.0f %% of each CPU (limit %.0f %%)",
		hz, ns / 1000, ns * hz / 1e7, COST_LIMIT * 100);
	error_hint(err, "-F %.0f, or --force", COST_LIMIT * 1e9 / ns);
	return -EINVAL;
}
