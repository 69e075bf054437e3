// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/annotate_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/render.h"
#include "base/text.h"

#define TAB 8
#define SOURCE_MAX 512

static int compare_heat(const void *left, const void *right, void *rows)
{
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	uint64_t ticks_a = ((const struct annotation_row *)rows)[a].ticks;
	uint64_t ticks_b = ((const struct annotation_row *)rows)[b].ticks;

	if (ticks_a != ticks_b)
		return ticks_a > ticks_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

size_t *annotation_hottest(const struct annotation *annotation, size_t *ret_nr)
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
 * gcc's clones, name.constprop.0, and the parts it split off, name.cold, count as the function
 * itself.
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

/* --- pieces -------------------------------------------------------------------------------------- */

#define TICKS_WIDTH 60 /* a narrower terminal has no column for ticks */

size_t annotation_share_columns(const struct annotation_view *view)
{
	return view->width && view->width < TICKS_WIDTH ? 7 : 17;
}

size_t annotation_put_share(const struct annotation *annotation, const struct annotation_view *view,
			    uint64_t ticks, FILE *out)
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

size_t annotation_put_bar(const struct annotation_view *view, uint64_t ticks, uint64_t hottest,
			  FILE *out)
{
	static const char *const blocks[] = { " ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };
	unsigned int columns = view->width && view->width < 100 ? 4 : 8, i, eighths;

	eighths = hottest ? (unsigned int)((double)ticks / (double)hottest * columns * 8) : 0;
	/* Any tick is visible, however small its share. */
	if (ticks && !eighths)
		eighths = 1;
	for (i = 0; i < columns; i++) {
		fputs(text_glyph(blocks[eighths < 8 ? eighths : 8]), out);
		eighths -= eighths < 8 ? eighths : 8;
	}
	return columns;
}

size_t annotation_put_instruction(const struct annotation_row *row, size_t width, FILE *out)
{
	size_t used = text_write(out, row->text ? row->text : "", width);

	if (!row->target || (width && width < used + 5))
		return used;
	fputs(" <", out);
	used += 2 + text_write(out, row->target, width ? width - used - 3 : 0);
	fputc('>', out);
	return used + 1;
}

int annotation_address_columns(const struct annotation *annotation)
{
	int columns = 0;

	if (annotation->nr_rows)
		columns = snprintf(NULL, 0, "%" PRIx64,
				   annotation->rows[annotation->nr_rows - 1].address);
	return columns > (int)strlen("ADDRESS") ? columns : (int)strlen("ADDRESS");
}

size_t annotation_room(const struct annotation_view *view, size_t used)
{
	if (!view->width)
		return 0;
	return view->width > used + 8 ? view->width - used : 8;
}

static size_t blanks_before(const char *text)
{
	size_t columns = 0;

	for (; *text == ' ' || *text == '\t'; text++)
		columns = *text == '\t' ? (columns / TAB + 1) * TAB : columns + 1;
	return columns;
}

size_t annotation_indent(const struct annotation *annotation)
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

void annotation_put_source(const char *text, size_t indent, size_t width, FILE *out)
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
