// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* An annotation for programs: CSV like the tables, and JSON with one row per line. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "report/annotate_view.h"
#include "report/render.h"

#define HEX_MAX 65

/* The rows to write, in order; the caller frees the array. */
static size_t *choose_rows(const struct annotation *annotation, const struct annotation_view *view,
			   size_t *ret_nr)
{
	size_t *order, i, nr = 0;
	bool *chosen;

	if (view->hot) {
		order = annotation_hottest(annotation, ret_nr);
		if (order && view->limit && view->limit < *ret_nr)
			*ret_nr = view->limit;
		return order;
	}
	chosen = annotation_choose(annotation, view->limit, 0);
	order = chosen ? calloc(annotation->nr_rows + 1, sizeof(*order)) : NULL;
	for (i = 0; order && i < annotation->nr_rows; i++)
		if (chosen[i])
			order[nr++] = i;
	free(chosen);
	*ret_nr = nr;
	return order;
}

static void bytes_as_hex(const struct annotation_row *row, char *text)
{
	uint64_t i;

	*text = '\0';
	for (i = 0; row->bytes && i < row->size && i < HEX_MAX / 2; i++)
		sprintf(text + 2 * i, "%02x", row->bytes[i]);
}

static void csv_row(const struct annotation *annotation, size_t i, FILE *out)
{
	const struct annotation_row *row = &annotation->rows[i];
	char hex[HEX_MAX];

	/* Of rows that share ticks the first has them; those of the others are empty, not 0. */
	if (row->first == i)
		fprintf(out, "%" PRIu64 ",%.4f,%.4f", row->ticks,
			annotation_of_profile(annotation, row->ticks),
			annotation_percent(annotation, row->ticks));
	else
		fputs(",,", out);
	fprintf(out, ",%zu", row->shared);
	render_csv_field(out, annotation->profile->objects[annotation->object].path);
	fprintf(out, ",0x%" PRIx64 ",0x%" PRIx64 ",%" PRIu64, row->offset, row->address, row->size);
	bytes_as_hex(row, hex);
	render_csv_field(out, hex);
	render_csv_field(out, row->text);
	render_csv_field(out, row->target);
	fputc(',', out);
	if (row->jump != ANNOTATION_NONE)
		fprintf(out, "0x%" PRIx64, annotation->rows[row->jump].offset);
	render_csv_field(out, row->function);
	if (row->line == ANNOTATION_NONE) {
		fputs(",,\n", out);
		return;
	}
	render_csv_field(out, annotation->lines[row->line].file);
	fprintf(out, ",%" PRIu32 "\n", annotation->lines[row->line].line);
}

int annotation_csv(const struct annotation *annotation, const struct annotation_view *view,
		   FILE *out)
{
	size_t nr, i, *order = choose_rows(annotation, view, &nr);

	if (!order)
		return -ENOMEM;
	fputs("ticks,percent,of_function,shared,object,offset,address,size,bytes,instruction,target,"
	      "jump,function,file,line\n",
	      out);
	for (i = 0; i < nr; i++)
		csv_row(annotation, order[i], out);
	free(order);
	return 0;
}

static void json_ticks(const struct annotation *annotation, uint64_t ticks, FILE *out)
{
	fprintf(out, "\"ticks\": %" PRIu64 ", \"percent\": ", ticks);
	json_text_double(out, annotation_of_profile(annotation, ticks));
	fputs(", \"of_function\": ", out);
	json_text_double(out, annotation_percent(annotation, ticks));
}

static void json_row(const struct annotation *annotation, size_t i, FILE *out)
{
	const struct annotation_row *row = &annotation->rows[i];
	char hex[HEX_MAX];

	fputs("{ ", out);
	if (row->first == i)
		json_ticks(annotation, row->ticks, out);
	else
		fputs("\"ticks\": null, \"percent\": null, \"of_function\": null", out);
	render_json_u64(out, "shared", row->shared);
	render_json_u64(out, "offset", row->offset);
	render_json_u64(out, "address", row->address);
	render_json_u64(out, "size", row->size);
	bytes_as_hex(row, hex);
	render_json_text(out, "bytes", row->bytes ? hex : NULL);
	render_json_text(out, "instruction", row->text);
	render_json_text(out, "target", row->target);
	if (row->jump == ANNOTATION_NONE)
		render_json_text(out, "jump", NULL);
	else
		render_json_u64(out, "jump", annotation->rows[row->jump].offset);
	render_json_text(out, "function", row->function);
	if (row->line == ANNOTATION_NONE) {
		fputs(", \"file\": null, \"line\": null }", out);
		return;
	}
	render_json_text(out, "file", annotation->lines[row->line].file);
	render_json_u64(out, "line", annotation->lines[row->line].line);
	fputs(" }", out);
}

static void json_lines(const struct annotation *annotation, FILE *out)
{
	const struct annotation_line *line;
	size_t i;

	fputs("],\n  \"lines\": [", out);
	for (i = 0; i < annotation->nr_lines; i++) {
		line = &annotation->lines[i];
		fputs(i ? ",\n    { " : "\n    { ", out);
		json_ticks(annotation, line->ticks, out);
		render_json_text(out, "file", line->file);
		render_json_u64(out, "line", line->line);
		render_json_text(out, "text", line->text);
		fputs(" }", out);
	}
	fputs(i ? "\n  ]" : "]", out);
}

static void json_head(const struct annotation *annotation, FILE *out)
{
	const struct profile_object *object = &annotation->profile->objects[annotation->object];
	size_t i;

	fputs("{ \"function\": ", out);
	json_text_string(out, annotation->name);
	render_json_text(out, "object", object->path);
	render_json_text(out, "build_id", object->build_id);
	render_json_u64(out, "offset", annotation->offset);
	render_json_u64(out, "size", annotation->size);
	fputs(",\n  ", out);
	json_ticks(annotation, annotation->ticks, out);
	render_json_u64(out, "total", annotation->total);
	render_json_u64(out, "bytes_per_bin", annotation->bytes_per_bin);
	fprintf(out, ",\n  \"of\": %zu,\n  \"notes\": [", annotation->nr_rows);
	for (i = 0; i < annotation->nr_notes; i++) {
		fputs(i ? ", " : "", out);
		json_text_string(out, annotation->notes[i]);
	}
}

int annotation_json(const struct annotation *annotation, const struct annotation_view *view,
		    FILE *out)
{
	size_t nr, i, *order = choose_rows(annotation, view, &nr);

	if (!order)
		return -ENOMEM;
	json_head(annotation, out);
	json_lines(annotation, out);
	fputs(",\n  \"rows\": [", out);
	for (i = 0; i < nr; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		json_row(annotation, order[i], out);
	}
	fputs(i ? "\n  ] }\n" : "] }\n", out);
	free(order);
	return 0;
}
