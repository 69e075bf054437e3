// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The table as JSON, with one row per line, so that line tools can read it too. */
#include <inttypes.h>

#include "base/json_text.h"
#include "report/cpu_time.h"
#include "report/render.h"
#include "report/timeline.h"

void render_json_u64(FILE *out, const char *name, uint64_t value)
{
	fprintf(out, ", \"%s\": %" PRIu64, name, value);
}

void render_json_text(FILE *out, const char *name, const char *text)
{
	fprintf(out, ", \"%s\": ", name);
	json_text_string_or_null(out, text);
}

static void split_json(const struct report *report, const struct report_row *row, FILE *out)
{
	if (report->options->by == REPORT_CGROUPS) {
		render_json_text(out, "cgroup", row->cgroup);
		render_json_text(out, "name", row->name);
	} else if (report->options->by == REPORT_COMMS) {
		render_json_text(out, "comm", row->name);
	} else {
		bool thread = report->options->by == REPORT_THREADS;

		if (row->pid >= 0)
			render_json_u64(out, thread ? "tid" : "pid", (uint64_t)row->pid);
		else
			fprintf(out, ", \"%s\": null", thread ? "tid" : "pid");
		render_json_text(out, thread ? "thread" : "process", row->name);
	}
	fputs(" }", out);
}

static void part_json(const struct report_row *row, FILE *out)
{
	render_json_text(out, "started", row->part->started);
	render_json_u64(out, "duration_ns", row->part->duration_ns);
	render_json_text(out, "file", row->part->file);
	render_json_text(out, "function", row->name);
	fputs(", \"function_percent\": ", out);
	json_text_double(out, row->ns > 0 ? 100 * row->part->hottest_ns / row->ns : 0);
	fputs(" }", out);
}

static void row_json(const struct report *report, const struct report_row *row, FILE *out)
{
	const struct profile_object *object = &report->profile->objects[row->object];

	fprintf(out, "{ \"ticks\": %" PRIu64 ", \"percent\": ", row->ticks);
	json_text_double(out, row_percent(report->ns, row));
	fputs(", \"seconds\": ", out);
	json_text_double(out, row->ns / 1e9);
	if (row->part) {
		part_json(row, out);
		return;
	}
	if (report->options->by == REPORT_CPUS) {
		render_json_u64(out, "cpu", (uint64_t)row->pid);
		fputs(" }", out);
		return;
	}
	if (is_of_split(report)) {
		split_json(report, row, out);
		return;
	}
	render_json_text(out, "object", object->path);
	if (report->options->by == REPORT_OBJECTS) {
		render_json_text(out, "kind", profile_object_kind_name(object->kind));
		render_json_text(out, "build_id", object->build_id);
		fputs(" }", out);
		return;
	}
	render_json_text(out, "function", row->name);
	if (report->options->by == REPORT_LINES)
		render_json_text(out, "file", row->file);
	if (report->options->inlined)
		render_json_u64(out, "inlined", row->inlined);
	/* A line is compiled to several places, so it has no single offset. */
	if (row->file) {
		render_json_u64(out, "line", row->line);
	} else if (!row->scattered) {
		render_json_u64(out, "offset", row->offset);
		render_json_u64(out, "address", row_address(report->profile, row));
		render_json_u64(out, "size", row->size);
	}
	fputs(" }", out);
}

void render_json_account(const struct profile_account *account, FILE *out)
{
	size_t i;

	fprintf(out, "{ \"total\": %" PRIu64, account->total);
	render_json_u64(out, "binned", account->binned);
	render_json_u64(out, "overflow", account->overflow);
	render_json_u64(out, "outside", account->outside);
	render_json_u64(out, "filtered", account->filtered);
	fputs(", \"lost\": {", out);
	for (i = 0; i < account->nr_lost; i++) {
		fputs(i ? ", " : " ", out);
		json_text_string(out, account->lost[i].cause);
		fprintf(out, ": %" PRIu64, account->lost[i].ticks);
	}
	fputs(i ? " } }" : "} }", out);
}

/* Notes where ticks and CPU time differ, and notes of the rows. */
static void put_notes(const struct report *report, FILE *out)
{
	struct cpu_time_notes notes;
	const char *separator = "";
	size_t i;

	if (cpu_time_judge(report->profile, report->options->target, &notes))
		notes.nr = 0;
	for (i = 0; i < notes.nr; i++, separator = ", ") {
		fputs(separator, out);
		json_text_string(out, notes.text[i]);
	}
	for (i = 0; i < report->rows->nr_notes; i++, separator = ", ") {
		fputs(separator, out);
		json_text_string(out, report->rows->notes[i]);
	}
}

void render_json(const struct report *report, FILE *out)
{
	size_t i;

	fprintf(out, "{ \"by\": \"%s\",\n  \"ticks\": ", report_by_words[report->options->by]);
	render_json_account(report->account, out);
	if (is_cpu_known(report->profile, report->options))
		render_json_u64(out, "cpu_ns", (uint64_t)report->ns);
	render_json_u64(out, "period_ns", report->profile->sampling.period_ns);
	fprintf(out, ",\n  \"of\": %zu,\n  \"notes\": [", report->rows->nr);
	put_notes(report, out);
	fputs("],\n  \"rows\": [", out);
	for (i = 0; i < report->nr; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		row_json(report, &report->rows->rows[i], out);
	}
	fputs(i ? "\n  ] }\n" : "] }\n", out);
}
