// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Writes comparisons of waits: their seconds and numbers, by text and class. */
#include <inttypes.h>
#include <string.h>

#include "base/json_text.h"
#include "base/text.h"
#include "base/util.h"
#include "profile/waits_view.h"
#include "report/diff.h"
#include "report/name_fit.h"
#include "report/render.h"

#define CLASS_COLUMNS 16
#define OBJECT_COLUMNS 24
#define FIGURE_COLUMNS (5 * 10 + CLASS_COLUMNS + 4)

static void heading_waits(const struct waits_view *view, const char *label, const char *name,
			  FILE *out)
{
	fprintf(out, "%-10s", label);
	if (name) {
		text_write(out, name, 0);
		fputs(": ", out);
	}
	render_wait_account(view->of, REPORT_ALL_TARGETS, "", out);
}

static void put_padded(const char *text, size_t columns, FILE *out)
{
	size_t used = text_write_tail(out, text, columns);

	fprintf(out, "%*s  ", (int)(columns - min_size(used, columns)), "");
}

static void put_waits_row(const struct diff *diff, const struct diff_row *row,
			  const struct report_options *options, FILE *out)
{
	const double change = row->new.ns - row->old.ns;
	const char *color = !options->color ? "" : change > 0 ? COLOR_HOT : COLOR_WARM;

	fprintf(out, "%9.3f %9.3f %s%+9.3f%s %9" PRIu64 " %9" PRIu64 "  ", row->old.ns / 1e9,
		row->new.ns / 1e9, color, change / 1e9, *color ? COLOR_END : "", row->old.waits,
		row->new.waits);
	put_padded(row->wait_class, CLASS_COLUMNS, out);
	if (diff->options->by == REPORT_OBJECTS) {
		text_write_tail(out, row->object, columns_left(options->width, FIGURE_COLUMNS));
	} else {
		put_padded(text_basename(row->object), OBJECT_COLUMNS, out);
		name_write(out, row->name ?: "+0x...",
			   columns_left(options->width, FIGURE_COLUMNS + OBJECT_COLUMNS + 2));
	}
	fputc('\n', out);
}

static void write_waits_text(const struct diff *diff, const struct report_options *options,
			     FILE *out)
{
	const size_t nr = report_limit(options, diff->nr);
	size_t i;

	heading_waits(diff->options->old_waits, "old", diff->options->old_name, out);
	heading_waits(diff->options->new_waits, "new", diff->options->new_name, out);
	for (i = 0; i < diff->nr_notes; i++)
		text_labelled(out, "note", diff->notes[i]);
	fprintf(out, "\n%s%9s %9s %9s %9s %9s  %-*s  ", options->color ? COLOR_DIM : "", "OLD s",
		"NEW s", "CHANGE s", "OLD COUNT", "NEW COUNT", CLASS_COLUMNS, "CLASS");
	if (diff->options->by == REPORT_OBJECTS)
		fputs("OBJECT", out);
	else
		fprintf(out, "%-*s  FUNCTION", OBJECT_COLUMNS, "OBJECT");
	fprintf(out, "%s\n", options->color ? COLOR_END : "");
	for (i = 0; i < nr; i++)
		put_waits_row(diff, &diff->rows[i], options, out);
	if (nr < diff->nr)
		fprintf(out, "\n%zu of %zu rows; --limit 0 shows all.\n", nr, diff->nr);
}

static void write_waits_csv(const struct diff *diff, const struct report_options *options,
			    FILE *out)
{
	size_t i, nr = report_limit(options, diff->nr);

	fputs("old_ns,new_ns,change_ns,old_count,new_count,class,object,function\n", out);
	for (i = 0; i < nr; i++) {
		const struct diff_row *row = &diff->rows[i];

		fprintf(out, "%" PRIu64 ",%" PRIu64 ",%.0f,%" PRIu64 ",%" PRIu64, row->old.ticks,
			row->new.ticks, row->new.ns - row->old.ns, row->old.waits, row->new.waits);
		render_csv_field(out, row->wait_class);
		render_csv_field(out, row->object);
		render_csv_field(out, row->name);
		fputc('\n', out);
	}
}

static void put_json_side(const struct diff_side *side, const char *name, FILE *out)
{
	fprintf(out, "\"%s\": { \"ns\": %" PRIu64 ", \"count\": %" PRIu64 " }, ", name, side->ticks,
		side->waits);
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
		fprintf(out, "\"change_ns\": %.0f", row->new.ns - row->old.ns);
		render_json_text(out, "class", row->wait_class);
		render_json_text(out, "object", row->object);
		if (diff->options->by != REPORT_OBJECTS)
			render_json_text(out, "function", row->name);
		fputs(" }", out);
	}
	fputs(i ? "\n  ] }\n" : "] }\n", out);
}

void diff_write_waits(const struct diff *diff, const struct report_options *options, FILE *out)
{
	static void (*const write[])(const struct diff *diff, const struct report_options *options,
				     FILE *out) = {
		[REPORT_TEXT] = write_waits_text,
		[REPORT_CSV] = write_waits_csv,
		[REPORT_JSON] = write_waits_json,
	};

	write[options->format](diff, options, out);
}
