// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_text.h"
#include "base/text.h"
#include "base/util.h"
#include "report/render.h"
#include "report/timeline.h"
#include "report/rows.h"
#include "report/waits_table.h"

#define SUMMARY_ROWS 10

static struct report make_report(const struct profile *profile,
				 const struct report_options *options,
				 const struct report_rows *rows)
{
	struct report report = {
		.profile = profile,
		.options = options,
		.account = rows_account(profile, options),
		.ns = rows_ns(profile, options),
		.whole_ns = options->tree ? rows->whole_ns : rows_ns(profile, options),
		.rows = rows,
		.nr = options->tree ? rows->nr : report_limit(options, rows->nr),
	};

	return report;
}

/* A report on a single call uses that call's clock. */
static struct profile by_its_clock(const struct profile *profile,
				   const struct report_options *options)
{
	struct profile view = *profile;
	uint64_t period = options->target < profile->nr_targets ?
				  profile->targets[options->target].period_ns :
				  0;

	if (period) {
		view.sampling.period_ns = period;
		view.sampling.requested_hz = 1e9 / (double)period;
		view.sampling.measured_hz = 0;
	}
	return view;
}

/* The option that needs callers, or NULL. */
static const char *needs_callers(const struct report_options *options)
{
	static const char *const trees[] = { NULL, "--callers", "--callees", "--tree" };

	return options->inclusive ? "--inclusive" : trees[options->tree];
}

static bool has_callers(const struct profile *profile, const struct report_options *options)
{
	return options->waits ? options->waits->has_chains : !!profile->callers;
}

/*
 * RFC 4180, except that lines end as in Unix. There is one heading line, and each view has one set
 * of columns. Offsets are hexadecimal, as in nm and objdump, because spreadsheets round kernel
 * addresses as numbers.
 */

static void row_fields(const struct report *report, const struct report_row *row, FILE *out)
{
	const struct profile_object *object = &report->profile->objects[row->object];

	if (row->part) {
		fprintf(out, ",%s,%.9f", row->part->started, (double)row->part->duration_ns / 1e9);
		render_csv_field(out, row->part->file);
		render_csv_field(out, row->name);
		fprintf(out, ",%.4f", share_of(row->own.ns, row->part->hottest_ns));
		return;
	}
	if (report->options->by == REPORT_CPUS) {
		fprintf(out, ",%" PRId64, row->pid);
		return;
	}
	if (is_of_split(report)) {
		render_csv_split(out, report->options->by, row);
		return;
	}
	render_csv_field(out, row->abstract ? NULL : object->path);
	if (report->options->by == REPORT_OBJECTS) {
		render_csv_field(out, profile_object_kinds[object->kind]);
		render_csv_field(out, object->build_id);
		return;
	}
	/* A line may have code at several places. Therefore it has no offset. */
	if (row->file || row->scattered || row->abstract)
		fputs(",,,", out);
	else
		fprintf(out, ",0x%" PRIx64 ",0x%" PRIx64 ",%" PRIu64, row->offset,
			row_address(report->profile, row), row->size);
	render_csv_field(out, row->name);
	if (report->options->inlined)
		fprintf(out, ",%" PRIu64, row->inlined);
	if (report->options->by == REPORT_LINES)
		render_csv_line(out, row->file, row->line);
}

/* What rows count. */
static const char *unit_of(const struct report *report)
{
	return report->options->waits ? "ns" : "ticks";
}

/* Columns of profiles with callers. */
static void call_fields(const struct report *report, const struct report_row *row, FILE *out)
{
	if (report->rows->marks)
		fprintf(out, ",%" PRIu64 ",%.4f", row->inclusive.ticks,
			share_of(report->whole_ns, row->inclusive.ns));
	if (report->options->tree)
		fprintf(out, ",%" PRIu32 ",%" PRIu32, row->depth, row->recursion ?: 1);
	if (report->options->tree == TREE_CALLERS)
		fputs(",tree", out);
}

static void class_fields(const struct report *report, const struct report_row *row, FILE *out)
{
	if (!report->rows->by_class)
		return;
	fprintf(out, ",%" PRIu64, row->waits);
	render_csv_field(out, row->wait_class);
}

