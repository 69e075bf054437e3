/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_PRELOAD_H
#define BPFPROFIL_CLIENT_PRELOAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

#include "client/calls.h"

/*
 * The drop-in library for LD_PRELOAD. A program that does not know bpfprofil gets our counts from
 * its own calls. If no server answers, the library calls libc's functions, as if it were not there.
 */

/* libc's own functions, found when the library is loaded. NULL: libc does not have the function. */
struct real_calls {
	int (*profil)(unsigned short *buf, size_t bufsiz, size_t offset, unsigned int scale);
	int (*sprofil)(struct prof *profp, int profcnt, struct timeval *tvp, unsigned int flags);
	void (*monstartup)(unsigned long low, unsigned long high);
	void (*moncontrol)(int mode);
	void (*mcleanup)(void);
};

const struct real_calls *preload_real(void);

/*
 * Reports in one line that libc counts, because of this errno: once, or as BPFPROFIL_VERBOSE says.
 */
void preload_report_fallback(const char *call, int error);

/* A histogram to add to the gmon.out that libc has just written. */
struct gmon_counts {
	uint32_t *counts; /* each covers 4 bytes of text */
	uint32_t bins;
	uint32_t rate; /* ticks per second; 0: as libc wrote it */
};

/*
 * Opens the file that libc's _mcleanup() writes; finds it by glibc's rules. Returns a descriptor,
 * or -errno.
 */
int gmon_open(void);

/*
 * Adds the counts to the file's first histogram, which must have the same shape, and sets its rate.
 * Counts that do not fit 16 bits go into more records of that shape, which gprof adds up. Counts
 * that were not written stay in histogram. Returns 0 or -errno.
 */
int gmon_add(int fd, struct gmon_counts *histogram);

#endif
