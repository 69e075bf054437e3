// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* pcsample(): each tick's pc, in order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <criterion/criterion.h>

#include "caller.h"

CALLER_SUITE(calls_samples);

enum { SAMPLES = 1024 };

static uintptr_t samples[SAMPLES];

static int is_low(uintptr_t pc)
{
	return pc >= text_start() && pc < text_start() + PAGE / 2;
}

static int is_high(uintptr_t pc)
{
	return pc >= text_start() + high_at() && pc < text_start() + high_at() + PAGE / 2;
}

static long samples_so_far(void)
{
	long n = 0;

	while (n < SAMPLES && samples[n])
		n++;
	return n;
}

/*
 * Low, high, low, as the time was spent. The number of changes shows whether one is out of order.
 */
CALLER_TEST(calls_samples, order)
{
	long n, i, changes = 0, lows = 0, highs = 0;
	int last = 0;

	ENSURE(pcsample(samples, SAMPLES) == 0);
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_PCSAMPLE);
	burn_low(0.2);
	burn_high(0.2);
	burn_low(0.2);
	n = pcsample(NULL, 0);
	ENSURE_NUMBER(n, >, 15);
	ENSURE_NUMBER(n, ==, samples_so_far());
	for (i = 0; i < n; i++) {
		int now = is_low(samples[i]) ? 1 : is_high(samples[i]) ? 2 : 0;

		lows += now == 1;
		highs += now == 2;
		changes += now && last && now != last;
		last = now ? now : last;
	}
	ENSURE_NUMBER(changes, ==, 2);
	ENSURE_NUMBER(lows, >, 7);
	ENSURE_NUMBER(highs, >, 3);
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_OFF);
	ENSURE_NUMBER(told().binned, ==, n);
	ENSURE_NUMBER(told().total, ==, n);
}

/* It stops with the last sample that has room, and writes nothing behind it. */
CALLER_TEST(calls_samples, full)
{
	struct bpfprofil_status status;

	samples[20] = 42;
	ENSURE(pcsample(samples, 20) == 0);
	burn_low(0.35);
	ENSURE(bpfprofil_sync() == 0);
	ENSURE(samples[19] && samples[20] == 42);
	status = told();
	ENSURE_NUMBER(status.on, ==, BPFPROFIL_OFF);
	ENSURE_NUMBER(status.stopped, ==, BPFPROFIL_STOPPED_FULL);
	ENSURE_NUMBER(status.binned, ==, 20);
	ENSURE_NUMBER(status.total, ==, 20);
	/*
	 * Each later call says how many samples the one before has stored, and begins at index 0.
	 */
	ENSURE_NUMBER(pcsample(samples, 5), ==, 20);
	burn_low(0.1);
	ENSURE_NUMBER(pcsample(samples, 0), ==, 5);
}

/* Each call returns what was stored in the interval that it ends, which is nothing after a stop. */
CALLER_TEST(calls_samples, told_once)
{
	uint16_t *buffer = fresh_pages(TEXT_SPAN);

	ENSURE(pcsample(samples, 15) == 0);
	burn_low(0.2);
	ENSURE_NUMBER(pcsample(samples, 0), ==, 15);
	ENSURE_NUMBER(pcsample(samples, 0), ==, 0);
	ENSURE_NUMBER(pcsample(samples, 0), ==, 0);
	ENSURE_NUMBER(pcsample(samples, 15), ==, 0);
	burn_low(0.2);
	/* It was full before another call stopped it: profil() resets the number. */
	ENSURE(on(buffer, TEXT_SPAN) == 0 && off() == 0);
	ENSURE_NUMBER(pcsample(samples, 15), ==, 0);
	burn_low(0.2);
	ENSURE(off() == 0);
	ENSURE_NUMBER(pcsample(samples, 0), ==, 0);
}

