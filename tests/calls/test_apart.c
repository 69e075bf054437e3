// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fork with a buffer of which the child has no copy: what was on its way to the parent's buffer
 * belongs to the parent only.
 */
#include <string.h>
#include <sys/mman.h>

#include <criterion/criterion.h>

#include "caller.h"

CALLER_SUITE(calls_apart);

enum { FORKS = 20 };

static char *buffer;

/* What children report, by number. */
static struct told {
	uint64_t binned;
	uint64_t found; /* in their buffer */
} * tell;

static void *shared_pages(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ENSURE(at != MAP_FAILED);
	return at;
}

/* Ends the call when the buffer also has others' counts. */
static uint64_t end_call(void)
{
	struct bpfprofil_status status;

	ENSURE(off() == 0);
	status = told();
	ENSURE_NUMBER(status.stopped, ==, BPFPROFIL_STOPPED_ASKED);
	ENSURE_NUMBER(status.total, ==,
		      status.binned + status.overflow + status.outside + status.filtered +
			      status.lost);
	ENSURE_NUMBER(status.lost, ==, 0);
	return status.binned;
}

static void burn_and_tell(void *number)
{
	struct told *own = &tell[*(int *)number];

	burn_high(0.02);
	own->binned = end_call();
	own->found = sum_of(buffer, TEXT_SPAN);
}

/* Forks at different times since the server's last copy. Returns what the children counted. */
static uint64_t fork_many(const char *dialect)
{
	uint64_t sum = 0;
	int i;

	tell = shared_pages(PAGE);
	ENSURE(bpfprofil_dialect(dialect) == 0);
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	for (i = 0; i < FORKS; i++) {
		burn_low(0.005 + 0.003 * i);
		caller_join(caller_fork(burn_and_tell, &i));
		ENSURE_NUMBER(tell[i].binned, >, 0);
		sum += tell[i].binned;
	}
	return sum;
}

/* Each tick counts once, whoever had it. */
static void shared_body(void *dialect)
{
	uint64_t sum;

	buffer = shared_pages(TEXT_SPAN);
	sum = fork_many(dialect);
	sum += end_call();
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), ==, sum);
}

CALLER_TEST(calls_apart, shared_wraps)
{
	shared_body("glibc");
}

/* The kernel compares its counters with a limit, and they begin with what the buffer holds. */
CALLER_TEST(calls_apart, shared_stops)
{
	shared_body("solaris");
}

static void wiped_body(const char *dialect)
{
	uint64_t own;
	int i;

	buffer = fresh_pages(TEXT_SPAN);
	ENSURE(madvise(buffer, TEXT_SPAN, MADV_WIPEONFORK) == 0);
	fork_many(dialect);
	for (i = 0; i < FORKS; i++)
		ENSURE_NUMBER(tell[i].found, ==, tell[i].binned);
	own = end_call();
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), ==, own);
}

CALLER_TEST(calls_apart, wiped_wraps)
{
	wiped_body("glibc");
}

CALLER_TEST(calls_apart, wiped_stops)
{
	wiped_body("solaris");
}

