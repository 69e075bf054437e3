// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Trees of calls as text. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "report/name_fit.h"
#include "report/render.h"

/* Limit of branches drawn before a row; outer ones are left out. */
#define BRANCHES_MAX 64

/*
 * Only a context with several rows below it gets a branch column. If the branches need more than
 * half of the room, the outermost are left out.
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

/* Text without a name is shown by its place. */
static const char *chain_name(const struct report *report, const struct report_row *row,
			      char place[256])
{
	if (row->name)
		return row->name;
	snprintf(place, 256, "%.200s+0x%" PRIx64,
		 text_basename(report->profile->objects[row->object].path), row->offset);
	return place;
}

/* Adds the object if it differs from that of the row above, and there is room. */
static void put_name(const struct report *report, const struct report_row *row,
		     const struct report_row *above, size_t left, FILE *out)
{
	const char *object = text_basename(report->profile->objects[row->object].path);
	const bool dim = report->options->color;
	char place[256], run[32] = "";
	size_t used;

	if (row->recursion > 1)
		snprintf(run, sizeof(run), " x %" PRIu32, row->recursion);
	used = left > strlen(run) ? left - strlen(run) : left;
	used = name_write(out, chain_name(report, row, place), used) + strlen(run);
	fputs(run, out);
	if (row->abstract || !row->name || row_is_class(report->options, row) ||
	    (above && !above->abstract && above->object == row->object))
		return;
	if (left && used + text_columns(object) + 3 > left)
		return;
	fprintf(out, " %s(", dim ? COLOR_DIM : "");
	text_write(out, object, 0);
	fprintf(out, ")%s", dim ? COLOR_END : "");
}

/* Ticks, or the seconds of waits, in nine columns. */
static void put_amount(const struct report *report, uint64_t ticks, FILE *out)
{
	if (report->options->waits)
		fprintf(out, "%9.3f", (double)ticks / 1e9);
	else
		fprintf(out, "%9" PRIu64, ticks);
}

static const char *amount_title(const struct report *report)
{
	return report->options->waits ? "WAIT" : "TICKS";
}

static void put_row(const struct report *report, const struct report_row *row, FILE *out)
{
	const double percent = row_percent(report->whole_ns, row);
	const char *color = report->options->color ? heat_color(percent) : "";
	size_t used = 29;

	fprintf(out, "%8.2f%% ", share_of(report->whole_ns, row->inclusive.ns));
	put_amount(report, row->inclusive.ticks, out);
	fprintf(out, " %s%6.2f%%%s  ", color, percent, *color ? COLOR_END : "");
	used += put_branches(report->rows, row, columns_left(report->options->width, used), out);
	put_name(report, row, row->depth ? &report->rows->rows[row->parent] : NULL,
		 columns_left(report->options->width, used), out);
	fputc('\n', out);
}

/* Limit of direct callers or callees; the tree shows the others. */
#define NEIGHBOURS_SHOWN 10

static void put_neighbour(const struct report *report, const struct report_row *row,
			  const char *label, FILE *out)
{
	fprintf(out, "%8.2f%% ", share_of(report->whole_ns, row->inclusive.ns));
	put_amount(report, row->inclusive.ticks, out);
	fprintf(out, "  %-11s", label);
	put_name(report, row, &report->rows->neighbours[report->rows->nr_callers],
		 columns_left(report->options->width, 32), out);
	fputc('\n', out);
}

/* Neighbours that are too small for a row are combined. */
static void put_neighbours(const struct report *report, const struct report_row *rows, size_t nr,
			   const char *label, FILE *out)
{
	const double least = report->options->min / 100 * report->whole_ns;
	const size_t most =
		report->options->limit ? min_size(report->options->limit, NEIGHBOURS_SHOWN) : nr;
	struct report_row rest = { .abstract = true };
	char name[32];
	size_t i;

	for (i = 0; i < nr && i < most && rows[i].inclusive.ns >= least; i++, label = "")
		put_neighbour(report, &rows[i], label, out);
	snprintf(name, sizeof(name), "%zu more", nr - i);
	rest.name = name;
	for (; i < nr; i++)
		tick_sum_add(&rest.inclusive, &rows[i].inclusive);
	if (rest.inclusive.ticks)
		put_neighbour(report, &rest, label, out);
}

/* Like pprof's -peek: the callers, the function (or the sum of several), the callees. */
static void put_peek(const struct report *report, FILE *out)
{
	const struct report_row *function = report->rows->neighbours + report->rows->nr_callers;
	const size_t nr = report->rows->nr_neighbours - report->rows->nr_callers;
	const bool dim = report->options->color;

	fprintf(out, "%s%9s %9s  DIRECT CALLERS AND CALLEES (100%% is %.2f%% of the profile)%s\n",
		dim ? COLOR_DIM : "", "INCLUSIVE", amount_title(report),
		share_of(report->ns, report->whole_ns), dim ? COLOR_END : "");
	put_neighbours(report, report->rows->neighbours, report->rows->nr_callers, "called by",
		       out);
	put_neighbour(report, function, "", out);
	put_neighbours(report, function + 1, nr - 1, "calls", out);
	fputc('\n', out);
}

void render_tree(const struct report *report, FILE *out)
{
	const struct report_rows *rows = report->rows;
	const bool dim = report->options->color;
	size_t i;

	if (rows->nr_neighbours)
		put_peek(report, out);
	fprintf(out, "%s%9s %9s %7s  FUNCTION", dim ? COLOR_DIM : "", "INCLUSIVE",
		amount_title(report), "SHARE");
	if (report->options->tree == TREE_CALLEES)
		fprintf(out, " (100%% is %.2f%% of the profile)",
			share_of(report->ns, report->whole_ns));
	fprintf(out, "%s\n", dim ? COLOR_END : "");
	for (i = 0; i < rows->nr; i++)
		put_row(report, &rows->rows[i], out);
	if (!rows->nr_cut)
		return;
	fprintf(out, "\n%zu branch%s with ", rows->nr_cut, rows->nr_cut == 1 ? "" : "es");
	if (report->options->waits)
		fprintf(out, "%.3f s", (double)rows->cut_ticks / 1e9);
	else
		fprintf(out, "%" PRIu64 " tick%s", rows->cut_ticks,
			rows->cut_ticks == 1 ? "" : "s");
	fprintf(out, " left out; --min 0 --limit 0%s shows all.\n",
		report->options->depth ? " --depth 0" : "");
}
