/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_IO_H
#define BPFPROFIL_PROFILE_IO_H

#include <stdio.h>

#include "base/error.h"
#include "base/file.h"
#include "profile/profile.h"

/*
 * Version of the document. Within a version, changes only add keys, and readers skip keys they do
 * not know.
 */
#define PROFILE_VERSION 1

/* The JSON Schema of the document, made from profile.schema.json at build time. */
extern const char profile_schema[];

/*
 * Writes the JSON document, one record per line, without allocating memory for any number of bins.
 * A string that is NULL but required in the document is written as "".
 */
int profile_write(const struct profile *profile, FILE *stream, struct error *err);

/*
 * profile_write() into a file; flags are those of output_open_as(), OUTPUT_CONFIDENTIAL besides where
 * the profile is.
 */
int profile_save(const struct profile *profile, const char *path, unsigned int flags,
		 struct error *err);

/* Reads and checks a document. The caller frees *result with profile_free(). */
int profile_read(struct input *in, struct profile **result, struct error *err);

/* profile_read() for a file, compressed or not; "-" is standard input. */
int profile_load(const char *path, struct profile **result, struct error *err);

/*
 * Checks what the document promises beyond its types. name begins the message. -EBADMSG: the check
 * failed.
 */
int profile_check(const struct profile *profile, const char *name, struct error *err);

#endif
