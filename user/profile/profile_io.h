/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_IO_H
#define BPFPROFIL_PROFILE_IO_H

#include <stdio.h>

#include "base/error.h"
#include "base/file.h"
#include "profile/profile.h"

/*
 * Version of the document. Within a version, changes only add keys, and readers skip unknown keys.
 */
#define PROFILE_VERSION 1

/* The document's JSON Schema; the build makes it from profile.schema.json. */
extern const char profile_schema[];

/*
 * Writes the JSON document, one record per line, without allocating memory. A required string that
 * is NULL becomes "".
 */
int profile_write(const struct profile *profile, FILE *stream, struct error *err);

/*
 * profile_write() into a file; flags as for output_open(). OUTPUT_CONFIDENTIAL is added if the
 * profile is confidential.
 */
int profile_save(const struct profile *profile, const char *path, unsigned int flags,
		 struct error *err);

/* Reads and checks a document. The caller frees *result with profile_free(). */
int profile_read(struct input *in, struct profile **result, struct error *err);

/* profile_read() for a file, maybe compressed; "-" is standard input. */
int profile_load(const char *path, struct profile **result, struct error *err);

/*
 * Checks rules of the document beyond types. Messages begin with name. -EBADMSG: a rule is broken.
 */
int profile_check(const struct profile *profile, const char *name, struct error *err);

#endif
