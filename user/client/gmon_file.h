/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_GMON_FILE_H
#define BPFPROFIL_CLIENT_GMON_FILE_H

#include <stdint.h>

/* A histogram that is to go into the gmon.out that libc has just written. */
struct gmon_counts {
	uint32_t *counts; /* of 4 bytes of text each */
	uint32_t bins;
	uint32_t rate; /* ticks per second; 0: as libc wrote it */
};

/* The file that libc's _mcleanup() writes, by its rules: a descriptor, or -errno. */
int gmon_open(void);

/*
 * Adds the counts to the file's first histogram, which must have the same shape, and sets its
 * rate. What 16 bits do not hold goes into more records of that shape, which gprof adds up. Of
 * counts it leaves what it did not write. 0 or -errno.
 */
int gmon_add(int fd, struct gmon_counts *histogram);

#endif
