// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "base/json_text.h"
#include "base/text.h"
#include "base/util.h"
#include "profile/waits_view.h"
#include "report/diff.h"
#include "report/name_fit.h"
#include "report/render.h"

#define NAME_MAX_BYTES 1024
#define PLACE_COLUMNS 40

/* --- text ------------------------------------------------------------------------------------- */

/* Seconds take space from names. Therefore a narrower terminal has none. */
#define SECONDS_WIDTH 100
#define FIGURE_COLUMNS 34 /* shares, change and P */
#define SECOND_COLUMNS 20

struct diff_layout {
	bool seconds;
	bool color;
	size_t object, line, name; /* columns for each of these; 0: nothing is cut */
	size_t object_pad, line_pad; /* columns before the next one begins */
};

static void heading_side(const struct profile *profile, const struct waits_view *waits,
			 const char *label, const char *name, FILE *out)
{
	const struct report_options options = { .target = REPORT_ALL_TARGETS };

	fprintf(out, "%-10s", label);
	if (name) {
		text_write(out, name, 0);
		fputs(": ", out);
	}
	if (waits) {
		render_wait_account(waits->of, REPORT_ALL_TARGETS, "", out);
		return;
	}
	render_ticks(profile, &options, out);
	fputc('\n', out);
}

/*
 * The scheduler's seconds have no noise of sampling. How much equal runs differ is unknown from two
 * profiles.
 */
static void heading_total(const struct diff *diff, FILE *out)
{
	double old = diff->total.old_ns, new = diff->total.new_ns;

	if (!(old > 0) || !(new > 0))
		return;
	fprintf(out, "%-10s%.3f s of CPU time in the old, %.3f s in the new, %+.1f %%: ", "total",
		old / 1e9, new / 1e9, 100 * (new / old - 1));
	if (!diff->total.is_sampled)
		fputs("measured by the scheduler, so no noise of sampling\n", out);
	else if (diff->total.probability < DIFF_LEVEL)
		fputs("beyond the noise of sampling\n", out);
	else
		fputs("may be noise of sampling\n", out);
}

const char *diff_word(const struct diff *diff)
{
	return diff->options->calls ? "calls" : report_by_words[diff->options->by];
}

static void heading_changed(const struct diff *diff, FILE *out)
{
	const char *rows = diff_word(diff);

	fprintf(out, "%-10s", "changed");
	if (!diff->old->ticks.total || !diff->new->ticks.total)
		fprintf(out, "nothing can be said: the %s one has no ticks\n\n",
			diff->old->ticks.total ? "new" : "old");
	else if (!diff->significant)
		fprintf(out,
			"0 of %zu %s beyond noise: each share may differ by chance; longer profiles show "
			"smaller changes\n\n",
			diff->nr, rows);
	else
		fprintf(out,
			"%zu of %zu %s%s beyond noise: those with a P, how probable it is by chance, below "
			"%g %% for all together\n\n",
			diff->significant, diff->nr, rows,
			diff->options->inclusive && !diff->options->calls ?
				", with all that they called," :
				"",
			100 * DIFF_LEVEL);
}

static void heading(const struct diff *diff, FILE *out)
{
	const struct diff_options *options = diff->options;
	size_t i;

	heading_side(diff->old, options->old_waits, "old", options->old_name, out);
	heading_side(diff->new, options->new_waits, "new", options->new_name, out);
	if (!options->old_waits)
		heading_total(diff, out);
	for (i = 0; i < diff->nr_notes; i++)
		text_labelled(out, "note", diff->notes[i]);
}

/*
 * Text without a symbol looks as in a report, but without an offset, because it combines several
 * places.
 */
static const char *name_or_place(const char *name, const char *object, char text[NAME_MAX_BYTES])
{
	if (name || !object)
		return name ? name : "";
	snprintf(text, NAME_MAX_BYTES, "%.960s+0x...", text_basename(object));
	return text;
}

static const char *name_of(const struct diff_row *row, char text[NAME_MAX_BYTES])
{
	return name_or_place(row->name, row->object, text);
}

/* Writes "CALLER -> FUNCTION" in at most width columns. Each may use what the other leaves. */
static void put_call(const struct diff_row *row, size_t width, FILE *out)
{
	char text[NAME_MAX_BYTES], of[NAME_MAX_BYTES];
	const char *caller = name_or_place(row->caller, row->caller_object, of);
	const char *name = name_of(row, text);
	const size_t room = width > 12 ? width - 4 : 8;
	size_t used = max_size(room / 2, room - min_size(room, text_columns(name)));

	used = name_write(out, caller, width ? used : 0);
	fputs(" -> ", out);
	name_write(out, name, width ? room - used : 0);
}

