// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Writes the data of a page as JSON. The page itself is in report/html. */
#include "report/html.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/util.h"
#include "profile/profile.h"
#include "profile/profile_chains.h"
#include "profile/profile_weights.h"
#include "report/annotate.h"
#include "report/html_callers.h"
#include "report/report.h"
#include "report/render.h"
#include "report/rows.h"
#include "profile/waits_view.h"
#include "shared/counters.h"
#include "naming/allowance.h"
#include "naming/object_file.h"
#include "symbol/symbol_cache.h"

/* The pages around the data; the build makes them from report/html. */
extern const char html_report_page[], html_diff_page[];

/* Marks where a page has its data. */
#define DATA "@DATA@"

/* Writes a page up to its data; *ret_rest is the remainder. */
static void begin_page(const char *page, FILE *out, const char **ret_rest)
{
	const char *data = strstr(page, DATA);

	fwrite(page, 1, (size_t)(data - page), out);
	*ret_rest = data + strlen(DATA);
}

/* In JSON '<' occurs only in strings, where its escape means the same. */
static ssize_t write_script(void *cookie, const char *text, size_t size)
{
	const char *end = text + size, *mark;
	FILE *out = cookie;

	while (text < end) {
		mark = memchr(text, '<', (size_t)(end - text));
		fwrite(text, 1, (size_t)((mark ? mark : end) - text), out);
		if (mark)
			fputs("\\u003c", out);
		text = mark ? mark + 1 : end;
	}
	return ferror(out) ? 0 : (ssize_t)size;
}

/*
 * Begins <script type="application/json" id="NAME">, or "NAME-NUMBER". Returns a stream for JSON,
 * which cannot end the element. NULL: out of memory.
 */
#define HTML_NO_NUMBER UINT64_MAX

static FILE *html_data_begin(const char *name, uint64_t number, FILE *out)
{
	static const cookie_io_functions_t functions = { .write = write_script };
	FILE *data = fopencookie(out, "w", functions);

	if (!data)
		return NULL;
	fprintf(out, "<script type=\"application/json\" id=\"%s", name);
	if (number != HTML_NO_NUMBER)
		fprintf(out, "-%" PRIu64, number);
	fputs("\">", out);
	return data;
}

/* Returns the result of what wrote the data, or -ENOMEM. */
static int html_data_end(FILE *data, FILE *out, int ret)
{
	if (fclose(data) && !ferror(out) && !ret)
		ret = -ENOMEM;
	fputs("</script>\n", out);
	return ret;
}

/* A table of functions as written in the source, and the owner of each bin. */

struct html_inlined {
	struct report_rows bins; /* by place, with their lines */
	struct report_rows functions; /* those with several places first */
};

/*
 * Collects the source functions of each object. Rows without debug information follow, and have no
 * numbers.
 */
static int name_functions(struct html_inlined *inlined)
{
	struct report_row row;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < inlined->bins.nr; i++) {
		row = inlined->bins.rows[i];
		row_use_source(&row);
		if (row.scattered)
			ret = rows_add(&inlined->functions, &row);
	}
	rows_merge(&inlined->functions, row_compare_source);
	return ret;
}

/* Returns 0, or a negative errno with err filled in. Call html_inlined_end() in any case. */
static int html_inlined_fill(struct html_inlined *inlined, const struct profile *profile,
			     const struct html_options *options, struct error *err)
{
	const struct report_options all = { .target = REPORT_ALL_TARGETS };
	struct path_opener paths = { profile, options->symfs ? options->symfs : "" };
	const struct object_opener opener = path_opener(&paths);
	int ret = rows_of_bins(profile, &all, &inlined->bins, err);

	if (!ret)
		ret = rows_find_lines(profile, &opener, &inlined->bins, err);
	if (!ret && name_functions(inlined))
		ret = error_errno(err, -ENOMEM, "html");
	return ret;
}

