/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_EXPORT_H
#define BPFPROFIL_EXPORT_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"

/* A form a profile can be written in. write returns 0 or a negative errno and fills in err. */
struct export_format {
	const char *name; /* as in --format */
	const char *description;
	int (*write)(const struct profile *profile, FILE *stream, struct error *err);
};

/* Ends with a NULL name. */
extern const struct export_format export_formats[];

const struct export_format *export_find(const char *name); /* NULL: no such format */

#endif
