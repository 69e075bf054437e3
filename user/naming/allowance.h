/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ALLOWANCE_H
#define BPFPROFIL_ALLOWANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * Limits the CPU time for reading files by their owner: each file has limits, but there may be
 * thousands of files. Files of root and of our own user are always read. All other owners share one
 * total, which subordinate uids do not multiply.
 */
struct allowance {
	unsigned int seconds; /* for the files of one owner */
	uint64_t spent_ns; /* of the shared total */
	struct allowance_owner {
		uid_t uid;
		uint64_t spent_ns;
	} * owners;
	size_t nr;
	size_t room;
};

enum {
	ALLOWANCE_NAMES = 10, /* seconds for the names of a profile */
	ALLOWANCE_CODE = 2, /* seconds for what maps of just-in-time code have of these */
	ALLOWANCE_LINES = 60, /* seconds for its source lines, which somebody asked for */
	ALLOWANCE_OWNERS = 6, /* the total is what this many owners may take */
};

/* One file while it is read. */
struct allowance_turn {
	uid_t owner;
	bool counts;
	uint64_t since_ns;
};

/* -E2BIG: the owner has used up the allowance. allowance NULL: there is no limit. */
int allowance_begin(const struct allowance *allowance, int fd, struct allowance_turn *turn,
		    struct error *why);
void allowance_end(struct allowance *allowance, const struct allowance_turn *turn);

void allowance_spend(struct allowance *allowance, uid_t owner, uint64_t ns);
void allowance_free(struct allowance *allowance);

#endif