/* Write all neighbours before the tree. A combined row would have no place. */
static void put_neighbours(const struct report *report, FILE *out)
{
	const struct report_rows *rows = report->rows;
	const struct report_row *row;
	size_t i;

	for (i = 0; i < rows->nr_neighbours; i++) {
		row = &rows->neighbours[i];
		if (i == rows->nr_callers)
			continue;
		fprintf(out, ",,%" PRIu64 ",%.4f,,,%s", row->inclusive.ticks,
			share_of(report->whole_ns, row->inclusive.ns),
			i < rows->nr_callers ? "caller" : "callee");
		row_fields(report, row, out);
		fputs(",\n", out);
	}
}

static void render_csv(const struct report *report, FILE *out)
{
	const char *names = timeline_of_callers(report->options->timeline) ?
				    "started,duration_seconds,file,caller,caller_percent" :
				    render_csv_columns[report->options->by];
	const char *unit = unit_of(report);
	size_t i;

	fprintf(out, "%s,percent,", unit);
	if (report->rows->marks)
		fprintf(out, "inclusive_%s,inclusive_percent,", unit);
	fprintf(out, "%s%s%s%s%s,seconds\n", report->options->tree ? "depth,recursion," : "",
		report->options->tree == TREE_CALLERS ? "relation," : "",
		report->rows->by_class ? "count,class," : "", names,
		report->options->inlined ? ",inlined" : "");
	put_neighbours(report, out);
	for (i = 0; i < report->nr; i++) {
		fprintf(out, "%" PRIu64 ",%.4f", report->rows->rows[i].own.ticks,
			row_percent(report->whole_ns, &report->rows->rows[i]));
		call_fields(report, &report->rows->rows[i], out);
		class_fields(report, &report->rows->rows[i], out);
		row_fields(report, &report->rows->rows[i], out);
		fprintf(out, ",%.9f\n", report->rows->rows[i].own.ns / 1e9);
	}
}

/* The table as JSON, with one row per line for line tools. */

static void part_json(const struct report *report, const struct report_row *row, FILE *out)
{
	const bool callers = timeline_of_callers(report->options->timeline);

	render_json_text(out, "started", row->part->started);
	render_json_u64(out, "duration_ns", row->part->duration_ns);
	render_json_text(out, "file", row->part->file);
	render_json_text(out, callers ? "caller" : "function", row->name);
	render_json_double(out, callers ? "caller_percent" : "function_percent",
			   share_of(row->own.ns, row->part->hottest_ns));
}

static void inclusive_json(const struct report *report, const struct report_row *row, FILE *out)
{
	fprintf(out, "\"inclusive_%s\": %" PRIu64, unit_of(report), row->inclusive.ticks);
	render_json_double(out, "inclusive_percent", share_of(report->whole_ns, row->inclusive.ns));
}

static void call_json(const struct report *report, const struct report_row *row, FILE *out)
{
	if (!report->rows->marks)
		return;
	fputs(", ", out);
	inclusive_json(report, row, out);
	if (!report->options->tree)
		return;
	render_json_u64(out, "depth", row->depth);
	render_json_u64(out, "recursion", row->recursion ?: 1);
}

static void place_json(const struct report *report, const struct report_row *row, FILE *out)
{
	const struct profile_object *object = &report->profile->objects[row->object];

	render_json_text(out, "object", row->abstract ? NULL : object->path);
	if (report->options->by == REPORT_OBJECTS) {
		render_json_text(out, "kind", profile_object_kinds[object->kind]);
		render_json_text(out, "build_id", object->build_id);
		return;
	}
	render_json_text(out, "function", row->name);
	if (report->options->by == REPORT_LINES)
		render_json_text(out, "file", row->file);
	if (report->options->inlined)
		render_json_u64(out, "inlined", row->inlined);
	/* A line may have code at several places. Therefore it has no offset. */
	if (row->file) {
		render_json_u64(out, "line", row->line);
	} else if (!row->scattered && !row->abstract) {
		render_json_u64(out, "offset", row->offset);
		render_json_u64(out, "address", row_address(report->profile, row));
		render_json_u64(out, "size", row->size);
	}
}

static void row_json(const struct report *report, const struct report_row *row, FILE *out)
{
	fprintf(out, "{ \"%s\": %" PRIu64, unit_of(report), row->own.ticks);
	render_json_double(out, "percent", row_percent(report->whole_ns, row));
	render_json_double(out, "seconds", row->own.ns / 1e9);
	if (report->rows->by_class) {
		render_json_u64(out, "count", row->waits);
		render_json_text(out, "class", row->wait_class);
	}
	call_json(report, row, out);
	if (row->part)
		part_json(report, row, out);
	else if (report->options->by == REPORT_CPUS)
		render_json_u64(out, "cpu", (uint64_t)row->pid);
	else if (is_of_split(report))
		render_json_split(out, report->options->by, row);
	else
		place_json(report, row, out);
	fputs(" }", out);
}

