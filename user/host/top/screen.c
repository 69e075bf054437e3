// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/top/screen.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "host/top/line.h"
#include "host/top/list.h"
#include "host/top/model.h"
#include "report/render.h"

/* A table of rows, on a screen or in a pipe. */
struct top_columns {
	enum top_by by;
	bool threads; /* not processes */
	bool whole; /* for all intervals and not only the last one */
	size_t place; /* width of the first column of names */
	bool ticks; /* show ticks: there is room beside the names */
	bool inclusive;
};

#define PLACE_MIN 7
#define PLACE_MAX 40
#define TICKS_WIDTH 60 /* a narrower screen has no column for ticks */
#define SHARE_COLUMNS 17 /* both shares and the gap behind them */
#define TICK_COLUMNS 10
#define INCLUSIVE_COLUMNS 9

static const char *const places[] = { "OBJECT", "KIND", "PID", "", "" };
static const char *const names[] = { "FUNCTION", "OBJECT", "PROCESS", "CGROUP", "COMM" };

static double percent(double ns, double all)
{
	return all > 0 ? 100 * ns / all : 0;
}

static enum top_style heat(double share)
{
	return share >= 5 ? TOP_HOT : share >= 0.5 ? TOP_WARM : TOP_PLAIN;
}

/* The first column of names gets the space that the second leaves, but at least two fifths. */
static size_t fit_place(const struct top_columns *columns, size_t name, size_t width)
{
	size_t figures = SHARE_COLUMNS + 2 + (columns->ticks ? TICK_COLUMNS : 0) +
			 (columns->inclusive ? INCLUSIVE_COLUMNS : 0),
	       room;

	if (!width)
		return PLACE_MAX;
	room = width > figures ? width - figures : 0;
	return max_size(PLACE_MIN, max_size(room * 2 / 5, room - (name < room ? name : room)));
}

