// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* An annotation as text for people. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/annotate_view.h"
#include "report/render.h"
#include "report/name_fit.h"
#include "base/text.h"

#define CONTEXT 4 /* instructions around a hot one */
#define GAP_MIN 4 /* shorter gaps are shown in full */
#define HOT_LINES 10
#define LABEL_COLUMNS 10
#define NAME_COLUMNS 32 /* of a file or an inlined function */
#define HOT_COLUMNS 40 /* of an instruction, before its line; fewer at 80 columns, more at 160 */
#define HOT_COLUMNS_NARROW 32
#define HOT_COLUMNS_WIDE 72

#define COLOR_SOURCE "\033[1m"

struct listing {
	const struct annotation *annotation;
	const struct annotation_view *view;
	FILE *out;
	const bool *shown;
	uint64_t hottest;
	bool brackets; /* some rows share ticks */
	size_t indent; /* common to all source lines */
	int address_columns;
};

static void begin(struct listing *listing, const struct annotation *annotation,
		  const struct annotation_view *view, FILE *out)
{
	size_t i;

	*listing = (struct listing){ .annotation = annotation, .view = view, .out = out };
	listing->indent = annotation_indent(annotation);
	listing->address_columns = annotation_address_columns(annotation);
	for (i = 0; i < annotation->nr_rows; i++) {
		if (annotation->rows[i].ticks > listing->hottest)
			listing->hottest = annotation->rows[i].ticks;
		listing->brackets = listing->brackets || annotation->rows[i].shared > 1;
	}
}

/* --- heading -------------------------------------------------------------------------------------- */

static const char *row_noun(const struct annotation *annotation, size_t nr)
{
	if (annotation->rows[0].text)
		return nr == 1 ? "instruction" : "instructions";
	return nr == 1 ? "bin" : "bins";
}

static void heading(const struct annotation *annotation, const struct annotation_view *view,
		    FILE *out)
{
	const struct profile_object *object = &annotation->profile->objects[annotation->object];
	uint64_t address = profile_object_address(object, annotation->offset);
	size_t i;

	fprintf(out, "%-*s", LABEL_COLUMNS, "function");
	name_write(out, annotation->name, annotation_room(view, LABEL_COLUMNS));
	fputc('\n', out);
	text_labelled(out, "object", object->path);
	/* As the rows have it; names and OBJECT:OFFSET have the offset. */
	fprintf(out, "%-10saddress 0x%" PRIx64, "text", address);
	if (address != annotation->offset)
		fprintf(out, ", in the file at 0x%" PRIx64, annotation->offset);
	fprintf(out, ", %" PRIu64 " bytes, %zu %s\n", annotation->size, annotation->nr_rows,
		row_noun(annotation, annotation->nr_rows));
	fprintf(out,
		"%-10s%" PRIu64 " of %" PRIu64
		", %.2f%% of the time; shares below are of the %" PRIu64 "\n",
		"ticks", annotation->ticks, annotation->total, annotation->percent,
		annotation->ticks);
	for (i = 0; i < annotation->nr_notes; i++)
		text_labelled(out, "note", annotation->notes[i]);
	fputc('\n', out);
}

static void put_line_number(const struct annotation_line *line, FILE *out)
{
	text_write(out, text_basename(line->file), NAME_COLUMNS);
	fprintf(out, ":%" PRIu32, line->line);
}

static int compare_lines(const void *left, const void *right)
{
	const struct annotation_line *a = *(const struct annotation_line *const *)left;
	const struct annotation_line *b = *(const struct annotation_line *const *)right;

	if (a->ticks != b->ticks)
		return a->ticks > b->ticks ? -1 : 1;
	return a < b ? -1 : a > b;
}

static size_t line_number_columns(const struct annotation_line *line)
{
	size_t name = text_columns(text_basename(line->file));
	char number[16];

	return (name < NAME_COLUMNS ? name : NAME_COLUMNS) +
	       (size_t)snprintf(number, sizeof(number), ":%" PRIu32, line->line);
}

