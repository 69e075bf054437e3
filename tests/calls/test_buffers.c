// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Unusual buffers, and when counts are visible in them. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "caller.h"
#include "need.h"

CALLER_SUITE(calls_buffers);

/* Asserts that a fault stopped the call: its account adds up, and ticks since then are lost. */
static struct bpfprofil_status assert_fault(void)
{
	struct bpfprofil_status status;

	ENSURE(bpfprofil_sync() == 0);
	status = told();
	ENSURE_NUMBER(status.on, ==, BPFPROFIL_OFF);
	ENSURE_NUMBER(status.stopped, ==, BPFPROFIL_STOPPED_FAULT);
	ENSURE_NUMBER(status.region, ==, 0);
	ENSURE_NUMBER(status.total, ==,
		      status.binned + status.overflow + status.outside + status.filtered +
			      status.lost);
	ENSURE_NUMBER(status.lost, >, 0);
	return status;
}

enum { FRAME = 32768 };

static __attribute__((noinline)) void profile_in_a_frame(void)
{
	unsigned short frame[FRAME / 2] = { 0 };

	ENSURE(on_fast(frame, sizeof(frame)) == 0);
	burn_low(0.1);
	/* What is on its way when the call ends is in the buffer when it returns. */
	off_and_account(frame, sizeof(frame));
	ENSURE_NUMBER(sum_of(frame, sizeof(frame)), >, 20);
}

static __attribute__((noinline)) void use_the_stack(void)
{
	volatile unsigned char again[2 * FRAME];
	size_t i;

	for (i = 0; i < sizeof(again); i++)
		again[i] = 0x5a;
	burn_low(0.2);
	for (i = 0; i < sizeof(again); i++)
		ENSURE_NUMBER(again[i], ==, 0x5a);
}

CALLER_TEST(calls_buffers, dead_frame)
{
	profile_in_a_frame();
	use_the_stack();
}

static void *start_and_leave(void *stack)
{
	ENSURE(on_fast(stack, FRAME) == 0);
	return NULL;
}

/* A thread's stack, which is unmapped after the thread's end while profiling is on. */
CALLER_TEST(calls_buffers, stack_of_a_thread)
{
	char *stack = fresh_pages(4 * FRAME);
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	ENSURE(pthread_attr_setstack(&attributes, stack, 4 * FRAME) == 0);
	ENSURE(pthread_create(&thread, &attributes, start_and_leave, stack) == 0);
	pthread_join(thread, NULL);
	burn_low(0.1);
	ENSURE(told().binned == sum_of(stack, FRAME));
	ENSURE(munmap(stack, 4 * FRAME) == 0);
	burn_low(0.15);
	assert_fault();
}

static int is_mapped(uintptr_t at)
{
	return msync((void *)(at & -(uintptr_t)sysconf(_SC_PAGESIZE)), 1, MS_ASYNC) == 0;
}

/* So large that free() returns it to the kernel, unless a sanitizer keeps it for a while. */
CALLER_TEST(calls_buffers, freed)
{
	char *buffer = calloc(1, 1 << 20);
	volatile uintptr_t at = (uintptr_t)buffer; /* else gcc warns that it is used after free() */

	ENSURE(buffer && on(buffer, 1 << 20) == 0);
	free(buffer);
	burn_low(0.3);
	if (is_mapped(at)) {
		ENSURE_NUMBER(told().lost, ==, 0);
		return;
	}
	assert_fault();
	ENSURE(off() == 0);
	ENSURE(told().stopped == BPFPROFIL_STOPPED_FAULT);
}

/* What is still mapped keeps its counts, and gets no more. */
static void unmap_while(int (*start)(void *, size_t), double seconds)
{
	char *buffer = fresh_pages(TEXT_SPAN);
	struct bpfprofil_status status;
	uint64_t low;

	ENSURE(start(buffer, TEXT_SPAN) == 0);
	burn_low(seconds);
	ENSURE(bpfprofil_sync() == 0);
	low = sum_of(buffer, PAGE);
	ENSURE_NUMBER(low, >, 0);
	ENSURE(munmap(buffer + high_at(), PAGE) == 0);
	burn_high(seconds);
	status = assert_fault();
	ENSURE_NUMBER(sum_of(buffer, PAGE), >=, low);
	low = sum_of(buffer, PAGE);
	ENSURE_NUMBER(low, ==, status.binned);
	burn_low(seconds);
	ENSURE_NUMBER(sum_of(buffer, PAGE), ==, low);
	ENSURE_NUMBER(told().total, ==, status.total);
}