static void map_anew_and_tell(void *number)
{
	ENSURE(mmap(buffer, TEXT_SPAN, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == buffer);
	burn_and_tell(number);
}

/* If the parent's buffer is not mapped in the child, what the child maps there is its own. */
CALLER_TEST(calls_apart, absent)
{
	int i;

	tell = shared_pages(PAGE);
	buffer = fresh_pages(TEXT_SPAN);
	ENSURE(madvise(buffer, TEXT_SPAN, MADV_DONTFORK) == 0);
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	for (i = 0; i < FORKS; i++) {
		burn_low(0.005 + 0.003 * i);
		caller_join(caller_fork(map_anew_and_tell, &i));
		ENSURE_NUMBER(tell[i].found, ==, tell[i].binned);
	}
}

/* A tick of the child's own that has a counter cannot reach it, which ends the call rightly. */
static void sleep_and_look(void *idle)
{
	struct bpfprofil_status status;

	rest(0.15);
	status = told();
	*(int *)idle = status.total == status.outside;
	if (*(int *)idle)
		ENSURE_NUMBER(status.on, ==, BPFPROFIL_SPROFIL);
	else
		ENSURE_NUMBER(status.stopped, ==, BPFPROFIL_STOPPED_FAULT);
}

/* The parent's ticks must not cause a fault in the child. On a slow CPU some have ticks. */
CALLER_TEST(calls_apart, absent_and_idle)
{
	int *idle = shared_pages(PAGE), i;

	buffer = fresh_pages(TEXT_SPAN);
	ENSURE(madvise(buffer, TEXT_SPAN, MADV_DONTFORK) == 0);
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	for (i = 0; i < FORKS && !*idle; i++) {
		burn_low(0.03);
		caller_join(caller_fork(sleep_and_look, idle));
	}
	ENSURE(*idle);
	end_call();
}

enum { TEXT_OF_COUNTER = 4096 };

/* The counters of burn_high() are at the start of a page that is wiped. */
static uint16_t *two_halves(void)
{
	char *pages = fresh_pages(2 * PAGE);
	size_t before = high_at() / TEXT_OF_COUNTER * sizeof(uint16_t);
	struct prof region = { pages + PAGE - before, PAGE, text_start(),
			       sizeof(uint16_t) * 0x10000 / TEXT_OF_COUNTER };

	ENSURE(madvise(pages + PAGE, PAGE, MADV_WIPEONFORK) == 0);
	ENSURE(sprofil(&region, 1, NULL, PROF_FAST | PROF_USHORT) == 0);
	return region.pr_base;
}

static uint16_t *halves;

static void look_at_halves(void *argument)
{
	(void)argument;
	burn_high(0.01);
	tell->binned = end_call();
	tell[0].found = halves[high_at() / TEXT_OF_COUNTER];
	tell[1].found = halves[0];
}

/* Counters that are adjacent in the kernel may be apart in the buffer. */
CALLER_TEST(calls_apart, half_wiped)
{
	int i;

	tell = shared_pages(PAGE);
	halves = two_halves();
	burn_low(0.02);
	burn_high(0.1);
	for (i = 0; i < FORKS; i++) {
		uint16_t low;

		burn_low(0.005);
		burn_high(0.005 + 0.003 * i);
		caller_join(caller_fork(look_at_halves, NULL));
		ENSURE(bpfprofil_sync() == 0);
		low = halves[0];
		ENSURE_NUMBER(tell[0].found, >, 0);
		ENSURE_NUMBER(tell[0].found, <=, tell[0].binned);
		ENSURE_NUMBER(tell[1].found + 2, >=, low);
		ENSURE_NUMBER(tell[1].found, <=, low + tell[0].binned - tell[0].found);
	}
	end_call();
}

enum { SAMPLES = 512 };

static uintptr_t *samples;

static long stored_until(long from)
{
	while (from < SAMPLES && samples[from])
		from++;
	return from;
}

/* The child goes on at the same index, behind a gap where its parent's samples were. */
static void go_on_behind_gap(void *argument)
{
	long at = 0, own;

	(void)argument;
	burn_high(0.15);
	ENSURE(bpfprofil_sync() == 0);
	while (at < SAMPLES && !samples[at])
		at++;
	own = (long)told().binned;
	ENSURE_NUMBER(own, >, 5);
	ENSURE_NUMBER(at, >=, 20);
	ENSURE_NUMBER(stored_until(at), ==, at + own);
	ENSURE_NUMBER(pcsample(samples, 0), ==, at + own);
}

CALLER_TEST(calls_apart, wiped_samples)
{
	samples = fresh_pages(PAGE);
	ENSURE(madvise(samples, PAGE, MADV_WIPEONFORK) == 0);
	ENSURE(pcsample(samples, SAMPLES) == 0);
	burn_low(0.27);
	caller_join(caller_fork(go_on_behind_gap, NULL));
	ENSURE_NUMBER(pcsample(samples, 0), ==, stored_until(0));
}
