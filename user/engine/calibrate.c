// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "engine/calibrate.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define COST_LIMIT 0.20

/* A tick of 50 us, four times the dearest seen, stays below the limit at this rate. */
#define UNMEASURED_HZ 4000

/* Short beside a time slice: with others on the CPU some rounds still go undisturbed. */
#define ROUNDS 20
#define ROUND_NS 1000000
#define PERIOD_NS 50000

/* Of our own CPU time: what others take is not what a tick costs. */
static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* How often a fixed piece of work fits into a round. */
static uint64_t work(void)
{
	uint64_t end = thread_ns() + ROUND_NS, done = 0;
	volatile uint32_t sink = 0;
	int i;

	while (thread_ns() < end) {
		for (i = 0; i < 200; i++)
			sink += i;
		done++;
	}
	return done;
}

double calibrate_tick_ns(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.disabled = 1,
	};
	uint64_t with = 0, without = 0, done;
	int fd, i;

	/* Of this thread, on whichever CPU it runs. */
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return 0;
	/* Whatever else runs only takes away, so the best rounds are compared. */
	for (i = 0; i < ROUNDS; i++) {
		done = work();
		without = done > without ? done : without;
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		done = work();
		with = done > with ? done : with;
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	}
	close(fd);
	return with < without ? (1 - (double)with / without) * PERIOD_NS : 0;
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
