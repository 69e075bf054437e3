/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ALLOWANCE_H
#define BPFPROFIL_ALLOWANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * Limits the CPU time for reading files, by owner. Each file has limits, but there may be thousands
 * of files. Files of root and of our own user are always read. All other owners share a total,
 * because one person may have many subordinate uids.
 */
struct allowance {
	unsigned int seconds; /* per owner */
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
	ALLOWANCE_CODE = 2, /* beside these, seconds for maps of just-in-time code */
	ALLOWANCE_LINES = 60, /* seconds for source lines, which the user requested */
	ALLOWANCE_OWNERS = 6, /* the total is that of this many owners */
};

/* The reading of a file, which uses the allowance of the file's owner. */
struct allowance_use {
	uid_t owner;
	bool counts;
	uint64_t since_ns;
};

/* -E2BIG: the owner's allowance is used up. allowance NULL: no limit. */
int allowance_begin(const struct allowance *allowance, int fd, struct allowance_use *use,
		    struct error *why);
void allowance_end(struct allowance *allowance, const struct allowance_use *use);

void allowance_spend(struct allowance *allowance, uid_t owner, uint64_t ns);
void allowance_free(struct allowance *allowance);

#endif
