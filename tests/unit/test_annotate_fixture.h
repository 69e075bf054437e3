/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_ANNOTATE_FIXTURE_H
#define TEST_ANNOTATE_FIXTURE_H

#include "report/annotate.h"

/*
 * A program whose every instruction is known, in the folder of test_symbol_fixture.h, and a profile
 * of it. f has instructions at 0, 2, 3, 6, 8, 10 and 15 from its start, for lines 5 to 11 of f.s. g
 * follows at 16. All functions fail the test if something does not work.
 */
#define TEXT 0x1000 /* where f begins, in the file and in memory */

/* Builds "program" from f.s, with flags for the assembler: -g for lines. */
void annotate_program(const char *flags);

/* The same from f.s as it is. */
void annotate_assemble(const char *flags);

struct tick {
	uint64_t offset; /* counted from f */
	uint64_t ticks;
};

/* A profile of "program" with bins of that many bytes, one of which begins at f. */
struct profile *annotate_profile(uint64_t bytes, const struct tick *ticks, size_t nr);

#define PROFILE(bytes, ...)                                                                        \
	annotate_profile(bytes, (const struct tick[]){ __VA_ARGS__ },                              \
			 sizeof((const struct tick[]){ __VA_ARGS__ }) / sizeof(struct tick))

/* annotation_build() with the files at their paths. */
int annotate_try(const struct profile *profile, const char *place, const char *source,
		 struct annotation **result, struct error *err);
struct annotation *annotate(const struct profile *profile, const char *place);

/* annotation_write() to memory; the caller frees it. */
char *annotate_write(const struct annotation *annotation, const struct annotation_view *view);

#endif
