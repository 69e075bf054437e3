/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_NAMELESS_H
#define BPFPROFIL_NAMELESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/* Ticks in nameless text, and the object with most of them, while names are looked up. */
struct nameless {
	uint64_t named; /* all ticks so far, with or without names */
	struct nameless_kind {
		uint64_t ticks;
		uint64_t most; /* ticks of the object with the most */
		uint32_t object;
		size_t nr_objects;
	} files, jit;
	bool denied; /* CAP_SYS_PTRACE is missing to open other users' files */
};

/* Adds an object's ticks; `unnamed` of them have no name. */
void nameless_add(struct nameless *nameless, const struct profile *profile, uint32_t object,
		  uint64_t ticks, uint64_t unnamed);

/* Whether a note is about files. */
bool nameless_is_of_files(const char *note);

/*
 * Adds a note on how to get names, if enough are missing. look: also search the package manager's
 * lists for the package with the symbols. Returns 0 or -ENOMEM.
 */
int nameless_note(const struct nameless *nameless, bool look, struct profile *profile);

enum { PACKAGE_BYTES = 128 };

/* Finds the package that lists the path, by the lists in that folder. */
bool package_of(const char *lists, const char *path, char name[PACKAGE_BYTES]);

/* Whether apt could install it: by its cache below root, or by its uncompressed lists. */
bool package_can_be_had(const char *root, const char *name);

#endif
