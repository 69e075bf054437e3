// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Tables as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/name_fit.h"
#include "report/render.h"
#include "base/text.h"
#include "profile/waits_view.h"
#include "report/timeline.h"
#include "shared/counters.h"

#define PLACE_MAX 1024
#define BUILD_DIGITS 8 /* of a build id, enough to distinguish builds */
#define PLACE_COLUMNS 48 /* if nothing is cut; longer places shift the next column */
#define FIGURE_COLUMNS 29 /* share, ticks and seconds */
#define INCLUSIVE_COLUMNS 10
#define CLASS_COLUMNS_MAX 24

#define LOST_TEXT(id, key, text) { key, text },
static const struct {
	const char *key, *text;
} lost_texts[] = { LOST_CAUSES(LOST_TEXT) };
#undef LOST_TEXT

static const char *const row_nouns[] = { "functions", "objects", "lines", "bins", "processes",
					 "cgroups",   "threads", "names", "CPUs", "files" };

/*
 * --- rows that look alike -----------------------------------------------------------------------
 */

/*
 * What to add to rows that would otherwise look alike, as bits. Files may have one name in two
 * folders, a file may have two builds, and functions may have one name in one file.
 */
enum alike {
	ALIKE_PATH = 1, /* the paths of their objects */
	ALIKE_BUILD = 2, /* their build ids */
	ALIKE_OFFSET = 4, /* their offsets in one object */
};

/* Limit of rows that are compared with each other. */
#define ALIKE_MAX 64

/* A row, and the text that a table shows. */
struct shown_row {
	const struct profile_object *object;
	const struct report_row *row;
	const char *shown; /* of its object */
	size_t at;
};

/* Without a name, the offset is shown. */
DEFINE_COMPARE_AS(compare_shown, struct shown_row,
		  strcmp(a->shown, b->shown)				       ?:
			  compare_text(a->row->name, b->row->name)	       ?:
			  compare_text(a->row->wait_class, b->row->wait_class) ?:
			  (a->row->name ? 0 : compare_u64(a->row->offset, b->row->offset)))

static unsigned int difference(const struct shown_row *a, const struct shown_row *b)
{
	if (strcmp(a->object->path, b->object->path) != 0)
		return ALIKE_PATH;
	if (compare_text(a->object->build_id, b->object->build_id) != 0)
		return ALIKE_BUILD;
	return a->object == b->object ? ALIKE_OFFSET : 0;
}

/* first[0..nr) look alike. Limit the work, because a profile may be crafted to have many. */
static void find_difference(const struct shown_row *first, size_t nr, uint8_t *alike)
{
	unsigned int how = 0;
	size_t i, j;

	for (i = 0; i < nr && i < ALIKE_MAX; i++)
		for (j = i + 1; j < nr && j < ALIKE_MAX; j++)
			how |= difference(&first[i], &first[j]);
	for (i = 0; i < nr; i++)
		alike[first[i].at] = (uint8_t)how;
}

/*
 * For each row of functions or objects, its addition in the table; 0: nothing. The caller frees it.
 * NULL: no memory.
 */
static uint8_t *alike_find(const struct report *report)
{
	uint8_t *alike = calloc(report->nr + 1, sizeof(*alike));
	cleanup_free struct shown_row *seen = calloc(report->nr + 1, sizeof(*seen));
	size_t i, end;

	if (!alike || !seen) {
		free(alike);
		return NULL;
	}
	for (i = 0; i < report->nr; i++) {
		const struct report_row *row = &report->rows->rows[i];
		const struct profile_object *object = &report->profile->objects[row->object];
		bool whole = report->options->by == REPORT_OBJECTS;

		seen[i] = (struct shown_row){ object, row,
					      whole ? object->path : text_basename(object->path),
					      i };
	}
	SORT(seen, report->nr, compare_shown);
	for (i = 0; i < report->nr; i = end) {
		for (end = i + 1; end < report->nr && !compare_shown(&seen[i], &seen[end]); end++)
			;
		if (end > i + 1)
			find_difference(&seen[i], end - i, alike);
	}
	return alike;
}

