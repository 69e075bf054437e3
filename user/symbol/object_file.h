/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OBJECT_FILE_H
#define BPFPROFIL_OBJECT_FILE_H

#include "symbol/functions.h"

/* An opener that finds each object at its own path below root; "" is here. */
struct path_opener {
	const struct profile *profile;
	const char *root;
};

/* paths must outlive the opener. */
struct object_opener path_opener(struct path_opener *paths);

/*
 * The ELF file of an object as long as it is the one that ran: its build id tells, without one the
 * segments. A descriptor that the caller closes, and root as the opener leaves it. -ESTALE: the
 * file there is another one.
 */
int object_file_open(const struct object_opener *opener, const struct profile_object *object,
		     uint32_t id, char *root, size_t root_size, struct error *why);

/* The same at the object's own path here. */
int object_file_here(const struct profile_object *object, struct error *why);

#endif
