// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The wall time of processes, threads, cgroups or names: a column for CPU, and for each class. */
#include "report/waits_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/text.h"
#include "base/util.h"
#include "report/render.h"

#define COLUMNS_MAX 6 /* for classes in text; others are in one column */
#define COLUMN_WIDTH 9

struct account_row {
	struct report_row row; /* the names, but no figures */
	const struct profile_wait_account *account; /* the first one of the row */
	struct wait_totals totals;
};

struct account_table {
	const struct profile *profile;
	const struct profile_waits *waits;
	const struct report_options *options;
	const struct waits_choice *choice;
	bool runnable; /* the choice has it, but it is no column of a class */
	struct cgroup_names *cgroups;
	struct account_row *rows;
	size_t nr;
	uint32_t *columns; /* classes that are shown, the one with the most time first, */
	char **names; /* and their names */
	size_t nr_columns;
};

/* --- rows ------------------------------------------------------------------------------------- */

/* Makes a row for each chosen account. */
static int find_accounts(struct account_table *table)
{
	const struct profile_waits *waits = table->waits;
	size_t i;

	table->rows = calloc(waits->nr_accounts + 1, sizeof(*table->rows));
	for (i = 0; table->rows && i < waits->nr_accounts; i++) {
		const struct profile_wait_account *account = &waits->accounts[i];
		const struct profile_histogram of = { .pid = account->pid,
						      .process = account->process,
						      .cgroup = account->cgroup };

		if (split_chosen(table->profile, table->options, account->target, account->process))
			table->rows[table->nr++] =
				(struct account_row){ .row = row_of_split(&of, table->options->by),
						      .account = account };
	}
	return table->rows ? 0 : -ENOMEM;
}

static int add_rows(struct account_table *table)
{
	struct account_row *rows;
	size_t i, nr = 0;
	int ret = find_accounts(table);

	rows = table->rows;
	table->cgroups = cgroup_names_new(table->profile);
	if (ret || !table->cgroups)
		return -ENOMEM;
	SORT(rows, table->nr, row_compare_split);
	for (i = 0; !ret && i < table->nr; i++) {
		if (!nr || row_compare_split(&rows[nr - 1], &rows[i])) {
			rows[nr] = rows[i];
			if (table->options->by == REPORT_CGROUPS)
				rows[nr].row.name =
					cgroup_names_find(table->cgroups, rows[nr].row.cgroup);
			nr++;
		}
		ret = wait_totals_add(&rows[nr - 1].totals, rows[i].account) ? 0 : -ENOMEM;
	}
	for (i = 0; i < nr; i++)
		wait_totals_fold(&rows[i].totals);
	table->nr = nr;
	return ret;
}

static uint64_t ns_of_class(const struct wait_totals *totals, uint32_t class)
{
	const struct profile_wait_sum *sums = totals->classes;
	const size_t nr = totals->nr_classes;
	const size_t at = BISECT(i, nr, sums[i].class < class);

	return at < nr && sums[at].class == class ? sums[at].ns : 0;
}

/* If classes were chosen, rows with most of them come first; else those with most wall time. */
static uint64_t sort_ns(const struct account_table *table, const struct wait_totals *totals)
{
	uint64_t ns = table->runnable ? totals->runnable_ns : 0;
	size_t i;

	if (!table->choice || (!table->choice->nr_only && !table->choice->nr_without))
		return totals->wall_ns;
	for (i = 0; i < table->nr_columns; i++)
		ns += ns_of_class(totals, table->columns[i]);
	return ns;
}

static int compare_rows(const void *left, const void *right, void *of)
{
	const struct account_row *a = left, *b = right;
	const uint64_t x = sort_ns(of, &a->totals), y = sort_ns(of, &b->totals);

	if (x != y)
		return compare_u64(y, x);
	if (a->totals.cpu_ns != b->totals.cpu_ns)
		return compare_u64(b->totals.cpu_ns, a->totals.cpu_ns);
	return row_compare_split(&a->row, &b->row);
}

