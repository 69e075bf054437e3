// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * RFC 4180, except that lines end as in Unix; one heading line, and one set of columns per view.
 * Offsets are hexadecimal, as in nm and objdump, because a spreadsheet rounds kernel addresses as
 * numbers.
 */
#include <inttypes.h>
#include <string.h>

#include "base/util.h"
#include "report/render.h"
#include "report/timeline.h"

/* A row is one line, and a name must not act on a terminal, so control characters become \xNN. */
static void put_character(FILE *out, const char *text, size_t length)
{
	size_t i;

	if (!length)
		fputs("\xef\xbf\xbd", out);
	else if (*text == '"')
		fputs("\"\"", out);
	else if (!utf8_is_control(text, length))
		fwrite(text, 1, length, out);
	else
		for (i = 0; i < length; i++)
			fprintf(out, "\\x%02x", (unsigned char)text[i]);
}

void render_csv_field(FILE *out, const char *text)
{
	const char *quote = text && text[strcspn(text, ",\"")] ? "\"" : "";
	size_t length;

	/* Otherwise a spreadsheet would take the name for a formula and compute it. */
	fprintf(out, ",%s%s", quote, text && csv_is_formula(text) ? "'" : "");
	for (; text && *text; text += length ? length : 1) {
		length = utf8_sequence(text, strnlen(text, 4));
		put_character(out, text, length);
	}
	fputs(quote, out);
}

static void split_fields(const struct report *report, const struct report_row *row, FILE *out)
{
	if (report->options->by == REPORT_CGROUPS) {
		render_csv_field(out, row->cgroup);
		render_csv_field(out, row->name);
		return;
	}
	if (report->options->by != REPORT_COMMS)
		fputc(',', out);
	if (row->pid >= 0)
		fprintf(out, "%" PRId64, row->pid);
	render_csv_field(out, row->name);
}

static void row_fields(const struct report *report, const struct report_row *row, FILE *out)
{
	const struct profile_object *object = &report->profile->objects[row->object];

	if (row->part) {
		fprintf(out, ",%s,%.9f", row->part->started, (double)row->part->duration_ns / 1e9);
		render_csv_field(out, row->part->file);
		render_csv_field(out, row->name);
		fprintf(out, ",%.4f", row->ns > 0 ? 100 * row->part->hottest_ns / row->ns : 0);
		return;
	}
	if (report->options->by == REPORT_CPUS) {
		fprintf(out, ",%" PRId64, row->pid);
		return;
	}
	if (is_of_split(report)) {
		split_fields(report, row, out);
		return;
	}
	render_csv_field(out, object->path);
	if (report->options->by == REPORT_OBJECTS) {
		render_csv_field(out, profile_object_kind_name(object->kind));
		render_csv_field(out, object->build_id);
		return;
	}
	/* A line is compiled to several places, so it has no single offset. */
	if (row->file || row->scattered)
		fputs(",,,", out);
	else
		fprintf(out, ",0x%" PRIx64 ",0x%" PRIx64 ",%" PRIu64, row->offset,
			row_address(report->profile, row), row->size);
	render_csv_field(out, row->name);
	if (report->options->inlined)
		fprintf(out, ",%" PRIu64, row->inlined);
	if (report->options->by != REPORT_LINES)
		return;
	render_csv_field(out, row->file);
	if (row->file)
		fprintf(out, ",%" PRIu32, row->line);
	else
		fputc(',', out);
}

void render_csv(const struct report *report, FILE *out)
{
	static const char *const columns[] = {
		[REPORT_FUNCTIONS] = "object,offset,address,size,function",
		[REPORT_OBJECTS] = "object,kind,build_id",
		[REPORT_LINES] = "object,offset,address,size,function,file,line",
		[REPORT_BINS] = "object,offset,address,size,function",
		[REPORT_PROCESSES] = "pid,process",
		[REPORT_CGROUPS] = "cgroup,name",
		[REPORT_THREADS] = "tid,thread",
		[REPORT_COMMS] = "comm",
		[REPORT_CPUS] = "cpu",
		[REPORT_TIME] = "started,duration_seconds,file,function,function_percent",
	};
	size_t i;

	fprintf(out, "ticks,percent,%s%s,seconds\n", columns[report->options->by],
		report->options->inlined ? ",inlined" : "");
	for (i = 0; i < report->nr; i++) {
		fprintf(out, "%" PRIu64 ",%.4f", report->rows->rows[i].ticks,
			row_percent(report->ns, &report->rows->rows[i]));
		row_fields(report, &report->rows->rows[i], out);
		fprintf(out, ",%.9f\n", report->rows->rows[i].ns / 1e9);
	}
}