static void html_inlined_end(struct html_inlined *inlined)
{
	rows_free(&inlined->bins);
	rows_free(&inlined->functions);
}

/*
 * Writes a member of the profile: the names, and notes about them. A name is [object, name, whether
 * it exists only where it was inlined].
 */
static void html_inlined_names(const struct html_inlined *inlined, FILE *data)
{
	size_t i;

	fputs(",\n\"inlined\": [", data);
	for (i = 0; i < inlined->functions.nr; i++) {
		const struct report_row *row = &inlined->functions.rows[i];

		fprintf(data, "%s\n[%" PRIu32 ",", i ? "," : "", row->object);
		json_text_string(data, row->name);
		fprintf(data, ",%d]", row->inlined == row->own.ticks);
	}
	fputs("],\n\"inlined_notes\": [", data);
	render_json_strings(data, "", inlined->bins.notes, inlined->bins.nr_notes);
	putc(']', data);
}

/* In place of the index of a function. */
#define NO_FUNCTION SIZE_MAX

static size_t inlined_owner(const void *of, const struct profile_histogram *histogram, size_t i)
{
	const struct html_inlined *inlined = of;
	const struct report_rows *bins = &inlined->bins, *functions = &inlined->functions;
	const struct report_row place = { .object = histogram->object,
					  .offset = profile_bin_start(histogram, i),
					  .size = histogram->bytes_per_bin };
	const struct report_row *found;
	struct report_row row;

	found = bsearch(&place, bins->rows, bins->nr, sizeof(*found), row_compare_place);
	if (!found)
		return NO_FUNCTION;
	row = *found;
	row_use_source(&row);
	if (!row.scattered)
		return NO_FUNCTION;
	found = bsearch(&row, functions->rows, functions->nr, sizeof(*found), row_compare_source);
	return (size_t)(found - functions->rows);
}

/*
 * The instructions of the hottest functions, with their source. They have no ticks: the page has
 * the bins, and counts those that pass its filters.
 */

/* Limits of a page. A row needs some 70 bytes. */
#define ROWS_MAX 4096 /* per function; of a longer one, rows around ticks */
#define ROWS_ALL 65536 /* in all functions */
#define CONTEXT 24 /* rows around a tick in a longer function */
#define SOURCE_MAX 512 /* bytes of a source line */
#define LANES 6

/* A function that is being written. */
struct page_code {
	const struct annotation *annotation;
	uint64_t base; /* subtracted from its object's offsets */
	bool *chosen; /* for each row: whether it is written */
	FILE *data;
};

/* A missing text is written as 0. */
static void put_text(const struct page_code *code, const char *text)
{
	putc(',', code->data);
	if (text)
		json_text_string(code->data, text);
	else
		putc('0', code->data);
}

/* References to other rows are index + 1, and count rows that are not written. */
static void put_row(const struct page_code *code, size_t i)
{
	const struct annotation *annotation = code->annotation;
	const struct annotation_row *row = &annotation->rows[i];
	char arrows[ANNOTATION_ARROWS_MAX];

	fprintf(code->data, "[%zu,%" PRIu64 ",%" PRIu64 ",%zu,%zu,%zu", i,
		row->offset - annotation->offset, row->size, i - row->first,
		row->line == ANNOTATION_NONE ? 0 : row->line + 1,
		row->jump == ANNOTATION_NONE ? 0 : row->jump + 1);
	annotation_arrows(annotation, i, false, arrows);
	put_text(code, row->text);
	put_text(code, row->target);
	put_text(code, *arrows ? arrows : NULL);
	put_text(code, annotation_inlined(annotation, row));
	putc(']', code->data);
}

static void put_rows(const struct page_code *code)
{
	const char *separator = "\n";
	size_t i;

	fputs(",\n\"rows\": [", code->data);
	for (i = 0; i < code->annotation->nr_rows; i++) {
		if (!code->chosen[i])
			continue;
		fputs(separator, code->data);
		put_row(code, i);
		separator = ",\n";
	}
	putc(']', code->data);
}

