/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_EXPORT_H
#define BPFPROFIL_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"
#include "shared/call_table.h"

/* A call whose buffers are asked for, compiled already: which counter takes which pc. */
struct export_call {
	struct call_table table;
	const struct call_line *lines;
	const uint64_t *sizes; /* bytes of each buffer, as the call lists them */
	size_t nr;
	size_t overflow; /* which of them is the overflow bin; nr: none */
	uint32_t width; /* of a counter: 2 or 4 bytes */
	uint32_t full; /* enum dialect_full */
};

/* What some formats want to know. */
struct export_options {
	const char *object; /* a path or its last component; NULL: the one that fits */
	const struct export_call *call; /* NULL: none was described */
	char *note; /* for the user, or ""; of EXPORT_NOTE_BYTES; NULL: unwanted */
};

enum { EXPORT_NOTE_BYTES = 256 };

/*
 * A form a profile can be written in. write returns 0 or a negative errno and fills in err;
 * options may be NULL where the format has none.
 */
struct export_format {
	const char *name; /* as in --format */
	const char *description;
	bool has_options; /* struct export_options is for it, and must hold a call */
	int (*write)(const struct profile *profile, const struct export_options *options,
		     FILE *stream, struct error *err);
};

/* Ends with a NULL name. */
extern const struct export_format export_formats[];

const struct export_format *export_find(const char *name); /* NULL: no such format */

#endif
