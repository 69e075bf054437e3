/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_EXPORT_IMPL_H
#define BPFPROFIL_EXPORT_IMPL_H

#include <protobuf-c/protobuf-c.h>

#include "export/export.h"
#include "profile/profile_rows.h"

/* Each format has its own file; export.c lists them. options are never NULL. */
export_writer export_callgrind, export_clickhouse, export_csv, export_folded, export_gmon,
	export_llvm, export_otlp, export_pprof, export_raw, export_speedscope;

extern const char clickhouse_ddl[];

/* Shared by the formats. Messages start with the name in format. */

/* The number, or the largest value of a signed field. */
static inline int64_t export_clamp(unsigned __int128 value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* The start of the profile, in ns since 1970; 0: unknown. */
int64_t export_start_ns(const struct profile *profile);

/* Whether the options choose a histogram's ticks. */
bool export_chosen(const struct profile *profile, const void *options,
		   const struct profile_histogram *histogram);

/* Begins the rows that the options choose: see profile_rows_begin(). */
int export_rows_begin(struct profile_rows *rows, const struct profile *profile,
		      const struct export_options *options, enum profile_rows_callers callers);

/* Whether any chosen target has the scheduler's CPU time. */
bool export_knows_cpu_time(const struct profile *profile, const struct export_options *options);

/*
 * The common period of all chosen targets, for formats with counts only. -EINVAL: there are
 * several.
 */
int export_one_period(const struct profile *profile, const struct export_options *options,
		      const char *format, uint64_t *result, struct error *err);

/*
 * Writes text from other people's files, which may contain anything. Control characters (C0, DEL,
 * C1) become \xNN, bytes that are not UTF-8 become U+FFFD, and the character special, unless it is
 * 0, becomes instead.
 */
void export_text(FILE *stream, const char *text, char special, const char *instead);

/* The length of the text's first part that needs no change: printable ASCII. */
size_t export_plain_length(const char *text, char special);

/* Writes a protobuf message in its wire format. */
void export_message(const ProtobufCMessage *message, FILE *stream);

/* Appends to a note of EXPORT_NOTE_BYTES, after a semicolon if there is text. */
void export_add_note(char *note, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns 0, or the stream's error with a message. Set errno to 0 before the first byte. */
int export_end(FILE *stream, const char *format, struct error *err);

#endif
