// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What a full counter does in each dialect, and what each says of bad arguments, with real ticks.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <criterion/criterion.h>

#include "caller.h"

CALLER_SUITE(calls_dialects);

enum { COUNTERS = 64 };

static uint16_t counters[COUNTERS];

/*
 * A counter covers 64 KiB of text: one for burn_low() and the helpers, and others around it. The
 * functions are in the first half of a counter's text, because v7 rounds the second half up.
 */
static size_t first_pc(void)
{
	return (text_start() & ~0x7fffUL) - 32 * 0x10000UL;
}

static size_t burners_counter(void)
{
	return (text_start() - first_pc()) >> 16;
}

static int on_coarse(void)
{
	return profil(counters, sizeof(counters), first_pc(), 2);
}

static void assert_identity(const struct bpfprofil_status *status)
{
	ENSURE_NUMBER(status->total, ==,
		      status->binned + status->overflow + status->outside + status->filtered +
			      status->lost);
}

static void *burn_a_second(void *argument)
{
	burn_low(1);
	return argument;
}

/* Four threads in one counter, until it is full in the middle of them. */
static void burn_in_threads(void)
{
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, burn_a_second, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void assert_stopped_by_limit(uint16_t value)
{
	size_t at = burners_counter();
	struct bpfprofil_status status;
	uint16_t left[COUNTERS];

	ENSURE(bpfprofil_sync() == 0);
	status = told();
	memcpy(left, counters, sizeof(left));
	ENSURE_NUMBER(status.on, ==, BPFPROFIL_OFF);
	ENSURE_NUMBER(status.stopped, ==, BPFPROFIL_STOPPED_LIMIT);
	ENSURE_NUMBER(status.counter, ==, at);
	ENSURE_NUMBER(status.region, ==, 0);
	ENSURE_NUMBER(counters[at], ==, value);
	assert_identity(&status);
	burn_low(0.15);
	ENSURE(!memcmp(left, counters, sizeof(left)));
	ENSURE_NUMBER(told().total, ==, status.total);
}

/* 4 CPU seconds are 400 ticks, and more than 300 fill it. */
CALLER_TEST(calls_dialects, solaris_stops)
{
	size_t at = burners_counter(), i;
	uint64_t others = 0;

	ENSURE(bpfprofil_dialect("solaris") == 0);
	counters[at] = 32767 - 300;
	ENSURE(on_coarse() == 0);
	burn_in_threads();
	assert_stopped_by_limit(32767);
	for (i = 0; i < COUNTERS; i++)
		others += i == at ? 0 : counters[i];
	ENSURE_NUMBER(told().binned, ==, 300 + others);
	/* The sample that filled it may have stood for several ticks. */
	ENSURE_NUMBER(told().lost, <=, 8);
	/* A new call with the same buffer ends at its first tick there. */
	ENSURE(on_coarse() == 0);
	burn_low(0.2);
	assert_stopped_by_limit(32767);
}

CALLER_TEST(calls_dialects, solaris_preset_above)
{
	ENSURE(bpfprofil_dialect("solaris") == 0);
	counters[burners_counter()] = 40000;
	ENSURE(on_coarse() == 0);
	burn_low(0.2);
	assert_stopped_by_limit(40000);
	ENSURE_NUMBER(told().lost, ==, 1);
}

/* What the program writes while it is on also counts towards the limit, from the next copy on. */
CALLER_TEST(calls_dialects, solaris_preset_while_on)
{
	ENSURE(bpfprofil_dialect("solaris") == 0);
	ENSURE(on_coarse() == 0);
	burn_low(0.1);
	ENSURE(bpfprofil_sync() == 0);
	ENSURE(told().on == BPFPROFIL_PROFIL && counters[burners_counter()] > 3);
	counters[burners_counter()] = 32767 - 10;
	ENSURE(bpfprofil_sync() == 0);
	burn_low(0.3);
	assert_stopped_by_limit(32767);
}

static void stop_in_child(void *argument)
{
	(void)argument;
	burn_low(0.3);
	assert_stopped_by_limit(32767);
}

/* The child's counters continue the parent's, and its end does not end the parent's. */
CALLER_TEST(calls_dialects, solaris_fork)
{
	int child;

	ENSURE(bpfprofil_dialect("solaris") == 0);
	counters[burners_counter()] = 32767 - 25;
	ENSURE(on_coarse() == 0);
	burn_low(0.1);
	child = caller_fork(stop_in_child, NULL);
	caller_join(child);
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_PROFIL);
	ENSURE(off() == 0);
	ENSURE_NUMBER(told().stopped, ==, BPFPROFIL_STOPPED_ASKED);
	ENSURE_NUMBER(counters[burners_counter()], <, 32767 - 5);
}

