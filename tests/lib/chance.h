/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_CHANCE_H
#define TEST_CHANCE_H

/*
 * How many standard errors a count may be off before a test fails. All tests together compare some
 * two hundred counts: at 3 errors every third run would fail by chance, at 4.5 one in seven
 * hundred.
 */
#define CHANCE_ERRORS 4.5

#endif