/* [line, text, file], without the file if it is that of the previous line. */
static void put_lines(const struct page_code *code)
{
	const struct annotation *annotation = code->annotation;
	const struct annotation_line *line;
	const char *file = NULL;
	char text[SOURCE_MAX];
	size_t i;

	fputs(",\n\"lines\": [", code->data);
	for (i = 0; i < annotation->nr_lines; i++) {
		line = &annotation->lines[i];
		snprintf(text, sizeof(text), "%s", line->text ? line->text : "");
		fprintf(code->data, "%s[%" PRIu32, i ? ",\n" : "\n", line->line);
		put_text(code, line->text ? text : NULL);
		if (!file || strcmp(file, line->file) != 0)
			put_text(code, line->file);
		putc(']', code->data);
		file = line->file;
	}
	putc(']', code->data);
}

/* Returns how many rows were written; 0: there is no code, and the bins show that. */
static size_t put_annotation(struct page_code *code)
{
	const struct annotation *annotation = code->annotation;
	bool has_code = annotation->nr_rows && annotation->rows[0].text;
	size_t nr = 0, i;

	fputs("{ ", code->data);
	render_json_notes(code->data, annotation->notes, annotation->nr_notes);
	if (has_code) {
		render_json_u64(code->data, "offset", annotation->offset - code->base);
		render_json_u64(code->data, "size", annotation->size);
		render_json_u64(code->data, "of", annotation->nr_rows);
		put_lines(code);
		put_rows(code);
	}
	fputs(" }", code->data);
	for (i = 0; has_code && i < annotation->nr_rows; i++)
		nr += code->chosen[i];
	return nr;
}

/* Writes why there is no code. */
static void put_refusal(const struct error *why, FILE *data)
{
	char *note = (char *)why->text;

	fputs("{ ", data);
	render_json_notes(data, &note, 1);
	fputs(" }", data);
}

static int choose(const struct annotation *annotation, bool **result)
{
	bool large = annotation->nr_rows > ROWS_MAX;

	*result = annotation_choose(annotation, large ? annotation->nr_rows : 0, CONTEXT);
	return *result ? 0 : -ENOMEM;
}

/* Writes one function. If its code is missing, the reason is shown; that is not a failure. */
static int put_function(const struct profile *profile, const struct annotation_request *request,
			uint64_t base, size_t *rows, FILE *out)
{
	struct annotation *annotation = NULL;
	struct page_code code = { .base = base };
	struct error why = { 0 };
	int ret = annotation_build(profile, request, &annotation, &why);

	if (!ret)
		ret = choose(annotation, &code.chosen);
	if (ret != -ENOMEM) {
		code.annotation = annotation;
		code.data = html_data_begin(
			"code", (uint64_t)(request->function - profile->functions), out);
		if (!code.data)
			ret = -ENOMEM;
		else if (ret)
			put_refusal(&why, code.data);
		else
			*rows += put_annotation(&code);
		if (code.data && html_data_end(code.data, out, 0))
			ret = -ENOMEM;
	}
	free(code.chosen);
	annotation_free(annotation);
	return ret == -ENOMEM ? ret : 0;
}