/* --- the table -------------------------------------------------------------------------------- */

static unsigned int alike_of(const struct report *report, const struct report_row *row)
{
	return report->alike ? report->alike[row - report->rows->rows] : 0;
}

/* The object of a function, with the part that distinguishes it. */
static void place_object(const struct report *report, const struct report_row *row, char *text)
{
	const struct profile_object *object = &report->profile->objects[row->object];
	unsigned int alike = alike_of(report, row);
	const char *id = object->build_id ? object->build_id : "no build id";
	int length;

	if (row->abstract) {
		snprintf(text, PLACE_MAX, "-");
		return;
	}
	length = snprintf(text, PLACE_MAX, "%.960s",
			  alike & ALIKE_PATH ? object->path : text_basename(object->path));
	if (alike & ALIKE_BUILD)
		snprintf(text + length, PLACE_MAX - (size_t)length, " (%.*s)",
			 object->build_id ? BUILD_DIGITS : 16, id);
}

/* object+0xoffset; for a wide bin with its last byte: object+0x1000..0x103f */
static void place_offset(const struct report *report, const struct report_row *row, char *text)
{
	int length;

	length = snprintf(text, PLACE_MAX, "%.960s+0x%" PRIx64,
			  text_basename(report->profile->objects[row->object].path), row->offset);
	if (row->size > 1 && (!row->function || report->options->by == REPORT_BINS))
		snprintf(text + length, PLACE_MAX - (size_t)length, "..0x%" PRIx64,
			 row->offset + row->size - 1);
}

/* The first of the two columns of names. */
static void place(const struct report *report, const struct report_row *row, char *text)
{
	switch (report->options->by) {
	case REPORT_OBJECTS:
		snprintf(text, PLACE_MAX, "%s",
			 profile_object_kinds[report->profile->objects[row->object].kind]);
		break;
	case REPORT_FUNCTIONS:
		place_object(report, row, text);
		break;
	case REPORT_LINES:
		if (row->file)
			snprintf(text, PLACE_MAX, "%.960s:%" PRIu32, row->file, row->line);
		else
			place_offset(report, row, text);
		break;
	case REPORT_BINS:
		place_offset(report, row, text);
		break;
	case REPORT_PROCESSES:
	case REPORT_THREADS:
	case REPORT_CPUS:
		snprintf(text, PLACE_MAX, row->pid < 0 ? "-" : "%" PRId64, row->pid);
		break;
	case REPORT_CGROUPS:
		snprintf(text, PLACE_MAX, "%.960s", row->name ?: row->cgroup ?: "-");
		break;
	case REPORT_COMMS:
		snprintf(text, PLACE_MAX, "%.960s", row->name ?: "-");
		break;
	case REPORT_TIME:
		snprintf(text, PLACE_MAX, "%.64s +%.3f s", row->part->started,
			 (double)row->part->duration_ns / 1e9);
		break;
	}
}

/* The last column: a name, and for a bin also its distance from the function's start. */
static const char *name_of(const struct report *report, const struct report_row *row,
			   char text[PLACE_MAX], char suffix[32])
{
	const struct profile_object *object = &report->profile->objects[row->object];

	*suffix = '\0';
	if (report->options->by == REPORT_OBJECTS) {
		if (alike_of(report, row) & ALIKE_BUILD)
			snprintf(suffix, 32, " (build %.*s)", BUILD_DIGITS,
				 object->build_id ? object->build_id : "none");
		return object->path;
	}
	if (!row->name) {
		*text = '\0';
		if (report->options->by == REPORT_FUNCTIONS)
			place_offset(report, row, text);
		return text;
	}
	if (row->part)
		snprintf(suffix, 32, " (%.2f%% of it)",
			 share_of(row->own.ns, row->part->hottest_ns));
	else if (row->inlined && row->inlined == row->own.ticks)
		snprintf(suffix, 32, " (inlined)");
	else if (alike_of(report, row) & ALIKE_OFFSET && !row->scattered)
		snprintf(suffix, 32, " (at 0x%" PRIx64 ")", row->offset);
	else if (report->options->by == REPORT_BINS && row->offset > row->function->offset)
		snprintf(suffix, 32, "+0x%" PRIx64, row->offset - row->function->offset);
	return row->name;
}

