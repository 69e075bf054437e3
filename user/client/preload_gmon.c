// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "client/preload.h"

/*
 * A program that is built with -pg: libc counts its function calls and writes gmon.out, and we
 * count its ticks. libc's histogram stays empty, and ours is added when the file exists.
 *
 * libc's has 4 bytes of text per counter, but libc rounds the size of the counters up to 8 bytes,
 * which changes the ratio to about 3.99. With a multiple of 16 bytes of text there is nothing to
 * round.
 */
enum { TEXT_UNIT = 16, TEXT_PER_BIN = 4, SCALE_4_BYTES = 0x10000, ONE_SECOND_NS = 1000000000 };

void moncontrol(int mode);
void monstartup(unsigned long low, unsigned long high);
void __monstartup(unsigned long low, unsigned long high);
void _mcleanup(void);

static struct {
	struct gmon_counts histogram; /* counts NULL: libc counts ticks too */
	unsigned long low;
	uint64_t period_ns;
	int on;
	int lost; /* 0, or why the server did not count to the end */
	pid_t pid; /* the process of these counts; the child of a fork starts anew */
	double used; /* CPU time while counting was on */
	double since; /* start of the current such time */
} pg;

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / ONE_SECOND_NS;
}

static void note_time(int on)
{
	double now = cpu_seconds();

	if (pg.pid != getpid()) {
		pg.pid = getpid();
		pg.used = pg.since = 0;
	}
	if (pg.on)
		pg.used += now - pg.since;
	pg.since = now;
	pg.on = on;
}

static size_t counts_size(void)
{
	return (size_t)pg.histogram.bins * sizeof(pg.histogram.counts[0]);
}

static struct outcome start_counting(void)
{
	struct prof region = {
		.pr_base = pg.histogram.counts,
		.pr_size = counts_size(),
		.pr_off = pg.low,
		.pr_scale = SCALE_4_BYTES,
	};
	struct outcome outcome = client_sprofil(DIALECT_GLIBC, &region, 1, NULL, PROF_UINT);

	if (!outcome.error && outcome.served) {
		pg.period_ns = outcome.state.period_ns;
		note_time(1);
	}
	return outcome;
}

/*
 * An empty histogram would look like a program that used no time. Therefore remember the failure
 * and report it.
 */
static void stop_counting(void)
{
	struct outcome outcome = client_profil(DIALECT_GLIBC, NULL, 0, 0, 0);

	if (pg.on && (!outcome.served || outcome.error))
		pg.lost = outcome.error ? outcome.error : ECONNREFUSED;
	note_time(0);
}

static void forget_counts(void)
{
	munmap(pg.histogram.counts, counts_size());
	memset(&pg, 0, sizeof(pg));
}

/* Returns the end of the text that is counted, or 0 if libc must count. */
static unsigned long start_own(unsigned long low, unsigned long high)
{
	struct outcome outcome;
	void *counts;

	pg.pid = getpid();
	pg.low = low & ~(TEXT_PER_BIN - 1UL);
	high = pg.low + (high - pg.low + TEXT_UNIT - 1) / TEXT_UNIT * TEXT_UNIT;
	pg.histogram.bins = (uint32_t)((high - pg.low) / TEXT_PER_BIN);
	counts = mmap(NULL, counts_size(), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (counts == MAP_FAILED) {
		memset(&pg, 0, sizeof(pg));
		return 0;
	}
	/*
	 * A child's gmon.out must contain only the child's time, or the sum of the files would
	 * count some of it twice.
	 */
	madvise(counts, counts_size(), MADV_WIPEONFORK);
	pg.histogram.counts = counts;
	outcome = start_counting();
	if (!outcome.error && outcome.served)
		return high;
	preload_report_fallback("gmon", outcome.error);
	forget_counts();
	return 0;
}

/* libc starts its timer only if it got the memory for its tables. */
static int libc_started(void)
{
	struct itimerval timer = { 0 };

	getitimer(ITIMER_PROF, &timer);
	return timer.it_interval.tv_sec || timer.it_interval.tv_usec;
}

EXPORT void __monstartup(unsigned long low, unsigned long high)
{
	const struct real_calls *real = preload_real();
	unsigned long end;

	if (pg.histogram.counts) {
		client_profil(DIALECT_GLIBC, NULL, 0, 0, 0);
		forget_counts();
	}
	end = start_own(low, high);
	real->monstartup(low, end ? end : high);
	if (!end)
		return;
	if (libc_started()) {
		real->profil(NULL, 0, 0, 0);
		return;
	}
	client_profil(DIALECT_GLIBC, NULL, 0, 0, 0);
	forget_counts();
}

EXPORT void monstartup(unsigned long low, unsigned long high)
{
	__monstartup(low, high);
}

EXPORT void moncontrol(int mode)
{
	const struct real_calls *real = preload_real();
	struct outcome outcome;

	real->moncontrol(mode);
	if (!pg.histogram.counts)
		return;
	if (!mode) {
		stop_counting();
		return;
	}
	outcome = start_counting();
	if (!outcome.error)
		real->profil(NULL, 0, 0, 0);
	else
		preload_report_fallback("moncontrol", outcome.error);
}

static const char *reason_of(int error)
{
	return error == ECONNRESET ? "the server did not count to the end" : strerror(error);
}

/*
 * No histogram covers text outside of the program. Therefore only an upper limit of the missing
 * time is known.
 */
static void report_missing(void)
{
	double counted = 0;
	uint32_t i;

	for (i = 0; i < pg.histogram.bins; i++)
		counted += pg.histogram.counts[i];
	counted *= (double)pg.period_ns / ONE_SECOND_NS;
	if (counted > pg.used)
		counted = pg.used;
	dprintf(2, "bpfprofil: gmon.out: %s; up to %.2f s of %.2f s are missing\n",
		reason_of(pg.lost), pg.used - counted, pg.used);
}

/* Read the real period while counting is on. */
static void end_counting(void)
{
	struct outcome outcome = client_ask(CALL_STATUS);

	if (!outcome.error && outcome.state.period_ns)
		pg.period_ns = outcome.state.period_ns;
	stop_counting();
	if (pg.lost)
		report_missing();
}

EXPORT void _mcleanup(void)
{
	const struct real_calls *real = preload_real();
	int fd, ret;

	if (!pg.histogram.counts) {
		real->mcleanup();
		return;
	}
	end_counting();
	real->mcleanup();
	fd = gmon_open();
	if (fd < 0)
		ret = fd;
	else {
		if (pg.period_ns)
			pg.histogram.rate =
				(uint32_t)((ONE_SECOND_NS + pg.period_ns / 2) / pg.period_ns);
		ret = gmon_add(fd, &pg.histogram);
		close(fd);
	}
	if (ret)
		dprintf(2, "bpfprofil: gmon.out: %s; the time in it is short\n", strerror(-ret));
	forget_counts();
}