/* Writes the instructions of the hottest functions, each function as separate data. */
static int html_code(const struct profile *profile, const struct html_options *options,
		     const uint64_t *bases, FILE *out, struct error *err)
{
	struct path_opener paths = { profile, options->symfs ? options->symfs : "" };
	struct object_opener opener = path_opener(&paths);
	struct allowance allowance = { .seconds = ALLOWANCE_LINES };
	const char *object;
	struct annotation_request request = { .objects = &object,
					      .nr_objects = 1,
					      .target = REPORT_ALL_TARGETS,
					      .opener = &opener,
					      .source = options->source,
					      .syntax = options->syntax,
					      .lanes = LANES };
	const struct report_options by_time = { .by = REPORT_FUNCTIONS,
						.target = REPORT_ALL_TARGETS };
	struct report_rows hottest;
	size_t rows = 0, i;
	int ret = rows_build(profile, &by_time, &hottest, err);

	if (ret) {
		rows_free(&hottest);
		return ret;
	}
	opener.cache = symbol_cache_new(SYMBOL_CACHE_BYTES);
	if (!opener.cache)
		ret = -ENOMEM;
	opener.allowance = &allowance;
	for (i = 0; !ret && i < hottest.nr && i < options->functions; i++) {
		request.function = hottest.rows[i].function;
		if (!request.function)
			continue;
		object = profile->objects[request.function->object].path;
		ret = put_function(profile, &request, bases[request.function->object], &rows, out);
		if (rows > ROWS_ALL)
			break;
	}
	symbol_cache_free(opener.cache);
	allowance_free(&allowance);
	rows_free(&hottest);
	return ret ? error_errno(err, ret, "html") : 0;
}

/* The hottest functions of a sum in each of its parts, for a map over time. */

#define FUNCTIONS_MAX 60

/* [started, length in nanoseconds, ticks, nanoseconds of CPU time] */
static void put_parts(const struct timeline *timeline, FILE *data)
{
	size_t i;

	for (i = 0; i < timeline->nr; i++) {
		const struct timeline_part *part = &timeline->parts[i];

		fputs(i ? ",\n[" : "\n[", data);
		json_text_string(data, part->started);
		fprintf(data, ",%" PRIu64 ",%" PRIu64 ",%.0f]", part->duration_ns, part->sum.ticks,
			part->sum.ns);
	}
}

/* Writes a member of the profile: its hottest functions over the time of its parts. */
static void html_timeline(struct timeline *timeline, const struct profile *profile, FILE *data)
{
	size_t i, j;

	fputs(",\n\"timeline\": { \"parts\": [", data);
	put_parts(timeline, data);
	fputs("],\n\"functions\": [", data);
	for (i = 0; i < profile->nr_functions && i < FUNCTIONS_MAX; i++) {
		const struct profile_function *function = &profile->functions[i];

		fprintf(data, "%s\n[%zu,[", i ? "," : "", i);
		for (j = 0; j < timeline->nr; j++)
			fprintf(data, "%s%.0f", j ? "," : "",
				timeline_ns(timeline, &timeline->parts[j],
					    &profile->objects[function->object], function->offset));
		fputs("]]", data);
	}
	fputs("] }", data);
}

/*
 * The profile in a page: much of the JSON document, but shorter, and with the function of each bin.
 */

/* Writes the next element of a list. */
static void put_number(FILE *data, bool first, uint64_t value)
{
	if (!first)
		putc(',', data);
	json_text_u64(data, value);
}

static void put_host(const struct profile *profile, FILE *data)
{
	const struct profile_host *host = &profile->host;

	fprintf(data, ",\n\"host\": { \"hosts\": %zu", profile->nr_hosts ? profile->nr_hosts : 1);
	render_json_text(data, "name", host->name);
	render_json_text(data, "kernel", host->kernel);
	render_json_text(data, "arch", host->arch);
	render_json_u64(data, "cpus", host->cpus);
	fputs(" }", data);
}

static void put_sampling(const struct profile_sampling *sampling, FILE *data)
{
	fprintf(data, ",\n\"sampling\": { \"period_ns\": %" PRIu64, sampling->period_ns);
	render_json_double(data, "requested_hz", sampling->requested_hz);
	render_json_double(data, "measured_hz", sampling->measured_hz);
	render_json_text(data, "mode", sampling->mode);
	render_json_text(data, "split", sampling->split);
	fputs(" }", data);
}