CALLER_TEST(calls_buffers, unmapped_profil)
{
	unmap_while(on, 0.3);
}

CALLER_TEST(calls_buffers, unmapped_sprofil)
{
	unmap_while(on_fast, 0.15);
}

/* What is mapped there afterwards belongs to somebody else. */
CALLER_TEST(calls_buffers, mapped_anew)
{
	char *buffer = fresh_pages(TEXT_SPAN);

	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.1);
	munmap(buffer, TEXT_SPAN);
	burn_low(0.15);
	assert_fault();
	ENSURE(mmap(buffer, TEXT_SPAN, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == buffer);
	burn_low(0.15);
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), ==, 0);
	/* A new call counts there. */
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.1);
	ENSURE_NUMBER(off_and_account(buffer, TEXT_SPAN).binned, >, 20);
}

CALLER_TEST(calls_buffers, read_only)
{
	char *buffer = fresh_pages(TEXT_SPAN);
	uint64_t before;

	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.1);
	ENSURE(bpfprofil_sync() == 0);
	ENSURE(mprotect(buffer, TEXT_SPAN, PROT_READ) == 0);
	before = sum_of(buffer, TEXT_SPAN);
	burn_low(0.15);
	ENSURE_NUMBER(assert_fault().binned, ==, before);
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), ==, before);
}

/* Shared and read-only from the start: a mapping of a file that may not be written. */
CALLER_TEST(calls_buffers, read_only_file)
{
	int fd = memfd_create("buffer", 0);
	char *buffer;

	ENSURE(fd >= 0 && ftruncate(fd, TEXT_SPAN) == 0);
	buffer = mmap(NULL, TEXT_SPAN, PROT_READ, MAP_SHARED, fd, 0);
	ENSURE(buffer != MAP_FAILED && on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.15);
	assert_fault();
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), ==, 0);
}

/* A file that was truncated: reading it would raise SIGBUS. */
CALLER_TEST(calls_buffers, file_cut_off)
{
	int fd = memfd_create("buffer", 0);
	char *buffer;

	ENSURE(fd >= 0 && ftruncate(fd, TEXT_SPAN) == 0);
	buffer = mmap(NULL, TEXT_SPAN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ENSURE(buffer != MAP_FAILED && on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.1);
	ENSURE(bpfprofil_sync() == 0 && sum_of(buffer, TEXT_SPAN) > 0);
	ENSURE(ftruncate(fd, 0) == 0);
	burn_low(0.15);
	assert_fault();
}

/* Untouched pages cause no fault, and pages without counts stay untouched. */
CALLER_TEST(calls_buffers, never_touched)
{
	enum { PAGES = 256 };
	const size_t size = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	unsigned char there[PAGES];
	char *buffer = fresh_pages(size);
	size_t i, touched = 0;

	madvise(buffer, size, MADV_NOHUGEPAGE);
	ENSURE(on_fast(buffer, size) == 0);
	burn_low(0.1);
	burn_high(0.1);
	ENSURE(bpfprofil_sync() == 0);
	ENSURE(mincore(buffer, size, there) == 0);
	for (i = 0; i < PAGES; i++)
		touched += there[i] & 1;
	/* The pages of its two functions, and those of some lines of the helpers. */
	ENSURE_NUMBER(touched, >=, 2);
	ENSURE_NUMBER(touched, <, 32);
	ENSURE_NUMBER(off_and_account(buffer, size).binned, >, 40);
}

/* Pages given back with MADV_DONTNEED start from zero and cause no fault. */
CALLER_TEST(calls_buffers, given_back)
{
	char *buffer = fresh_pages(TEXT_SPAN);
	uint64_t before;

	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.1);
	ENSURE(bpfprofil_sync() == 0);
	before = told().binned;
	ENSURE(madvise(buffer, TEXT_SPAN, MADV_DONTNEED) == 0);
	burn_low(0.1);
	ENSURE(off() == 0);
	ENSURE_NUMBER(told().stopped, ==, BPFPROFIL_STOPPED_ASKED);
	ENSURE_NUMBER(told().binned - before - sum_of(buffer, TEXT_SPAN), <=, 2);
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), >, 20);
}