static size_t name_columns(const struct diff *diff, const struct diff_row *row)
{
	char text[NAME_MAX_BYTES];
	size_t columns = text_columns(name_of(row, text));

	if (diff->options->calls)
		columns += 4 + text_columns(name_or_place(row->caller, row->caller_object, text));
	return columns;
}

/* Writes "FILE:LINE" in at most width columns. */
static size_t put_line(const struct diff_row *row, size_t width, FILE *out)
{
	char number[16];
	size_t length;

	if (!row->file)
		return 0;
	length = (size_t)snprintf(number, sizeof(number), ":%" PRIu32, row->line);
	length += text_write_tail(out, row->file, width > length ? width - length : 0);
	fputs(number, out);
	return length;
}

static size_t line_columns(const struct diff_row *row)
{
	return row->file ?
		       text_columns(row->file) + (size_t)snprintf(NULL, 0, ":%" PRIu32, row->line) :
		       0;
}

/* Measures the longest rows. */
static struct diff_layout measure(const struct diff *diff, size_t nr)
{
	struct diff_layout layout = { .object = strlen("OBJECT"), .line = strlen("LINE") };
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct diff_row *row = &diff->rows[i];

		layout.object = max_size(layout.object, text_columns(text_basename(row->object)));
		layout.line = max_size(layout.line, line_columns(row));
		layout.name = max_size(layout.name, name_columns(diff, row));
	}
	if (diff->options->by != REPORT_LINES)
		layout.line = 0;
	return layout;
}

/* Divides the width among the names. If it is too small, each gets at least its share. */
static void fit(const struct diff *diff, size_t width, struct diff_layout *layout)
{
	const size_t figures = FIGURE_COLUMNS + (layout->seconds ? SECOND_COLUMNS : 0);
	size_t gaps = diff->options->by == REPORT_LINES ? 4 : 2, part, room;

	room = max_size(width, figures + 30) - figures;
	if (diff->options->by == REPORT_OBJECTS) {
		layout->object = room;
		return;
	}
	room -= gaps;
	part = room / (diff->options->by == REPORT_LINES ? 4 : 3);
	layout->object = min_size(
		layout->object, max_size(part, room - min_size(room, layout->name + layout->line)));
	layout->line = min_size(
		layout->line, max_size(part, room - min_size(room, layout->object + layout->name)));
	layout->name = room - layout->object - layout->line;
}

static struct diff_layout lay_out(const struct diff *diff, const struct report_options *options,
				  size_t nr)
{
	struct diff_layout layout = measure(diff, nr);

	layout.seconds = !options->width || options->width >= SECONDS_WIDTH;
	layout.color = options->color;
	if (options->width)
		fit(diff, options->width, &layout);
	layout.object_pad = min_size(layout.object, options->width ? SIZE_MAX : PLACE_COLUMNS);
	layout.line_pad = min_size(layout.line, options->width ? SIZE_MAX : PLACE_COLUMNS);
	if (!options->width)
		layout.object = layout.line = layout.name = 0;
	return layout;
}

static void pad(size_t used, size_t columns, FILE *out)
{
	fprintf(out, "%*s", used < columns ? (int)(columns - used) + 2 : 2, "");
}

static void place(const struct diff *diff, const struct diff_row *row,
		  const struct diff_layout *layout, FILE *out)
{
	char text[NAME_MAX_BYTES];

	if (diff->options->by == REPORT_OBJECTS) {
		text_write_tail(out, row->object, layout->object);
		return;
	}
	pad(text_write_tail(out, text_basename(row->object), layout->object), layout->object_pad,
	    out);
	if (diff->options->by == REPORT_LINES)
		pad(put_line(row, layout->line, out), layout->line_pad, out);
	if (diff->options->calls)
		put_call(row, layout->name, out);
	else
		name_write(out, name_of(row, text), layout->name);
}

static void text_row(const struct diff *diff, const struct diff_row *row,
		     const struct diff_layout *layout, FILE *out)
{
	const char *mark = !layout->color || !row->significant ? "" :
			   row->change > 0		       ? COLOR_HOT :
								 COLOR_WARM;

	fprintf(out, "%6.2f%% %6.2f%% %s%+7.2f%s ", row->old.percent, row->new.percent, mark,
		row->change, *mark ? COLOR_END : "");
	if (row->significant && row->probability < 1e-4)
		fputs(" <0.0001  ", out);
	else if (row->significant)
		fprintf(out, "%8.4f  ", row->probability);
	else
		fputs("   noise  ", out);
	if (layout->seconds)
		fprintf(out, "%8.3f  %8.3f  ", row->old.sum.ns / 1e9, row->new.sum.ns / 1e9);
	place(diff, row, layout, out);
	fputc('\n', out);
}