/* The meaning of each cause in the account. */
static void put_causes(FILE *data)
{
#define CAUSE(id, key, text) ", \"" key "\": \"" text "\""
	static const char causes[] = LOST_CAUSES(CAUSE);
#undef CAUSE

	fprintf(data, ",\n\"causes\": { %s }", causes + 2);
}

static void put_wall(const struct report *report, FILE *out)
{
	render_wait_account(report->profile, REPORT_ALL_TARGETS, "", out);
}

static int put_head(const struct profile *profile, FILE *data)
{
	size_t words = 0;

	fprintf(data, "{ \"complete\": %s", profile->complete ? "true" : "false");
	render_json_text(data, "tool", profile->tool);
	render_json_text(data, "started", profile->started);
	render_json_u64(data, "duration_ns", profile->duration_ns);
	while (profile->command && profile->command[words])
		words++;
	fputs(",\n\"command\": [", data);
	render_json_strings(data, "", profile->command, words);
	fputs("],\n\"notes\": [", data);
	if (render_json_time_notes(data, profile, REPORT_ALL_TARGETS, profile->notes,
				   profile->nr_notes))
		return -ENOMEM;
	putc(']', data);
	if (html_line("wall", &(struct report){ .profile = profile }, put_wall, data))
		return -ENOMEM;
	put_host(profile, data);
	put_sampling(&profile->sampling, data);
	put_causes(data);
	fputs(",\n\"ticks\": ", data);
	render_json_account(&profile->ticks, data);
	return 0;
}

static void put_targets(const struct profile *profile, FILE *data)
{
	const struct profile_target *target;
	uint32_t i;

	fputs(",\n\"targets\": [", data);
	for (i = 0; i < profile->nr_targets; i++) {
		target = &profile->targets[i];
		fprintf(data, "%s\n{ \"counts\": %s", i ? "," : "",
			profile_target_counts(profile, i) ? "true" : "false");
		render_json_text(data, "kind", target->kind);
		render_json_text(data, "name", target->name);
		render_json_text(data, "host", target->host);
		if (target->waits) {
			fputs(", \"waits\": true", data);
			render_json_u64(data, "waits_of", target->waits_of);
		}
		render_json_double(data, "ns", profile_target_time(profile, i));
		fputs(", \"ticks\": ", data);
		render_json_account(&target->ticks, data);
		fputs(" }", data);
	}
	putc(']', data);
}

static void lower(uint64_t *base, uint64_t offset)
{
	if (offset < *base)
		*base = offset;
}

/*
 * Numbers in the page have 53 bits, but kernel addresses need 64. Returns what to subtract from
 * each object's offsets; the caller frees the array. NULL: out of memory.
 */
static uint64_t *html_object_bases(const struct profile *profile)
{
	uint64_t *bases = malloc((profile->nr_objects + 1) * sizeof(*bases));
	size_t i, j;

	if (!bases)
		return NULL;
	for (i = 0; i < profile->nr_objects; i++) {
		bases[i] = profile->objects[i].kind == PROFILE_FILE ? 0 : UINT64_MAX;
		for (j = 0; j < profile->objects[i].nr_text; j++)
			lower(&bases[i], profile->objects[i].text[j].offset);
	}
	for (i = 0; i < profile->nr_histograms; i++)
		lower(&bases[profile->histograms[i].object], profile->histograms[i].offset);
	for (i = 0; i < profile->nr_functions; i++)
		lower(&bases[profile->functions[i].object], profile->functions[i].offset);
	for (i = 0; profile->callers && i < profile->callers->nr_sites; i++)
		lower(&bases[profile->callers->sites[i].object], profile->callers->sites[i].offset);
	return bases;
}

