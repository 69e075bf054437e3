// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* sprofil(): which region takes a tick, and both rates side by side. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <criterion/criterion.h>

#include "caller.h"
#include "need.h"

CALLER_SUITE(calls_regions);

enum { STEPS = 8, STEP_TEXT = 256, ROUNDS = 60000 };

static volatile unsigned long sink;

/* Steps with a known amount of work, in text with nothing else in it. */
#define STEP(n)                                                                                    \
	static __attribute__((noinline, aligned(STEP_TEXT))) void step##n(void)                    \
	{                                                                                          \
		int i;                                                                             \
                                                                                                   \
		for (i = 0; i < ((n) + 1) * 300; i++)                                              \
			sink += (unsigned long)i;                                                  \
	}

STEP(0)
STEP(1)
STEP(2)
STEP(3)
STEP(4)
STEP(5)
STEP(6)
STEP(7)

static void (*const steps[STEPS])(void) = { step0, step1, step2, step3, step4, step5, step6, step7 };

/*
 * Changes the step within microseconds, so that a tick is hardly ever where the last one was. The
 * order changes, because a fixed one might keep step with the clock.
 */
static void take_turns(double seconds)
{
	double end = cpu_seconds() + seconds;
	int i, j;

	do {
		for (j = 0; j < 100; j++) {
			int dice = random() % STEPS;

			for (i = 0; i < STEPS; i++)
				steps[i ^ dice]();
		}
	} while (cpu_seconds() < end);
}

static uint64_t sum_of_words(const uint32_t *words, size_t n)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += words[i];
	return sum;
}

enum { STEP_COUNTERS = STEP_TEXT / 4 };

/* In random order, because sprofil() requires none. */
static const int listed[STEPS] = { 5, 2, 7, 0, 3, 6, 1, 4 };

/* By how many standard errors the worst step differs from its share of the work. */
static double worst_deviation(const uint64_t *ticks)
{
	double sum = 0, worst = 0;
	int i;

	for (i = 0; i < STEPS; i++)
		sum += (double)ticks[i];
	for (i = 0; i < STEPS; i++) {
		double part = (i + 1) / (STEPS * (STEPS + 1) / 2.0);
		double off_by = fabs((double)ticks[i] - sum * part);

		worst = fmax(worst, off_by / sqrt(sum * part * (1 - part)));
	}
	return worst;
}

static double alternate(void)
{
	static uint32_t words[STEPS][STEP_COUNTERS], rest_of_them;
	struct prof regions[STEPS + 1];
	struct bpfprofil_status status;
	uint64_t ticks[STEPS], sum = 0;
	int i;

	memset(words, 0, sizeof(words));
	rest_of_them = 0;
	for (i = 0; i < STEPS; i++)
		regions[i] = (struct prof){ words[listed[i]], sizeof(words[0]),
					    (size_t)steps[listed[i]], 0x10000 };
	regions[STEPS] = (struct prof){ &rest_of_them, sizeof(rest_of_them), 0, 2 };
	ENSURE(sprofil(regions, STEPS + 1, NULL, PROF_UINT | PROF_FAST) == 0);
	take_turns(2);
	ENSURE(off() == 0);
	for (i = 0; i < STEPS; i++) {
		ticks[i] = sum_of_words(words[i], STEP_COUNTERS);
		sum += ticks[i];
	}
	status = told();
	ENSURE_NUMBER(status.total, ==, status.binned + status.overflow + status.lost);
	ENSURE_NUMBER(status.binned, ==, sum);
	ENSURE_NUMBER(status.overflow, ==, rest_of_them);
	ENSURE_NUMBER(sum, >, 500);
	/* The loops around them, and reading the clock. */
	ENSURE_NUMBER(status.overflow, <, sum / 20);
	return worst_deviation(ticks);
}

/* One of eight numbers may be off by three standard errors now and then, but not always. */
CALLER_TEST(calls_regions, alternating)
{
	double deviation = 9;
	int try;

	for (try = 0; try < 3 && deviation > 3; try++)
		deviation = alternate();
	ENSURE_NUMBER(deviation * 1000, <=, 3000);
}