/* Ticks for a counter with little room; returns how many were added, modulo 65536. */
static uint16_t beyond(const char *dialect, uint16_t preset)
{
	struct bpfprofil_status status;
	size_t at = burners_counter(), i;
	uint64_t others = 0;

	memset(counters, 0, sizeof(counters));
	counters[at] = preset;
	ENSURE(bpfprofil_dialect(dialect) == 0);
	ENSURE(on_coarse() == 0);
	burn_low(0.2);
	ENSURE(off() == 0);
	status = told();
	assert_identity(&status);
	for (i = 0; i < COUNTERS; i++)
		others += i == at ? 0 : counters[i];
	ENSURE_NUMBER(status.binned - others, >, 3);
	return (uint16_t)(preset + status.binned - others);
}

CALLER_TEST(calls_dialects, full_counters)
{
	static const char *const wrap[] = { "v7", "bsd43", "bsd44", "bsd44doc", "glibc" };
	static const char *const saturate[] = { "svr4", "irix" };
	size_t i;

	for (i = 0; i < sizeof(wrap) / sizeof(wrap[0]); i++) {
		uint16_t expected = beyond(wrap[i], 65530);

		ENSURE_NUMBER(counters[burners_counter()], ==, expected);
		ENSURE_NUMBER(expected, <, 1000);
	}
	for (i = 0; i < sizeof(saturate) / sizeof(saturate[0]); i++) {
		beyond(saturate[i], 65530);
		ENSURE_NUMBER(counters[burners_counter()], ==, 65535);
	}
}

static void saturate(const char *dialect, int wide)
{
	static uint32_t words[COUNTERS];
	struct prof region = { wide ? (void *)words : (void *)counters,
			       wide ? sizeof(words) : sizeof(counters), first_pc(), wide ? 4 : 2 };
	size_t at = burners_counter();

	words[at] = UINT32_MAX - 5;
	counters[at] = UINT16_MAX - 5;
	ENSURE(bpfprofil_dialect(dialect) == 0);
	ENSURE(sprofil(&region, 1, NULL, PROF_FAST | (wide ? PROF_UINT : PROF_USHORT)) == 0);
	burn_low(0.1);
	ENSURE(off() == 0);
	ENSURE_NUMBER(told().binned, >, 20);
	if (wide)
		ENSURE_NUMBER(words[at], ==, UINT32_MAX);
	else
		ENSURE_NUMBER(counters[at], ==, UINT16_MAX);
}

CALLER_TEST(calls_dialects, sprofil_saturates)
{
	saturate("glibc", 0);
	saturate("glibc", 1);
	saturate("irix", 0);
	saturate("irix", 1);
}

static int refused(int result, int error)
{
	return result == -1 && errno == error;
}

/* 4.4BSD checks the buffer at once; the others notice at the first tick. */
CALLER_TEST(calls_dialects, bsd44_refuses)
{
	char *buffer = fresh_pages(2 * PAGE);

	ENSURE(bpfprofil_dialect("bsd44") == 0);
	ENSURE(refused(profil((unsigned short *)buffer, PAGE, text_start(), 0x10001), EINVAL));
	ENSURE(on(buffer, 2 * PAGE) == 0 && off() == 0);
	ENSURE(mprotect(buffer + PAGE, PAGE, PROT_READ) == 0);
	ENSURE(refused(on(buffer, 2 * PAGE), EFAULT));
	ENSURE(munmap(buffer + PAGE, PAGE) == 0);
	ENSURE(refused(on(buffer, 2 * PAGE), EFAULT));
	ENSURE(refused(on(buffer, SIZE_MAX), EFAULT));
	ENSURE(refused(on((void *)16, 32), EFAULT));
	ENSURE(on(buffer, PAGE) == 0);
	/* A scale out of range changes nothing; a bad buffer ends what was on. */
	ENSURE(refused(profil((unsigned short *)buffer, PAGE, text_start(), 0x10001), EINVAL));
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_PROFIL);
	ENSURE(refused(on((void *)16, 32), EFAULT));
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_OFF);
	ENSURE_NUMBER(told().stopped, ==, BPFPROFIL_STOPPED_ASKED);
	/* NULL is a bad buffer, except with a scale of 0. */
	ENSURE(on(buffer, PAGE) == 0);
	ENSURE(refused(on(NULL, 32), EFAULT));
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_OFF);
	ENSURE(off() == 0);
	ENSURE(bpfprofil_dialect("solaris") == 0);
	ENSURE(on((void *)16, TEXT_SPAN) == 0);
	burn_low(0.2);
	ENSURE(bpfprofil_sync() == 0);
	ENSURE_NUMBER(told().stopped, ==, BPFPROFIL_STOPPED_FAULT);
}

