/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_FUNCTIONS_H
#define BPFPROFIL_TOP_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * Counts the hottest functions of each service. Ticks of all others are in "[other]", so that a
 * service's counters add up to its ticks. A function that has become cold makes room for a hotter one:
 * its ticks go to "[other]", and if it comes back, it begins at 0.
 */
struct top_function {
	char *name;
	char *object;
	uint64_t ticks;
	uint64_t recent; /* ticks too, but halved with each part */
};

struct top_service {
	char *name;
	struct top_function *list;
	size_t nr;
	uint64_t other;
	unsigned int turn; /* the last part in which it had ticks */
};

struct top_functions {
	size_t most; /* of each service; 0: none are kept */
	struct top_service *list; /* ascending by name */
	size_t nr;
	size_t room;
	unsigned int turn;
};

/* If there is no memory for some of them, these are not counted. */
void top_functions_add(struct top_functions *top, const struct profile *part);
void top_functions_free(struct top_functions *top);

#endif