static void put_detail(const struct report *report, const struct report_row *row, size_t width,
		       FILE *out)
{
	char suffix[32], text[PLACE_MAX];
	const char *name = name_of(report, row, text, suffix);
	size_t length = strlen(suffix);

	/* The end of a path is its most useful part. */
	(report->options->by == REPORT_OBJECTS ? text_write_tail : name_write)(
		out, name, width > length ? width - length : width);
	fputs(suffix, out);
}

/* A place without a name gets the room of both columns. */
static bool is_alone(const struct report *report, const struct report_row *row)
{
	if (report->options->by == REPORT_CGROUPS || report->options->by == REPORT_COMMS)
		return true;
	return !row->name && report->options->by != REPORT_OBJECTS &&
	       report->options->by != REPORT_FUNCTIONS;
}

/* Measures the longest names. */
static void measure(const struct report *report, size_t *places, size_t *details)
{
	char text[PLACE_MAX], suffix[32];
	size_t i;

	*places = *details = 0;
	for (i = 0; i < report->nr; i++) {
		const struct report_row *row = &report->rows->rows[i];

		if (is_alone(report, row))
			continue;
		place(report, row, text);
		*places = max_size(*places, text_columns(text));
		*details = max_size(*details, text_columns(name_of(report, row, text, suffix)) +
						      strlen(suffix));
	}
}

/* The mean of waits takes space from names. Therefore a narrower terminal does not have it. */
#define MEAN_WIDTH 100

static bool has_mean(const struct report *report)
{
	return !report->options->width || report->options->width >= MEAN_WIDTH;
}

/* The first column gets the rest of the second one, but at least a third of the room. */
static size_t place_columns(const struct report *report, const char *heading)
{
	size_t width = report->options->width, limit = PLACE_COLUMNS, places, details, names;
	size_t figures = FIGURE_COLUMNS;

	if (report->rows->by_class)
		figures += (has_mean(report) ? 10 : 0) + report->class_columns + 2;
	measure(report, &places, &details);
	places = max_size(places, strlen(heading));
	if (width) {
		figures += report->rows->marks ? INCLUSIVE_COLUMNS : 0;
		names = max_size(width, figures + 2 + 24) - figures - 2;
		limit = max_size(names / 3, names - (details < names ? details : names));
	}
	return places < limit ? places : limit;
}

/* Writes the figures after the shares. Returns their columns. */
static size_t put_figures(const struct report *report, const struct report_row *row, FILE *out)
{
	char mean[MEAN_BYTES];
	size_t used;

	if (!report->rows->by_class)
		return (size_t)fprintf(out, " %9" PRIu64 " %9.3f  ", row->own.ticks,
				       row->own.ns / 1e9);
	render_mean(row->own.ticks, row->waits, mean);
	used = (size_t)fprintf(out, " %9.3f %9" PRIu64, row->own.ns / 1e9, row->waits);
	if (has_mean(report))
		used += (size_t)fprintf(out, " %9s", mean);
	used += (size_t)fprintf(out, "  ");
	used += text_write(out, row->wait_class, CLASS_COLUMNS_MAX);
	return used +
	       (size_t)fprintf(out, "%*s  ",
			       (int)(report->class_columns - min_size(text_columns(row->wait_class),
								      report->class_columns)),
			       "");
}

