/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ALIKE_H
#define BPFPROFIL_ALIKE_H

#include <stddef.h>

/* Existing function names that the user may have meant. */
struct alike_names {
	const char **names; /* not owned; the best suggestions come first */
	size_t nr;
	size_t room;
};

/* Adds a name, which may be NULL. Returns 0 or -ENOMEM. */
int alike_add(struct alike_names *alike, const char *name);

enum { ALIKE_BYTES = 256 };

/*
 * Writes "; much like it: a, b": names that contain `asked`, or else the nearest one; "" if there
 * is none. Returns 0 or -ENOMEM.
 */
int alike_write(const struct alike_names *alike, const char *asked, char text[ALIKE_BYTES]);
void alike_free(struct alike_names *alike);

#endif
