// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/top/table.h"

#include <inttypes.h>
#include <string.h>

#include "base/util.h"
#include "base/text.h"

#define PLACE_MIN 7
#define PLACE_MAX 40
#define TICKS_WIDTH 60 /* a narrower screen has no column for ticks */
#define SHARE_COLUMNS 17 /* both shares and the gap behind them */
#define TICK_COLUMNS 10

static const char *const places[] = { "OBJECT", "KIND", "PID", "", "" };
static const char *const names[] = { "FUNCTION", "OBJECT", "PROCESS", "CGROUP", "COMM" };

static double percent(double ns, double all)
{
	return all > 0 ? 100 * ns / all : 0;
}

/* The limits are the same as in a report. */
static enum top_style heat(double share)
{
	return share >= 5 ? TOP_HOT : share >= 0.5 ? TOP_WARM : TOP_PLAIN;
}

/* The first column of names gets what the second leaves, but at least two fifths of the room. */
static size_t fit_place(const struct top_columns *columns, size_t name, size_t width)
{
	size_t figures = SHARE_COLUMNS + 2 + (columns->ticks ? TICK_COLUMNS : 0), room;

	if (!width)
		return PLACE_MAX;
	room = width > figures ? width - figures : 0;
	return max_size(PLACE_MIN, max_size(room * 2 / 5, room - (name < room ? name : room)));
}

struct top_columns top_columns_fit(const struct top_choice *choice, bool whole,
				   const struct top_row *const *rows, size_t nr, size_t width)
{
	struct top_columns columns = { .by = choice->by,
				       .threads = choice->threads,
				       .whole = whole,
				       .place = PLACE_MIN };
	char buffer[TOP_PLACE_BYTES];
	size_t limit, name = 0, i;

	columns.ticks = !width || width >= TICKS_WIDTH;
	for (i = 0; i < nr; i++) {
		const char *place = top_row_place(rows[i], choice->by, buffer);

		columns.place = max_size(columns.place, text_columns(place));
		name = max_size(name, text_columns(top_row_name(rows[i])));
	}
	limit = fit_place(&columns, name, width);
	if (columns.place > limit)
		columns.place = limit;
	return columns;
}

/* The heading of figures is right-aligned. */
static void figure_heading(struct top_line *line, const char *name, size_t columns, bool sorted)
{
	line_blank(line, line->used + columns - strlen(name) - sorted);
	if (sorted)
		line_style(line, TOP_SORTED);
	line_text(line, name);
	if (sorted)
		line_text(line, text_glyph("▼"));
	line_style(line, TOP_HEADING);
}

static void name_heading(struct top_line *line, const char *name, size_t columns, bool sorted)
{
	size_t end = line->used + columns;

	if (sorted)
		line_style(line, TOP_SORTED);
	line_text(line, name);
	if (sorted)
		line_text(line, text_glyph("▼"));
	line_style(line, TOP_HEADING);
	line_blank(line, end);
}

void top_put_headings(struct top_line *line, const struct top_columns *columns, enum top_sort sort)
{
	bool threads = columns->by == TOP_PROCESSES && columns->threads;

	line_style(line, TOP_HEADING);
	if (!columns->whole)
		figure_heading(line, "NOW", 7, sort == TOP_SORT_NOW);
	figure_heading(line, "ALL", 8, sort == TOP_SORT_ALL);
	if (columns->ticks)
		figure_heading(line, "TICKS", TICK_COLUMNS, false);
	line_text(line, "  ");
	if (top_has_place(columns->by)) {
		name_heading(line, threads ? "TID" : places[columns->by], columns->place,
			     sort == TOP_SORT_PLACE);
		line_text(line, "  ");
	}
	name_heading(line, threads ? "THREAD" : names[columns->by], 0, sort == TOP_SORT_NAME);
	if (line->styled)
		line_blank(line, line->width);
	line_end(line);
}

static void put_figures(struct top_line *line, const struct top_columns *columns,
			const struct top_model *model, const struct top_row *row, bool selected)
{
	double now = percent(row->ns, model->interval_cpu_ns);
	double all = percent(row->total_ns, model->overall_cpu_ns);

	if (selected)
		line_style(line, TOP_SELECTED);
	if (!columns->whole) {
		if (!selected)
			line_style(line, heat(now));
		line_print(line, "%6.2f%%", now);
	}
	if (!selected)
		line_style(line, heat(all));
	line_print(line, " %6.2f%%", all);
	if (!selected)
		line_style(line, TOP_PLAIN);
	if (columns->ticks)
		line_print(line, " %9" PRIu64, columns->whole ? row->total : row->ticks);
	line_text(line, "  ");
}

void top_put_row(struct top_line *line, const struct top_columns *columns,
		 const struct top_model *model, const struct top_row *row, bool selected)
{
	char buffer[TOP_PLACE_BYTES];

	put_figures(line, columns, model, row, selected);
	if (top_has_place(columns->by)) {
		line_column(line, top_row_place(row, columns->by, buffer), columns->place);
		line_text(line, "  ");
	}
	/* The end of a path says most, so it is cut from the left. */
	if (columns->by == TOP_OBJECTS || columns->by == TOP_CGROUPS)
		line_column(line, top_row_name(row), line->width);
	else
		line_name(line, top_row_name(row));
	if (selected)
		line_blank(line, line->width);
	line_end(line);
}

void top_put_others(struct top_line *line, const struct top_columns *columns,
		    const struct top_model *model)
{
	const struct top_table *table = &model->tables[columns->by];

	if (!table->nr_others)
		return;
	put_figures(line, columns, model, &table->others, false);
	line_print(line, "of %" PRIu64 " others, which are no longer kept apart", table->nr_others);
	line_end(line);
}

/* The identity has the lost ticks too, and on a small screen part of a figure would mislead. */
static void put_if_room(struct top_line *line, const char *format, double figure)
{
	char text[64];

	snprintf(text, sizeof(text), format, figure);
	if (line_has_room(line, strlen(text)))
		line_text(line, text);
}

static void put_ticks(struct top_line *line, const struct top_model *model,
		      const struct profile_account *account, uint64_t ns, double cpu_ns)
{
	double busy = top_busy_cpus(cpu_ns, ns);

	line_print(line, "%" PRIu64 " ticks in %.3f s, %.2f of %" PRIu32 " CPUs", account->total,
		   (double)ns / 1e9, busy, model->cpus);
	if (model->cpus)
		put_if_room(line, " (%.1f %%)", 100 * busy / model->cpus);
	put_if_room(line, ", %.0f lost", (double)profile_account_lost(account));
}

void top_put_interval(struct top_line *line, const struct top_model *model)
{
	put_ticks(line, model, &model->interval, model->interval_ns, model->interval_cpu_ns);
}

void top_put_overall(struct top_line *line, const struct top_model *model)
{
	put_ticks(line, model, &model->overall, model->overall_ns, model->overall_cpu_ns);
}