static void table_row(const struct report *report, const struct report_row *row, size_t columns,
		      FILE *out)
{
	double percent = row_percent(report->whole_ns, row);
	const char *color = report->options->color ? heat_color(percent) : "";
	char text[PLACE_MAX];
	size_t used, place_used;

	fprintf(out, "%s%6.2f%%%s", color, percent, *color ? COLOR_END : "");
	used = 7;
	if (report->rows->marks)
		used += (size_t)fprintf(out, " %8.2f%%",
					share_of(report->whole_ns, row->inclusive.ns));
	used += put_figures(report, row, out);
	place(report, row, text);
	if (is_alone(report, row)) {
		text_write_tail(out, text, columns_left(report->options->width, used));
		fputc('\n', out);
		return;
	}
	place_used = text_write_tail(out, text, report->options->width ? columns : 0);
	if (place_used < columns)
		place_used += (size_t)fprintf(out, "%*s", (int)(columns - place_used), "");
	used += place_used + (size_t)fprintf(out, "  ");
	put_detail(report, row, columns_left(report->options->width, used), out);
	fputc('\n', out);
}

static void put_table(const struct report *report, FILE *out)
{
	static const char *const places[] = { "OBJECT", "KIND", "LINE", "PLACE", "PID",
					      "CGROUP", "TID",	"COMM", "CPU",	 "TIME" };
	static const char *const details[] = { "FUNCTION",	  "OBJECT",  "FUNCTION",
					       "FUNCTION",	  "PROCESS", NULL,
					       "THREAD",	  NULL,	     NULL,
					       "HOTTEST FUNCTION" };
	const char *heading = places[report->options->by];
	const char *detail = timeline_of_callers(report->options->timeline) ?
				     "HOTTEST CALLER" :
				     details[report->options->by];
	size_t columns = place_columns(report, heading), i;
	bool dim = report->options->color;

	fprintf(out, "%s%7s %s", dim ? COLOR_DIM : "", "SHARE",
		report->rows->marks ? "INCLUSIVE " : "");
	if (report->rows->by_class)
		fprintf(out, "%9s %9s%s  %-*s  ", "WAIT", "COUNT",
			has_mean(report) ? "      MEAN" : "", (int)report->class_columns, "CLASS");
	else
		fprintf(out, "%9s %9s  ", "TICKS", "SECONDS");
	if (detail)
		fprintf(out, "%-*s  %s", (int)columns, heading, detail);
	else
		fputs(heading, out);
	fprintf(out, "%s\n", dim ? COLOR_END : "");
	for (i = 0; i < report->nr; i++)
		table_row(report, &report->rows->rows[i], columns, out);
}

static size_t class_columns(const struct report *report)
{
	size_t columns = strlen("CLASS"), i;

	for (i = 0; report->rows->by_class && i < report->nr; i++)
		columns = max_size(columns, text_columns(report->rows->rows[i].wait_class));
	return min_size(columns, CLASS_COLUMNS_MAX);
}

void render_table(const struct report *report, FILE *out)
{
	bool of_text = report->options->by <= REPORT_OBJECTS;
	/* Without memory, rows may look alike; the table is still useful. */
	cleanup_free uint8_t *alike = of_text ? alike_find(report) : NULL;
	struct report telling = *report;

	telling.alike = alike;
	telling.class_columns = class_columns(report);
	put_table(&telling, out);
}

/* On a terminal, cut the command to one line. A build may have all its files in it. */
static void heading_command(const struct report *report, FILE *out)
{
	char *const *word = report->profile->command;
	size_t left = columns_left(report->options->width, 10);
	bool cut = left, full = false;

	if (!word || !*word)
		return;
	fprintf(out, "%-10s", "command");
	for (; *word && !full; word++) {
		size_t columns = text_columns(*word), mark = word[1] ? 2 : 0; /* " ..." */

		full = cut && columns + mark > left;
		if (full && left <= mark)
			fputs(text_glyph("\u2026"), out);
		else
			text_write(out, *word, full ? left - mark : 0);
		if (!full && word[1])
			fputc(' ', out);
		left -= columns + 1;
	}
	fputc('\n', out);
}

/* The attached target. Several targets have a line each, with their ticks. */
static void heading_target(const struct profile *profile, FILE *out)
{
	if (profile->nr_targets != 1 || (profile->command && *profile->command))
		return;
	fprintf(out, "%-10s", "target");
	text_write(out, profile->targets[0].kind, 0);
	fputc(' ', out);
	text_write(out, profile->targets[0].name, 0);
	fputc('\n', out);
}

