// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inttypes.h>

#include "base/json_text.h"
#include "report/diff.h"
#include "report/render.h"
#include "report/text.h"

#define NO_SYMBOL "(no symbol)"

static size_t shown(const struct diff *diff, const struct report_options *options)
{
	return options->limit && options->limit < diff->nr ? options->limit : diff->nr;
}

/* --- text --------------------------------------------------------------------------------------- */

static void heading_side(const struct profile *profile, const char *label, FILE *out)
{
	const struct report_options options = { .target = REPORT_ALL_TARGETS };

	fprintf(out, "%-10s", label);
	render_ticks(profile, &profile->ticks, rows_time(profile, &options), out);
	fputc('\n', out);
}

static void place(const struct diff *diff, const struct diff_row *row, FILE *out)
{
	text_write(out, diff->by == REPORT_OBJECTS ? row->object : text_basename(row->object), 0);
	if (diff->by == REPORT_OBJECTS)
		return;
	fputs("  ", out);
	if (row->file) {
		text_write(out, row->file, 0);
		fprintf(out, ":%" PRIu32 "  ", row->line);
	}
	text_write(out, row->name ? row->name : NO_SYMBOL, 0);
}

static void text_row(const struct diff *diff, const struct diff_row *row, bool color, FILE *out)
{
	const char *mark = !color || !row->significant ? "" :
			   row->change > 0	       ? COLOR_HOT :
							 COLOR_WARM;

	fprintf(out, "%6.2f%% %6.2f%% %s%+7.2f%s ", row->old.percent, row->new.percent, mark,
		row->change, *mark ? COLOR_END : "");
	if (row->significant && row->probability < 1e-4)
		fputs(" <0.0001  ", out);
	else if (row->significant)
		fprintf(out, "%8.4f  ", row->probability);
	else
		fputs("   noise  ", out);
	place(diff, row, out);
	fputc('\n', out);
}

static void write_text(const struct diff *diff, const struct report_options *options, FILE *out)
{
	const char *const headings[] = { [REPORT_FUNCTIONS] = "OBJECT  FUNCTION",
					 [REPORT_OBJECTS] = "OBJECT",
					 [REPORT_LINES] = "OBJECT  LINE  FUNCTION" };
	size_t i, nr = shown(diff, options);

	heading_side(diff->old, "old", out);
	heading_side(diff->new, "new", out);
	fprintf(out, "%-10s%zu of %zu rows beyond noise, at %g %% for all together\n\n", "changed",
		diff->significant, diff->nr, 100 * DIFF_LEVEL);
	fprintf(out, "%s%7s %7s %7s %8s  %s%s\n", options->color ? COLOR_DIM : "", "OLD", "NEW",
		"CHANGE", "P", headings[diff->by], options->color ? COLOR_END : "");
	for (i = 0; i < nr; i++)
		text_row(diff, &diff->rows[i], options->color, out);
	if (nr < diff->nr)
		fprintf(out, "\n%zu of %zu rows; --limit 0 shows all.\n", nr, diff->nr);
}

/* --- CSV and JSON ------------------------------------------------------------------------------- */

static void write_csv(const struct diff *diff, const struct report_options *options, FILE *out)
{
	size_t i, nr = shown(diff, options);

	fputs("old_ticks,old_percent,new_ticks,new_percent,change,probability,significant,object,"
	      "function,file,line\n",
	      out);
	for (i = 0; i < nr; i++) {
		const struct diff_row *row = &diff->rows[i];

		fprintf(out, "%" PRIu64 ",%.4f,%" PRIu64 ",%.4f,%.4f,%.6g,%s", row->old.ticks,
			row->old.percent, row->new.ticks, row->new.percent, row->change,
			row->probability, row->significant ? "true" : "false");
		render_csv_field(out, row->object);
		render_csv_field(out, row->name);
		render_csv_field(out, row->file);
		if (row->file)
			fprintf(out, ",%" PRIu32 "\n", row->line);
		else
			fputs(",\n", out);
	}
}

static void json_side(FILE *out, const char *name, const struct diff_side *side)
{
	fprintf(out, "\"%s\": { \"ticks\": %" PRIu64 ", \"percent\": ", name, side->ticks);
	json_text_double(out, side->percent);
	fputs(" }, ", out);
}

static void json_row(const struct diff *diff, const struct diff_row *row, FILE *out)
{
	fputs("{ ", out);
	json_side(out, "old", &row->old);
	json_side(out, "new", &row->new);
	fputs("\"change\": ", out);
	json_text_double(out, row->change);
	fputs(", \"probability\": ", out);
	json_text_double(out, row->probability);
	fprintf(out, ", \"significant\": %s", row->significant ? "true" : "false");
	render_json_text(out, "object", row->object);
	if (diff->by != REPORT_OBJECTS)
		render_json_text(out, "function", row->name);
	if (row->file) {
		render_json_text(out, "file", row->file);
		render_json_u64(out, "line", row->line);
	}
	fputs(" }", out);
}

static void write_json(const struct diff *diff, const struct report_options *options, FILE *out)
{
	size_t i, nr = shown(diff, options);

	fprintf(out, "{ \"by\": \"%s\", \"level\": ", report_by_words[diff->by]);
	json_text_double(out, DIFF_LEVEL);
	fprintf(out,
		",\n  \"old\": { \"ticks\": %" PRIu64 ", \"period_ns\": %" PRIu64
		" }, \"new\": { \"ticks\": %" PRIu64 ", \"period_ns\": %" PRIu64 " }",
		diff->old->ticks.total, diff->old->sampling.period_ns, diff->new->ticks.total,
		diff->new->sampling.period_ns);
	fprintf(out, ",\n  \"of\": %zu, \"significant\": %zu,\n  \"rows\": [", diff->nr,
		diff->significant);
	for (i = 0; i < nr; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		json_row(diff, &diff->rows[i], out);
	}
	fputs(i ? "\n  ] }\n" : "] }\n", out);
}

void diff_write(const struct diff *diff, const struct report_options *options, FILE *out)
{
	static void (*const write[])(const struct diff *diff, const struct report_options *options,
				     FILE *out) = {
		[REPORT_TEXT] = write_text,
		[REPORT_CSV] = write_csv,
		[REPORT_JSON] = write_json,
	};

	write[options->format](diff, options, out);
}
