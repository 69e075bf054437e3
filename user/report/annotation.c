// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/annotation.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

void annotation_free(struct annotation *annotation)
{
	if (!annotation)
		return;
	string_set_free(&annotation->strings);
	free(annotation->code);
	free(annotation->cells);
	free_all(annotation->notes, annotation->nr_notes);
	free(annotation->rows);
	free(annotation->lines);
	free(annotation->jumps);
	free(annotation);
}

double annotation_percent(const struct annotation *annotation, uint64_t ticks)
{
	return annotation->ticks ? 100 * (double)ticks / (double)annotation->ticks : 0;
}

double annotation_of_profile(const struct annotation *annotation, uint64_t ticks)
{
	return annotation->percent * annotation_percent(annotation, ticks) / 100;
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* Directions from the centre of a cell. */
enum { UP = 1, DOWN = 2, RIGHT = 4, LEFT = 8 };

static const char *const boxes[16] = {
	[0] = " ",
	[UP] = "│",
	[DOWN] = "│",
	[UP | DOWN] = "│",
	[RIGHT] = "─",
	[UP | RIGHT] = "╰",
	[DOWN | RIGHT] = "╭",
	[UP | DOWN | RIGHT] = "├",
	[LEFT] = "─",
	[UP | LEFT] = "┴",
	[DOWN | LEFT] = "┬",
	[UP | DOWN | LEFT] = "┼",
	[LEFT | RIGHT] = "─",
	[UP | LEFT | RIGHT] = "┴",
	[DOWN | LEFT | RIGHT] = "┬",
	[UP | DOWN | LEFT | RIGHT] = "┼",
};

/* The character for a lane. passed: a jump that begins or ends in a lane to the left crosses it. */
static const char *box(const struct annotation_cells *cells, unsigned int lane, bool passed)
{
	uint8_t bit = (uint8_t)(1U << lane);

	return text_glyph(boxes[(cells->up & bit ? UP : 0) | (cells->down & bit ? DOWN : 0) |
				(cells->end & bit ? RIGHT : 0) | (passed ? LEFT : 0)]);
}

static const char *head_of(const struct annotation *annotation, size_t row)
{
	const struct annotation_cells *cells = &annotation->cells[row];
	size_t to = annotation->rows[row].jump;

	if (cells->arrives)
		return "▶";
	if (cells->end)
		return "─";
	if (to == ANNOTATION_NONE)
		return " ";
	/* There is no lane for the jump. Therefore show at least its direction. */
	return to < row ? "↑" : "↓";
}

size_t annotation_arrows(const struct annotation *annotation, size_t row, bool between, char *text)
{
	struct annotation_cells cells;
	bool passed = false;
	unsigned int lane;

	*text = '\0';
	if (!annotation->cells)
		return 0;
	cells = annotation->cells[row];
	if (between)
		cells = (struct annotation_cells){ .up = cells.up, .down = cells.up };
	for (lane = annotation->lanes; lane--;) {
		text = stpcpy(text, box(&cells, lane, passed));
		passed = passed || cells.end & 1U << lane;
	}
	strcpy(text, between ? " " : text_glyph(head_of(annotation, row)));
	return annotation->lanes + 1;
}