static void heading_host(const struct profile *profile, FILE *out)
{
	fprintf(out, "%-10s", "host");
	if (profile->nr_hosts) {
		fprintf(out, "%zu hosts\n", profile->nr_hosts);
		return;
	}
	text_write(out, profile->host.name ? profile->host.name : "?", 0);
	fprintf(out, ", %" PRIu32 " CPUs, Linux ", profile->host.cpus);
	text_write(out, profile->host.kernel ? profile->host.kernel : "?", 0);
	fputc(' ', out);
	text_write(out, profile->host.arch ? profile->host.arch : "?", 0);
	fputc('\n', out);
}

/* Explains the causes of lost ticks. */
static void heading_lost(const struct profile_account *account, FILE *out)
{
	size_t i, j;

	for (i = 0; i < account->nr_lost; i++) {
		if (!account->lost[i].ticks)
			continue;
		for (j = 0; j < sizeof(lost_texts) / sizeof(lost_texts[0]); j++) {
			if (!strcmp(lost_texts[j].key, account->lost[i].cause))
				fprintf(out, "  lost by %s: %s\n", lost_texts[j].key,
					lost_texts[j].text);
		}
	}
}

static void heading_notes(const struct report *report, FILE *out)
{
	const struct profile *profile = report->profile;
	size_t i;

	for (i = 0; i < profile->nr_notes; i++)
		text_labelled(out, "note", profile->notes[i]);
	for (i = 0; i < report->rows->nr_notes; i++)
		text_labelled(out, "note", report->rows->notes[i]);
	fputc('\n', out);
}

static void heading_waits(const struct report *report, FILE *out)
{
	const struct profile *profile = report->options->waits->of;

	render_wait_account(profile, report->options->target, "wall      ", out);
	render_wait_callers(profile, report->options->target, "waits     callers ", out);
	render_idle_hint(report, "note      ", out);
	heading_notes(report, out);
}

static void heading(const struct report *report, FILE *out)
{
	const struct profile *profile = report->profile;

	heading_command(report, out);
	heading_target(profile, out);
	if (profile->started)
		text_labelled(out, "started", profile->started);
	heading_host(profile, out);
	if (report->options->timeline && report->options->by != REPORT_TIME)
		fprintf(out, "%-10s%zu, added up; --by time has a row for each\n", "files",
			report->options->timeline->nr);
	if (report->options->waits) {
		heading_waits(report, out);
		return;
	}
	fprintf(out, "%-10s", "sampled");
	render_ticks(profile, report->options, out);
	fprintf(out, ", mode ");
	text_write(out, profile->sampling.mode ? profile->sampling.mode : "?", 0);
	fprintf(out, "\n%-10s", "ticks");
	render_identity(report->account, report->options->brief, out);
	render_kernel(report, "kernel    ", out);
	render_callers(report, "callers   ", out);
	render_cost(report->profile, out);
	heading_lost(report->account, out);
	render_targets(report->profile, report->options->target, out);
	if (!profile->complete)
		text_labelled(out, "note", "the profile is incomplete: its writer was stopped");
	render_waits(profile, report->options, "note      ", out);
	render_wait_account(profile, report->options->target, "wall      ", out);
	render_wait_callers(profile, report->options->target, "waits     callers ", out);
	render_cpu_time(profile, report->options->target, "note      ", out);
	heading_notes(report, out);
}

void render_limit(size_t nr, size_t of, const char *noun, FILE *out)
{
	if (nr < of)
		fprintf(out, "\n%zu of %zu %s; --limit 0 shows all.\n", nr, of, noun);
}

void render_text(const struct report *report, FILE *out)
{
	heading(report, out);
	if (!report->rows->nr) {
		render_empty(report->profile, report->options, out);
		return;
	}
	if (report->options->tree) {
		render_tree(report, out);
		return;
	}
	render_table(report, out);
	render_limit(report->nr, report->rows->nr, row_nouns[report->options->by], out);
}
