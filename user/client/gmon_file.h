/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_GMON_FILE_H
#define BPFPROFIL_CLIENT_GMON_FILE_H

#include <stdint.h>

/* A histogram that is added to the gmon.out that libc has just written. */
struct gmon_counts {
	uint32_t *counts; /* each for 4 bytes of text */
	uint32_t bins;
	uint32_t rate; /* ticks per second; 0: as libc wrote it */
};

/* Opens the file that libc's _mcleanup() writes, by its rules. Returns a descriptor, or -errno. */
int gmon_open(void);

/*
 * Adds the counts to the file's first histogram, which must have the same shape, and sets its rate.
 * What does not fit 16 bits goes into more records of that shape, which gprof adds up. Counts that
 * were not written stay in histogram. Returns 0 or -errno.
 */
int gmon_add(int fd, struct gmon_counts *histogram);

#endif
