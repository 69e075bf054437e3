/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SERVICE_TIMES_H
#define BPFPROFIL_SERVICE_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * Counts the hottest functions of each service. Ticks of all others are in "[other]", so that what a
 * service's counters increase by adds up to its ticks. A function that has become cold makes room for a
 * hotter one, and if it comes back, it begins at 0. Of its ticks only those that nobody has been told
 * of go to "[other]": whoever takes rates has counted the others already.
 */
struct function_time {
	char *name;
	char *object;
	uint64_t ticks;
	uint64_t told; /* those of them that somebody has read */
	uint64_t recent; /* ticks too, but halved with each part */
};

struct service_time {
	char *name;
	struct function_time *list;
	size_t nr;
	uint64_t other;
	unsigned int turn; /* the last part in which it had ticks */
};

struct service_times {
	size_t most; /* of each service; 0: none are kept */
	struct service_time *list; /* ascending by name */
	size_t nr;
	size_t room;
	unsigned int turn;
};

/* If there is no memory for some of them, these are not counted. */
void service_times_add(struct service_times *top, const struct profile *part);

/* Call after the counters were given to somebody. */
void service_times_told(struct service_times *top);

void service_times_free(struct service_times *top);

#endif
