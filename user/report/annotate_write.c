// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Writes an annotated function: in order or hottest first, as text, CSV or JSON. */
#include "report/annotation.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/text.h"
#include "base/util.h"
#include "report/name_fit.h"
#include "report/render.h"

#define TAB 8
#define SOURCE_MAX 512

static int compare_heat(const void *left, const void *right, void *rows)
{
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	uint64_t ticks_a = ((const struct annotation_row *)rows)[a].ticks;
	uint64_t ticks_b = ((const struct annotation_row *)rows)[b].ticks;

	return compare_u64(ticks_b, ticks_a) ?: compare_u64(a, b);
}

/*
 * The rows that do not share another row's ticks, hottest first; the caller frees the array. NULL:
 * out of memory.
 */
static size_t *annotation_hottest(const struct annotation *annotation, size_t *ret_nr)
{
	size_t *order = calloc(annotation->nr_rows + 1, sizeof(*order));
	size_t i, nr = 0;

	if (!order)
		return NULL;
	for (i = 0; i < annotation->nr_rows; i++)
		if (annotation->rows[i].ticks)
			order[nr++] = i;
	qsort_r(order, nr, sizeof(*order), compare_heat, annotation->rows);
	*ret_nr = nr;
	return order;
}

static void mark(const struct annotation *annotation, size_t row, size_t context, bool *chosen)
{
	size_t first = row < context ? 0 : row - context;
	size_t end = row + annotation->rows[row].shared + context;

	for (; first < end && first < annotation->nr_rows; first++)
		chosen[first] = true;
}

bool *annotation_choose(const struct annotation *annotation, uint64_t limit, size_t context)
{
	bool *chosen = calloc(annotation->nr_rows + 1, sizeof(*chosen));
	size_t *order, nr, i;

	if (!chosen)
		return NULL;
	if (!limit) {
		memset(chosen, true, annotation->nr_rows);
		return chosen;
	}
	order = annotation_hottest(annotation, &nr);
	if (!order) {
		free(chosen);
		return NULL;
	}
	for (i = 0; i < nr && i < limit; i++)
		mark(annotation, order[i], context, chosen);
	free(order);
	return chosen;
}

/*
 * gcc's clones, name.constprop.0, and the parts that it splits off, name.cold, count as the
 * function itself.
 */
const char *annotation_inlined(const struct annotation *annotation,
			       const struct annotation_row *row)
{
	size_t length = row->function ? strlen(row->function) : 0;

	if (!length || (!strncmp(annotation->name, row->function, length) &&
			(!annotation->name[length] || annotation->name[length] == '.' ||
			 annotation->name[length] == ' ')))
		return NULL;
	return row->function;
}

/* --- pieces ----------------------------------------------------------------------------------- */

#define TICKS_WIDTH 60 /* a narrower terminal has no column for ticks */

/* The width of shares, and of ticks if there is room. */
static size_t annotation_share_columns(const struct annotation_view *view)
{
	return view->width && view->width < TICKS_WIDTH ? 7 : 17;
}

/* Writes "SHARE TICKS", or blanks if there are no ticks. Returns the columns. */
static size_t annotation_put_share(const struct annotation *annotation,
				   const struct annotation_view *view, uint64_t ticks, FILE *out)
{
	double percent = annotation_percent(annotation, ticks);
	const char *color = view->color ? heat_color(percent) : "";
	size_t columns = annotation_share_columns(view);

	if (!ticks)
		return (size_t)fprintf(out, "%*s", (int)columns, "");
	fprintf(out, "%s%6.2f%%%s", color, percent, *color ? COLOR_END : "");
	if (columns > 7)
		fprintf(out, " %9" PRIu64, ticks);
	return columns;
}

static size_t bar_columns(const struct annotation_view *view)
{
	return view->width && view->width < 100 ? 4 : 8;
}