static void line_row(const struct listing *listing, const struct annotation_line *line,
		     size_t columns)
{
	size_t used;

	used = annotation_put_share(listing->annotation, listing->view, line->ticks, listing->out);
	fputs("  ", listing->out);
	put_line_number(line, listing->out);
	used += 2 + columns;
	if (line->text) {
		fprintf(listing->out, "%*s  ", (int)(columns - line_number_columns(line)), "");
		annotation_put_source(line->text, listing->indent,
				      annotation_room(listing->view, used + 2), listing->out);
	}
	fputc('\n', listing->out);
}

static const char *share_heading(const struct annotation_view *view)
{
	return annotation_share_columns(view) > 7 ? "  SHARE     TICKS" : "  SHARE";
}

/* lines are those with ticks, hottest first. */
static void line_rows(const struct listing *listing, const struct annotation_line **lines,
		      size_t nr)
{
	size_t columns = 0, i, length;

	fprintf(listing->out, "%s%s  LINE%s\n", listing->view->color ? COLOR_DIM : "",
		share_heading(listing->view), listing->view->color ? COLOR_END : "");
	for (i = 0; i < nr && i < HOT_LINES; i++) {
		length = line_number_columns(lines[i]);
		columns = length > columns ? length : columns;
	}
	for (i = 0; i < nr && i < HOT_LINES; i++)
		line_row(listing, lines[i], columns);
	if (nr > HOT_LINES)
		fprintf(listing->out, "%*s  %zu of %zu lines\n",
			(int)annotation_share_columns(listing->view), "", i, nr);
	fputc('\n', listing->out);
}

/* The lines with ticks, hottest first; the caller frees the array. NULL: out of memory. */
static const struct annotation_line **order_lines(const struct annotation *annotation,
						  size_t *ret_nr)
{
	const struct annotation_line **lines = calloc(annotation->nr_lines + 1, sizeof(*lines));
	size_t i, nr = 0;

	for (i = 0; lines && i < annotation->nr_lines; i++)
		if (annotation->lines[i].ticks)
			lines[nr++] = &annotation->lines[i];
	if (lines)
		qsort(lines, nr, sizeof(*lines), compare_lines);
	*ret_nr = nr;
	return lines;
}

/* --- as it stands in the text ---------------------------------------------------------------------- */

static const char *bracket(const struct annotation_row *row, size_t i)
{
	if (row->shared == 1)
		return " ";
	if (i == row->first)
		return "┐";
	return i + 1 == row->first + row->shared ? "┘" : "│";
}

/* Writes up to the column where the address or the source line begins. */
static size_t put_margin(const struct listing *listing, size_t i, uint64_t ticks, bool source)
{
	const struct annotation_row *row = &listing->annotation->rows[i];
	char arrows[ANNOTATION_ARROWS_MAX];
	size_t used;

	used = annotation_put_share(listing->annotation, listing->view, ticks, listing->out);
	if (listing->brackets) {
		fputs(text_glyph(source ? (row->first < i ? "│" : " ") : bracket(row, i)),
		      listing->out);
		used++;
	}
	fputc(' ', listing->out);
	used += 1 + annotation_put_bar(listing->view, source ? 0 : ticks, listing->hottest,
				       listing->out);
	used += annotation_arrows(listing->annotation, i, source, arrows);
	fprintf(listing->out, " %s ", arrows);
	return used + 2;
}

/* The ticks of the rows from i on that are under the same source line; 0: unknown. */
static uint64_t ticks_below(const struct listing *listing, size_t i)
{
	const struct annotation_row *rows = listing->annotation->rows, *row = &rows[i];
	uint64_t ticks = 0;

	if (row->first < i)
		return 0;
	for (; i < listing->annotation->nr_rows && listing->shown[i]; i++) {
		if (rows[i].line != row->line || rows[i].function != row->function)
			break;
		ticks += rows[i].ticks;
	}
	return i < listing->annotation->nr_rows && rows[i].first < i ? 0 : ticks;
}