static int choose_columns(struct account_table *table)
{
	const size_t room = table->waits->nr_classes + 1;
	const uint32_t runnable = profile_waits_runnable(table->waits);
	cleanup_free struct profile_wait_sum *sums = calloc(room, sizeof(*sums));
	const struct profile_wait_sum *of;
	uint32_t i;
	size_t j;

	table->columns = calloc(room, sizeof(*table->columns));
	table->names = calloc(room, sizeof(*table->names));
	if (!sums || !table->columns || !table->names)
		return -ENOMEM;
	table->runnable = runnable < table->waits->nr_classes &&
			  waits_choice_has(table->choice, &table->waits->classes[runnable]);
	for (i = 0; i < table->waits->nr_classes; i++)
		sums[i].class = i;
	for (j = 0; j < table->nr; j++)
		for (i = 0; i < table->rows[j].totals.nr_classes; i++) {
			of = &table->rows[j].totals.classes[i];
			sums[of->class].ns += of->ns;
		}
	SORT(sums, table->waits->nr_classes, wait_sum_compare);
	for (i = 0; i < table->waits->nr_classes; i++)
		if (sums[i].ns &&
		    waits_choice_has(table->choice, &table->waits->classes[sums[i].class]))
			table->columns[table->nr_columns++] = sums[i].class;
	for (j = 0; j < table->nr_columns; j++) {
		table->names[j] = wait_class_full_name(&table->waits->classes[table->columns[j]]);
		if (!table->names[j])
			return -ENOMEM;
	}
	return 0;
}

/* --- text ------------------------------------------------------------------------------------- */

static const char *heading_of(enum report_by by)
{
	static const char *const headings[] = { [REPORT_PROCESSES] = "PID  PROCESS",
						[REPORT_CGROUPS] = "CGROUP",
						[REPORT_THREADS] = "TID  THREAD",
						[REPORT_COMMS] = "COMM" };

	return headings[by];
}

static size_t column_width(const char *name)
{
	return max_size(COLUMN_WIDTH, min_size(text_columns(name), 2 * COLUMN_WIDTH));
}

static void put_head(const struct account_table *table, size_t nr_columns, FILE *out)
{
	const bool dim = table->options->color;
	size_t i, columns;

	fprintf(out, "%s%9s %9s %9s", dim ? COLOR_DIM : "", "WALL", "CPU", "RUNNABLE");
	for (i = 0; i < nr_columns; i++) {
		columns = column_width(table->names[i]);
		fprintf(out, " %*s",
			(int)(columns - min_size(columns, text_columns(table->names[i]))), "");
		text_write(out, table->names[i], columns);
	}
	fprintf(out, " %9s  %s%s\n", "OTHER", heading_of(table->options->by), dim ? COLOR_END : "");
}

static void put_text_row(const struct account_table *table, const struct account_row *row,
			 size_t nr_columns, FILE *out)
{
	const struct wait_totals *totals = &row->totals;
	uint64_t rest = totals->wall_ns - totals->cpu_ns - totals->runnable_ns;
	size_t i;

	fprintf(out, "%9.3f %9.3f %9.3f", (double)totals->wall_ns / 1e9,
		(double)totals->cpu_ns / 1e9, (double)totals->runnable_ns / 1e9);
	for (i = 0; i < nr_columns; i++) {
		const uint64_t ns = ns_of_class(&row->totals, table->columns[i]);

		fprintf(out, " %*.3f", (int)column_width(table->names[i]), (double)ns / 1e9);
		rest -= ns;
	}
	fprintf(out, " %9.3f  ", (double)rest / 1e9);
	if (row->row.pid >= 0)
		fprintf(out, "%" PRId64 "  ", row->row.pid);
	text_write(out, row->row.name ?: row->row.cgroup ?: "-", 0);
	fputc('\n', out);
}

static void put_text(const struct account_table *table, size_t nr, FILE *out)
{
	const size_t columns = min_size(table->nr_columns, COLUMNS_MAX);
	size_t i;

	render_wait_account(table->profile, table->options->target, "wall      ", out);
	fputc('\n', out);
	put_head(table, columns, out);
	for (i = 0; i < nr; i++)
		put_text_row(table, &table->rows[i], columns, out);
	render_limit(nr, table->nr, "rows", out);
}

/* --- CSV and JSON ----------------------------------------------------------------------------- */