/* Writes a bar of the row's ticks relative to the hottest row. Returns the columns. */
static size_t annotation_put_bar(const struct annotation_view *view, uint64_t ticks,
				 uint64_t hottest, FILE *out)
{
	static const char *const blocks[] = { " ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };
	const size_t columns = bar_columns(view);
	unsigned int i, eighths;

	eighths = hottest ? (unsigned int)((double)ticks / (double)hottest * columns * 8) : 0;
	/* Show any tick, however small its share. */
	if (ticks && !eighths)
		eighths = 1;
	for (i = 0; i < columns; i++) {
		fputs(text_glyph(blocks[eighths < 8 ? eighths : 8]), out);
		eighths -= eighths < 8 ? eighths : 8;
	}
	return columns;
}

/*
 * Writes the instruction and its target in at most width columns (0: unlimited). Returns the
 * columns.
 */
static size_t annotation_put_instruction(const struct annotation_row *row, size_t width, FILE *out)
{
	size_t used = text_write(out, row->text ? row->text : "", width);

	if (!row->target || (width && width < used + 5))
		return used;
	fputs(" <", out);
	used += 2 + text_write(out, row->target, width ? width - used - 3 : 0);
	fputc('>', out);
	return used + 1;
}

/* The width of the longest address, or of the heading. */
static int annotation_address_columns(const struct annotation *annotation)
{
	int columns = 0;

	if (annotation->nr_rows)
		columns = snprintf(NULL, 0, "%" PRIx64,
				   annotation->rows[annotation->nr_rows - 1].address);
	return columns > (int)strlen("ADDRESS") ? columns : (int)strlen("ADDRESS");
}

static size_t blanks_before(const char *text)
{
	size_t columns = 0;

	for (; *text == ' ' || *text == '\t'; text++)
		columns = *text == '\t' ? (columns / TAB + 1) * TAB : columns + 1;
	return columns;
}

static size_t annotation_indent(const struct annotation *annotation)
{
	size_t least = SIZE_MAX, indent, i;
	const char *text;

	for (i = 0; i < annotation->nr_lines; i++) {
		text = annotation->lines[i].text;
		if (!text || !text[strspn(text, " \t")])
			continue;
		indent = blanks_before(text);
		least = indent < least ? indent : least;
	}
	return least == SIZE_MAX ? 0 : least;
}

/* Writes a source line without the common indentation, and with tabs as blanks. */
static void annotation_put_source(const char *text, size_t indent, size_t width, FILE *out)
{
	char plain[SOURCE_MAX];
	size_t column = 0, nr = 0;

	for (; *text && nr + 1 < sizeof(plain); text++) {
		do {
			if (column++ >= indent && nr + 1 < sizeof(plain))
				plain[nr++] = *text == '\t' ? ' ' : *text;
		} while (*text == '\t' && column % TAB);
	}
	plain[nr] = '\0';
	text_write(out, plain, width);
}

/* Text for people. */

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

/* --- heading ---------------------------------------------------------------------------------- */

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
	name_write(out, annotation->name, columns_left(view->width, LABEL_COLUMNS));
	fputc('\n', out);
	text_labelled(out, "object", object->path);
	/* The rows show addresses; names and OBJECT:OFFSET use the offset. */
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

	return compare_u64(b->ticks, a->ticks) ?: (a < b ? -1 : a > b);
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
				      columns_left(listing->view->width, used + 2), listing->out);
	}
	fputc('\n', listing->out);
}

static const char *share_heading(const struct annotation_view *view)
{
	return annotation_share_columns(view) > 7 ? "  SHARE     TICKS" : "  SHARE";
}

/* lines: those with ticks, hottest first. */
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
	SORT(lines, nr, compare_lines);
	*ret_nr = nr;
	return lines;
}

/*
 * --- in the order of the text --------------------------------------------------------------------
 */

static const char *bracket(const struct annotation_row *row, size_t i)
{
	if (row->shared == 1)
		return " ";
	if (i == row->first)
		return "┐";
	return i + 1 == row->first + row->shared ? "┘" : "│";
}

/* Writes everything left of the address or the source line. */
static size_t put_margin(const struct listing *listing, size_t i, uint64_t ticks, bool source)
{
	const struct annotation_row *row = &listing->annotation->rows[i];
	char arrows[ANNOTATION_ARROWS_MAX];
	size_t used = annotation_put_share(listing->annotation, listing->view, ticks, listing->out);

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

/* Sums the ticks of the rows from i on that have the same source line; 0: unknown. */
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
			room = columns_left(listing->view->width, used + 3);
			used += 3 + name_write(listing->out, inlined,
					       room && room < NAME_COLUMNS ? room : NAME_COLUMNS);
			fputc(']', listing->out);
		}
		if (line->text) {
			fputs("  ", listing->out);
			annotation_put_source(line->text, listing->indent,
					      columns_left(listing->view->width, used),
					      listing->out);
		}
	}
	fprintf(listing->out, "%s\n", listing->view->color ? COLOR_END : "");
}

/* Writes the address and the instruction. Returns the columns after the address. */
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
	put_code(listing, row, columns_left(listing->view->width, used));
	fputc('\n', listing->out);
}

