/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_INTERVAL_H
#define TEST_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/* Ticks of one function in one process, as a session tells them apart. */
struct interval_count {
	const char *object;
	const char *function;
	uint64_t offset;
	int64_t pid;
	const char *process;
	const char *cgroup;
	uint64_t ticks;
};

/*
 * What a session of one second at 1 kHz on 2 CPUs returns: a histogram and a function for each
 * count, and lost ticks.
 */
struct profile *interval_profile(const struct interval_count *counted, size_t nr, uint64_t lost);

#define INTERVAL(lost, ...)                                                                        \
	interval_profile((const struct interval_count[]){ __VA_ARGS__ },                           \
			 sizeof((const struct interval_count[]){ __VA_ARGS__ }) /                  \
				 sizeof(struct interval_count),                                    \
			 lost)

#endif