static void put_object(const struct profile_object *object, uint64_t base, FILE *data)
{
	size_t i;

	fprintf(data, "{ \"base\": \"0x%" PRIx64 "\"", base);
	render_json_text(data, "kind", profile_object_kinds[object->kind]);
	if (profile_as_program(object))
		fputs(", \"program\": true", data);
	render_json_text(data, "path", object->path);
	render_json_text(data, "build_id", object->build_id);
	fputs(", \"text\": [", data);
	/* For all kinds except files, an address is an offset. */
	for (i = 0; i < object->nr_text; i++)
		fprintf(data, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
			object->text[i].offset - base, object->text[i].address - base,
			object->text[i].size);
	fputs("] }", data);
}

static void put_objects(const struct profile *profile, const uint64_t *bases, FILE *data)
{
	size_t i;

	fputs(",\n\"objects\": [", data);
	for (i = 0; i < profile->nr_objects; i++) {
		fputs(i ? ",\n" : "\n", data);
		put_object(&profile->objects[i], bases[i], data);
	}
	putc(']', data);
}

/* [object, offset, size, name] */
static void put_functions(const struct profile *profile, const uint64_t *bases, FILE *data)
{
	const struct profile_function *function;
	size_t i;

	fputs(",\n\"functions\": [", data);
	for (i = 0; i < profile->nr_functions; i++) {
		function = &profile->functions[i];
		fputs(i ? ",\n[" : "\n[", data);
		put_number(data, true, function->object);
		put_number(data, false, function->offset - bases[function->object]);
		put_number(data, false, function->size);
		putc(',', data);
		json_text_string(data, function->name);
		putc(']', data);
	}
	putc(']', data);
}

/* Writes index and ticks of each bin; the index is relative to the previous one. */
static void put_bins(const struct profile_histogram *histogram, FILE *data)
{
	uint64_t last = 0;
	size_t i;

	fputs(",\n\"bins\": [", data);
	for (i = 0; i < histogram->nr_bins; i++) {
		put_number(data, !i, histogram->bins[i].index - last);
		put_number(data, false, histogram->bins[i].count);
		last = histogram->bins[i].index;
	}
	putc(']', data);
}

/*
 * Writes the functions of a histogram's bins as runs: index + 1, and how many bins. 0 stands for
 * bins without a known function.
 */
static void put_owners(const char *name, const struct profile_histogram *histogram,
		       size_t (*owner)(const void *of, const struct profile_histogram *histogram,
				       size_t i),
		       const void *of, FILE *data)
{
	size_t function, last = NO_FUNCTION, run = 0;
	size_t i;

	fprintf(data, ", \"%s\": [", name);
	for (i = 0; i < histogram->nr_bins; i++, run++) {
		function = owner(of, histogram, i);
		if (i && function == last)
			continue;
		if (i)
			put_number(data, false, run);
		put_number(data, !i, function == NO_FUNCTION ? 0 : function + 1);
		last = function;
		run = 0;
	}
	put_number(data, false, run);
	putc(']', data);
}

/* Needed to write histograms. */
struct html_view {
	const struct profile *profile;
	const struct profile_index *index;
	const struct profile_weights *weights;
	const struct profile_weights *of_splits;
	const struct html_inlined *inlined;
	const struct cgroup_names *cgroups;
};

static size_t function_owner(const void *of, const struct profile_histogram *histogram, size_t i)
{
	const struct html_view *view = of;
	const struct profile_function *function = profile_bin_function(view->index, histogram, i);

	return function ? (size_t)(function - view->profile->functions) : NO_FUNCTION;
}

static void put_owner(const struct html_view *view, int64_t pid, const char *process,
		      const char *cgroup, FILE *data)
{
	if (pid >= 0)
		render_json_u64(data, "pid", (uint64_t)pid);
	if (process)
		render_json_text(data, "process", process);
	if (cgroup)
		render_json_text(data, "cgroup",
				 cgroup_names_find(view->cgroups, cgroup) ?: cgroup);
}

