/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ALLOWANCE_H
#define BPFPROFIL_ALLOWANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * CPU time for reading files, by who owns them: each file has limits, but there may be thousands.
 * Root's files and our own user's are read however long it takes; all others share a whole, which
 * subordinate uids do not multiply.
 */
struct allowance {
	unsigned int seconds; /* for the files of one owner */
	uint64_t spent_ns; /* of the whole */
	struct allowance_owner {
		uid_t uid;
		uint64_t spent_ns;
	} * owners;
	size_t nr;
	size_t room;
};

enum {
	ALLOWANCE_NAMES = 10, /* seconds for a profile's names */
	ALLOWANCE_LINES = 60, /* and for its source lines, which somebody has asked for */
	ALLOWANCE_OWNERS = 6, /* as much as so many owners may take is all there is */
};

/* One file that is being read. */
struct allowance_turn {
	uid_t owner;
	bool counts;
	uint64_t since_ns;
};

/* -E2BIG: its owner has had theirs. allowance NULL: there is no limit. */
int allowance_begin(const struct allowance *allowance, int fd, struct allowance_turn *turn,
		    struct error *why);
void allowance_end(struct allowance *allowance, const struct allowance_turn *turn);

void allowance_spend(struct allowance *allowance, uid_t owner, uint64_t ns);
void allowance_free(struct allowance *allowance);

#endif
