// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Any profile in every format and table, without its binaries: the output must be harmless. */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "export/export.h"
#include "export/samples.h"
#include "profile/waits_view.h"
#include "report/report.h"
#include "report/waits_table.h"

static void export_one(const struct profile *profile, const struct export_format *format,
		       const struct export_options *options)
{
	struct error err = { "", "" };
	struct fuzz_text text;
	int ret = export_write(format, profile, options, fuzz_text_begin(&text), &err);

	fuzz_text_end(&text);
	if (ret)
		fuzz_check_refusal(&err);
	else if (!strcmp(format->name, "json") || !strcmp(format->name, "speedscope"))
		fuzz_check_json(&text);
	else if (!strcmp(format->name, "csv") || !strcmp(format->name, "folded") ||
		 !strcmp(format->name, "clickhouse"))
		fuzz_check_plain(&text);
	fuzz_text_free(&text);
}

static void export(const struct profile *profile, const struct export_format *format)
{
	struct export_options options = { .target = EXPORT_ALL_TARGETS };
	uint32_t i;

	if (format->uses & EXPORT_USES_CALL)
		return;
	if (!format->per_object) {
		export_one(profile, format, &options);
		options.detail = EXPORT_FUNCTION;
		if (format->uses & EXPORT_USES_DETAIL)
			export_one(profile, format, &options);
		options.programs = profile->callers;
		if (format->uses & EXPORT_USES_PROGRAMS)
			export_one(profile, format, &options);
		options.waits = profile->waits;
		if (format->uses & EXPORT_USES_WAITS)
			export_one(profile, format, &options);
		return;
	}
	for (i = 0; i < profile->nr_objects; i++) {
		options.file_object = i;
		if (export_has_file(profile, &options, i))
			export_one(profile, format, &options);
	}
}

static uint64_t ticks_of(const struct samples *samples)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < samples->nr; i++)
		ticks += samples->all[i].ticks;
	return ticks;
}

/* As the agent does for a backend: nothing is dropped. */
static void fold(const struct profile *profile)
{
	const struct export_options options = { .target = EXPORT_ALL_TARGETS, .waits = true };
	struct samples samples;
	struct fuzz_text text;
	struct error err;
	uint64_t ticks;

	if (!samples_build(&samples, profile, &options, &err)) {
		ticks = ticks_of(&samples);
		if (samples_fold(&samples, 3, 4096) || ticks_of(&samples) != ticks ||
		    samples_write_otlp(&samples, fuzz_text_begin(&text)))
			abort();
		fuzz_text_end(&text);
		fuzz_text_free(&text);
	}
	samples_free(&samples);
}

static void check_report(int ret, const struct error *err, struct fuzz_text *text,
			 enum report_format format)
{
	if (ret)
		fuzz_check_refusal(err);
	fuzz_text_end(text);
	if (!ret && format == REPORT_JSON)
		fuzz_check_json(text);
	else if (!ret)
		fuzz_check_plain(text);
	fuzz_text_free(text);
}

/* waits: the view that the profile is of, or NULL. */
static void report(const struct profile *profile, const struct waits_view *waits, enum report_by by,
		   enum report_tree tree, enum report_format format)
{
	const struct report_options options = { .by = by,
						.waits = waits,
						.format = format,
						.callers = true,
						.tree = tree,
						.function = tree ? "*" : NULL,
						.target = REPORT_ALL_TARGETS,
						.symfs = "/nonexistent" };
	struct error err = { "", "" };
	struct fuzz_text text;
	int ret = report_write(profile, &options, fuzz_text_begin(&text), &err);

	check_report(ret, &err, &text, format);
}

static void report_waits_of(const struct profile *profile, enum report_format format)
{
	struct report_options options = { .format = format, .target = REPORT_ALL_TARGETS };
	struct error err = { "", "" };
	struct waits_view view;
	struct fuzz_text text;
	int ret;

	if (!waits_view_open(&view, profile, NULL, false)) {
		report(&view.profile, &view, REPORT_FUNCTIONS, TREE_NONE, format);
		report(&view.profile, &view, REPORT_OBJECTS, TREE_NONE, format);
		report(&view.profile, &view, REPORT_FUNCTIONS, TREE_ALL, format);
	}
	waits_view_close(&view);
	for (options.by = REPORT_PROCESSES; options.by <= REPORT_COMMS; options.by++) {
		ret = report_wait_accounts(profile, &options, NULL, fuzz_text_begin(&text), &err);
		check_report(ret, &err, &text, format);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *profile = fuzz_profile(data, size);
	const struct export_format *format;
	unsigned int by, format_of;

	if (!profile)
		return 0;
	for (format = export_formats; format->name; format++)
		export(profile, format);
	fold(profile);
	for (format_of = REPORT_TEXT; format_of <= REPORT_JSON; format_of++) {
		for (by = REPORT_FUNCTIONS; by <= REPORT_COMMS; by++)
			report(profile, NULL, by, TREE_NONE, format_of);
		report(profile, NULL, REPORT_FUNCTIONS, TREE_CALLERS, format_of);
		report(profile, NULL, REPORT_FUNCTIONS, TREE_CALLEES, format_of);
		report(profile, NULL, REPORT_FUNCTIONS, TREE_ALL, format_of);
		if (profile->waits)
			report_waits_of(profile, format_of);
	}
	profile_free(profile);
	return 0;
}