static void source_row(const struct listing *listing, size_t i)
{
	const struct annotation *annotation = listing->annotation;
	const struct annotation_row *row = &annotation->rows[i];
	const struct annotation_line *line;
	const char *inlined = annotation_inlined(annotation, row);
	size_t room, used = put_margin(listing, i, ticks_below(listing, i), true);

	fputs(listing->view->color ? COLOR_SOURCE : "", listing->out);
	if (row->line == ANNOTATION_NONE) {
		fputs("(no line)", listing->out);
	} else {
		line = &annotation->lines[row->line];
		put_line_number(line, listing->out);
		used += line_number_columns(line) + 2;
		if (inlined) {
			fputs(" [", listing->out);
			room = annotation_room(listing->view, used + 3);
			used += 3 + name_write(listing->out, inlined,
					       room && room < NAME_COLUMNS ? room : NAME_COLUMNS);
			fputc(']', listing->out);
		}
		if (line->text) {
			fputs("  ", listing->out);
			annotation_put_source(line->text, listing->indent,
					      annotation_room(listing->view, used), listing->out);
		}
	}
	fprintf(listing->out, "%s\n", listing->view->color ? COLOR_END : "");
}

/* Writes the address and the instruction. Returns the columns used behind the address. */
static size_t put_code(const struct listing *listing, const struct annotation_row *row,
		       size_t width)
{
	fprintf(listing->out, "%*" PRIx64, listing->address_columns, row->address);
	if (!row->text && row->size > 1)
		return (size_t)fprintf(listing->out, "..%" PRIx64, row->address + row->size - 1);
	if (!row->text)
		return 0;
	fputs("  ", listing->out);
	return 2 + annotation_put_instruction(row, width, listing->out);
}

static void code_row(const struct listing *listing, size_t i)
{
	const struct annotation_row *row = &listing->annotation->rows[i];
	size_t used = put_margin(listing, i, row->ticks, false);

	used += (size_t)listing->address_columns + 2;
	put_code(listing, row, annotation_room(listing->view, used));
	fputc('\n', listing->out);
}

/* Returns the first row after the ones that are left out. */
static size_t gap_row(const struct listing *listing, size_t i)
{
	const struct annotation *annotation = listing->annotation;
	uint64_t ticks = 0;
	size_t from = i;

	for (; i < annotation->nr_rows && !listing->shown[i]; i++)
		ticks += annotation->rows[i].ticks;
	/* A gap is not a place, so it is not marked as hot. */
	annotation_put_share(annotation, &(struct annotation_view){ .width = listing->view->width },
			     ticks, listing->out);
	fprintf(listing->out, "%s  %s %zu %s\n", listing->brackets ? " " : "", text_glyph("⋮"),
		i - from, row_noun(annotation, i - from));
	return i;
}

/* Text without a symbol, that was not read because nothing there was hit. */
static void unread_row(const struct listing *listing, size_t i)
{
	const struct annotation_row *row = &listing->annotation->rows[i];
	uint64_t end = i ? row[-1].offset + row[-1].size : row->offset;

	if (!row->text || row->offset <= end)
		return;
	fprintf(listing->out, "%*s%s  %s %" PRIu64 " bytes\n",
		(int)annotation_share_columns(listing->view), "", listing->brackets ? " " : "",
		text_glyph("⋮"), row->offset - end);
}

static void close_small_gaps(const struct annotation *annotation, bool *shown)
{
	size_t i, end;

	for (i = 0; i < annotation->nr_rows; i = end) {
		for (end = i; end < annotation->nr_rows && !shown[end]; end++)
			;
		if (end - i < GAP_MIN)
			memset(shown + i, true, end - i);
		end += end == i;
	}
}

static bool begins_line(const struct annotation *annotation, size_t i)
{
	const struct annotation_row *row = &annotation->rows[i];

	return row->line != row[-1].line || row->function != row[-1].function;
}

static void table_heading(const struct listing *listing)
{
	const struct annotation *annotation = listing->annotation;
	size_t columns = listing->view->width && listing->view->width < 100 ? 4 : 8;

	if (annotation->nr_jumps)
		columns += annotation->lanes + 1;
	fprintf(listing->out, "%s%s%s %*s  %*s%s%s\n", listing->view->color ? COLOR_DIM : "",
		share_heading(listing->view), listing->brackets ? " " : "", (int)columns, "",
		listing->address_columns, "ADDRESS",
		annotation->rows[0].text ? "  INSTRUCTION" : "",
		listing->view->color ? COLOR_END : "");
}

