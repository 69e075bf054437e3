/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_DOC_CALLERS_H
#define TEST_DOC_CALLERS_H

#include <stdint.h>

#include "doc.h"

/*
 * The callers of a profile as others see them. Asserts what holds for each: every target's chains have
 * its total less filtered and lost, and parents come before their children.
 */
void doc_assert_chains(struct json_object *doc);

/*
 * Also asserts what holds for the only profile of a session: the functions that chains end in have the
 * ticks that they have without chains. Of a file of --interval some ticks' chains are in the next one.
 */
void doc_assert_callers(struct json_object *doc);

/* The ticks of a function and of all that it called, a recursive one's once. */
uint64_t doc_inclusive(struct json_object *doc, const char *name);

/* The ticks of a function when it was called, at whatever distance, by another. */
uint64_t doc_called(struct json_object *doc, const char *name, const char *caller);

/*
 * The ticks of the complete chains through a function, the first of the frames. Asserts that each has the
 * others above it, one above the other, up to the NULL behind the last. Frames are patterns, as of fnmatch().
 */
uint64_t doc_backtraces(struct json_object *doc, const char *const frames[]);

/* The ticks whose walks ended so. */
uint64_t doc_ended(struct json_object *doc, const char *end);

/* The same of processes of one name, in a profile by process. end NULL: all of their ticks that have a root. */
uint64_t doc_ended_in(struct json_object *doc, const char *process, const char *end);

/* The same of the nanoseconds of waits. */
uint64_t doc_waited_in(struct json_object *doc, const char *process, const char *end);

/* How many frames the longest chain has. */
uint64_t doc_deepest(struct json_object *doc);

#endif
