// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "top/model.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile_index.h"

const char *const top_by_words[] = { "functions", "objects", "processes", "cgroups", NULL };

void top_model_init(struct top_model *model)
{
	*model = (struct top_model){ .rows_max = TOP_ROWS_MAX, .bins_max = TOP_BINS_MAX };
}

static void free_row(struct top_row *row)
{
	if (!row)
		return;
	free(row->name);
	free(row->object);
	free(row->bins);
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

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return !!a - !!b;
	return strcmp(a, b);
}

/* Two rows are one when all of this is the same. */
static int compare_identity(const void *left, const void *right)
{
	const struct top_row *a = left, *b = right;
	int order = compare_u64(a->offset, b->offset);

	if (!order)
		order = compare_u64((uint64_t)a->pid, (uint64_t)b->pid);
	if (!order)
		order = compare_u64(a->build, b->build);
	if (!order)
		order = compare_text(a->name, b->name);
	return order ? order : compare_text(a->object, b->object);
}

static struct top_row *new_row(const struct top_row *from)
{
	struct top_row *row = malloc(sizeof(*row));

	if (!row)
		return NULL;
	*row = *from;
	row->ticks = row->total = 0;
	row->bins = NULL;
	row->nr_bins = row->bins_capacity = 0;
	row->name = strdup(from->name);
	row->object = from->object ? strdup(from->object) : NULL;
	if (!row->name || (from->object && !row->object)) {
		free_row(row);
		return NULL;
	}
	return row;
}

/* The table's row that is the same as key; a new one if there is none. NULL: out of memory. */
static struct top_row *find_row(struct top_table *table, const struct top_row *key)
{
	struct top_row **node = tfind(key, &table->tree, compare_identity), *row;

	if (node)
		return *node;
	if (grow((void **)&table->rows, &table->capacity, table->nr + 1, sizeof(row)))
		return NULL;
	row = new_row(key);
	if (!row || !tsearch(row, &table->tree, compare_identity)) {
		free_row(row);
		return NULL;
	}
	table->rows[table->nr++] = row;
	return row;
}

static int count(struct top_table *table, const struct top_row *key, uint64_t ticks)
{
	struct top_row *row;

	if (!ticks)
		return 0;
	row = find_row(table, key);
	if (!row)
		return -ENOMEM;
	row->ticks += ticks;
	row->total += ticks;
	return 0;
}