/* Turns words into keys, which have no blanks. */
static void put_walk_key(const char *word, FILE *out)
{
	for (; *word; word++)
		fputc(*word == ' ' ? '_' : *word, out);
}

static void render_json_callers(const struct report *report, FILE *out)
{
	size_t i;

	if (!has_callers(report->profile, report->options))
		return;
	fputs(",\n  \"callers\": {", out);
	for (i = 0; i < WALK_END_COUNT; i++) {
		fputs(i ? ", \"" : " \"", out);
		put_walk_key(walk_end_words[i], out);
		fprintf(out, "\": %" PRIu64, report->walks.ticks[i]);
	}
	fputs(" }", out);
	if (!report->options->tree)
		return;
	render_json_u64(out, "left_out_rows", report->rows->nr_cut);
	fprintf(out, ", \"left_out_%s\": %" PRIu64, unit_of(report), report->rows->cut_ticks);
}

static void neighbours_json(const struct report *report, const char *name,
			    const struct report_row *rows, size_t nr, FILE *out)
{
	size_t i;

	fprintf(out, ",\n  \"%s\": [", name);
	for (i = 0; i < nr; i++) {
		fputs(i ? ",\n    { " : "\n    { ", out);
		inclusive_json(report, &rows[i], out);
		place_json(report, &rows[i], out);
		fputs(" }", out);
	}
	putc(']', out);
}

static void put_cpu(const struct report *report, FILE *out)
{
	const double kernel = kernel_percent(report);

	if (is_cpu_known(report->profile, report->options))
		render_json_u64(out, "cpu_ns", (uint64_t)report->ns);
	if (kernel >= 0)
		render_json_double(out, "kernel_percent", kernel);
	render_json_u64(out, "period_ns", report->profile->sampling.period_ns);
}

static void render_json(const struct report *report, FILE *out)
{
	const struct report_rows *rows = report->rows;
	size_t i;

	fprintf(out, "{ \"by\": \"%s\",\n  ",
		report->options->tree ? needs_callers(report->options) + 2 :
					report_by_words[report->options->by]);
	if (report->options->waits) {
		render_json_wall(report->options->waits->of, report->options->target, out);
		fprintf(out, ",\n  \"ns\": %.0f", report->ns);
	} else {
		fputs("\"ticks\": ", out);
		render_json_account(report->account, out);
	}
	render_json_callers(report, out);
	if (!report->options->waits)
		put_cpu(report, out);
	fprintf(out, ",\n  \"of\": %zu,\n  \"notes\": [", rows->nr);
	if (report->options->waits)
		render_json_strings(out, "", rows->notes, rows->nr_notes);
	else
		render_json_time_notes(out, report->profile, report->options->target, rows->notes,
				       rows->nr_notes);
	putc(']', out);
	if (rows->nr_neighbours) {
		neighbours_json(report, "direct_callers", rows->neighbours, rows->nr_callers, out);
		neighbours_json(report, "direct_callees", rows->neighbours + rows->nr_callers + 1,
				rows->nr_neighbours - rows->nr_callers - 1, out);
	}
	fputs(",\n  \"rows\": [", out);
	for (i = 0; i < report->nr; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		row_json(report, &rows->rows[i], out);
	}
	fputs(i ? "\n  ] }\n" : "] }\n", out);
}

/* --- reports ---------------------------------------------------------------------------------- */

/* How the walks to the callers ended; for waits, without those of runnable time, as in text. */
static int count_walks(const struct profile *profile, const struct report_options *options,
		       struct callers_account *walks)
{
	if (options->waits)
		return waits_walks(options->waits->of, options->target, walks);
	return profile_callers_account(profile, options->target, walks);
}

static int write_rows(const struct profile *profile, const struct report_options *options,
		      void (*render)(const struct report *report, FILE *out), FILE *out,
		      struct error *err)
{
	struct report_rows rows;
	struct report report;
	int ret = options->by == REPORT_TIME ? timeline_rows(profile, options, &rows, err) :
					       rows_build(profile, options, &rows, err);

	if (!ret) {
		report = make_report(profile, options, &rows);
		ret = count_walks(profile, options, &report.walks);
		if (ret)
			error_errno(err, ret, "report");
		else
			render(&report, out);
	}
	rows_free(&rows);
	return ret;
}

