// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/top/model.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile.h"
#include "profile/profile_weights.h"
#include "report/report.h"
#include "report/rows.h"

const char *const top_by_words[] = { "functions", "objects", "processes", "cgroups",
				     "comm",	  "threads", NULL };

void top_model_init(struct top_model *model)
{
	*model = (struct top_model){ .rows_max = TOP_ROWS_MAX };
}

static void free_row(struct top_row *row)
{
	if (!row)
		return;
	free(row->name);
	free(row->called);
	free(row->object);
	free(row);
}

static void no_op(void *row)
{
	(void)row;
}

void top_model_free(struct top_model *model)
{
	struct top_table *table;

	for (table = model->tables; table < model->tables + TOP_BYS; table++) {
		tdestroy(table->tree, no_op);
		while (table->nr)
			free_row(table->rows[--table->nr]);
		free(table->rows);
	}
	profile_account_free(&model->interval);
	profile_account_free(&model->overall);
	free(model->note);
	*model = (struct top_model){ 0 };
}

/* Two rows are the same if all of these members are equal. */
static int compare_identity(const void *left, const void *right)
{
	const struct top_row *a = left, *b = right;
	int order = compare_u64(a->offset, b->offset);

	order = order ?: compare_u64((uint64_t)a->pid, (uint64_t)b->pid);
	order = order ?: compare_u64(a->build, b->build) ?: compare_text(a->name, b->name);
	return order ?: compare_text(a->object, b->object);
}

static struct top_row *new_row(const struct top_row *from)
{
	struct top_row *row = malloc(sizeof(*row));

	if (!row)
		return NULL;
	*row = *from;
	row->ticks = row->total = 0;
	row->ns = row->total_ns = row->inclusive_ns = row->total_inclusive_ns = 0;
	row->called = NULL;
	row->name = strdup(from->name);
	row->object = from->object ? strdup(from->object) : NULL;
	if (!row->name || (from->object && !row->object)) {
		free_row(row);
		return NULL;
	}
	return row;
}

/*
 * Returns the table's row that is equal to key, and makes it if there is none. NULL: out of memory.
 */
static struct top_row *find_row(struct top_table *table, const struct top_row *key)
{
	struct top_row **node = tfind(key, &table->tree, compare_identity), *row;

	if (node)
		return *node;
	if (GROW(table->rows, table->capacity, table->nr + 1))
		return NULL;
	row = new_row(key);
	if (!row || !tsearch(row, &table->tree, compare_identity)) {
		free_row(row);
		return NULL;
	}
	table->rows[table->nr++] = row;
	return row;
}

/* FNV-1a. */
uint64_t top_build(const struct profile_object *object)
{
	const char *id = object->build_id;

	return id ? hash_bytes(HASH_BEGIN, id, strlen(id)) : HASH_BEGIN;
}

uint64_t top_offset(const struct profile_object *object, const struct profile_function *function)
{
	const char *whole = profile_whole_name(object);

	return whole && !strcmp(function->name, whole) ? 0 : function->offset;
}

static struct top_row function_key(const struct profile *profile,
				   const struct profile_function *function)
{
	const struct profile_object *object = &profile->objects[function->object];

	return (struct top_row){ .name = function->name,
				 .object = object->path,
				 .pid = -1,
				 .offset = top_offset(object, function),
				 .build = top_build(object) };
}

static struct top_row object_key(const struct profile_object *object)
{
	return (struct top_row){ .name = object->path,
				 .kind = profile_object_kinds[object->kind],
				 .pid = -1,
				 .build = top_build(object) };
}

/* The kind of report rows that fills each table. */
static const enum report_by reports[TOP_BYS] = {
	[TOP_FUNCTIONS] = REPORT_FUNCTIONS, [TOP_OBJECTS] = REPORT_OBJECTS,
	[TOP_PROCESSES] = REPORT_PROCESSES, [TOP_CGROUPS] = REPORT_CGROUPS,
	[TOP_COMMS] = REPORT_COMMS,
};

static struct top_row key_of(const struct profile *profile, enum top_by table,
			     const struct report_row *from)
{
	const char *name = table == TOP_CGROUPS ? from->cgroup : from->name;

	if (table == TOP_FUNCTIONS)
		return function_key(profile, from->function);
	if (table == TOP_OBJECTS)
		return object_key(&profile->objects[from->object]);
	return (struct top_row){ .name = (char *)(name ?: "-"), .pid = from->pid };
}

