/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_IO_H
#define BPFPROFIL_PROFILE_IO_H

#include <stdio.h>

#include "base/error.h"
#include "base/file.h"
#include "profile/profile.h"

/* Of the document. Within a version changes only add, and readers skip what they do not know. */
#define PROFILE_VERSION 1

/* The JSON Schema of the document; made from profile.schema.json at build time. */
extern const char profile_schema[];

/*
 * Writes the JSON document, a record a line and with no memory of its own, whatever the number of
 * bins. Strings that are NULL where the document must have one are written empty.
 */
int profile_write(const struct profile *profile, FILE *stream, struct error *err);

/* Reads and checks a document. The caller frees *ret with profile_free(). */
int profile_read(struct input *in, struct profile **ret, struct error *err);

/* profile_read() of a file, compressed or not; "-" is standard input. */
int profile_load(const char *path, struct profile **ret, struct error *err);

/* What the document promises beyond its types. name starts the message. -EBADMSG: broken. */
int profile_check(const struct profile *profile, const char *name, struct error *err);

#endif