/* Returns the first row after the gap. */
static size_t gap_row(const struct listing *listing, size_t i)
{
	const struct annotation *annotation = listing->annotation;
	uint64_t ticks = 0;
	size_t from = i;

	for (; i < annotation->nr_rows && !listing->shown[i]; i++)
		ticks += annotation->rows[i].ticks;
	/* A gap is not a place. Therefore do not colour it as hot. */
	annotation_put_share(annotation, &(struct annotation_view){ .width = listing->view->width },
			     ticks, listing->out);
	fprintf(listing->out, "%s  %s %zu %s\n", listing->brackets ? " " : "", text_glyph("⋮"),
		i - from, row_noun(annotation, i - from));
	return i;
}

/* A gap in text without a symbol. It was not read because it has no ticks. */
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

/* columns: those between the shares and the addresses. */
static void table_heading(const struct listing *listing, size_t columns)
{
	fprintf(listing->out, "%s%s%*s%*s%s%s\n", listing->view->color ? COLOR_DIM : "",
		share_heading(listing->view), (int)columns, "", listing->address_columns, "ADDRESS",
		listing->annotation->rows[0].text ? "  INSTRUCTION" : "",
		listing->view->color ? COLOR_END : "");
}

static void all_rows(const struct listing *listing)
{
	const struct annotation *annotation = listing->annotation;
	bool after_gap = true;
	size_t i = 0, nr = 0;

	table_heading(listing, listing->brackets + 1 + bar_columns(listing->view) +
				       (annotation->nr_jumps ? annotation->lanes + 1 : 0) + 2);
	while (i < annotation->nr_rows) {
		if (!listing->shown[i]) {
			i = gap_row(listing, i);
			after_gap = true;
			continue;
		}
		unread_row(listing, i);
		if (annotation->nr_lines && (after_gap || begins_line(annotation, i)))
			source_row(listing, i);
		code_row(listing, i++);
		nr++;
		after_gap = false;
	}
	render_limit(nr, annotation->nr_rows, row_noun(annotation, annotation->nr_rows),
		     listing->out);
}

/* Return 0 or -ENOMEM. */
static int annotation_text(const struct annotation *annotation, const struct annotation_view *view,
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

/* --- hottest first ---------------------------------------------------------------------------- */

static size_t hot_columns(const struct annotation_view *view)
{
	if (view->width >= 160)
		return HOT_COLUMNS_WIDE;
	return view->width && view->width < 100 ? HOT_COLUMNS_NARROW : HOT_COLUMNS;
}

/* columns: those already used after the address. */
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
	used += text_write_tail(listing->out, number, columns_left(listing->view->width, used)) + 2;
	if (!line->text || (listing->view->width && used + 8 >= listing->view->width))
		return;
	fputs("  ", listing->out);
	annotation_put_source(line->text, listing->indent, columns_left(listing->view->width, used),
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
	width = columns_left(listing->view->width, used + 2);
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

static int annotation_hot_text(const struct annotation *annotation,
			       const struct annotation_view *view, FILE *out)
{
	struct listing listing;
	size_t nr, i, *order = annotation_hottest(annotation, &nr);

	if (!order)
		return -ENOMEM;
	heading(annotation, view, out);
	begin(&listing, annotation, view, out);
	if (nr)
		table_heading(&listing, 1 + bar_columns(view) + 1);
	for (i = 0; i < nr && (!view->limit || i < view->limit); i++)
		hot_row(&listing, &annotation->rows[order[i]]);
	render_limit(i, nr, "that have ticks", out);
	free(order);
	return 0;
}

/* Formats for programs: CSV like the tables, and JSON with one row per line. */

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

	/*
	 * The first of the rows that share ticks has them. Fields of the others are empty, not 0.
	 */
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

static int annotation_csv(const struct annotation *annotation, const struct annotation_view *view,
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
	render_json_double(out, "of_function", annotation_percent(annotation, ticks));
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

	fputs(",\n  \"lines\": [", out);
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
	fprintf(out, ",\n  \"of\": %zu,\n  ", annotation->nr_rows);
	render_json_notes(out, annotation->notes, annotation->nr_notes);
}

static int annotation_json(const struct annotation *annotation, const struct annotation_view *view,
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

int annotation_write(const struct annotation *annotation, const struct annotation_view *view,
		     FILE *out)
{
	if (view->format == REPORT_CSV)
		return annotation_csv(annotation, view, out);
	if (view->format == REPORT_JSON)
		return annotation_json(annotation, view, out);
	if (view->hot)
		return annotation_hot_text(annotation, view, out);
	return annotation_text(annotation, view, out);
}
