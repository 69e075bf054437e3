/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ALIKE_H
#define BPFPROFIL_ALIKE_H

#include "report/render.h"

/* What tells rows apart that would look alike, as bits. */
enum alike {
	ALIKE_PATH = 1, /* the paths of their objects */
	ALIKE_BUILD = 2, /* their build ids */
	ALIKE_OFFSET = 4, /* their offsets in one object */
};

/* As many of those that look alike are compared with each other. */
#define ALIKE_MAX 64

/*
 * For each shown row of functions or objects what a table has to show of it besides; 0: nothing.
 * The caller frees it. NULL: no memory.
 */
uint8_t *alike_find(const struct report *report);

#endif