struct rates {
	struct ratio ratio;
	int fast;
};

/* Measures CPU time while it is on, by the ticks of its own period. */
static void measure_rate(void *argument)
{
	struct rates *rates = argument;
	char *buffer = fresh_pages(TEXT_SPAN);
	double hz = rates->fast ? 1000 : 100, used, switches;
	struct bpfprofil_status status;

	used = cpu_seconds();
	switches = turns();
	ENSURE((rates->fast ? on_fast(buffer, TEXT_SPAN) : on(buffer, TEXT_SPAN)) == 0);
	burn_low(2.5);
	ENSURE_NUMBER(told().period_ns, ==, rates->fast ? 1000000 : 10000000);
	status = off_and_account(buffer, TEXT_SPAN);
	used = cpu_seconds() - used;
	rates->ratio = ratio_of((double)status.total, used * hz, turns() - switches + 1, 0.03);
}

/* Both clocks at the same time; each caller only gets the ticks of its own. */
CALLER_TEST(calls_regions, rates)
{
	struct rates *rates =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int children[2], try, i, good = 0;

	rates[1].fast = 1;
	/* A machine that takes a CPU away for longer than a period swallows ticks. */
	for (try = 0; try < 3 && !good; try++) {
		for (i = 0; i < 2; i++)
			children[i] = caller_fork(measure_rate, &rates[i]);
		for (i = 0; i < 2; i++)
			caller_join(children[i]);
		good = ratio_is_good(&rates[0].ratio) && ratio_is_good(&rates[1].ratio);
		fprintf(stderr, "of 100 Hz %.4f +- %.3f, of 1,000 Hz %.4f +- %.3f\n",
			rates[0].ratio.value, rates[0].ratio.allowed, rates[1].ratio.value,
			rates[1].ratio.allowed);
	}
	ENSURE(good);
}

CALLER_TEST(calls_regions, tick_is_told)
{
	static unsigned short counters[64];
	struct prof region = { counters, sizeof(counters), 0x1000, 0x10000 };
	struct timeval tick = { 7, 7 };

	errno = ENOTTY;
	ENSURE(sprofil(&region, 1, &tick, PROF_USHORT) == 0);
	ENSURE(tick.tv_sec == 0 && tick.tv_usec == 10000);
	ENSURE(sprofil(&region, 1, &tick, PROF_FAST) == 0);
	ENSURE(tick.tv_sec == 0 && tick.tv_usec == 1000);
	ENSURE(errno == ENOTTY);
	ENSURE(sprofil(&region, 1, (struct timeval *)16, PROF_FAST) == -1 && errno == EFAULT);
	ENSURE(sprofil((struct prof *)16, 1, NULL, PROF_FAST) == -1 && errno == EFAULT);
	ENSURE(sprofil(&region, 1, NULL, 4) == -1 && errno == EINVAL);
	ENSURE(sprofil(&region, 4097, NULL, 0) == -1 && errno == E2BIG);
	/* None of this changed anything. */
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_SPROFIL);
	ENSURE_NUMBER(told().period_ns, ==, 1000000);
	ENSURE(bpfprofil_dialect("irix") == 0);
	ENSURE(sprofil(&region, 0, NULL, 0) == -1 && errno == E2BIG);
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_OFF);
	ENSURE(bpfprofil_dialect("glibc") == 0);
	ENSURE(sprofil(NULL, 0, NULL, 0) == 0);
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_OFF);
}