/* Only the first of two pages exists: what belongs there is counted until the other one is hit. */
CALLER_TEST(calls_buffers, half_there)
{
	char *buffer = fresh_pages(2 * TEXT_SPAN), *start;
	struct bpfprofil_status status;

	/* burn_high()'s counters begin with the missing page. */
	start = buffer + TEXT_SPAN - high_at();
	munmap(buffer + TEXT_SPAN, TEXT_SPAN);
	ENSURE(on(start, TEXT_SPAN) == 0);
	burn_low(0.2);
	ENSURE(bpfprofil_sync() == 0);
	status = told();
	ENSURE_NUMBER(status.on, ==, BPFPROFIL_PROFIL);
	ENSURE_NUMBER(sum_of(start, high_at()), ==, status.binned);
	ENSURE_NUMBER(status.binned, >, 3);
	burn_high(0.2);
	status = assert_fault();
	ENSURE_NUMBER(sum_of(start, high_at()), ==, status.binned);
}

/* Two adjacent counters, one for each function; one of them is unmapped before the copy. */
static void neighbour_of_a_hole(int low_stays)
{
	char *pages = fresh_pages(2 * PAGE);
	struct prof region = { pages + PAGE - 2, 4, text_start(), 0 };
	struct bpfprofil_status status;
	uint64_t there;

	region.pr_scale = (0x20000 + high_at() - 1) / high_at();
	ENSURE(sprofil(&region, 1, NULL, PROF_FAST | PROF_USHORT) == 0);
	kill(serve.pid, SIGSTOP);
	burn_low(0.02);
	burn_high(0.02);
	ENSURE(munmap(pages + (low_stays ? PAGE : 0), PAGE) == 0);
	kill(serve.pid, SIGCONT);
	ENSURE(bpfprofil_sync() == 0);
	status = told();
	there = sum_of(pages + (low_stays ? PAGE - 2 : PAGE), 2);
	ENSURE_NUMBER(status.stopped, ==, BPFPROFIL_STOPPED_FAULT);
	ENSURE_NUMBER(status.lost, >, 5);
	ENSURE_NUMBER(there, >, 5);
	ENSURE_NUMBER(there, ==, status.binned);
	munmap(pages, 2 * PAGE);
}

CALLER_TEST(calls_buffers, hole_in_a_batch)
{
	neighbour_of_a_hole(1);
	neighbour_of_a_hole(0);
}

/*
 * The bytes of the two functions' counters, at an odd address; no byte before or after may be
 * written.
 */
static void odd_size(size_t size)
{
	unsigned char *around = fresh_pages(TEXT_SPAN + 2 * PAGE), *buffer = around + PAGE + 1;
	struct bpfprofil_status status;
	size_t i;

	memset(around, 0xa5, TEXT_SPAN + 2 * PAGE);
	memset(buffer, 0, size & ~1UL);
	ENSURE(on_fast(buffer, size) == 0);
	burn_low(0.1);
	status = off_and_account(buffer, size & ~1UL);
	ENSURE_NUMBER(status.total, >, 20);
	ENSURE(size >= 2 || !status.binned);
	for (i = 0; i < PAGE + 1; i++)
		ENSURE_NUMBER(around[i], ==, 0xa5);
	for (i = size & ~1UL; i < TEXT_SPAN; i++)
		ENSURE_NUMBER(buffer[i], ==, 0xa5);
	munmap(around, TEXT_SPAN + 2 * PAGE);
}

CALLER_TEST(calls_buffers, odd)
{
	size_t size;

	/* All sizes around the few lines that are hot, and the smallest. */
	for (size = 1; size < 128; size += size < 4 ? 1 : 12)
		odd_size(size);
	odd_size(PAGE - 1);
}

static void burn_into(void *buffer)
{
	burn_low(0.2);
	ENSURE(off() == 0);
	*(uint64_t *)((char *)buffer + TEXT_SPAN) = told().binned;
}

/* Parent and child have separate counters in the kernel, and one buffer. */
CALLER_TEST(calls_buffers, shared)
{
	char *buffer = mmap(NULL, TEXT_SPAN + PAGE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t *of_child = (uint64_t *)(buffer + TEXT_SPAN);
	int child;

	ENSURE(buffer != MAP_FAILED && on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.03);
	child = caller_fork(burn_into, buffer);
	burn_low(0.2);
	caller_join(child);
	ENSURE(off() == 0);
	ENSURE_NUMBER(*of_child, >, 40);
	ENSURE_NUMBER(told().binned, >, 40);
	ENSURE_NUMBER(sum_of(buffer, TEXT_SPAN), ==, told().binned + *of_child);
}

/* The next tick is added to what the program writes into the buffer. */
CALLER_TEST(calls_buffers, written_by_the_program)
{
	uint16_t *buffer = fresh_pages(TEXT_SPAN);
	size_t i, n = TEXT_SPAN / sizeof(*buffer);
	uint64_t before, sum;

	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.1);
	ENSURE(bpfprofil_sync() == 0);
	before = told().binned;
	memset(buffer, 0, TEXT_SPAN);
	burn_low(0.1);
	ENSURE(bpfprofil_sync() == 0);
	sum = sum_of(buffer, TEXT_SPAN);
	ENSURE_NUMBER(sum, >, 20);
	ENSURE_NUMBER(sum, <=, told().binned - before + 2);
	for (i = 0; i < n; i++)
		buffer[i] = 100;
	before = told().binned;
	burn_low(0.1);
	ENSURE(off() == 0);
	sum = sum_of(buffer, TEXT_SPAN) - 100 * n;
	ENSURE_NUMBER(sum, >, 20);
	ENSURE_NUMBER(told().binned - before - sum, <=, 2);
	for (i = 0; i < n; i++)
		ENSURE_NUMBER(buffer[i], >=, 100);
}

