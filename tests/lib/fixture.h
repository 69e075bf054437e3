/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_FIXTURE_H
#define TEST_FIXTURE_H

#include <criterion/criterion.h>

/*
 * A test whose body, which follows, has a pointer to a struct KIND that BEGIN has made ready. A body
 * that returns has KIND_end() called, also if it skips the rest; after a failed assertion all stays
 * as it is.
 */
#define FIXTURE_TEST(kind, begin, suite, name, ...)                                                \
	static void name##_body(struct kind *);                                                    \
                                                                                                   \
	Test(suite, name, ##__VA_ARGS__)                                                           \
	{                                                                                          \
		struct kind kind;                                                                  \
                                                                                                   \
		begin(&kind);                                                                      \
		name##_body(&kind);                                                                \
		kind##_end(&kind);                                                                 \
	}                                                                                          \
                                                                                                   \
	static void name##_body(__attribute__((unused)) struct kind *kind)

#endif
