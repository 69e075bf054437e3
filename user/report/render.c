// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/render.h"

#include <inttypes.h>

#include "base/json_text.h"
#include "base/text.h"
#include "report/report.h"

/* --- CSV -------------------------------------------------------------------------------------- */

const char *const render_csv_columns[] = {
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

void render_csv_field(FILE *out, const char *text)
{
	fputc(',', out);
	text_csv(out, text);
}

void render_csv_line(FILE *out, const char *file, uint32_t line)
{
	render_csv_field(out, file);
	fputc(',', out);
	if (file)
		fprintf(out, "%" PRIu32, line);
}

void render_csv_split(FILE *out, enum report_by by, const struct report_row *row)
{
	if (by == REPORT_CGROUPS) {
		render_csv_field(out, row->cgroup);
		render_csv_field(out, row->name);
		return;
	}
	if (by != REPORT_COMMS)
		fputc(',', out);
	if (row->pid >= 0)
		fprintf(out, "%" PRId64, row->pid);
	render_csv_field(out, row->name);
}

/* --- JSON ------------------------------------------------------------------------------------- */

void render_json_u64(FILE *out, const char *name, uint64_t value)
{
	fprintf(out, ", \"%s\": %" PRIu64, name, value);
}

void render_json_double(FILE *out, const char *name, double value)
{
	fprintf(out, ", \"%s\": ", name);
	json_text_double(out, value);
}

void render_json_strings(FILE *out, const char *separator, char *const *texts, size_t nr)
{
	for (; nr; nr--, texts++, separator = ", ") {
		fputs(separator, out);
		json_text_string(out, *texts);
	}
}

void render_json_notes(FILE *out, char *const *notes, size_t nr)
{
	fputs("\"notes\": [", out);
	render_json_strings(out, "", notes, nr);
	fputc(']', out);
}

void render_json_text(FILE *out, const char *name, const char *text)
{
	fprintf(out, ", \"%s\": ", name);
	json_text_string_or_null(out, text);
}

void render_json_split(FILE *out, enum report_by by, const struct report_row *row)
{
	if (by == REPORT_CGROUPS) {
		render_json_text(out, "cgroup", row->cgroup);
		render_json_text(out, "name", row->name);
	} else if (by == REPORT_COMMS) {
		render_json_text(out, "comm", row->name);
	} else {
		bool thread = by == REPORT_THREADS;

		if (row->pid >= 0)
			render_json_u64(out, thread ? "tid" : "pid", (uint64_t)row->pid);
		else
			fprintf(out, ", \"%s\": null", thread ? "tid" : "pid");
		render_json_text(out, thread ? "thread" : "process", row->name);
	}
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

int render_json_time_notes(FILE *out, const struct profile *profile, uint64_t target,
			   char *const *more, size_t nr)
{
	struct cpu_time_notes notes;
	int ret = cpu_time_compare(profile, target, &notes);
	size_t i;

	for (i = 0; !ret && i < notes.nr; i++) {
		fputs(i ? ", " : "", out);
		json_text_string(out, notes.text[i]);
	}
	render_json_strings(out, i ? ", " : "", more, nr);
	return ret;
}