static void headings(const struct diff *diff, const struct diff_layout *layout, FILE *out)
{
	fprintf(out, "%s%7s %7s %7s %8s  ", layout->color ? COLOR_DIM : "", "OLD", "NEW", "CHANGE",
		"P");
	if (layout->seconds)
		fprintf(out, "%8s  %8s  ", "OLD s", "NEW s");
	if (diff->options->by == REPORT_OBJECTS)
		fputs("OBJECT", out);
	else
		fprintf(out, "%-*s  ", (int)layout->object_pad, "OBJECT");
	if (diff->options->by == REPORT_LINES)
		fprintf(out, "%-*s  ", (int)layout->line_pad, "LINE");
	if (diff->options->by != REPORT_OBJECTS)
		fputs(diff->options->calls ? "CALLER -> FUNCTION" : "FUNCTION", out);
	fprintf(out, "%s\n", layout->color ? COLOR_END : "");
}

/* Writes the first rows. */
static void put_table(const struct diff *diff, const struct report_options *options, size_t of,
		      FILE *out)
{
	size_t i, nr = report_limit(options, of);
	const struct diff_layout layout = lay_out(diff, options, nr);

	headings(diff, &layout, out);
	for (i = 0; i < nr; i++)
		text_row(diff, &diff->rows[i], &layout, out);
	render_limit(nr, of, "rows", out);
}

static void write_text(const struct diff *diff, const struct report_options *options, FILE *out)
{
	heading(diff, out);
	heading_changed(diff, out);
	put_table(diff, options, diff->nr, out);
}

/* Without rows beyond noise, returns how many candidates to show. */
static size_t candidates(const struct diff *diff)
{
	return diff->old->ticks.total && diff->new->ticks.total ? min_size(diff->nr, 3) : 0;
}

void diff_write_all(const struct diff *inclusive, const struct diff *calls,
		    const struct diff *alone, const struct report_options *options, FILE *out)
{
	const struct diff *const parts[] = { inclusive, calls };
	static const char *const titles[] = { "functions, with all that they called", "calls" };
	size_t i, nr;

	heading(alone, out);
	for (i = 0; i < 2; i++) {
		nr = parts[i]->significant ?: candidates(parts[i]);
		fprintf(out, "%-10s%zu of %zu %s, beyond noise%s\n", "changed",
			parts[i]->significant, parts[i]->nr, titles[i], nr ? "\n" : "");
		if (!nr)
			continue;
		put_table(parts[i], options, nr, out);
		fputc('\n', out);
	}
	heading_changed(alone, out);
	put_table(alone, options, alone->nr, out);
}

/* --- CSV and JSON ----------------------------------------------------------------------------- */

static void write_csv(const struct diff *diff, const struct report_options *options, FILE *out)
{
	size_t i, nr = report_limit(options, diff->nr);

	fputs("old_ticks,old_percent,new_ticks,new_percent,change,probability,significant,object,"
	      "function,file,line,old_seconds,new_seconds",
	      out);
	fputs(diff->options->calls ? ",caller_object,caller\n" : "\n", out);
	for (i = 0; i < nr; i++) {
		const struct diff_row *row = &diff->rows[i];

		fprintf(out, "%" PRIu64 ",%.4f,%" PRIu64 ",%.4f,%.4f,%.6g,%s", row->old.sum.ticks,
			row->old.percent, row->new.sum.ticks, row->new.percent, row->change,
			row->probability, row->significant ? "true" : "false");
		render_csv_field(out, row->object);
		render_csv_field(out, row->name);
		render_csv_line(out, row->file, row->line);
		fprintf(out, ",%.9f,%.9f", row->old.sum.ns / 1e9, row->new.sum.ns / 1e9);
		if (diff->options->calls) {
			render_csv_field(out, row->caller_object);
			render_csv_field(out, row->caller);
		}
		fputc('\n', out);
	}
}

static void json_side(FILE *out, const char *name, const struct diff_side *side)
{
	fprintf(out, "\"%s\": { \"ticks\": %" PRIu64 ", \"percent\": ", name, side->sum.ticks);
	json_text_double(out, side->percent);
	render_json_double(out, "seconds", side->sum.ns / 1e9);
	fputs(" }, ", out);
}

