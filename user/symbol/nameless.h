/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NAMELESS_H
#define BPFPROFIL_NAMELESS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/* Of a profile being named: the ticks in text without names, and what has the most of them. */
struct nameless {
	uint64_t named; /* all ticks so far, with names and without */
	struct nameless_kind {
		uint64_t ticks;
		uint64_t most; /* in the object that has the most */
		uint32_t object;
		size_t nr_objects;
	} files, jit;
};

/* Ticks of an object, and how many of them have no name. */
void nameless_add(struct nameless *nameless, const struct profile *profile, uint32_t object,
		  uint64_t ticks, uint64_t unnamed);

/* Tells how to get names, when those that are missing are worth it; -ENOMEM. */
int nameless_note(const struct nameless *nameless, struct profile *profile);

#endif
