// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "base/json_text.h"
#include "report/diff.h"
#include "report/render.h"
#include "report/text.h"

#define NO_SYMBOL "(no symbol)"
#define PLACE_COLUMNS 40

static size_t shown(const struct diff *diff, const struct report_options *options)
{
	return options->limit && options->limit < diff->nr ? options->limit : diff->nr;
}

/* --- text --------------------------------------------------------------------------------------- */

static void heading_side(const struct profile *profile, const char *label, FILE *out)
{
	const struct report_options options = { .target = REPORT_ALL_TARGETS };

	fprintf(out, "%-10s", label);
	render_ticks(profile, &options, out);
	fputc('\n', out);
}

static size_t put_line(const struct diff_row *row, FILE *out)
{
	return row->file ? text_write(out, row->file, 0) +
				   (size_t)fprintf(out, ":%" PRIu32, row->line) :
			   0;
}

static size_t line_columns(const struct diff_row *row)
{
	return row->file ?
		       text_columns(row->file) + (size_t)snprintf(NULL, 0, ":%" PRIu32, row->line) :
		       0;
}

/* Of the columns that names follow; a name that is longer pushes what is behind it. */
struct place_columns {
	size_t object;
	size_t line;
};

static size_t widen(size_t columns, size_t needed)
{
	if (needed > PLACE_COLUMNS)
		needed = PLACE_COLUMNS;
	return needed > columns ? needed : columns;
}

static struct place_columns measure(const struct diff *diff, size_t nr)
{
	struct place_columns columns = { .object = strlen("OBJECT"), .line = strlen("LINE") };
	size_t i;

	for (i = 0; i < nr; i++) {
		columns.object =
			widen(columns.object, text_columns(text_basename(diff->rows[i].object)));
		columns.line = widen(columns.line, line_columns(&diff->rows[i]));
	}
	return columns;
}

static void pad(size_t used, size_t columns, FILE *out)
{
	fprintf(out, "%*s", used < columns ? (int)(columns - used) + 2 : 2, "");
}

static void place(const struct diff *diff, const struct diff_row *row,
		  const struct place_columns *columns, FILE *out)
{
	if (diff->by == REPORT_OBJECTS) {
		text_write(out, row->object, 0);
		return;
	}
	pad(text_write(out, text_basename(row->object), 0), columns->object, out);
	if (diff->by == REPORT_LINES)
		pad(put_line(row, out), columns->line, out);
	text_write(out, row->name ? row->name : NO_SYMBOL, 0);
}

static void text_row(const struct diff *diff, const struct diff_row *row,
		     const struct place_columns *columns, bool color, FILE *out)
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
	place(diff, row, columns, out);
	fputc('\n', out);
}

static void write_text(const struct diff *diff, const struct report_options *options, FILE *out)
{
	size_t i, nr = shown(diff, options);
	struct place_columns columns = measure(diff, nr);

	heading_side(diff->old, "old", out);
	heading_side(diff->new, "new", out);
	fprintf(out, "%-10s%zu of %zu rows beyond noise, at %g %% for all together\n\n", "changed",
		diff->significant, diff->nr, 100 * DIFF_LEVEL);
	fprintf(out, "%s%7s %7s %7s %8s  ", options->color ? COLOR_DIM : "", "OLD", "NEW", "CHANGE",
		"P");
	if (diff->by == REPORT_FUNCTIONS)
		fprintf(out, "%-*s  FUNCTION", (int)columns.object, "OBJECT");
	else if (diff->by == REPORT_LINES)
		fprintf(out, "%-*s  %-*s  FUNCTION", (int)columns.object, "OBJECT",
			(int)columns.line, "LINE");
	else
		fputs("OBJECT", out);
	fprintf(out, "%s\n", options->color ? COLOR_END : "");
	for (i = 0; i < nr; i++)
		text_row(diff, &diff->rows[i], &columns, options->color, out);
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

static void json_profile(FILE *out, const char *name, const struct profile *profile)
{
	uint64_t cpu_ns;

	fprintf(out, "\"%s\": { \"ticks\": %" PRIu64, name, profile->ticks.total);
	if (profile_cpu_time(profile, &cpu_ns))
		render_json_u64(out, "cpu_ns", cpu_ns);
	render_json_u64(out, "period_ns", profile->sampling.period_ns);
	fputs(" }", out);
}

static void write_json(const struct diff *diff, const struct report_options *options, FILE *out)
{
	size_t i, nr = shown(diff, options);

	fprintf(out, "{ \"by\": \"%s\", \"level\": ", report_by_words[diff->by]);
	json_text_double(out, DIFF_LEVEL);
	fputs(",\n  ", out);
	json_profile(out, "old", diff->old);
	fputs(", ", out);
	json_profile(out, "new", diff->new);
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