/* The CPU time of each process and cgroup that is in no bin. */
static void put_rests(const struct html_view *view, FILE *data)
{
	const struct profile *profile = view->profile;
	const char *separator = "\n";
	uint64_t ns;
	size_t i;

	fputs(",\n\"rests\": [", data);
	for (i = 0; i < profile->nr_splits; i++) {
		const struct profile_split *split = &profile->splits[i];

		ns = profile_weights_unbinned(view->of_splits, i);
		if (!ns)
			continue;
		fprintf(data, "%s{ \"target\": %" PRIu32, separator, split->target);
		render_json_u64(data, "ns", ns);
		put_owner(view, split->pid, split->process, split->cgroup, data);
		fputs(" }", data);
		separator = ",\n";
	}
	putc(']', data);
}

static void put_histogram(const struct html_view *view, const struct profile_histogram *histogram,
			  uint64_t base, FILE *data)
{
	fprintf(data, "{ \"target\": %" PRIu32, histogram->target);
	render_json_double(data, "weight", profile_weight(view->weights, histogram));
	render_json_double(data, "own", profile_weight(view->of_splits, histogram));
	render_json_u64(data, "object", histogram->object);
	put_owner(view, histogram->pid, histogram->process, histogram->cgroup, data);
	if (histogram->stopped)
		render_json_text(data, "stopped", histogram->stopped);
	render_json_u64(data, "offset", histogram->offset - base);
	render_json_u64(data, "bytes_per_bin", histogram->bytes_per_bin);
	put_bins(histogram, data);
	put_owners("owners", histogram, function_owner, view, data);
	if (view->inlined)
		put_owners("inlined", histogram, inlined_owner, view->inlined, data);
	fputs(" }", data);
}

static void put_histograms(const struct html_view *view, const uint64_t *bases, FILE *data)
{
	const struct profile *profile = view->profile;
	const struct profile_histogram *histogram;
	const char *separator = "\n";
	size_t i;

	fputs(",\n\"histograms\": [", data);
	for (i = 0; i < profile->nr_histograms; i++) {
		histogram = &profile->histograms[i];
		if (!html_has_bins(histogram))
			continue;
		fputs(separator, data);
		put_histogram(view, histogram, bases[histogram->object], data);
		separator = ",\n";
	}
	fputs("] }", data);
}

/* Writes the profile itself. timeline and inlined may be NULL. Returns 0 or -ENOMEM. */
static int html_profile(const struct profile *profile, const uint64_t *bases,
			struct timeline *timeline, const struct html_inlined *inlined, FILE *data)
{
	struct profile_index *index = profile_index_new(profile);
	struct profile_weights *weights = profile_weights_new(profile);
	struct profile_weights *of_splits = profile_weights_of_splits(profile);
	struct cgroup_names *cgroups = cgroup_names_new(profile);
	const struct html_view view = { profile, index, weights, of_splits, inlined, cgroups };
	int ret = index && weights && of_splits && cgroups ? put_head(profile, data) : -ENOMEM;

	if (!ret) {
		put_targets(profile, data);
		put_objects(profile, bases, data);
		put_functions(profile, bases, data);
		if (timeline)
			html_timeline(timeline, profile, data);
		if (inlined)
			html_inlined_names(inlined, data);
		put_rests(&view, data);
		put_histograms(&view, bases, data);
	}
	profile_index_free(index);
	profile_weights_free(weights);
	profile_weights_free(of_splits);
	cgroup_names_free(cgroups);
	return ret;
}

static int put_profile(const struct profile *profile, const uint64_t *bases,
		       struct timeline *timeline, const struct html_inlined *inlined, FILE *out)
{
	FILE *data = html_data_begin("profile", HTML_NO_NUMBER, out);

	if (!data)
		return -ENOMEM;
	return html_data_end(data, out, html_profile(profile, bases, timeline, inlined, data));
}