static void json_row(const struct diff *diff, const struct diff_row *row, FILE *out)
{
	fputs("{ ", out);
	json_side(out, "old", &row->old);
	json_side(out, "new", &row->new);
	fputs("\"change\": ", out);
	json_text_double(out, row->change);
	render_json_double(out, "probability", row->probability);
	fprintf(out, ", \"significant\": %s", row->significant ? "true" : "false");
	render_json_text(out, "object", row->object);
	if (diff->options->by != REPORT_OBJECTS)
		render_json_text(out, "function", row->name);
	if (diff->options->calls) {
		render_json_text(out, "caller_object", row->caller_object);
		render_json_text(out, "caller", row->caller);
	}
	if (row->file) {
		render_json_text(out, "file", row->file);
		render_json_u64(out, "line", row->line);
	}
	fputs(" }", out);
}

/* A short title: the command, or the targets' names. */
static void json_title(FILE *out, const struct profile *profile)
{
	char title[256] = "";
	size_t i, used = 0;

	for (i = 0; profile->command && profile->command[i] && used < sizeof(title); i++)
		used += (size_t)snprintf(title + used, sizeof(title) - used, "%s%s", i ? " " : "",
					 profile->command[i]);
	for (i = 0; !profile->command && i < profile->nr_targets && used < sizeof(title); i++)
		used += (size_t)snprintf(title + used, sizeof(title) - used, "%s%s", i ? ", " : "",
					 profile->targets[i].name);
	render_json_text(out, "title", title);
}

static void json_profile(FILE *out, const char *name, const struct profile *profile,
			 const char *file)
{
	uint64_t cpu_ns;

	fprintf(out, "\"%s\": { \"ticks\": %" PRIu64, name, profile->ticks.total);
	if (profile_cpu_time(profile, &cpu_ns))
		render_json_u64(out, "cpu_ns", cpu_ns);
	render_json_u64(out, "period_ns", profile->sampling.period_ns);
	render_json_text(out, "file", file);
	render_json_text(out, "started", profile->started);
	json_title(out, profile);
	fputs(" }", out);
}

static void json_total(const struct diff_total *total, FILE *out)
{
	fputs("\"total\": { \"old_seconds\": ", out);
	json_text_double(out, total->old_ns / 1e9);
	render_json_double(out, "new_seconds", total->new_ns / 1e9);
	if (total->is_sampled)
		render_json_double(out, "probability", total->probability);
	fputs(" },\n  ", out);
}

static void write_json(const struct diff *diff, const struct report_options *options, FILE *out)
{
	size_t i, nr = report_limit(options, diff->nr);

	fprintf(out, "{ \"by\": \"%s\", \"inclusive\": %s, \"level\": ", diff_word(diff),
		diff->options->inclusive ? "true" : "false");
	json_text_double(out, DIFF_LEVEL);
	fputs(",\n  ", out);
	json_profile(out, "old", diff->old, diff->options->old_name);
	fputs(",\n  ", out);
	json_profile(out, "new", diff->new, diff->options->new_name);
	fputs(",\n  ", out);
	json_total(&diff->total, out);
	render_json_notes(out, diff->notes, diff->nr_notes);
	fprintf(out, ",\n  \"of\": %zu, \"significant\": %zu,\n  \"rows\": [", diff->nr,
		diff->significant);
	for (i = 0; i < nr; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		json_row(diff, &diff->rows[i], out);
	}
	fputs(i ? "\n  ] }\n" : "] }\n", out);
}

/* --- waits: their seconds and numbers, by text and class -------------------------------------- */

#define CLASS_COLUMNS 16
#define OBJECT_COLUMNS 24
#define WAIT_COLUMNS (5 * 10 + CLASS_COLUMNS + 4)

static void put_padded(const char *text, size_t columns, FILE *out)
{
	pad(text_write_tail(out, text, columns), columns, out);
}

