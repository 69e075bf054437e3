// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What others get from the server while one user asks for much. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <criterion/criterion.h>

#include "caller.h"
#include "need.h"

TestSuite(calls_neighbours, .init = need_root, .timeout = 300);

static struct serve serve;
static char *buffer;

static void start(void)
{
	buffer = fresh_pages(TEXT_SPAN);
	ENSURE(on_fast(buffer, TEXT_SPAN) == 0);
}

static void ask_without_pause(void *argument)
{
	(void)argument;
	caller_become(65534);
	for (;;)
		told();
}

/* How often new counts arrived, checked every 20 ms of its own CPU time. */
static int counts_seen(double seconds)
{
	double until = seconds_now() + seconds;
	uint64_t before = 0, now;
	int seen = 0;

	start();
	while (seconds_now() < until) {
		burn_low(0.02);
		now = sum_of(buffer, TEXT_SPAN);
		seen += now != before;
		before = now;
	}
	off_and_account(buffer, TEXT_SPAN);
	return seen;
}

enum { ASKERS = 4 };

/* The askers get their share of the CPUs, which is most of them, but no more of the server. */
static void asked_without_pause_body(void *argument)
{
	int askers[ASKERS], quiet = counts_seen(1), beside, i;

	(void)argument;
	for (i = 0; i < ASKERS; i++)
		askers[i] = caller_fork(ask_without_pause, NULL);
	beside = counts_seen(4);
	for (i = 0; i < ASKERS; i++) {
		kill(askers[i], SIGKILL);
		waitpid(askers[i], NULL, 0);
	}
	ENSURE_NUMBER(beside, >=, quiet);
}

Test(calls_neighbours, asked_without_pause)
{
	caller_begin(&serve, ARGS(NULL));
	caller_run(asked_without_pause_body, NULL);
	serve_end(&serve);
}

enum { SET_COUNTERS = 1 << 17, COUNTERS_OF_A_PAGE = 1024 };

/*
 * If counters stay in the kernel each copy looks at all of the buffer, part of which is unmapped
 * here. It must do so in runs, because a read for each counter would keep all others waiting.
 */
static void all_counters_set_body(void *argument)
{
	size_t size = SET_COUNTERS * sizeof(uint16_t), i;
	uint16_t *counters = fresh_pages(size);
	uint16_t *last = counters + (size - TEXT_SPAN) / sizeof(*counters);
	long before, pages = SET_COUNTERS / COUNTERS_OF_A_PAGE;

	(void)argument;
	ENSURE(bpfprofil_dialect("solaris") == 0);
	for (i = 0; i < SET_COUNTERS; i++)
		counters[i] = 7;
	/* The text is mapped to the end of the buffer. */
	ENSURE(profil(counters, size, text_start() - (size - TEXT_SPAN), 0x10000) == 0);
	munmap((char *)counters + size / 2, size / 4);
	burn_low(0.1);
	before = serve_number(&serve, "io", "syscr:");
	ENSURE(before >= 0);
	ENSURE(bpfprofil_sync() == 0);
	ENSURE_NUMBER(serve_number(&serve, "io", "syscr:") - before, <, 3 * pages);
	ENSURE_NUMBER(told().binned, >, 3);
	ENSURE_NUMBER(told().on, ==, BPFPROFIL_PROFIL);
	/*
	 * Behind the hole too the kernel follows what the program writes: one more tick reaches the
	 * limit.
	 */
	for (i = 0; i < TEXT_SPAN / sizeof(*last); i++)
		last[i] = 32766;
	ENSURE(bpfprofil_sync() == 0);
	burn_low(0.1);
	ENSURE_NUMBER(told().stopped, ==, BPFPROFIL_STOPPED_LIMIT);
}

Test(calls_neighbours, all_counters_set)
{
	caller_begin(&serve, ARGS(NULL));
	caller_run(all_counters_set_body, NULL);
	serve_end(&serve);
}
