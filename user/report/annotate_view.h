/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ANNOTATE_VIEW_H
#define BPFPROFIL_ANNOTATE_VIEW_H

#include "report/annotate.h"

/* What every way to show an annotation needs. */

/* Rows that do not share another one's ticks, hottest first; the caller frees. NULL: no memory. */
size_t *annotation_hottest(const struct annotation *annotation, size_t *ret_nr);

/*
 * Marks the limit hottest rows (0: every row), those that share with them, and context rows before
 * and behind each; the caller frees. NULL: no memory.
 */
bool *annotation_choose(const struct annotation *annotation, uint64_t limit, size_t context);

/* The function that a row was inlined from, or NULL: it is of the function itself. */
const char *annotation_inlined(const struct annotation *annotation,
			       const struct annotation_row *row);

/* 0 or -ENOMEM. */
int annotation_text(const struct annotation *annotation, const struct annotation_view *view,
		    FILE *out);
int annotation_hot_text(const struct annotation *annotation, const struct annotation_view *view,
			FILE *out);
int annotation_csv(const struct annotation *annotation, const struct annotation_view *view,
		   FILE *out);
int annotation_json(const struct annotation *annotation, const struct annotation_view *view,
		    FILE *out);

/* Pieces of both texts. */

/* Of the shares, and of the ticks behind them where there is room for these. */
size_t annotation_share_columns(const struct annotation_view *view);

/* "SHARE TICKS" of so many ticks, or as many blanks for none. Returns the columns. */
size_t annotation_put_share(const struct annotation *annotation, const struct annotation_view *view,
			    uint64_t ticks, FILE *out);

/* How hot a row is beside the hottest one. Returns the columns. */
size_t annotation_put_bar(const struct annotation_view *view, uint64_t ticks, uint64_t hottest,
			  FILE *out);

/* The instruction and where it leads, in at most width columns (0: all). Returns the columns. */
size_t annotation_put_instruction(const struct annotation_row *row, size_t width, FILE *out);

/* Columns of the longest address, and of its heading. */
int annotation_address_columns(const struct annotation *annotation);

/* What is left of the terminal's columns; 0: nothing is cut. */
size_t annotation_room(const struct annotation_view *view, size_t used);

/* A source line without the blanks before it that all have, tabs as blanks. */
void annotation_put_source(const char *text, size_t indent, size_t width, FILE *out);
size_t annotation_indent(const struct annotation *annotation);

#endif
