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

/* A compiled call, to export its buffers: which counter counts which pc. */
struct export_call {
	struct call_table table;
	const struct call_line *lines;
	const uint64_t *sizes; /* bytes of each buffer, in the order of the call */
	size_t nr;
	size_t overflow; /* index of the overflow bin; nr: none */
	uint32_t width; /* of a counter: 2 or 4 bytes */
	uint32_t full; /* enum dialect_full */
};

#define EXPORT_ALL_TARGETS PROFILE_ALL_TARGETS

/* The detail of places, for formats that allow a choice. */
enum export_detail {
	EXPORT_ADDRESS,
	EXPORT_LINE,
	EXPORT_FUNCTION,
};

/* Options that only some formats use. */
struct export_options {
	const char *object; /* a path or its last component; NULL: all, or the only one possible */
	uint64_t target; /* id, or EXPORT_ALL_TARGETS */
	uint32_t file_object; /* the object to write, for formats with one file per object */
	enum export_detail detail;
	bool programs; /* stacks begin with their programs, even if there is one only */
	bool waits; /* folded: waits instead of ticks; samples: waits, too */
	bool binned_only; /* no samples of ticks outside of bins; one mapping without segments */
	const struct export_call *call; /* NULL: no call */
	char *note; /* receives text for the user, or "", in EXPORT_NOTE_BYTES; NULL: not wanted */
};

enum { EXPORT_NOTE_BYTES = 256 };

/* The options that a format uses. It ignores the others. */
enum export_uses {
	EXPORT_USES_OBJECT = 1,
	EXPORT_USES_TARGET = 2,
	EXPORT_USES_CALL = 4, /* required */
	EXPORT_USES_DETAIL = 8,
	EXPORT_USES_PROGRAMS = 16,
	EXPORT_USES_WAITS = 32, /* instead of ticks */
};

typedef int export_writer(const struct profile *profile, const struct export_options *options,
			  FILE *stream, struct error *err);

/* A format of export_write(). */
struct export_format {
	const char *name; /* as in --format */
	const char *description;
	unsigned int uses; /* enum export_uses */
	bool binary; /* must not be written to a terminal */
	bool compressed; /* with gzip, if written to a file */
	bool reads_programs; /* reads the profiled programs, and fails without them */
	const char *flat; /* why it lacks callers; NULL: it has them */
	bool has_waits; /* beside ticks */
	bool reads_view; /* waits are in the profile that it gets: see waits_view.h */
	bool only_counts; /* has no time: it refuses targets with different periods */
	const char *ddl; /* the table for its rows; NULL: it has no rows */
	bool per_object; /* writes NAME.OBJECT.out for each object with export_has_file() */
	export_writer *write;
};

/* The last element has a NULL name. */
extern const struct export_format export_formats[];

const struct export_format *export_find(const char *name); /* NULL: no such format */

/*
 * options may be NULL for the defaults: all objects, all targets. Returns 0, or a negative errno
 * with err filled in. -EINVAL: the profile lacks what the options choose, or the format cannot
 * express it.
 */
int export_write(const struct export_format *format, const struct profile *profile,
		 const struct export_options *options, FILE *stream, struct error *err);

/* If the profile has callers or waits that the format lacks, adds that to the note. */
void export_note_missing(const struct export_format *format, const struct profile *profile,
			 const struct export_options *options);

/* -EINVAL: there is no such object or target. The message starts with format. */
int export_check(const struct profile *profile, const struct export_options *options,
		 const char *format, struct error *err);

/* An object's ticks, as far as the options choose them. */
uint64_t export_ticks(const struct profile *profile, const struct export_options *options,
		      uint32_t object);

/* Whether an object is the text of a file, and has chosen ticks. */
bool export_has_file(const struct profile *profile, const struct export_options *options,
		     uint32_t object);

#endif