int report_write(const struct profile *profile, const struct report_options *options, FILE *out,
		 struct error *err)
{
	static void (*const render[])(const struct report *report, FILE *out) = {
		[REPORT_TEXT] = render_text,
		[REPORT_CSV] = render_csv,
		[REPORT_JSON] = render_json,
	};
	const struct profile view = by_its_clock(profile, options);

	if (!needs_callers(options) || has_callers(profile, options))
		return write_rows(&view, options, render[options->format], out, err);
	error_set(err, -EINVAL, "%s: the profile has no callers", needs_callers(options));
	if (options->timeline)
		error_hint(err, "only the files that have them; report without it names them");
	else
		error_hint(err, "sudo bpfprofil %s --callers %s", rows_command(profile),
			   strcmp(rows_command(profile), "run") ? "..." : "COMMAND");
	return -EINVAL;
}

int report_tree(const struct profile *profile, const struct report_options *options, FILE *out,
		struct error *err)
{
	return write_rows(profile, options, render_tree, out, err);
}

static void put_wait_table(const struct report *report, FILE *out)
{
	render_wait_account(report->profile, report->options->target, "", out);
	render_idle_hint(report, "note: ", out);
	if (report->rows->nr)
		render_table(report, out);
}

static int write_waits(const struct profile *profile, const struct report_options *options,
		       void (*render)(const struct report *report, FILE *out), FILE *out,
		       struct error *err)
{
	struct report_options of_waits = *options;
	struct waits_view view;
	int ret = waits_view_open(&view, profile, NULL, false);

	of_waits.waits = &view;
	of_waits.callers = true;
	ret = ret ? error_errno(err, ret, "report") :
		    write_rows(&view.profile, &of_waits, render, out, err);
	waits_view_close(&view);
	return ret;
}

int report_waits(const struct profile *profile, const struct report_options *options, FILE *out,
		 struct error *err)
{
	return write_waits(profile, options, put_wait_table, out, err);
}

void report_account(const struct profile *profile, FILE *out)
{
	const struct report_options options = { .target = REPORT_ALL_TARGETS };
	const struct report_rows none = { 0 };
	struct report report = make_report(profile, &options, &none);
	size_t i;

	render_ticks(profile, &options, out);
	fputc('\n', out);
	render_identity(&profile->ticks, isatty(fileno(out)) == 1, out);
	render_kernel(&report, "kernel: ", out);
	if (!profile_callers_account(profile, REPORT_ALL_TARGETS, &report.walks))
		render_callers(&report, "callers: ", out);
	render_wait_account(profile, REPORT_ALL_TARGETS, "wall: ", out);
	render_wait_callers(profile, REPORT_ALL_TARGETS, "waits: callers ", out);
	render_cost(profile, out);
	render_waits(profile, &options, "note: ", out);
	render_cpu_time(profile, REPORT_ALL_TARGETS, "note: ", out);
	for (i = 0; i < profile->nr_notes; i++) {
		fputs("note: ", out);
		text_write(out, profile->notes[i], 0);
		fputc('\n', out);
	}
}

static void put_summary(const struct report *report, FILE *out)
{
	const size_t more = report->rows->nr - report->nr;

	if (report->rows->nr)
		render_table(report, out);
	else
		render_empty(report->profile, report->options, out);
	if (more)
		fprintf(out, "and %zu more function%s; bpfprofil report%s shows them\n", more,
			more == 1 ? "" : "s", report->options->waits ? " --waits" : "");
	if (report->profile->waits && !report->options->waits)
		fputs("bpfprofil report --waits shows where it waited\n", out);
}

int report_summary(const struct profile *profile, bool color, unsigned int width, FILE *out,
		   struct error *err)
{
	const struct report_options options = {
		.limit = SUMMARY_ROWS,
		.callers = true,
		.target = REPORT_ALL_TARGETS,
		.color = color,
		.width = width,
	};

	report_account(profile, out);
	/*
	 * Do not list targets if they are calls, because there may be many, with their own clocks.
	 */
	if (profile->nr_targets > 1 && !profile->targets[1].period_ns)
		render_targets(profile, REPORT_ALL_TARGETS, out);
	/* A program that only slept has no ticks to show. */
	if (profile->waits && !profile->ticks.total)
		return write_waits(profile, &options, put_summary, out, err);
	return write_rows(profile, &options, put_summary, out, err);
}
