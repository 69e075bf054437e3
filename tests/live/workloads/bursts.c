// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * bursts ON_US OFF_US SECONDS [pipe|dodge]: works for ON_US of its own CPU time, again and again,
 * in three functions that share it 6 : 3 : 1, with pauses in between.
 *
 *     (nothing)  sleeps OFF_US on a timer
 *     pipe       waits for a byte that a partner on another CPU sends every OFF_US by its clock,
 *                without a timer; the partner spins all the time
 *     dodge      works through ON_US of each millisecond that begins when a tick was seen to fall,
 *                found by the gap that it leaves, and sleeps over the next
 *
 * Writes its own CPU time and the partner's, in ns, to standard output.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void spin_until(uint64_t end)
{
	while (now_ns() < end)
		;
}

/* The caller's own text reads the clock, so that a tick there belongs to the function. */
#define SPIN_FUNCTION(name)                                                                        \
	void name(uint64_t steps);                                                                 \
	__attribute__((noinline, aligned(64))) void name(uint64_t steps)                           \
	{                                                                                          \
		unsigned long x = 1;                                                               \
                                                                                                   \
		__asm__ volatile("/* " #name " */");                                               \
		for (; steps; steps--) {                                                           \
			x = x * 0x5851f42dUL + steps;                                              \
			__asm__ volatile("" : "+r"(x));                                            \
		}                                                                                  \
	}

SPIN_FUNCTION(sixty)
SPIN_FUNCTION(thirty)
SPIN_FUNCTION(ten)

static double steps_per_us;

static void calibrate(void)
{
	double best = 0, rate;
	uint64_t from;
	int i;

	for (i = 0; i < 20; i++) {
		from = now_ns();
		sixty(100000);
		rate = 1e8 / (double)(now_ns() - from);
		best = rate > best ? rate : best;
	}
	steps_per_us = best;
}

/* The order changes, so that no function is always the first. */
static void burst(double us, unsigned int turn)
{
	uint64_t steps = (uint64_t)(us * steps_per_us / 10);

	if (turn % 3 == 0)
		sixty(6 * steps);
	thirty(turn % 3 == 1 ? 0 : 3 * steps);
	if (turn % 3 == 1) {
		ten(steps);
		sixty(6 * steps);
		thirty(3 * steps);
		return;
	}
	ten(steps);
	if (turn % 3 == 2)
		sixty(6 * steps);
}

static void sleepers(double on, long off, uint64_t end)
{
	struct timespec pause = { .tv_nsec = off * 1000 };
	unsigned int turn = 0;

	while (now_ns() < end) {
		burst(on, turn++);
		nanosleep(&pause, NULL);
	}
}

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void piped(double on, long off, uint64_t end)
{
	unsigned int turn = 0;
	int fds[2];
	char byte = 0;

	if (pipe(fds))
		exit(1);
	if (!fork()) {
		on_cpu(1);
		while (now_ns() < end) {
			spin_until(now_ns() + (uint64_t)(on + (double)off) * 1000);
			if (write(fds[1], &byte, 1) != 1)
				break;
		}
		_exit(0);
	}
	close(fds[1]);
	on_cpu(0);
	while (read(fds[0], &byte, 1) == 1)
		burst(on, turn++);
	wait(NULL);
}

/*
 * A gap of more than 5 us between readings of the clock is an interrupt; the next one is a period
 * later.
 */
static void dodge(double on, uint64_t period, uint64_t end)
{
	struct timespec pause;
	uint64_t last = now_ns(), now, until;

	while (last < end) {
		do {
			now = now_ns();
			if (now - last > 5000)
				break;
			last = now;
		} while (now < end);
		until = now + (uint64_t)(on * 1000);
		while (now_ns() < until)
			ten(100);
		last = now_ns();
		pause = (struct timespec){ .tv_nsec = (long)(period + 20000 - (last - now)) };
		if (pause.tv_nsec > 0)
			nanosleep(&pause, NULL);
		last = now_ns();
	}
}

int main(int argc, char **argv)
{
	double on = argc > 1 ? atof(argv[1]) : 50, seconds = argc > 3 ? atof(argv[3]) : 2;
	long off = argc > 2 ? atol(argv[2]) : 100;
	const char *how = argc > 4 ? argv[4] : "";
	struct rusage partner;
	uint64_t end;

	calibrate();
	end = now_ns() + (uint64_t)(seconds * 1e9);
	if (!strcmp(how, "pipe"))
		piped(on, off, end);
	else if (!strcmp(how, "dodge"))
		dodge(on, (uint64_t)off * 1000, end);
	else
		sleepers(on, off, end);
	getrusage(RUSAGE_CHILDREN, &partner);
	printf("%llu %llu\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID),
	       (unsigned long long)((partner.ru_utime.tv_sec + partner.ru_stime.tv_sec) *
					    1000000000 +
				    (partner.ru_utime.tv_usec + partner.ru_stime.tv_usec) * 1000));
	return 0;
}
