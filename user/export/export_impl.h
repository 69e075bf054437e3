/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_EXPORT_IMPL_H
#define BPFPROFIL_EXPORT_IMPL_H

#include <protobuf-c/protobuf-c.h>

#include "export/export.h"

/* One file per format; export.c lists them. */
int export_bolt(const struct profile *profile, const struct export_options *options, FILE *stream,
		struct error *err);
int export_callgrind(const struct profile *profile, const struct export_options *options,
		     FILE *stream, struct error *err);
int export_clickhouse(const struct profile *profile, const struct export_options *options,
		      FILE *stream, struct error *err);
int export_csv(const struct profile *profile, const struct export_options *options, FILE *stream,
	       struct error *err);
int export_folded(const struct profile *profile, const struct export_options *options, FILE *stream,
		  struct error *err);
int export_gmon(const struct profile *profile, const struct export_options *options, FILE *stream,
		struct error *err);
bool export_gmon_has_file(const struct profile *profile, const struct export_options *options,
			  uint32_t object);
int export_llvm(const struct profile *profile, const struct export_options *options, FILE *stream,
		struct error *err);
int export_otlp(const struct profile *profile, const struct export_options *options, FILE *stream,
		struct error *err);
int export_pprof(const struct profile *profile, const struct export_options *options, FILE *stream,
		 struct error *err);
int export_raw(const struct profile *profile, const struct export_options *options, FILE *stream,
	       struct error *err);

int export_speedscope(const struct profile *profile, const struct export_options *options,
		      FILE *stream, struct error *err);

extern const char clickhouse_ddl[];

/*
 * What the formats share. format is the name a message starts with.
 */

/* What is meant when nothing was said: every object, every target. */
extern const struct export_options export_defaults;

/* The largest that a signed field can say, where a number is more. */
static inline int64_t export_clamp(unsigned __int128 value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* When the profile was begun, in ns since 1970; 0 when that is not known. */
int64_t export_start_ns(const struct profile *profile);

/* Whether the options let a target's ticks into the export. */
bool export_target_chosen(const struct profile *profile, const struct export_options *options,
			  uint32_t target);

/* Whether the options let a histogram's ticks into the export. */
bool export_chosen(const struct profile *profile, const struct export_options *options,
		   const struct profile_histogram *histogram);

/* Whether the scheduler was asked for the CPU time of some target that was chosen. */
bool export_knows_cpu_time(const struct profile *profile, const struct export_options *options);

/*
 * The one period of all targets that were chosen, for formats that can say only counts. -EINVAL:
 * there are several.
 */
int export_one_period(const struct profile *profile, const struct export_options *options,
		      const char *format, uint64_t *ret, struct error *err);

/*
 * Names come from other people's files and may hold anything. Control characters (C0, DEL, C1) show
 * as \xNN, what is not UTF-8 as U+FFFD, and special, unless it is 0, as instead.
 */
void export_text(FILE *stream, const char *text, char special, const char *instead);

/* A message of protobuf's as it goes over a wire. */
void export_message(const ProtobufCMessage *message, FILE *stream);

/* Adds to a note of EXPORT_NOTE_BYTES, after a semicolon where it already says something. */
void export_add_note(char *note, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* 0, or what the stream has failed with, described. Call it with errno 0 before the first byte. */
int export_end(FILE *stream, const char *format, struct error *err);

#endif
