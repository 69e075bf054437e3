/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_BURN_FIXTURE_H
#define TEST_BURN_FIXTURE_H

#include <stddef.h>

/* `mapped OFFSET COUNT FILE...` runs the text of burn.so, or of a file made of it. */
#define MAPPED HOSTILE_PROGRAMS "/mapped"
#define BURN HOSTILE_PROGRAMS "/burn.so"

/* Some 0.2 s for each file. */
#define BURN_COUNT "150000000"

/* OFFSET as text. */
void burn_offset(char *ret, size_t size);

#endif
