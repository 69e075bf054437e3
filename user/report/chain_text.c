// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Trees of calls for people. */
#include <inttypes.h>

#include "base/text.h"
#include "base/util.h"
#include "report/name_fit.h"
#include "report/render.h"

/* Of more branches on the way to a row the outermost are not drawn. */
#define BRANCHES_MAX 64

/*
 * Only where a context has several below it do these have columns of their own. Where the way down to a
 * row takes more than half of the room, its outermost branches are left out.
 */
static size_t put_branches(const struct report_rows *rows, const struct report_row *row,
			   size_t room, FILE *out)
{
	const size_t most = room ? min_size(room / 4, BRANCHES_MAX) : BRANCHES_MAX;
	const struct report_row *at = row, *branches[BRANCHES_MAX];
	size_t nr = 0, i;

	for (; nr < most; at = &rows->rows[at->parent]) {
		if (at->branch)
			branches[nr++] = at;
		if (!at->depth)
			break;
	}
	for (i = nr; i-- > 0;) {
		if (branches[i] == row)
			fputs(text_glyph(row->last ? "\u2570" : "\u251c"), out);
		else
			fputs(branches[i]->last ? " " : text_glyph("\u2502"), out);
		fputc(' ', out);
	}
	return 2 * nr;
}

/* Text without a name is called by its place. */
static const char *chain_name(const struct report *report, const struct report_row *row,
			      char place[256])
{
	if (row->name)
		return row->name;
	snprintf(place, 256, "%.200s+0x%" PRIx64,
		 text_basename(report->profile->objects[row->object].path), row->offset);
	return place;
}

/* The object stands behind the name where it is another one than the caller's, if there is room. */
static void put_object(const struct report *report, const struct report_row *row, size_t left,
		       FILE *out)
{
	const char *object = text_basename(report->profile->objects[row->object].path);
	const struct report_row *above = &report->rows->rows[row->parent];
	const bool dim = report->options->color;

	if (row->abstract || !row->name ||
	    (row->depth && !above->abstract && above->object == row->object))
		return;
	if (report->options->width && text_columns(object) + 3 > left)
		return;
	fprintf(out, " %s(", dim ? COLOR_DIM : "");
	text_write(out, object, 0);
	fprintf(out, ")%s", dim ? COLOR_END : "");
}

static void put_row(const struct report *report, const struct report_row *row, FILE *out)
{
	const double percent = row_percent(report->whole_ns, row);
	const char *color = report->options->color ? heat_color(percent) : "";
	size_t used = 29, left;
	char place[256];

	fprintf(out, "%8.2f%% %9" PRIu64 " %s%6.2f%%%s  ",
		share_of(report->whole_ns, row->inclusive_ns), row->inclusive_ticks, color, percent,
		*color ? COLOR_END : "");
	used += put_branches(report->rows, row, columns_left(report->options->width, used), out);
	left = columns_left(report->options->width, used);
	used = name_write(out, chain_name(report, row, place), left);
	put_object(report, row, left > used ? left - used : 0, out);
	fputc('\n', out);
}

void render_tree(const struct report *report, FILE *out)
{
	const struct report_rows *rows = report->rows;
	const bool dim = report->options->color;
	size_t i;

	fprintf(out, "%s%9s %9s %7s  FUNCTION", dim ? COLOR_DIM : "", "INCLUSIVE", "TICKS",
		"SHARE");
	if (report->options->tree != TREE_ALL)
		fprintf(out, " (100%% is %.2f%% of the profile)",
			share_of(report->ns, report->whole_ns));
	fprintf(out, "%s\n", dim ? COLOR_END : "");
	for (i = 0; i < rows->nr; i++)
		put_row(report, &rows->rows[i], out);
	if (rows->nr_cut)
		fprintf(out,
			"\n%zu more below %.4g %%%s, with %" PRIu64 " ticks; --min 0 shows all.\n",
			rows->nr_cut, report->options->min,
			report->options->tree == TREE_ALL ? "" : " of it", rows->cut_ticks);
}
