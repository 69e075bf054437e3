// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/top/plain.h"

#include <unistd.h>

#include "report/render.h"
#include "host/top/line.h"
#include "host/top/table.h"

static int put_table(struct top_plain *plain, const struct top_model *model, bool whole, FILE *out)
{
	struct top_line line = { .out = out };
	struct top_choice choice = plain->choice;
	const struct top_row *const *rows;
	struct top_columns columns;
	size_t nr, i;
	int ret;

	choice.sort = whole ? TOP_SORT_ALL : TOP_SORT_NOW;
	choice.idle = whole;
	ret = top_list_choose(&plain->list, model, &choice);
	if (ret)
		return ret;
	rows = plain->list.rows;
	nr = plain->list.nr;
	if (plain->limit && nr > plain->limit)
		nr = plain->limit;
	columns = top_columns_fit(&choice, whole, rows, nr, 0);
	top_put_headings(&line, &columns, TOP_SORTS);
	for (i = 0; i < nr; i++)
		top_put_row(&line, &columns, model, rows[i], false);
	if (nr == plain->list.nr)
		top_put_others(&line, &columns, model);
	return 0;
}

int top_plain_interval(struct top_plain *plain, const struct top_model *model, time_t at, FILE *out)
{
	struct top_line line = { .out = out };
	char stamp[32] = "";
	struct tm parts;
	int ret = 0;

	if (localtime_r(&at, &parts))
		strftime(stamp, sizeof(stamp), "%FT%T%z", &parts);
	line_print(&line, "%s  ", stamp);
	top_put_interval(&line, model);
	line_end(&line);
	if (model->note) {
		line_text(&line, "note: ");
		line_text(&line, model->note);
		line_end(&line);
	}
	if (model->interval.total)
		ret = put_table(plain, model, false, out);
	line_end(&line);
	return ret;
}

int top_plain_overall(struct top_plain *plain, const struct top_model *model, FILE *out)
{
	struct top_line line = { .out = out };

	line_print(&line, "overall  ");
	top_put_overall(&line, model);
	line_end(&line);
	render_identity(&model->overall, isatty(fileno(out)) == 1, out);
	return model->overall.total ? put_table(plain, model, true, out) : 0;
}

void top_plain_free(struct top_plain *plain)
{
	top_list_free(&plain->list);
}