/*
 * A second call is in force at once, with another buffer: nothing goes to the first one any more.
 */
CALLER_TEST(calls_buffers, replaced)
{
	char *first = fresh_pages(TEXT_SPAN), *second = fresh_pages(TEXT_SPAN);
	uint64_t sum;

	ENSURE(on_fast(first, TEXT_SPAN) == 0);
	burn_low(0.1);
	ENSURE(on_fast(second, TEXT_SPAN) == 0);
	sum = sum_of(first, TEXT_SPAN);
	ENSURE_NUMBER(sum, >, 20);
	burn_low(0.1);
	ENSURE_NUMBER(off_and_account(second, TEXT_SPAN).binned, >, 20);
	ENSURE_NUMBER(sum_of(first, TEXT_SPAN), ==, sum);
	burn_low(0.1);
	ENSURE_NUMBER(told().total, <, 200);
}

CALLER_TEST(calls_buffers, nothing_to_count_into)
{
	char buffer[8] = "canary!";

	ENSURE(on(buffer, 0) == 0);
	burn_low(0.1);
	ENSURE(told().on == BPFPROFIL_PROFIL);
	ENSURE(off() == 0);
	ENSURE_NUMBER(told().outside, ==, told().total);
	ENSURE_NUMBER(told().total, >, 3);
	ENSURE(!memcmp(buffer, "canary!", 8));
}

static void *burn_in_thread(void *seconds)
{
	burn_low(*(double *)seconds);
	return NULL;
}

/*
 * Seconds from when a thread begins to run until another thread sees the first count in the buffer.
 */
static double first_count_after(void)
{
	char *buffer = fresh_pages(TEXT_SPAN);
	double start, seen, seconds = 0.5;
	pthread_t thread;

	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	start = seconds_now();
	pthread_create(&thread, NULL, burn_in_thread, &seconds);
	while (!sum_of(buffer, PAGE) && seconds_now() < start + 5)
		rest(0.001);
	seen = seconds_now();
	pthread_join(thread, NULL);
	off_and_account(buffer, TEXT_SPAN);
	return seen - start;
}

/* Whether all counts are there 100 ms after the last tick. */
static int all_there_after(double seconds)
{
	char *buffer = fresh_pages(TEXT_SPAN);
	uint64_t sum;

	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	burn_low(0.13);
	rest(seconds);
	sum = sum_of(buffer, PAGE);
	ENSURE(bpfprofil_sync() == 0);
	ENSURE_NUMBER(off_and_account(buffer, TEXT_SPAN).binned, >, 20);
	return sum_of(buffer, PAGE) - sum <= 1;
}

/* A busy machine may keep the server waiting, so this is tried again. */
CALLER_TEST(calls_buffers, seen_in_time)
{
	double best = 9;
	int i, all = 0;

	for (i = 0; i < 5 && best > 0.1; i++) {
		double now = first_count_after();

		best = now < best ? now : best;
	}
	ENSURE_NUMBER(best * 1000, <=, 100);
	for (i = 0; i < 5 && !all; i++)
		all = all_there_after(0.1);
	ENSURE(all);
}

/* A sync or a status returns with every count in place. */
CALLER_TEST(calls_buffers, exact_when_asked)
{
	char *buffer = fresh_pages(TEXT_SPAN);
	int i, exact = 0;

	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
	for (i = 0; i < 50; i++) {
		uint64_t binned;

		burn_low(0.004);
		ENSURE(bpfprofil_sync() == 0);
		/*
		 * At most the ticks between the two calls may differ, and copies in between do not
		 * matter.
		 */
		binned = told().binned;
		exact += binned == sum_of(buffer, TEXT_SPAN);
	}
	ENSURE_NUMBER(exact, >=, 40);
	off_and_account(buffer, TEXT_SPAN);
}
