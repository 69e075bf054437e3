/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NAMELESS_H
#define BPFPROFIL_NAMELESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/* While names are found: the ticks in text without names, and the object that has most of them. */
struct nameless {
	uint64_t named; /* all ticks so far, with names and without */
	struct nameless_kind {
		uint64_t ticks;
		uint64_t most; /* those of the object that has the most */
		uint32_t object;
		size_t nr_objects;
	} files, jit;
	bool denied; /* files of other users could not be opened, for want of CAP_SYS_PTRACE */
};

/* Adds the ticks of an object, of which `unnamed` have no name. */
void nameless_add(struct nameless *nameless, const struct profile *profile, uint32_t object,
		  uint64_t ticks, uint64_t unnamed);

/* Whether a note is that of files. */
bool nameless_is_of_files(const char *note);

/*
 * Adds a note on how to get names, if enough of them are missing. With look it names the package that
 * has them, for which the package manager's lists are read. Returns 0 or -ENOMEM.
 */
int nameless_note(const struct nameless *nameless, bool look, struct profile *profile);

enum { PACKAGE_BYTES = 128 };

/* Which package lists the path, by the lists in that folder. */
bool package_of(const char *lists, const char *path, char name[PACKAGE_BYTES]);

/* Whether apt could install it: by its cache below root, or by lists that it has not compressed. */
bool package_can_be_had(const char *root, const char *name);

#endif
