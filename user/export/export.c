// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/export_impl.h"

#include <errno.h>
#include <string.h>

#include "profile/profile_io.h"
#include "profile/waits_view.h"

static int export_json(const struct profile *profile, const struct export_options *options,
		       FILE *stream, struct error *err)
{
	(void)options;
	return profile_write(profile, stream, err);
}

#define USES_PLACES (EXPORT_USES_OBJECT | EXPORT_USES_TARGET)

const struct export_format export_formats[] = {
	{ .name = "json",
	  .description = "the profile itself (see --schema)",
	  .has_waits = true,
	  .write = export_json },
	{ .name = "csv",
	  .description = "a row for each bin, with a header",
	  .flat = "a row is a bin",
	  .write = export_csv },
	{ .name = "callgrind",
	  .description = "ticks by instruction and line, for kcachegrind",
	  .uses = USES_PLACES,
	  .write = export_callgrind },
	{ .name = "folded",
	  .description = "a line for each function or chain, for flame graphs",
	  .uses = USES_PLACES | EXPORT_USES_PROGRAMS | EXPORT_USES_WAITS,
	  .only_counts = true,
	  .reads_view = true,
	  .write = export_folded },
	{ .name = "gmon",
	  .description = "for gprof: a file gmon.NAME.out for each object",
	  .uses = USES_PLACES,
	  .flat = "gprof wants counts of calls, which ticks are not",
	  .per_object = true,
	  .write = export_gmon },
	{ .name = "llvm-sample",
	  .description = "how often lines run, for -fprofile-sample-use",
	  .uses = USES_PLACES,
	  .flat = "compilers want how often lines run",
	  .reads_programs = true,
	  .write = export_llvm },
	{ .name = "clickhouse",
	  .description = "rows for the table otel_profiles of ClickHouse",
	  .uses = USES_PLACES | EXPORT_USES_DETAIL,
	  .has_waits = true,
	  .ddl = clickhouse_ddl,
	  .write = export_clickhouse },
	{ .name = "otlp",
	  .description = "an OTLP ExportProfilesServiceRequest",
	  .uses = USES_PLACES | EXPORT_USES_DETAIL,
	  .has_waits = true,
	  .binary = true,
	  .write = export_otlp },
	{ .name = "pprof",
	  .description = "for go tool pprof, Pyroscope and Parca",
	  .uses = USES_PLACES,
	  .has_waits = true,
	  .binary = true,
	  .compressed = true,
	  .write = export_pprof },
	{ .name = "speedscope",
	  .description = "for speedscope.app, by function or chain",
	  .uses = USES_PLACES | EXPORT_USES_PROGRAMS,
	  .has_waits = true,
	  .reads_view = true,
	  .write = export_speedscope },
	{ .name = "raw",
	  .description = "the buffer that a call of profil() would have left",
	  .uses = EXPORT_USES_OBJECT | EXPORT_USES_CALL,
	  .flat = "buffers had none",
	  .binary = true,
	  .write = export_raw },
	{ 0 }
};

void export_note_missing(const struct export_format *format, const struct profile *profile,
			 const struct export_options *options)
{
	if (profile->callers && format->flat)
		export_add_note(options->note, "%s leaves out the callers: %s", format->name,
				format->flat);
	if (profile->waits && !format->has_waits && !options->waits)
		export_add_note(options->note, "%s leaves out the waits%s", format->name,
				format->uses & EXPORT_USES_WAITS ?
					": --waits writes them instead of ticks" :
					"");
	if (profile->waits && format->has_waits && options->object)
		export_add_note(options->note, "--object leaves out the waits");
}

/* Formats with waits beside ticks get both; others get the waits if the options want them. */
static int write_view(const struct export_format *format, const struct profile *profile,
		      const struct export_options *options, FILE *stream, struct error *err)
{
	struct waits_view view;
	int ret;

	if (!format->reads_view || !(format->has_waits ? !!profile->waits : options->waits))
		return format->write(profile, options, stream, err);
	ret = waits_view_open(&view, profile, NULL, format->has_waits);
	ret = ret ? error_errno(err, ret, "%s", format->name) :
		    format->write(&view.profile, options, stream, err);
	waits_view_close(&view);
	return ret;
}

int export_write(const struct export_format *format, const struct profile *profile,
		 const struct export_options *options, FILE *stream, struct error *err)
{
	static const struct export_options defaults = { .target = EXPORT_ALL_TARGETS };
	uint64_t period;
	int ret = 0;

	options = options ? options : &defaults;
	if (format->uses & EXPORT_USES_TARGET)
		ret = export_check(profile, options, format->name, err);
	if (!ret && options->waits && !profile->waits)
		ret = error_with_hint(err, -EINVAL, "sudo bpfprofil run --waits COMMAND",
				      "%s: --waits: the profile has no waits", format->name);
	if (!ret && format->only_counts && !options->waits)
		ret = export_one_period(profile, options, format->name, &period, err);
	if (!ret)
		ret = write_view(format, profile, options, stream, err);
	return ret;
}

const struct export_format *export_find(const char *name)
{
	const struct export_format *format;

	for (format = export_formats; format->name; format++)
		if (!strcmp(format->name, name))
			return format;
	return NULL;
}