static void put_csv(const struct account_table *table, size_t nr, FILE *out)
{
	const enum report_by by = table->options->by;
	size_t i, j;

	fputs("wall_ns,cpu_ns,runnable_ns,stolen_ns,unaccounted_ns,", out);
	fputs(render_csv_columns[by], out);
	for (i = 0; i < table->nr_columns; i++)
		render_csv_field(out, table->names[i]);
	fputc('\n', out);
	for (i = 0; i < nr; i++) {
		const struct account_row *row = &table->rows[i];
		const struct wait_totals *totals = &row->totals;

		fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
			totals->wall_ns, totals->cpu_ns, totals->runnable_ns, totals->stolen_ns,
			totals->unaccounted_ns);
		render_csv_split(out, by, &row->row);
		for (j = 0; j < table->nr_columns; j++)
			fprintf(out, ",%" PRIu64, ns_of_class(&row->totals, table->columns[j]));
		fputc('\n', out);
	}
}

static void put_json_totals(const struct profile_waits *waits, const struct waits_choice *choice,
			    const struct wait_totals *totals, FILE *out)
{
	const char *separator = "";
	size_t i;

	fprintf(out, "\"wall_ns\": %" PRIu64, totals->wall_ns);
	render_json_u64(out, "cpu_ns", totals->cpu_ns);
	render_json_u64(out, "runnable_ns", totals->runnable_ns);
	render_json_u64(out, "stolen_ns", totals->stolen_ns);
	render_json_u64(out, "unaccounted_ns", totals->unaccounted_ns);
	fputs(", \"classes\": [", out);
	for (i = 0; i < totals->nr_classes; i++) {
		const struct profile_wait_sum *sum = &totals->classes[i];

		if ((!sum->ns && !sum->count) ||
		    !waits_choice_has(choice, &waits->classes[sum->class]))
			continue;
		fprintf(out, "%s{ \"class\": ", separator);
		json_text_string(out, waits->classes[sum->class].name);
		fprintf(out, ", \"io\": %s", waits->classes[sum->class].io ? "true" : "false");
		render_json_u64(out, "ns", sum->ns);
		render_json_u64(out, "count", sum->count);
		fputs(" }", out);
		separator = ", ";
	}
	putc(']', out);
}

/* Without memory, the sums are missing. */
void render_json_wall(const struct profile *profile, uint64_t target, FILE *out)
{
	struct wait_totals totals;

	fputs("\"wall\": { ", out);
	if (wait_totals_of(&totals, profile, target))
		put_json_totals(profile->waits, NULL, &totals, out);
	fputs(" }", out);
	free(totals.classes);
}

static void put_json(const struct account_table *table, size_t nr, FILE *out)
{
	size_t i;

	fprintf(out, "{ \"by\": \"%s\",\n  ", report_by_words[table->options->by]);
	render_json_wall(table->profile, table->options->target, out);
	fprintf(out, ",\n  \"of\": %zu,\n  \"rows\": [", table->nr);
	for (i = 0; i < nr; i++) {
		fputs(i ? ",\n    { " : "\n    { ", out);
		put_json_totals(table->waits, table->choice, &table->rows[i].totals, out);
		render_json_split(out, table->options->by, &table->rows[i].row);
		fputs(" }", out);
	}
	fputs(i ? "\n  ] }\n" : "] }\n", out);
}

/* --- the table -------------------------------------------------------------------------------- */

int report_wait_accounts(const struct profile *profile, const struct report_options *options,
			 const struct waits_choice *choice, FILE *out, struct error *err)
{
	static void (*const put[])(const struct account_table *table, size_t nr, FILE *out) = {
		[REPORT_TEXT] = put_text,
		[REPORT_CSV] = put_csv,
		[REPORT_JSON] = put_json,
	};
	struct account_table table = { .profile = profile,
				       .waits = profile->waits,
				       .options = options,
				       .choice = choice };
	size_t i;
	int ret = rows_check(profile, options, err) ?: rows_check_split(profile, options->by, err);

	if (ret)
		return ret;
	ret = add_rows(&table);
	if (!ret)
		ret = choose_columns(&table);
	if (!ret) {
		qsort_r(table.rows, table.nr, sizeof(*table.rows), compare_rows, &table);
		put[options->format](&table, report_limit(options, table.nr), out);
	}
	for (i = 0; i < table.nr; i++)
		free(table.rows[i].totals.classes);
	cgroup_names_free(table.cgroups);
	free(table.rows);
	free_all(table.names, table.names ? table.nr_columns : 0);
	free(table.columns);
	return ret ? error_errno(err, ret, "report") : 0;
}