/* A region whose buffer vanishes is removed; the others go on. */
CALLER_TEST(calls_regions, one_bad_region)
{
	char *low = fresh_pages(PAGE), *high = fresh_pages(PAGE);
	struct prof regions[] = {
		{ low, PAGE, text_start(), 0x10000 },
		{ high, PAGE, text_start() + high_at(), 0x10000 },
	};
	struct bpfprofil_status status;
	uint64_t before;

	ENSURE(sprofil(regions, 2, NULL, PROF_FAST) == 0);
	burn_low(0.1);
	burn_high(0.1);
	ENSURE(bpfprofil_sync() == 0);
	ENSURE(sum_of(low, PAGE) > 20 && sum_of(high, PAGE) > 20);
	ENSURE(mprotect(low, PAGE, PROT_READ) == 0);
	before = sum_of(low, PAGE);
	burn_low(0.15);
	status = told();
	ENSURE_NUMBER(status.on, ==, BPFPROFIL_SPROFIL);
	ENSURE_NUMBER(status.stopped, ==, BPFPROFIL_STOPPED_FAULT);
	ENSURE_NUMBER(status.region, ==, 0);
	ENSURE_NUMBER(status.lost, >, 0);
	burn_high(0.1);
	burn_low(0.1);
	ENSURE(off() == 0);
	ENSURE_NUMBER(sum_of(low, PAGE), ==, before);
	ENSURE_NUMBER(sum_of(high, PAGE), >, 45);
	status = told();
	ENSURE_NUMBER(status.total, ==,
		      status.binned + status.overflow + status.outside + status.lost);
	ENSURE_NUMBER(status.binned, ==, sum_of(low, PAGE) + sum_of(high, PAGE));
	/* Ticks that would have been the region's are outside now. */
	ENSURE_NUMBER(status.outside, >, 20);
}

/* 4,096 regions, most of them for other text, overlapping, with equal offsets, or without size. */
CALLER_TEST(calls_regions, many_regions)
{
	static struct prof regions[4096];
	static uint32_t rest_of_them[2];
	char *buffers = fresh_pages(4096 * 64), *low = fresh_pages(PAGE);
	uint64_t sum;
	int i;

	for (i = 0; i < 4096; i++)
		regions[i] = (struct prof){ buffers + i * 64, i % 5 ? 64 : 0,
					    text_start() + 0x100000 + (size_t)(i / 2) * 32,
					    0x10000 };
	regions[0] = (struct prof){ rest_of_them, sizeof(rest_of_them), 0, 2 };
	regions[1] = (struct prof){ (void *)16, SIZE_MAX, SIZE_MAX - 8, SIZE_MAX };
	regions[2] = (struct prof){ (void *)16, SIZE_MAX, 0, UINT32_MAX };
	regions[2000] = (struct prof){ low, PAGE, text_start(), 0x10000 };
	regions[2001] = (struct prof){ (void *)16, PAGE, text_start(), 0x10000 };
	ENSURE(sprofil(regions, 4096, NULL, PROF_UINT | PROF_FAST) == 0);
	burn_low(0.2);
	ENSURE(off() == 0);
	sum = sum_of_words((const uint32_t *)low, PAGE / 4);
	ENSURE_NUMBER(sum, >, 50);
	ENSURE_NUMBER(told().overflow, ==, rest_of_them[0]);
	ENSURE_NUMBER(rest_of_them[1], ==, 0);
	ENSURE_NUMBER(told().binned, ==, sum + sum_of_words((const uint32_t *)buffers, 4096 * 16));
}

static void fast_is_refused_body(void *argument)
{
	char *buffer = fresh_pages(TEXT_SPAN);

	(void)argument;
	ENSURE(on_fast(buffer, TEXT_SPAN) == -1 && errno == EACCES);
	ENSURE(on(buffer, TEXT_SPAN) == 0);
	burn_low(0.1);
	ENSURE_NUMBER(off_and_account(buffer, TEXT_SPAN).binned, >, 3);
}

static void fast_is_root_s_body(void *argument)
{
	char *buffer = fresh_pages(TEXT_SPAN);

	(void)argument;
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.05);
	ENSURE_NUMBER(off_and_account(buffer, TEXT_SPAN).binned, >, 10);
}

Test(calls_regions, restrict_fast, .init = need_root, .fini = NULL)
{
	caller_begin(&serve, ARGS("--restrict-fast"));
	caller_run_as(65534, fast_is_refused_body, NULL);
	caller_run(fast_is_root_s_body, NULL);
	serve_end(&serve);
}