CALLER_TEST(calls_samples, refuses)
{
	ENSURE(pcsample(samples, -1) == -1 && errno == EINVAL);
	ENSURE(pcsample(samples, (1L << 31) + 1) == -1 && errno == EINVAL);
	ENSURE(pcsample(samples, INT64_MIN) == -1 && errno == EINVAL);
	ENSURE(pcsample(samples, 0) == 0);
	ENSURE(pcsample(samples, SAMPLES) == 0);
	burn_low(0.1);
	ENSURE(pcsample(samples, -1) == -1 && errno == EINVAL);
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_PCSAMPLE);
	ENSURE_NUMBER(pcsample(samples, 0), >, 5);
}

/* Each replaces the other, and profil() resets the number. */
CALLER_TEST(calls_samples, beside_profil)
{
	char *buffer = fresh_pages(TEXT_SPAN);
	long n;

	ENSURE(pcsample(samples, SAMPLES) == 0);
	burn_low(0.1);
	ENSURE(on(buffer, TEXT_SPAN) == 0);
	n = samples_so_far();
	ENSURE_NUMBER(n, >, 5);
	burn_low(0.1);
	ENSURE_NUMBER(samples_so_far(), ==, n);
	ENSURE(told().on == BPFPROFIL_PROFIL);
	ENSURE_NUMBER(pcsample(samples + 512, SAMPLES - 512), ==, 0);
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), >, 5);
	burn_low(0.1);
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), <, 15);
	ENSURE(off() == 0);
	ENSURE(samples[512] && !samples[SAMPLES - 1]);
}

static void go_on_in_child(void *before)
{
	long at = *(long *)before, high = 0, i;
	struct bpfprofil_status status;

	burn_high(0.15);
	ENSURE(bpfprofil_sync() == 0);
	ENSURE_NUMBER(samples_so_far(), >, at + 10);
	ENSURE(is_low(samples[at / 2]));
	for (i = at; i < samples_so_far(); i++)
		high += is_high(samples[i]);
	ENSURE_NUMBER(high, >, 10);
	status = told();
	ENSURE_NUMBER(status.binned, <, 25);
	ENSURE_NUMBER(status.binned, >=, samples_so_far() - 30);
	/* The child has all of them, including its parent's. */
	ENSURE_NUMBER(pcsample(samples, 0), ==, samples_so_far());
}

/* The child goes on behind its parent's samples, in its own copy. */
CALLER_TEST(calls_samples, fork)
{
	long i, n;
	int child;

	ENSURE(pcsample(samples, SAMPLES) == 0);
	burn_low(0.27);
	/* At least, with those on their way. */
	n = 20;
	child = caller_fork(go_on_in_child, &n);
	burn_low(0.1);
	caller_join(child);
	ENSURE(bpfprofil_sync() == 0);
	ENSURE_NUMBER(samples_so_far(), >, 30);
	/* The parent has none of its child's. */
	for (i = 0; i < samples_so_far(); i++)
		ENSURE(!is_high(samples[i]));
	ENSURE_NUMBER(pcsample(NULL, 0), ==, samples_so_far());
}

CALLER_TEST(calls_samples, fault)
{
	uintptr_t *pages = fresh_pages(2 * PAGE), *at = pages + PAGE / sizeof(*pages) - 10;
	struct bpfprofil_status status;

	ENSURE(munmap((char *)pages + PAGE, PAGE) == 0);
	ENSURE(pcsample(at, 100) == 0);
	burn_low(0.35);
	ENSURE(bpfprofil_sync() == 0);
	status = told();
	ENSURE_NUMBER(status.on, ==, BPFPROFIL_OFF);
	ENSURE_NUMBER(status.stopped, ==, BPFPROFIL_STOPPED_FAULT);
	ENSURE_NUMBER(status.total, ==, status.binned + status.lost);
	/* All that have room before the end, whatever came with them. */
	ENSURE_NUMBER(status.binned, ==, 10);
	ENSURE(at[0] && at[9]);
	ENSURE_NUMBER(pcsample(NULL, 0), ==, status.binned);
}
