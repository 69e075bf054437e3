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

/* A call whose buffers are asked for, already compiled: which counter takes which pc. */
struct export_call {
	struct call_table table;
	const struct call_line *lines;
	const uint64_t *sizes; /* bytes of each buffer, in the call's order */
	size_t nr;
	size_t overflow; /* index of the overflow bin; nr: there is none */
	uint32_t width; /* of a counter: 2 or 4 bytes */
	uint32_t full; /* enum dialect_full */
};

#define EXPORT_ALL_TARGETS PROFILE_ALL_TARGETS

/* How fine a place is, for formats that leave the choice. */
enum export_detail {
	EXPORT_ADDRESS,
	EXPORT_LINE,
	EXPORT_FUNCTION,
};

/* Options that some formats use. */
struct export_options {
	const char *object; /* a path or its last component; NULL: all, or the one that fits */
	uint64_t target; /* id, or EXPORT_ALL_TARGETS */
	uint32_t file_object; /* the object to write, for formats with a file for each */
	enum export_detail detail;
	bool programs; /* stacks begin with their programs, even if there is only one */
	bool binned_only; /* no samples of ticks in no bin; one mapping for text without segments */
	const struct export_call *call; /* NULL: no call was described */
	char *note; /* text for the user, or "", in EXPORT_NOTE_BYTES; NULL: unwanted */
};

enum { EXPORT_NOTE_BYTES = 256 };

/* Which of the options a format uses; it ignores the others. */
enum export_takes {
	EXPORT_TAKES_OBJECT = 1,
	EXPORT_TAKES_TARGET = 2,
	EXPORT_TAKES_CALL = 4, /* required */
	EXPORT_TAKES_DETAIL = 8,
	EXPORT_TAKES_PROGRAMS = 16,
};

/* A format in which a profile can be written, by export_write(). */
struct export_format {
	const char *name; /* as in --format */
	const char *description;
	unsigned int takes; /* enum export_takes */
	bool binary; /* must not go to a terminal */
	bool compressed; /* by gzip, when written to the file */
	bool reads_programs; /* it reads the profiled programs, and fails without them */
	const char *flat; /* why it leaves out the callers of a profile; NULL: it has them */
	bool only_counts; /* it has no time: targets with several periods are refused */
	const char *ddl; /* the table for its rows; NULL: it has no rows */
	bool per_object; /* a file NAME.OBJECT.out for each object with export_has_file() */
	int (*write)(const struct profile *profile, const struct export_options *options,
		     FILE *stream, struct error *err);
};

/* The last element has a NULL name. */
extern const struct export_format export_formats[];

const struct export_format *export_find(const char *name); /* NULL: no such format */

/*
 * options may be NULL for the defaults: every object, every target. Returns 0, or a negative errno
 * with err filled in; -EINVAL: what the options choose is not in the profile, or cannot be said in
 * this format.
 */
int export_write(const struct export_format *format, const struct profile *profile,
		 const struct export_options *options, FILE *stream, struct error *err);

/* Adds that the format leaves out the callers, if the profile has any. */
void export_note_callers(const struct export_format *format, const struct profile *profile,
			 char *note);

/* -EINVAL: no such object or target. The message starts with format. */
int export_check(const struct profile *profile, const struct export_options *options,
		 const char *format, struct error *err);

/* The ticks of an object in what the options choose. */
uint64_t export_ticks(const struct profile *profile, const struct export_options *options,
		      uint32_t object);

/* Whether an object is the text of a file and has ticks in what the options choose. */
bool export_has_file(const struct profile *profile, const struct export_options *options,
		     uint32_t object);

#endif