static void all_rows(const struct listing *listing)
{
	const struct annotation *annotation = listing->annotation;
	bool after_gap = true;
	size_t i = 0, left_out = 0;

	table_heading(listing);
	while (i < annotation->nr_rows) {
		if (!listing->shown[i]) {
			left_out -= i;
			i = gap_row(listing, i);
			left_out += i;
			after_gap = true;
			continue;
		}
		unread_row(listing, i);
		if (annotation->nr_lines && (after_gap || begins_line(annotation, i)))
			source_row(listing, i);
		code_row(listing, i++);
		after_gap = false;
	}
	if (left_out)
		fprintf(listing->out, "\n%zu of %zu %s; --limit 0 shows all.\n",
			annotation->nr_rows - left_out, annotation->nr_rows,
			row_noun(annotation, annotation->nr_rows));
}

int annotation_text(const struct annotation *annotation, const struct annotation_view *view,
		    FILE *out)
{
	cleanup_free bool *shown = annotation_choose(annotation, view->limit, CONTEXT);
	cleanup_free const struct annotation_line **lines = NULL;
	struct listing listing;
	size_t nr_lines;

	lines = order_lines(annotation, &nr_lines);
	if (!shown || !lines)
		return -ENOMEM;
	close_small_gaps(annotation, shown);
	begin(&listing, annotation, view, out);
	listing.shown = shown;
	heading(annotation, view, out);
	if (nr_lines)
		line_rows(&listing, lines, nr_lines);
	all_rows(&listing);
	return 0;
}

/* --- hottest first ---------------------------------------------------------------------------------- */

static size_t hot_columns(const struct annotation_view *view)
{
	if (view->width >= 160)
		return HOT_COLUMNS_WIDE;
	return view->width && view->width < 100 ? HOT_COLUMNS_NARROW : HOT_COLUMNS;
}

/* columns are those already used behind the address. */
static void hot_line(const struct listing *listing, const struct annotation_line *line, size_t used,
		     size_t columns)
{
	size_t wanted = hot_columns(listing->view);
	char number[64];

	if (columns < wanted)
		columns += (size_t)fprintf(listing->out, "%*s", (int)(wanted - columns), "");
	fputs("  ", listing->out);
	used += columns + 2;
	snprintf(number, sizeof(number), "%.48s:%" PRIu32, text_basename(line->file), line->line);
	used += text_write_tail(listing->out, number, annotation_room(listing->view, used)) + 2;
	if (!line->text || (listing->view->width && used + 8 >= listing->view->width))
		return;
	fputs("  ", listing->out);
	annotation_put_source(line->text, listing->indent, annotation_room(listing->view, used),
			      listing->out);
}

static void hot_row(const struct listing *listing, const struct annotation_row *row)
{
	size_t used, columns, width, wanted = hot_columns(listing->view);
	bool line;

	used = annotation_put_share(listing->annotation, listing->view, row->ticks, listing->out);
	fputc(' ', listing->out);
	used += 2 + annotation_put_bar(listing->view, row->ticks, listing->hottest, listing->out);
	fputc(' ', listing->out);
	used += (size_t)listing->address_columns;
	width = annotation_room(listing->view, used + 2);
	line = row->line != ANNOTATION_NONE && (!width || width > wanted + 8);
	if (line && width)
		width = wanted - 2;
	columns = put_code(listing, row, row->shared > 1 ? wanted / 2 : width);
	if (row->shared > 1)
		columns += (size_t)fprintf(listing->out, " and %zu more", row->shared - 1);
	if (line)
		hot_line(listing, &listing->annotation->lines[row->line], used, columns);
	fputc('\n', listing->out);
}

int annotation_hot_text(const struct annotation *annotation, const struct annotation_view *view,
			FILE *out)
{
	struct listing listing;
	size_t nr, i, *order = annotation_hottest(annotation, &nr);

	if (!order)
		return -ENOMEM;
	heading(annotation, view, out);
	begin(&listing, annotation, view, out);
	for (i = 0; i < nr && (!view->limit || i < view->limit); i++)
		hot_row(&listing, &annotation->rows[order[i]]);
	if (i < nr)
		fprintf(out, "\n%zu of %zu that have ticks; --limit 0 shows all.\n", i, nr);
	free(order);
	return 0;
}
