// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/report.h"

#include <errno.h>
#include <unistd.h>

#include "report/render.h"
#include "report/timeline.h"
#include "report/views.h"
#include "base/text.h"

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
		.rows = rows,
		.nr = report_limit(options, rows->nr),
	};

	return report;
}

/* A report about a single call uses that call's clock. */
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

static int build_rows(const struct profile *profile, const struct report_options *options,
		      struct report_rows *rows, struct error *err)
{
	int ret;

	if (options->by != REPORT_TIME)
		return rows_build(profile, options, rows, err);
	*rows = (struct report_rows){ 0 };
	ret = rows_check(profile, options, err);
	return ret ? ret : timeline_rows(options, rows, err);
}

int report_write(const struct profile *profile, const struct report_options *options, FILE *out,
		 struct error *err)
{
	static void (*const render[])(const struct report *report, FILE *out) = {
		[REPORT_TEXT] = render_text,
		[REPORT_CSV] = render_csv,
		[REPORT_JSON] = render_json,
	};
	struct profile view = by_its_clock(profile, options);
	struct report_rows rows;
	struct report report;
	int ret;

	ret = build_rows(&view, options, &rows, err);
	if (!ret) {
		report = make_report(&view, options, &rows);
		render[options->format](&report, out);
	}
	rows_free(&rows);
	return ret;
}

void report_account(const struct profile *profile, FILE *out)
{
	const struct report_options options = { .target = REPORT_ALL_TARGETS };
	const struct report_rows none = { 0 };
	const struct report report = make_report(profile, &options, &none);
	size_t i;

	render_ticks(profile, &options, out);
	fputc('\n', out);
	render_identity(&profile->ticks, isatty(fileno(out)) == 1, out);
	render_kernel(&report, "kernel: ", out);
	render_cost(profile, out);
	render_cpu_time(profile, REPORT_ALL_TARGETS, "note: ", out);
	for (i = 0; i < profile->nr_notes; i++) {
		fputs("note: ", out);
		text_write(out, profile->notes[i], 0);
		fputc('\n', out);
	}
}

int report_summary(const struct profile *profile, bool color, unsigned int width, FILE *out,
		   struct error *err)
{
	const struct report_options options = {
		.limit = SUMMARY_ROWS,
		.target = REPORT_ALL_TARGETS,
		.color = color,
		.width = width,
	};
	struct report_rows rows;
	struct report report;
	int ret;

	report_account(profile, out);
	/*
	 * A list of targets is left out if they are calls, which may be many and have another
	 * clock.
	 */
	if (profile->nr_targets > 1 && !profile->targets[1].period_ns)
		render_targets(profile, REPORT_ALL_TARGETS, out);
	ret = rows_build(profile, &options, &rows, err);
	if (!ret) {
		report = make_report(profile, &options, &rows);
		if (rows.nr)
			render_table(&report, out);
		else
			render_empty(profile, &options, out);
		if (rows.nr > report.nr)
			fprintf(out, "and %zu more function%s; bpfprofil report shows them\n",
				rows.nr - report.nr, rows.nr - report.nr == 1 ? "" : "s");
	}
	rows_free(&rows);
	return ret;
}
