// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "client/export.h"
#include "client/gmon_file.h"
#include "client/preload.h"

/*
 * A program built with -pg: libc counts its calls and writes gmon.out, we count its ticks. libc's
 * histogram stays empty and gets ours when the file is there.
 *
 * libc's has 4 bytes of text in a counter, but rounds the counters up to 8 bytes of them, which
 * stretches that to 3.99 or so. Asked for a multiple of 16 bytes of text it has nothing to round.
 */
enum { TEXT_UNIT = 16, TEXT_PER_BIN = 4, SCALE_4_BYTES = 0x10000, ONE_SECOND_NS = 1000000000 };

void moncontrol(int mode);
void monstartup(unsigned long low, unsigned long high);
void __monstartup(unsigned long low, unsigned long high);
void _mcleanup(void);

static struct {
	struct gmon_counts histogram; /* counts NULL: libc does it all */
	unsigned long low;
	uint64_t period_ns;
} pg;

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

	if (!outcome.error)
		pg.period_ns = outcome.state.period_ns;
	return outcome;
}

static void forget_counts(void)
{
	munmap(pg.histogram.counts, counts_size());
	memset(&pg, 0, sizeof(pg));
}

/* The end of the text that is counted, or 0 when libc has to count. */
static unsigned long start_own(unsigned long low, unsigned long high)
{
	struct outcome outcome;
	void *counts;

	pg.low = low & ~(TEXT_PER_BIN - 1UL);
	high = pg.low + (high - pg.low + TEXT_UNIT - 1) / TEXT_UNIT * TEXT_UNIT;
	pg.histogram.bins = (uint32_t)((high - pg.low) / TEXT_PER_BIN);
	counts = mmap(NULL, counts_size(), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (counts == MAP_FAILED) {
		memset(&pg, 0, sizeof(pg));
		return 0;
	}
	/* A child's gmon.out has the child's time, or the sum of the files would count twice. */
	madvise(counts, counts_size(), MADV_WIPEONFORK);
	pg.histogram.counts = counts;
	outcome = start_counting();
	if (!outcome.error && outcome.served)
		return high;
	preload_tell_fallback("gmon", outcome.error);
	forget_counts();
	return 0;
}

/* libc starts its timer when it had the memory for its tables, and only then. */
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
		client_profil(DIALECT_GLIBC, NULL, 0, 0, 0);
		return;
	}
	outcome = start_counting();
	if (!outcome.error)
		real->profil(NULL, 0, 0, 0);
	else
		preload_tell_fallback("moncontrol", outcome.error);
}

/* Silence would pass for a program that used no time. */
static void tell_loss(const char *what, int error)
{
	dprintf(2, "bpfprofil: %s: %s; the time in it is short\n", what, strerror(error));
}

static void stop_counting(void)
{
	struct outcome outcome = client_ask(CALL_STATUS);

	if (!outcome.error && outcome.state.period_ns)
		pg.period_ns = outcome.state.period_ns;
	outcome = client_profil(DIALECT_GLIBC, NULL, 0, 0, 0);
	if (!outcome.served || outcome.error)
		tell_loss("gmon.out", outcome.error ? outcome.error : ECONNREFUSED);
}

EXPORT void _mcleanup(void)
{
	const struct real_calls *real = preload_real();
	int fd, ret;

	if (!pg.histogram.counts) {
		real->mcleanup();
		return;
	}
	stop_counting();
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
		tell_loss("gmon.out", -ret);
	forget_counts();
}