/* FNV-1a. */
uint64_t top_build(const struct profile_object *object)
{
	const char *at = object->build_id;
	uint64_t hash = 0xcbf29ce484222325;

	for (; at && *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3;
	return hash;
}

static struct top_row function_key(const struct profile *profile,
				   const struct profile_function *function)
{
	const struct profile_object *object = &profile->objects[function->object];

	return (struct top_row){ .name = function->name,
				 .object = object->path,
				 .pid = -1,
				 .offset = function->offset,
				 .size = function->size,
				 .build = top_build(object) };
}

static int count_functions(struct top_model *model, const struct profile *profile)
{
	const struct profile_function *function;
	const struct profile_object *object;
	struct top_row key;
	int err = 0;
	size_t i;

	for (i = 0; i < profile->nr_functions && !err; i++) {
		function = &profile->functions[i];
		object = &profile->objects[function->object];
		key = function_key(profile, function);
		err = count(&model->tables[TOP_FUNCTIONS], &key, function->ticks);
		key.name = object->path;
		key.kind = profile_object_kind_name(object->kind);
		key.object = NULL;
		key.offset = key.size = 0;
		if (!err)
			err = count(&model->tables[TOP_OBJECTS], &key, function->ticks);
	}
	return err;
}

/* Where a bin is or should be among a row's. */
static size_t bin_place(const struct top_row *row, uint64_t offset, uint64_t size)
{
	size_t low = 0, high = row->nr_bins;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct top_bin *bin = &row->bins[middle];

		if (bin->size < size || (bin->size == size && bin->offset < offset))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int count_bin(struct top_model *model, struct top_row *row, const struct top_bin *bin)
{
	size_t at = bin_place(row, bin->offset, bin->size);

	if (at < row->nr_bins && row->bins[at].offset == bin->offset &&
	    row->bins[at].size == bin->size) {
		row->bins[at].ticks += bin->ticks;
		return 0;
	}
	if (model->nr_bins == model->bins_max)
		return 0;
	if (grow((void **)&row->bins, &row->bins_capacity, row->nr_bins + 1, sizeof(*row->bins)))
		return -ENOMEM;
	memmove(&row->bins[at + 1], &row->bins[at], (row->nr_bins - at) * sizeof(*row->bins));
	row->bins[at] = *bin;
	row->nr_bins++;
	model->nr_bins++;
	return 0;
}

static int count_histogram(struct top_model *model, const struct profile *profile,
			   const struct profile_histogram *histogram,
			   const struct profile_index *index)
{
	const struct profile_function *function, *last = NULL;
	struct top_bin bin = { .size = histogram->bytes_per_bin };
	struct top_row key, *row = NULL;
	int err = 0;
	size_t i;

	for (i = 0; i < histogram->nr_bins && !err; i++) {
		bin.offset = histogram->offset + histogram->bins[i].index * bin.size;
		bin.ticks = histogram->bins[i].count;
		function = profile_index_find(index, histogram->object, bin.offset, bin.size);
		if (function && function != last) {
			key = function_key(profile, function);
			row = find_row(&model->tables[TOP_FUNCTIONS], &key);
			if (!row)
				return -ENOMEM;
		}
		last = function;
		if (function)
			err = count_bin(model, row, &bin);
	}
	return err;
}

/* Bins are kept beside the rows' sums, for the rows' instructions. */
static int count_bins(struct top_model *model, const struct profile *profile)
{
	struct profile_index *index = profile_index_new(profile);
	int err = index ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < profile->nr_histograms && !err; i++)
		err = count_histogram(model, profile, &profile->histograms[i], index);
	profile_index_free(index);
	return err;
}

static int count_splits(struct top_model *model, const struct profile *profile)
{
	const struct profile_histogram *histogram;
	struct top_row process, cgroup = { .pid = -1 };
	uint64_t ticks;
	int err = 0;
	size_t i;

	for (i = 0; i < profile->nr_histograms && !err; i++) {
		histogram = &profile->histograms[i];
		ticks = profile_histogram_ticks(histogram);
		process = (struct top_row){ .pid = histogram->pid, .name = histogram->process };
		if (!process.name)
			process.name = (char *)"-";
		cgroup.name = histogram->cgroup ? histogram->cgroup : (char *)"-";
		err = count(&model->tables[TOP_PROCESSES], &process, ticks);
		if (!err)
			err = count(&model->tables[TOP_CGROUPS], &cgroup, ticks);
	}
	return err;
}

/* What is to be kept first. */
static int compare_worth(const void *left, const void *right)
{
	const struct top_row *a = *(struct top_row *const *)left;
	const struct top_row *b = *(struct top_row *const *)right;

	if (a->ticks != b->ticks)
		return compare_u64(b->ticks, a->ticks);
	return compare_u64(b->total, a->total);
}

/* A quarter goes at once, so that not every interval has to sort. */
static void fold(struct top_model *model, struct top_table *table)
{
	size_t keep = model->rows_max - model->rows_max / 4;
	struct top_row *row;

	if (table->nr <= model->rows_max)
		return;
	qsort(table->rows, table->nr, sizeof(table->rows[0]), compare_worth);
	while (table->nr > keep) {
		row = table->rows[--table->nr];
		table->others.ticks += row->ticks;
		table->others.total += row->total;
		table->nr_others++;
		model->nr_bins -= row->nr_bins;
		tdelete(row, &table->tree, compare_identity);
		free_row(row);
	}
}

static void begin_interval(struct top_table *table)
{
	size_t i;

	for (i = 0; i < table->nr; i++)
		table->rows[i]->ticks = 0;
	table->others.ticks = 0;
}

static int add_account(struct top_model *model, const struct profile *profile)
{
	profile_account_free(&model->interval);
	model->interval = (struct profile_account){ 0 };
	free(model->note);
	model->note = NULL;
	if (profile->nr_notes) {
		model->note = strdup(profile->notes[profile->nr_notes - 1]);
		if (!model->note)
			return -ENOMEM;
	}
	if (profile_account_add(&model->interval, &profile->ticks) ||
	    profile_account_add(&model->overall, &profile->ticks))
		return -ENOMEM;
	model->interval_ns = profile->duration_ns;
	model->overall_ns += profile->duration_ns;
	model->period_ns = profile->sampling.period_ns;
	model->cpus = profile->host.cpus;
	model->intervals++;
	return 0;
}

int top_model_add(struct top_model *model, const struct profile *profile)
{
	size_t i;
	int err;

	for (i = 0; i < TOP_BYS; i++)
		begin_interval(&model->tables[i]);
	err = add_account(model, profile);
	if (!err)
		err = count_functions(model, profile);
	if (!err)
		err = count_bins(model, profile);
	if (!err)
		err = count_splits(model, profile);
	for (i = 0; i < TOP_BYS; i++)
		fold(model, &model->tables[i]);
	return err;
}

double top_busy_cpus(const struct top_model *model, const struct profile_account *account,
		     uint64_t ns)
{
	return ns ? (double)account->total * (double)model->period_ns / (double)ns : 0;
}