/* Writes the callers of a profile, or of a side of a comparison. Returns 0 or -ENOMEM. */
static int put_callers(const char *name, const struct profile *profile,
		       const struct profile *walked, const struct diff_profile *side,
		       const uint64_t *bases, FILE *out)
{
	FILE *data = html_data_begin(name, HTML_NO_NUMBER, out);
	int ret;

	if (!data)
		return -ENOMEM;
	ret = side ? html_diff_callers(side, bases, data) :
		     html_callers(profile, walked, bases, false, data);
	return html_data_end(data, out, ret);
}

/* shown: the profile, or a view of it with its waits, whose first objects and functions it has. */
static int put_report(const struct profile *profile, const struct profile *shown,
		      const struct html_options *options, FILE *out, struct error *err)
{
	cleanup_free uint64_t *bases = html_object_bases(shown);
	struct html_inlined inlined = { 0 };
	const char *rest;
	int ret = bases ? 0 : error_errno(err, -ENOMEM, "html");

	if (!ret && options->inlined)
		ret = html_inlined_fill(&inlined, profile, options, err);
	if (!ret) {
		begin_page(html_report_page, out, &rest);
		ret = put_profile(shown, bases, options->timeline,
				  options->inlined ? &inlined : NULL, out);
		if (!ret && shown->callers)
			ret = put_callers("callers", shown, profile, NULL, bases, out);
		ret = ret ? error_errno(err, ret, "html") :
			    html_code(profile, options, bases, out, err);
		fputs(rest, out);
	}
	html_inlined_end(&inlined);
	return ret;
}

int html_report(const struct profile *profile, const struct html_options *options, FILE *out,
		struct error *err)
{
	struct waits_view view;
	int ret;

	if (!profile->waits)
		return put_report(profile, profile, options, out, err);
	ret = waits_view_open(&view, profile, NULL, true);
	ret = ret ? error_errno(err, ret, "html") :
		    put_report(profile, &view.profile, options, out, err);
	waits_view_close(&view);
	return ret;
}

static int put_side(const char *name, const struct diff_profile *side, FILE *out)
{
	cleanup_free uint64_t *bases = html_object_bases(side->profile);

	return bases ? put_callers(name, side->profile, NULL, side, bases, out) : -ENOMEM;
}

static int put_diff(const char *name, const struct diff *diff, FILE *out)
{
	const struct report_options options = { .format = REPORT_JSON };
	FILE *data = html_data_begin(name, HTML_NO_NUMBER, out);

	if (!data)
		return -ENOMEM;
	diff_write(diff, &options, data);
	return html_data_end(data, out, 0);
}

/* Compares the same profiles again, by inclusive rows or by calls. */
static int put_diff_of_calls(const char *name, const struct diff *diff, bool calls, FILE *out)
{
	struct diff_options options = *diff->options;
	struct diff made = { 0 };
	struct error err;
	int ret;

	options.inclusive = true;
	options.calls = calls;
	ret = diff_build(diff->old, diff->new, &options, &made, &err);
	if (!ret)
		ret = put_diff(name, &made, out);
	diff_free(&made);
	return ret;
}

/* Writes both profiles' callers, and the inclusive tables by function. */
static int put_diff_callers(const struct diff *diff, FILE *out)
{
	int ret = put_side("callers-old", &diff->text->old, out) ?:
			  put_side("callers-new", &diff->text->new, out);

	if (!ret && diff->options->by == REPORT_FUNCTIONS)
		ret = put_diff_of_calls("diff-inclusive", diff, false, out) ?:
			      put_diff_of_calls("diff-calls", diff, true, out);
	return ret;
}

/* Writes the data of --format json with sortable tables, and both profiles' callers. */
int html_diff(const struct diff *diff, FILE *out, struct error *err)
{
	const char *rest;
	int ret;

	begin_page(html_diff_page, out, &rest);
	ret = put_diff("diff", diff, out);
	if (!ret && diff->old->callers && diff->new->callers)
		ret = put_diff_callers(diff, out);
	fputs(rest, out);
	return ret ? error_errno(err, ret, "html") : 0;
}
