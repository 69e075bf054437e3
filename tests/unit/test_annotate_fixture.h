/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_ANNOTATE_FIXTURE_H
#define TEST_ANNOTATE_FIXTURE_H

#include "report/annotate.h"

/*
 * A program whose every instruction is known, in the folder of test_symbol_fixture.h, and a
 * profile of it. f has instructions at 0, 2, 3, 6, 8, 10 and 15 from where it begins, of lines 5
 * to 11 of f.s. g follows at 16. Everything here fails the test when it does not work.
 */
#define TEXT 0x1000 /* where f begins, in the file and in memory */

/* f.s to "program", with flags for the assembler: -g for lines. */
void annotate_program(const char *flags);

/* From f.s as it stands. */
void annotate_assemble(const char *flags);

struct tick {
	uint64_t offset; /* from f */
	uint64_t ticks;
};

/* A profile of "program" with bins of some bytes, one of them at f. */
struct profile *annotate_profile(uint64_t bytes, const struct tick *ticks, size_t nr);

#define PROFILE(bytes, ...)                                                                        \
	annotate_profile(bytes, (const struct tick[]){ __VA_ARGS__ },                              \
			 sizeof((const struct tick[]){ __VA_ARGS__ }) / sizeof(struct tick))

/* annotation_build() with the files where they are. */
int annotate_try(const struct profile *profile, const char *place, const char *source,
		 struct annotation **ret, struct error *err);
struct annotation *annotate(const struct profile *profile, const char *place);

/* annotation_write() to memory; the caller frees it. */
char *annotate_write(const struct annotation *annotation, const struct annotation_view *view);

#endif
