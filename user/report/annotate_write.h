/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ANNOTATE_WRITE_H
#define BPFPROFIL_ANNOTATE_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/annotation.h"
#include "report/report.h"

struct annotation_view {
	enum report_format format;
	bool hot; /* hottest first, instead of in the order of the text */
	uint64_t limit; /* only the N hottest, with their surroundings in text order; 0: all */
	bool color;
	unsigned int width; /* columns that rows may have; 0: nothing is cut */
};

/* Returns 0, or -ENOMEM before anything is written. */
int annotation_write(const struct annotation *annotation, const struct annotation_view *view,
		     FILE *out);

/* Used by all writers of annotations. */

/*
 * Marks the `limit` hottest rows (0: every row), those that share ticks with them, and `context`
 * rows before and after each; the caller frees the array. NULL: out of memory.
 */
bool *annotation_choose(const struct annotation *annotation, uint64_t limit, size_t context);

/* The inlined function that a row belongs to; NULL: the row is the function's own. */
const char *annotation_inlined(const struct annotation *annotation,
			       const struct annotation_row *row);

/* Parts of both text formats. */

#endif