static void put_waits_row(const struct diff *diff, const struct diff_row *row,
			  const struct report_options *options, FILE *out)
{
	const double change = row->new.sum.ns - row->old.sum.ns;
	const char *color = !options->color ? "" : change > 0 ? COLOR_HOT : COLOR_WARM;

	fprintf(out, "%9.3f %9.3f %s%+9.3f%s %9" PRIu64 " %9" PRIu64 "  ", row->old.sum.ns / 1e9,
		row->new.sum.ns / 1e9, color, change / 1e9, *color ? COLOR_END : "", row->old.waits,
		row->new.waits);
	put_padded(row->wait_class, CLASS_COLUMNS, out);
	if (diff->options->by == REPORT_OBJECTS) {
		text_write_tail(out, row->object, columns_left(options->width, WAIT_COLUMNS));
	} else {
		put_padded(text_basename(row->object), OBJECT_COLUMNS, out);
		name_write(out, row->name ?: "+0x...",
			   columns_left(options->width, WAIT_COLUMNS + OBJECT_COLUMNS + 2));
	}
	fputc('\n', out);
}

static void write_waits_text(const struct diff *diff, const struct report_options *options,
			     FILE *out)
{
	const size_t nr = report_limit(options, diff->nr);
	size_t i;

	heading(diff, out);
	fprintf(out, "\n%s%9s %9s %9s %9s %9s  %-*s  ", options->color ? COLOR_DIM : "", "OLD s",
		"NEW s", "CHANGE s", "OLD COUNT", "NEW COUNT", CLASS_COLUMNS, "CLASS");
	if (diff->options->by == REPORT_OBJECTS)
		fputs("OBJECT", out);
	else
		fprintf(out, "%-*s  FUNCTION", OBJECT_COLUMNS, "OBJECT");
	fprintf(out, "%s\n", options->color ? COLOR_END : "");
	for (i = 0; i < nr; i++)
		put_waits_row(diff, &diff->rows[i], options, out);
	render_limit(nr, diff->nr, "rows", out);
}

static void write_waits_csv(const struct diff *diff, const struct report_options *options,
			    FILE *out)
{
	size_t i, nr = report_limit(options, diff->nr);

	fputs("old_ns,new_ns,change_ns,old_count,new_count,class,object,function\n", out);
	for (i = 0; i < nr; i++) {
		const struct diff_row *row = &diff->rows[i];

		fprintf(out, "%" PRIu64 ",%" PRIu64 ",%.0f,%" PRIu64 ",%" PRIu64,
			row->old.sum.ticks, row->new.sum.ticks, row->new.sum.ns - row->old.sum.ns,
			row->old.waits, row->new.waits);
		render_csv_field(out, row->wait_class);
		render_csv_field(out, row->object);
		render_csv_field(out, row->name);
		fputc('\n', out);
	}
}

static void put_json_side(const struct diff_side *side, const char *name, FILE *out)
{
	fprintf(out, "\"%s\": { \"ns\": %" PRIu64 ", \"count\": %" PRIu64 " }, ", name,
		side->sum.ticks, side->waits);
}

static void write_waits_json(const struct diff *diff, const struct report_options *options,
			     FILE *out)
{
	size_t i, nr = report_limit(options, diff->nr);

	fprintf(out,
		"{ \"by\": \"%s\", \"waits\": true, \"inclusive\": %s,\n"
		"  \"old\": { \"ns\": %.0f }, \"new\": { \"ns\": %.0f },\n  ",
		diff_word(diff), diff->options->inclusive ? "true" : "false", diff->total.old_ns,
		diff->total.new_ns);
	render_json_notes(out, diff->notes, diff->nr_notes);
	fprintf(out, ",\n  \"of\": %zu,\n  \"rows\": [", diff->nr);
	for (i = 0; i < nr; i++) {
		const struct diff_row *row = &diff->rows[i];

		fputs(i ? ",\n    { " : "\n    { ", out);
		put_json_side(&row->old, "old", out);
		put_json_side(&row->new, "new", out);
		fprintf(out, "\"change_ns\": %.0f", row->new.sum.ns - row->old.sum.ns);
		render_json_text(out, "class", row->wait_class);
		render_json_text(out, "object", row->object);
		if (diff->options->by != REPORT_OBJECTS)
			render_json_text(out, "function", row->name);
		fputs(" }", out);
	}
	fputs(i ? "\n  ] }\n" : "] }\n", out);
}

/* --- the choice ------------------------------------------------------------------------------- */

void diff_write(const struct diff *diff, const struct report_options *options, FILE *out)
{
	static void (*const write[][2])(const struct diff *diff,
					const struct report_options *options, FILE *out) = {
		[REPORT_TEXT] = { write_text, write_waits_text },
		[REPORT_CSV] = { write_csv, write_waits_csv },
		[REPORT_JSON] = { write_json, write_waits_json },
	};

	write[options->format][diff->options->old_waits != NULL](diff, options, out);
}
