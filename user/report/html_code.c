// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The instructions of the hottest functions, with their source. They have no ticks: the page has
 * the bins, and counts those that its filters let in.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/util.h"
#include "report/annotate.h"
#include "report/annotate_view.h"
#include "report/html_impl.h"
#include "report/render.h"
#include "report/views.h"
#include "symbol/allowance.h"
#include "symbol/object_file.h"
#include "symbol/symbol_cache.h"

/* Limits of a page; a row takes some 70 bytes. */
#define ROWS_MAX 4096 /* of a function; for a longer one, those around its ticks */
#define ROWS_ALL 65536 /* of all functions */
#define CONTEXT 24 /* rows around a tick, in a longer function */
#define SOURCE_MAX 512 /* bytes of a source line */
#define LANES 6

/* A function, and where it is written. */
struct page_code {
	const struct annotation *annotation;
	uint64_t base; /* subtracted from its object's offsets */
	bool *chosen; /* for each row: whether it is written */
	FILE *data;
};

static const char *next(bool *first)
{
	const char *separator = *first ? "\n" : ",\n";

	*first = false;
	return separator;
}

/* 0 stands for a missing text. */
static void put_text(const struct page_code *code, const char *text)
{
	putc(',', code->data);
	if (text)
		json_text_string(code->data, text);
	else
		putc('0', code->data);
}

/* Numbers of other rows are their index + 1, counting rows that are left out. */
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
	bool first = true;
	size_t i;

	fputs(",\n\"rows\": [", code->data);
	for (i = 0; i < code->annotation->nr_rows; i++) {
		if (!code->chosen[i])
			continue;
		fputs(next(&first), code->data);
		put_row(code, i);
	}
	putc(']', code->data);
}

/* [line, text, file]; without a file, it is the same as in the line before. */
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

static void put_notes(char *const *notes, size_t nr, FILE *data)
{
	size_t i;

	fputs("\"notes\": [", data);
	for (i = 0; i < nr; i++) {
		fputs(i ? ", " : "", data);
		json_text_string(data, notes[i]);
	}
	putc(']', data);
}

/* Returns how many rows are in the page; 0: there is no code, and its bins say as much. */
static size_t put_annotation(struct page_code *code)
{
	const struct annotation *annotation = code->annotation;
	bool has_code = annotation->nr_rows && annotation->rows[0].text;
	size_t nr = 0, i;

	fputs("{ ", code->data);
	put_notes(annotation->notes, annotation->nr_notes, code->data);
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
	put_notes(&note, 1, data);
	fputs(" }", data);
}

static int choose(const struct annotation *annotation, bool **result)
{
	bool large = annotation->nr_rows > ROWS_MAX;

	*result = annotation_choose(annotation, large ? annotation->nr_rows : 0, CONTEXT);
	return *result ? 0 : -ENOMEM;
}

/* Writes one function. If its code is missing the reason is shown; that is no failure. */
static int put_function(const struct profile *profile, const struct annotation_request *request,
			uint64_t base, size_t *rows, FILE *out)
{
	struct annotation *annotation = NULL;
	struct page_code code = { .base = base };
	struct error why = { 0 };
	int ret;

	ret = annotation_build(profile, request, &annotation, &why);
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
		if (code.data && html_data_end(code.data, out))
			ret = -ENOMEM;
	}
	free(code.chosen);
	annotation_free(annotation);
	return ret == -ENOMEM ? ret : 0;
}

int html_code(const struct profile *profile, const struct html_options *options,
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