/* The name of a container may become known some time after the first tick. */
static int call_cgroup(struct top_row *row, const char *name)
{
	if (!name || !compare_text(row->called, name))
		return 0;
	free(row->called);
	row->called = strdup(name);
	return row->called ? 0 : -ENOMEM;
}

static int count_row(struct top_model *model, const struct profile *profile, enum top_by table,
		     const struct report_row *from)
{
	const struct top_row key = key_of(profile, table, from);
	struct top_row *row = find_row(&model->tables[table], &key);

	if (!row)
		return -ENOMEM;
	row->ticks += from->own.ticks;
	row->total += from->own.ticks;
	row->ns += from->own.ns;
	row->total_ns += from->own.ns;
	row->inclusive_ns += from->inclusive.ns;
	row->total_inclusive_ns += from->inclusive.ns;
	return table == TOP_CGROUPS ? call_cgroup(row, from->name) : 0;
}

static int count_rows(struct top_model *model, const struct profile *profile, enum top_by table)
{
	const struct report_options options = { .by = reports[table],
						.callers = true,
						.target = REPORT_ALL_TARGETS };
	struct report_rows rows;
	struct error err;
	int ret = rows_of_part(profile, &options, &rows, &err);
	size_t i;

	for (i = 0; i < rows.nr && !ret; i++)
		if (table != TOP_FUNCTIONS || rows.rows[i].function)
			ret = count_row(model, profile, table, &rows.rows[i]);
	rows_free(&rows);
	return ret;
}

/* Rows to keep come first. */
DEFINE_COMPARE_AS(compare_worth, typeof(struct top_row *),
		  compare_u64((*b)->ticks, (*a)->ticks) ?: compare_u64((*b)->total, (*a)->total))

/* Removes a quarter of the rows at once. Then not every interval has to sort. */
static void fold(struct top_model *model, struct top_table *table)
{
	size_t keep = model->rows_max - model->rows_max / 4;
	struct top_row *row;

	if (table->nr <= model->rows_max)
		return;
	SORT(table->rows, table->nr, compare_worth);
	while (table->nr > keep) {
		row = table->rows[--table->nr];
		table->others.ticks += row->ticks;
		table->others.total += row->total;
		table->others.ns += row->ns;
		table->others.total_ns += row->total_ns;
		table->nr_others++;
		tdelete(row, &table->tree, compare_identity);
		free_row(row);
	}
}

static void begin_interval(struct top_table *table)
{
	size_t i;

	for (i = 0; i < table->nr; i++) {
		table->rows[i]->ticks = 0;
		table->rows[i]->ns = 0;
		table->rows[i]->inclusive_ns = 0;
	}
	table->others.ticks = 0;
	table->others.ns = 0;
}

/*
 * Uses the last note of the profile, or else the note on the largest difference between ticks and
 * CPU time.
 */
static int choose_note(struct top_model *model, const struct profile *profile)
{
	struct cpu_time_notes notes;
	const char *note = NULL;

	free(model->note);
	model->note = NULL;
	if (cpu_time_compare(profile, REPORT_ALL_TARGETS, &notes))
		return -ENOMEM;
	if (notes.nr)
		note = notes.text[0];
	if (profile->nr_notes)
		note = profile->notes[profile->nr_notes - 1];
	if (!note)
		return 0;
	model->note = strdup(note);
	return model->note ? 0 : -ENOMEM;
}

static int add_account(struct top_model *model, const struct profile *profile)
{
	profile_account_free(&model->interval);
	model->interval = (struct profile_account){ 0 };
	if (choose_note(model, profile))
		return -ENOMEM;
	if (profile_account_add(&model->interval, &profile->ticks) ||
	    profile_account_add(&model->overall, &profile->ticks))
		return -ENOMEM;
	model->interval_ns = profile->duration_ns;
	model->overall_ns += profile->duration_ns;
	model->interval_cpu_ns = profile_time(profile);
	model->overall_cpu_ns += model->interval_cpu_ns;
	model->cpus = profile->host.cpus;
	model->intervals++;
	return 0;
}

int top_model_add(struct top_model *model, const struct profile *profile)
{
	size_t i;
	int ret;

	for (i = 0; i < TOP_BYS; i++)
		begin_interval(&model->tables[i]);
	ret = add_account(model, profile);
	for (i = 0; i < TOP_BYS && !ret; i++)
		ret = count_rows(model, profile, i);
	for (i = 0; i < TOP_BYS; i++)
		fold(model, &model->tables[i]);
	return ret;
}

double top_busy_cpus(double cpu_ns, uint64_t ns)
{
	return ns ? cpu_ns / (double)ns : 0;
}