/* Returns the columns for rows[0..nr), in lines of this width (0: unlimited). */
static struct top_columns top_columns_fit(const struct top_choice *choice, bool whole,
					  const struct top_row *const *rows, size_t nr,
					  size_t width)
{
	struct top_columns columns = { .by = choice->by,
				       .threads = choice->threads,
				       .whole = whole,
				       .inclusive = top_has_inclusive(choice),
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

static void heading(struct top_line *line, const char *name, bool sorted)
{
	if (sorted)
		line_style(line, TOP_SORTED);
	line_text(line, name);
	if (sorted)
		line_text(line, text_glyph("▼"));
	line_style(line, TOP_HEADING);
}

/* The heading of figures is right-aligned. */
static void figure_heading(struct top_line *line, const char *name, size_t columns, bool sorted)
{
	line_blank(line, line->used + columns - strlen(name) - sorted);
	heading(line, name, sorted);
}

static void name_heading(struct top_line *line, const char *name, size_t columns, bool sorted)
{
	size_t end = line->used + columns;

	heading(line, name, sorted);
	line_blank(line, end);
}

/* Writes the headings and marks the one by which rows are sorted. TOP_SORTS: no mark. */
static void top_put_headings(struct top_line *line, const struct top_columns *columns,
			     enum top_sort sort)
{
	bool threads = columns->by == TOP_PROCESSES && columns->threads;

	line_style(line, TOP_HEADING);
	if (!columns->whole)
		figure_heading(line, "NOW", 7, sort == TOP_SORT_NOW);
	figure_heading(line, "ALL", 8, sort == TOP_SORT_ALL);
	if (columns->inclusive)
		figure_heading(line, "INCL", INCLUSIVE_COLUMNS, sort == TOP_SORT_INCLUSIVE);
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
	double inclusive = columns->whole ?
				   percent(row->total_inclusive_ns, model->overall_cpu_ns) :
				   percent(row->inclusive_ns, model->interval_cpu_ns);

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
	if (columns->inclusive)
		line_print(line, " %7.2f%%", inclusive);
	if (columns->ticks)
		line_print(line, " %9" PRIu64, columns->whole ? row->total : row->ticks);
	line_text(line, "  ");
}

static void top_put_row(struct top_line *line, const struct top_columns *columns,
			const struct top_model *model, const struct top_row *row, bool selected)
{
	char buffer[TOP_PLACE_BYTES];

	put_figures(line, columns, model, row, selected);
	if (top_has_place(columns->by)) {
		line_column(line, top_row_place(row, columns->by, buffer), columns->place);
		line_text(line, "  ");
	}
	/* The end of a path is the most useful part. Therefore cut the path from the left. */
	if (columns->by == TOP_OBJECTS || columns->by == TOP_CGROUPS)
		line_column(line, top_row_name(row), line->width);
	else
		line_name(line, top_row_name(row));
	if (selected)
		line_blank(line, line->width);
	line_end(line);
}

/* Writes the sum of removed rows, if there are any. */
static void top_put_others(struct top_line *line, const struct top_columns *columns,
			   const struct top_model *model)
{
	const struct top_table *table = &model->tables[columns->by];

	if (!table->nr_others)
		return;
	put_figures(line, columns, model, &table->others, false);
	line_print(line, "of %" PRIu64 " others, which are no longer kept apart", table->nr_others);
	line_end(line);
}

/*
 * Leave a figure out if it does not fit: part of it would mislead. The identity has the lost ticks
 * too.
 */
static void put_if_room(struct top_line *line, const char *format, double figure)
{
	char text[64];

	snprintf(text, sizeof(text), format, figure);
	if (line_has_room(line, strlen(text)))
		line_text(line, text);
}

/* "1994 ticks in 2.000 s, 1.00 of 2 CPUs (50.0 %), 0 lost": for the last interval, or for all. */
static void put_ticks(struct top_line *line, const struct top_model *model, bool whole)
{
	const struct profile_account *account = whole ? &model->overall : &model->interval;
	uint64_t ns = whole ? model->overall_ns : model->interval_ns;
	double busy = top_busy_cpus(whole ? model->overall_cpu_ns : model->interval_cpu_ns, ns);

	line_print(line, "%" PRIu64 " ticks in %.3f s, %.2f of %" PRIu32 " CPUs", account->total,
		   (double)ns / 1e9, busy, model->cpus);
	if (model->cpus)
		put_if_room(line, " (%.1f %%)", 100 * busy / model->cpus);
	put_if_room(line, ", %.0f lost", (double)profile_account_lost(account));
}

/*
 * The header has a title, two accounts, the identity and the views. Below the table are a note and
 * keys. A small screen has no header, and on one with fewer rows than ROWS_FOR_NOTE a note has only
 * one line.
 */
enum { HEADER_LINES = 5, ROWS_FOR_HEADER = HEADER_LINES + 7, ROWS_FOR_NOTE = 20, NOTE_LINES = 2 };

static bool has_header(const struct top_screen *screen)
{
	return screen->rows >= ROWS_FOR_HEADER;
}

/* The number of lines that the text needs, at most `most`. */
static size_t lines_of(const char *text, size_t width, size_t most)
{
	size_t nr;

	for (nr = 1; nr < most; nr++) {
		text += line_fit(text, width);
		if (!*text)
			break;
		text++;
	}
	return nr;
}

static size_t note_lines(const struct top_screen *screen, const struct top_model *model)
{
	if (!model->note || !has_header(screen))
		return 0;
	return lines_of(model->note, screen->columns,
			screen->rows < ROWS_FOR_NOTE ? 1 : NOTE_LINES);
}

size_t top_screen_rows(const struct top_screen *screen, const struct top_model *model)
{
	if (has_header(screen))
		return screen->rows - HEADER_LINES - 2 - note_lines(screen, model);
	return screen->rows > 1 ? screen->rows - 1 : 0;
}

size_t top_screen_page_rows(const struct top_screen *screen)
{
	return screen->rows > 1 ? screen->rows - 1 : screen->rows;
}

static void put_title(struct top_line *line, const struct top_screen *screen,
		      const struct top_ui *ui)
{
	static const char name[] = "bpfprofil top  ";
	bool fits = line_has_room(line, strlen(name) + text_columns(screen->title));

	line_style(line, TOP_BOLD);
	line_text(line, fits ? name : strchr(name, 't'));
	line_style(line, TOP_PLAIN);
	line_text(line, screen->title);
	if (ui->frozen) {
		line_text(line, "  ");
		line_style(line, TOP_NOTE);
		line_text(line, "FROZEN, Space goes on");
	}
	line_end(line);
}

static void put_account(struct top_line *line, const char *label, const struct top_model *model,
			bool whole)
{
	line_style(line, TOP_DIM);
	line_text(line, label);
	line_style(line, TOP_PLAIN);
	put_ticks(line, model, whole);
	line_end(line);
}

static void put_term(struct top_line *line, uint64_t ticks, const char *what)
{
	if (ticks)
		line_print(line, " + %" PRIu64 " %s", ticks, what);
}

/*
 * Leaves out terms that are 0. A report writes them, but here they would push the causes off the
 * line.
 */
static void put_identity(struct top_line *line, const struct profile_account *account)
{
	const char *separator = " (";
	size_t i;

	line_print(line, "     = %" PRIu64 " binned", account->binned);
	put_term(line, account->overflow, "overflow");
	put_term(line, account->outside, "outside");
	put_term(line, account->filtered, "filtered");
	put_term(line, profile_account_lost(account), "lost");
	for (i = 0; i < account->nr_lost; i++) {
		if (!account->lost[i].ticks)
			continue;
		line_print(line, "%s%s %" PRIu64, separator, account->lost[i].cause,
			   account->lost[i].ticks);
		separator = ", ";
	}
	line_text(line, *separator == ',' ? ")" : "");
	line_end(line);
}

static const char *view_title(const struct top_ui *ui, unsigned int by)
{
	static const char *const titles[] = { "Functions", "Objects", "Processes", "Cgroups",
					      "Comm" };

	return by == TOP_PROCESSES && ui->choice.threads ? "Threads" : titles[by];
}

/* If there is no room for all views, it leaves out the first ones, to show the chosen one. */
static unsigned int first_view(const struct top_line *line, const struct top_ui *ui)
{
	unsigned int first = ui->choice.by;
	size_t columns = strlen(view_title(ui, first)) + 2;

	while (first && line_has_room(line, columns + strlen(view_title(ui, first - 1)) + 3))
		columns += strlen(view_title(ui, --first)) + 3;
	return first;
}

static void put_views(struct top_line *line, const struct top_ui *ui)
{
	unsigned int i;

	for (i = first_view(line, ui); i < TOP_BYS; i++) {
		line_style(line, i == ui->choice.by ? TOP_SELECTED : TOP_DIM);
		line_print(line, " %s ", view_title(ui, i));
		line_style(line, TOP_PLAIN);
		line_text(line, " ");
	}
	if (*ui->filter && !ui->typing) {
		line_style(line, TOP_NOTE);
		line_text(line, " filter: ");
		line_text(line, ui->filter);
	}
	line_end(line);
}

static void put_header(struct top_line *line, const struct top_screen *screen,
		       const struct top_model *model, const struct top_ui *ui)
{
	put_title(line, screen, ui);
	put_account(line, "now  ", model, false);
	put_account(line, "all  ", model, true);
	put_identity(line, &model->overall);
	put_views(line, ui);
}

static void put_key(struct top_line *line, const char *key, const char *what)
{
	if (!line_has_room(line, strlen(key) + 1 + strlen(what)))
		return;
	line_style(line, TOP_BOLD);
	line_text(line, key);
	line_style(line, TOP_PLAIN);
	line_print(line, " %s  ", what);
}

/* Writes this many lines and cuts the last one. */
static void put_note(struct top_line *line, const char *note, size_t nr)
{
	size_t length;

	for (; nr; nr--) {
		length = nr > 1 ? line_fit(note, line->width) : strlen(note);
		line_style(line, TOP_NOTE);
		if (nr > 1)
			line_words(line, note, length);
		else
			line_text(line, note);
		line_end(line);
		note += length + (note[length] == ' ');
	}
}

/* Writes the last line of the screen without a newline, which would scroll. */
static void put_footer(struct top_line *line, const struct top_ui *ui)
{
	if (ui->typing) {
		line_style(line, TOP_NOTE);
		line_text(line, "filter: ");
		line_text(line, ui->filter);
		line_style(line, TOP_SELECTED);
		line_text(line, " ");
	} else if (*ui->message) {
		line_style(line, TOP_NOTE);
		line_text(line, ui->message);
	} else {
		put_key(line, "h", "help");
		put_key(line, "q", "quit");
		put_key(line, "Tab", "view");
		put_key(line, "s", "sort");
		put_key(line, "/", "filter");
		put_key(line, "Enter", "code");
		if (ui->choice.callers)
			put_key(line, "C", "callers");
		put_key(line, "Space", ui->frozen ? "go on" : "freeze");
		put_key(line, "w", "write");
	}
	line_end(line);
}

/* Why a table has no rows. */
static const char *empty(const struct top_screen *screen, const struct top_model *model,
			 const struct top_ui *ui)
{
	if (!model->intervals)
		return "The first interval is not over yet.";
	if ((ui->choice.by == TOP_PROCESSES || ui->choice.by == TOP_COMMS) && !screen->processes)
		return "Processes are not separated: start top with --split process.";
	if (ui->choice.by == TOP_CGROUPS && !screen->cgroups)
		return "Control groups are not separated: start top with --by cgroups.";
	if (*ui->filter)
		return "Nothing has this name. Esc clears the filter.";
	return "No tick yet.";
}

static bool is_distinguished(const struct top_screen *screen, enum top_by by)
{
	if (by == TOP_PROCESSES || by == TOP_COMMS)
		return screen->processes;
	return by != TOP_CGROUPS || screen->cgroups;
}

static void put_table(struct top_line *line, const struct top_screen *screen,
		      const struct top_model *model, const struct top_ui *ui)
{
	const struct top_list *list = &ui->list;
	size_t rows = top_screen_rows(screen, model), nr = list->nr - ui->first, i;
	const struct top_row *const *shown = list->rows + ui->first;
	struct top_columns columns;

	nr = nr < rows ? nr : rows;
	columns = top_columns_fit(&ui->choice, false, shown, nr, screen->columns);
	top_put_headings(line, &columns, ui->choice.sort);
	if (!list->nr || !is_distinguished(screen, ui->choice.by)) {
		line_text(line, empty(screen, model, ui));
		line_end(line);
		nr = 1;
	} else {
		for (i = 0; i < nr; i++)
			top_put_row(line, &columns, model, shown[i], ui->first + i == ui->selected);
	}
	if (nr < rows && model->tables[ui->choice.by].nr_others) {
		top_put_others(line, &columns, model);
		nr++;
	}
	for (; nr < rows; nr++)
		line_end(line);
}

/* The lines fit a screen of 44 columns and 20 rows. */
static const char *const help_lines[] = {
	"f o p c n    functions, objects, processes",
	"1-5 Tab      (threads), cgroups, comm",
	"s            sort by the next column",
	"/            only rows with this in a name;",
	"             Enter keeps it, Esc clears it",
	"Space        freeze the screen or continue;",
	"             sampling continues meanwhile",
	"Up Down k j  select; PgUp PgDn Home End too",
	"Enter a      instructions of the function;",
	"             H: hottest first, Esc: back",
	"C W          its callers; waits of all",
	"w            write a profile, for report",
	"h ?          this help",
	"q ^C         quit",
	"NOW    share of the last interval's CPU time",
	"ALL    share of all since the start",
	"INCL   NOW, with all that it called",
	"TICKS  of the last interval, a sample of it",
	"outside, filtered, lost: man bpfprofil",
	"keys and columns: man bpfprofil-top",
};

/* The whole note comes last, if there is room for it. */
static void put_help(struct top_line *line, const struct top_screen *screen,
		     const struct top_model *model)
{
	size_t nr = sizeof(help_lines) / sizeof(help_lines[0]), i;

	for (i = 0; i < nr && i < screen->rows; i++) {
		line_text(line, help_lines[i]);
		line_end(line);
	}
	if (!model->note || i + 1 >= screen->rows)
		return;
	line_end(line);
	i++;
	put_note(line, model->note, lines_of(model->note, screen->columns, screen->rows - i));
}

static void put_page(struct top_line *line, const struct top_screen *screen,
		     const struct top_page *page)
{
	size_t rows = top_screen_page_rows(screen);

	top_page_draw(page, line, rows);
	if (rows == screen->rows)
		return;
	put_key(line, "Esc", "back");
	if (page->hot_text)
		put_key(line, "H", page->hot ? "as it stands" : "hottest first");
	put_key(line, "PgUp PgDn", "scroll");
	line_end(line);
}

void top_screen_draw(const struct top_screen *screen, const struct top_model *model,
		     const struct top_ui *ui, FILE *out)
{
	struct top_line line = { .out = out, .width = screen->columns, .styled = true };

	if (!screen->rows || !screen->columns)
		return;
	if (ui->help) {
		put_help(&line, screen, model);
		return;
	}
	if (ui->page.text) {
		put_page(&line, screen, &ui->page);
		return;
	}
	if (has_header(screen))
		put_header(&line, screen, model, ui);
	put_table(&line, screen, model, ui);
	if (!has_header(screen))
		return;
	if (model->note)
		put_note(&line, model->note, note_lines(screen, model));
	put_footer(&line, ui);
}

static int put_plain_table(struct top_plain *plain, const struct top_model *model, bool whole,
			   FILE *out)
{
	struct top_line line = { .out = out, .width = plain->width };
	struct top_choice choice = plain->choice;
	const struct top_row *const *rows;
	struct top_columns columns;
	size_t nr, i;
	int ret;

	choice.sort = whole ? TOP_SORT_ALL : TOP_SORT_NOW;
	choice.idle = whole;
	ret = top_list_choose(&plain->list, model, &choice);
	if (ret)
		return ret;
	rows = plain->list.rows;
	nr = plain->list.nr;
	if (plain->limit && nr > plain->limit)
		nr = plain->limit;
	columns = top_columns_fit(&choice, whole, rows, nr, plain->width);
	top_put_headings(&line, &columns, TOP_SORTS);
	for (i = 0; i < nr; i++)
		top_put_row(&line, &columns, model, rows[i], false);
	if (nr == plain->list.nr)
		top_put_others(&line, &columns, model);
	return 0;
}

int top_plain_interval(struct top_plain *plain, const struct top_model *model, time_t at, FILE *out)
{
	struct top_line line = { .out = out };
	char stamp[32] = "";
	struct tm parts;
	int ret = 0;

	if (localtime_r(&at, &parts))
		strftime(stamp, sizeof(stamp), "%FT%T%z", &parts);
	line_print(&line, "%s  ", stamp);
	put_ticks(&line, model, false);
	line_end(&line);
	if (model->note) {
		line_text(&line, "note: ");
		line_text(&line, model->note);
		line_end(&line);
	}
	if (model->interval.total)
		ret = put_plain_table(plain, model, false, out);
	line_end(&line);
	return ret;
}

int top_plain_overall(struct top_plain *plain, const struct top_model *model, FILE *out)
{
	struct top_line line = { .out = out };

	line_print(&line, "overall  ");
	put_ticks(&line, model, true);
	line_end(&line);
	render_identity(&model->overall, isatty(fileno(out)) == 1, out);
	return model->overall.total ? put_plain_table(plain, model, true, out) : 0;
}

void top_plain_free(struct top_plain *plain)
{
	top_list_free(&plain->list);
}
