// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Ticks beside a program that comes and goes at the pace of the clock must match the CPU time used.
 */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include <criterion/criterion.h>

#include "caller.h"

CALLER_SUITE(calls_rivals);

enum { TRIES = 3 };

/* Takes two fifths of a CPU, at the beginning of each of its periods. */
struct rival {
	double period;
	int cpu;
};

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ENSURE(sched_setaffinity(0, sizeof(set), &set) == 0);
}

static void be_rival(void *argument)
{
	const struct rival *rival = argument;
	double next = seconds_now();

	stay_on(rival->cpu);
	for (;;) {
		struct timespec until;
		double end = seconds_now() + 0.4 * rival->period;

		while (seconds_now() < end)
			;
		next += rival->period;
		until.tv_sec = (time_t)next;
		until.tv_nsec = (long)((next - (double)until.tv_sec) * 1e9);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}

/* The ticks of two seconds, relative to what they should be. */
static double measure(int (*start)(void *, size_t), double hz)
{
	char *buffer = fresh_pages(TEXT_SPAN);
	double used = cpu_seconds();

	ENSURE(start(buffer, TEXT_SPAN) == 0);
	burn_low(2);
	used = cpu_seconds() - used;
	return (double)off_and_account(buffer, TEXT_SPAN).total / used / hz;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * The median of the tries, because a hypervisor can take the CPU away amid one of them: the task's
 * time then goes on without ticks. A clock that beats with the rival is wrong in all of them.
 */
static void beside(int (*start)(void *, size_t), double period, double allowed)
{
	struct rival rival = { .period = period, .cpu = sched_getcpu() };
	double hz = start == on ? 100 : 1000, ratios[TRIES];
	int child = caller_fork(be_rival, &rival), i;

	stay_on(rival.cpu);
	for (i = 0; i < TRIES; i++)
		ratios[i] = measure(start, hz);
	qsort(ratios, TRIES, sizeof(ratios[0]), ascending);
	ENSURE_NUMBER(1000 * fabs(ratios[TRIES / 2] - 1), <=, 1000 * allowed);
	kill(child, SIGKILL);
}

CALLER_TEST(calls_rivals, of_10_ms)
{
	beside(on, 0.01, 0.03);
}

CALLER_TEST(calls_rivals, of_1_ms)
{
	beside(on_fast, 0.001, 0.01);
}
