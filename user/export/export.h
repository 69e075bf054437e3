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

#define EXPORT_ALL_TARGETS UINT64_MAX

/* How fine a place is, where a format leaves the choice. */
enum export_detail {
	EXPORT_ADDRESS,
	EXPORT_LINE,
	EXPORT_FUNCTION,
};

/* What some formats want to know. */
struct export_options {
	const char *object; /* a path or its last component; NULL: all, or the one that fits */
	uint64_t target; /* id, or EXPORT_ALL_TARGETS */
	uint32_t file_object; /* the one a format with a file for each is asked for */
	enum export_detail detail;
	const struct export_call *call; /* NULL: none was described */
	char *note; /* for the user, or ""; of EXPORT_NOTE_BYTES; NULL: unwanted */
};

enum { EXPORT_NOTE_BYTES = 256 };

/* Which of them a format takes; the others it does not look at. */
enum export_takes {
	EXPORT_TAKES_OBJECT = 1,
	EXPORT_TAKES_TARGET = 2,
	EXPORT_TAKES_CALL = 4, /* and needs */
	EXPORT_TAKES_DETAIL = 8,
};

/*
 * A form a profile can be written in. write returns 0 or a negative errno and fills in err;
 * options may be NULL where the format needs none.
 */
struct export_format {
	const char *name; /* as in --format */
	const char *description;
	unsigned int takes; /* enum export_takes */
	bool binary; /* not for a terminal */
	bool compressed; /* by gzip, on its way to the file */
	bool reads_programs; /* that were profiled, and fails without them */
	const char *ddl; /* the table that its rows are for; NULL: it has no rows */
	/* A file for each object that this says true of, named by file_name; NULL: one for all. */
	bool (*has_file)(const struct profile *profile, const struct export_options *options,
			 uint32_t object);
	const char *file_name; /* as "gmon.%s.out" */
	int (*write)(const struct profile *profile, const struct export_options *options,
		     FILE *stream, struct error *err);
};

/* Ends with a NULL name. */
extern const struct export_format export_formats[];

const struct export_format *export_find(const char *name); /* NULL: no such format */

/* -EINVAL: no such object or target. format is what the message starts with. */
int export_check(const struct profile *profile, const struct export_options *options,
		 const char *format, struct error *err);

/* Ticks of an object that the options choose. */
uint64_t export_ticks(const struct profile *profile, const struct export_options *options,
		      uint32_t object);

#endif
