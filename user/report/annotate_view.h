/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ANNOTATE_VIEW_H
#define BPFPROFIL_ANNOTATE_VIEW_H

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

/* What all writers of annotations need. */

/*
 * The rows that do not share another row's ticks, hottest first; the caller frees the array. NULL:
 * out of memory.
 */
size_t *annotation_hottest(const struct annotation *annotation, size_t *ret_nr);

/*
 * Marks the `limit` hottest rows (0: every row), those that share ticks with them, and `context`
 * rows before and after each; the caller frees the array. NULL: out of memory.
 */
bool *annotation_choose(const struct annotation *annotation, uint64_t limit, size_t context);

/* The inlined function that a row belongs to, or NULL: the row is the function's own. */
const char *annotation_inlined(const struct annotation *annotation,
			       const struct annotation_row *row);

/* Return 0 or -ENOMEM. */
int annotation_text(const struct annotation *annotation, const struct annotation_view *view,
		    FILE *out);
int annotation_hot_text(const struct annotation *annotation, const struct annotation_view *view,
			FILE *out);
int annotation_csv(const struct annotation *annotation, const struct annotation_view *view,
		   FILE *out);
int annotation_json(const struct annotation *annotation, const struct annotation_view *view,
		    FILE *out);

/* Parts of both text formats. */

/* The columns of the shares, and of the ticks behind them if there is room. */
size_t annotation_share_columns(const struct annotation_view *view);

/* Writes "SHARE TICKS", or blanks if there are no ticks. Returns the columns. */
size_t annotation_put_share(const struct annotation *annotation, const struct annotation_view *view,
			    uint64_t ticks, FILE *out);

/* Writes how hot a row is compared with the hottest one. Returns the columns. */
size_t annotation_put_bar(const struct annotation_view *view, uint64_t ticks, uint64_t hottest,
			  FILE *out);

/*
 * Writes the instruction and where it leads, in at most width columns (0: unlimited). Returns the
 * columns.
 */
size_t annotation_put_instruction(const struct annotation_row *row, size_t width, FILE *out);

/* The columns of the longest address and of its heading. */
int annotation_address_columns(const struct annotation *annotation);

/* The columns left on the terminal; 0: nothing is cut. */
size_t annotation_room(const struct annotation_view *view, size_t used);

/* Writes a source line without the indentation that all lines share, and with tabs as blanks. */
void annotation_put_source(const char *text, size_t indent, size_t width, FILE *out);
size_t annotation_indent(const struct annotation *annotation);

#endif