/* "Each call to sprofil() will disable any profiling enabled by previous sprofil() calls." */
CALLER_TEST(calls_dialects, irix_failure_ends)
{
	struct prof region = { counters, sizeof(counters), text_start(), 0x10000 };
	struct prof overflow_first[] = { { counters, 2, 0, 2 }, region };
	const char *const dialects[] = { "irix", "glibc" };
	size_t i;

	for (i = 0; i < 2; i++) {
		unsigned int after = i ? BPFPROFIL_SPROFIL : BPFPROFIL_OFF;

		ENSURE(bpfprofil_dialect(dialects[i]) == 0);
		ENSURE(sprofil(&region, 1, NULL, 0) == 0);
		ENSURE(refused(sprofil(&region, 5000, NULL, 0), E2BIG));
		ENSURE_NUMBER(told().on, ==, after);
		ENSURE(sprofil(&region, 1, NULL, 0) == 0);
		ENSURE(refused(sprofil(&region, 1, NULL, 64), EINVAL));
		ENSURE_NUMBER(told().on, ==, after);
		/* These two errors are found before the server is asked. */
		ENSURE(sprofil(&region, 1, NULL, 0) == 0);
		ENSURE(refused(sprofil((struct prof *)16, 1, NULL, 0), EFAULT));
		ENSURE_NUMBER(told().on, ==, after);
		ENSURE(sprofil(&region, 1, NULL, 0) == 0);
		ENSURE(refused(sprofil(&region, 1, (struct timeval *)16, 0), EFAULT));
		ENSURE_NUMBER(told().on, ==, after);
	}
	ENSURE(bpfprofil_dialect("irix") == 0);
	ENSURE(sprofil(&region, 1, NULL, 0) == 0);
	ENSURE(refused(sprofil(overflow_first, 2, NULL, 0), EINVAL));
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_OFF);
}

/* None of these counts; all mean a stop, even if nothing is on. */
CALLER_TEST(calls_dialects, off_by_scale)
{
	static const struct {
		const char *dialect;
		unsigned int scale;
	} cases[] = { { "v7", 0 },	   { "v7", 1 },	     { "v7", 0x10000 }, { "svr4", 1 },
		      { "svr4", 0x10001 }, { "solaris", 1 }, { "bsd43", 1 },	{ "bsd43", 0 },
		      { "bsd44", 0 },	   { "irix", 1 },    { "irix", 0 },	{ "glibc", 0 } };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ENSURE(bpfprofil_dialect(cases[i].dialect) == 0);
		ENSURE(on_coarse() == 0 && told().on == BPFPROFIL_PROFIL);
		ENSURE(profil(counters, sizeof(counters), 0, cases[i].scale) == 0);
		ENSURE_NUMBER(told().on, ==, BPFPROFIL_OFF);
		ENSURE(profil(counters, sizeof(counters), 0, cases[i].scale) == 0);
		ENSURE(off() == 0);
	}
}

/* "RATIO * 0200000L", with a ratio of 1: as 0177777, "the maximal value of scale". */
CALLER_TEST(calls_dialects, svr4_ratio_1)
{
	uint16_t *buffer = fresh_pages(TEXT_SPAN), *again = fresh_pages(TEXT_SPAN);
	uint64_t sum;

	ENSURE(bpfprofil_dialect("svr4") == 0);
	ENSURE(profil(buffer, TEXT_SPAN, text_start(), 0200000) == 0);
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_PROFIL);
	burn_low(0.15);
	ENSURE(off() == 0);
	sum = sum_of(buffer, PAGE);
	ENSURE_NUMBER(sum, >, 5);
	ENSURE_NUMBER(told().binned, ==, sum_of(buffer, TEXT_SPAN));
	ENSURE(profil(again, TEXT_SPAN, text_start(), 0177777) == 0 && off() == 0);
}
