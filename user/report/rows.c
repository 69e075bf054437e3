// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/rows.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile.h"
#include "profile/waits_view.h"
#include "base/text.h"
#include "report/row_marks.h"
#include "naming/object_file.h"

const char *const report_by_words[] = { "functions", "objects", "lines",  "bins",
					"process",   "cgroup",	"thread", "comm",
					"cpu",	     "time",	NULL };

int rows_add(struct report_rows *rows, const struct report_row *row)
{
	return PUSH(rows->rows, rows->capacity, rows->nr, *row);
}

void rows_free(struct report_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->nr_lines; i++)
		source_lines_free(rows->lines[i]);
	cgroup_names_free(rows->cgroups);
	row_marks_free(rows->marks);
	profile_rows_end(&rows->from);
	free(rows->lines);
	free_all(rows->notes, rows->nr_notes);
	free(rows->neighbours);
	free(rows->rows);
	*rows = (struct report_rows){ 0 };
}

int row_compare_place(const void *left, const void *right)
{
	const struct report_row *a = left, *b = right;
	int order = compare_u64(a->object, b->object) ?: compare_u64(a->offset, b->offset);

	return order ?: compare_u64(a->size, b->size);
}

static void add_row(struct report_rows *rows, struct report_row *sum, const struct report_row *row)
{
	if (rows->marks) {
		rows->marks->all[sum->last_mark].next = row->first_mark;
		sum->last_mark = row->last_mark;
	}
	tick_sum_add(&sum->own, &row->own);
	sum->inlined += row->inlined;
}

static bool is_sorted(const struct report_rows *rows,
		      int (*compare)(const void *left, const void *right))
{
	size_t i;

	for (i = 1; i < rows->nr; i++)
		if (compare(&rows->rows[i - 1], &rows->rows[i]) > 0)
			return false;
	return true;
}

void rows_merge(struct report_rows *rows, int (*compare)(const void *left, const void *right))
{
	size_t from, to = 0;

	/* Bins are usually sorted already, and sorting five million rows takes a second. */
	if (!is_sorted(rows, compare))
		SORT(rows->rows, rows->nr, compare);
	for (from = 0; from < rows->nr; from++) {
		if (to && !compare(&rows->rows[to - 1], &rows->rows[from]))
			add_row(rows, &rows->rows[to - 1], &rows->rows[from]);
		else
			rows->rows[to++] = rows->rows[from];
	}
	rows->nr = to;
}

/*
 * Whether the rest of a name may be a version: libz of libz.so.1.2, libz.so.1 of that, python of
 * python3.11.
 */
static bool is_version(const char *name, const char *rest)
{
	static const char numbers[] = "-_.0123456789";
	size_t length = strlen(name);
	const char *so = strstr(rest, ".so");

	if (!length || (isdigit((unsigned char)name[length - 1]) && isdigit((unsigned char)*rest)))
		return false;
	if (so && strspn(rest, numbers) >= (size_t)(so - rest))
		rest = so + 3;
	return !rest[strspn(rest, numbers)];
}

static bool is_called(const char *path, const char *name)
{
	const char *base = text_basename(path);
	size_t length = strlen(name);

	if (!strcmp(name, path))
		return true;
	return !strncmp(name, base, length) && (!base[length] || is_version(name, base + length));
}

bool row_is_class(const struct report_options *options, const struct report_row *row)
{
	return options->waits && row->object == options->waits->object;
}

bool object_named(const struct profile *profile, const struct report_options *options,
		  uint32_t object)
{
	size_t i;

	if (options->waits && object == options->waits->object)
		return true;
	for (i = 0; i < options->nr_objects; i++)
		if (is_called(profile->objects[object].path, options->objects[i]))
			return true;
	return !options->nr_objects;
}

bool object_chosen(const struct profile *profile, const struct report_options *options,
		   uint32_t object)
{
	return options->tree == TREE_CALLERS || options->tree == TREE_CALLEES ||
	       object_named(profile, options, object);
}

static bool fits(const char *pattern, const char *name)
{
	return !pattern || (name && !fnmatch(pattern, name, 0));
}

bool split_chosen(const struct profile *profile, const struct report_options *options,
		  uint32_t target, const char *process)
{
	return profile_target_chosen(profile, options->target, target) &&
	       fits(options->comm, process);
}

bool histogram_chosen(const struct profile *profile, const void *of,
		      const struct profile_histogram *histogram)
{
	const struct report_options *options = of;

	/* An overflow bin counts ticks outside all regions, which have no place. */
	return split_chosen(profile, options, histogram->target, histogram->process) &&
	       !histogram->overflow && object_chosen(profile, options, histogram->object);
}

void row_weigh(struct report_row *row, double weight)
{
	row->own.ns = (double)row->own.ticks * weight;
	row->own.squares = row->own.ns * weight;
}

void row_use_function(struct report_row *row)
{
	if (!row->function)
		return;
	row->offset = row->function->offset;
	row->size = row->function->size;
}

/*
 * Adds a bin, or a place of calls. folds combines bins by function at once: five million rows of
 * bins would need 900 MB.
 */
static int add_place(struct report_rows *rows, const struct profile_row *place, bool folds)
{
	struct report_row *last = rows->nr ? &rows->rows[rows->nr - 1] : NULL;
	struct report_row row = { .object = place->object,
				  .offset = place->offset,
				  .size = place->size,
				  .own.ticks = place->ticks };

	if (place->histogram && !row.own.ticks)
		return 0;
	if (place->histogram)
		row.own = profile_rows_weigh(&rows->from, place);
	row.function = profile_rows_function(&rows->from, place);
	row.name = row.function ? row.function->name : NULL;
	if (folds)
		row_use_function(&row);
	if (!last || row_compare_place(last, &row))
		return rows_add(rows, &row);
	add_row(rows, last, &row);
	return 0;
}

/* Visits each place once, ascending by object and offset. */
static int collect(const struct profile *profile, const struct report_options *options, bool folds,
		   struct report_rows *rows)
{
	const struct profile_row *place;
	int ret = 0;

	profile_rows_start(&rows->from, folds ? PROFILE_ROWS_BY_HISTOGRAM : PROFILE_ROWS_BY_PLACE);
	while (!ret && profile_rows_next_part(&rows->from)) {
		if (!object_chosen(profile, options, rows->from.object))
			continue;
		while (!ret && (place = profile_rows_next(&rows->from)))
			ret = add_place(rows, place, folds);
	}
	if (!ret)
		rows_merge(rows, row_compare_place);
	return ret;
}

static int check_objects(const struct profile *profile, const struct report_options *options,
			 struct error *err)
{
	size_t i, j;

	for (i = 0; i < options->nr_objects; i++) {
		for (j = 0; j < profile->nr_objects; j++)
			if (is_called(profile->objects[j].path, options->objects[i]))
				break;
		if (j < profile->nr_objects)
			continue;
		return error_with_hint(err, -EINVAL, "bpfprofil report --by objects",
				       "object '%.256s': not in the profile", options->objects[i]);
	}
	return 0;
}

/* A process or thread may have CPU time or waits, but no tick. */
static bool has_comm(const struct profile *profile, const char *comm)
{
	const struct profile_waits *waits = profile->waits;
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++)
		if (fits(comm, profile->histograms[i].process))
			return true;
	for (i = 0; i < profile->nr_splits; i++)
		if (fits(comm, profile->splits[i].process))
			return true;
	for (i = 0; waits && i < waits->nr_accounts; i++)
		if (fits(comm, waits->accounts[i].process))
			return true;
	return false;
}

int rows_check(const struct profile *profile, const struct report_options *options,
	       struct error *err)
{
	if (options->target != REPORT_ALL_TARGETS && options->target >= profile->nr_targets)
		return error_set(err, -EINVAL,
				 "target %" PRIu64 ": not in the profile, which has %zu",
				 options->target, profile->nr_targets);
	if (check_objects(profile, options, err))
		return -EINVAL;
	if (!options->comm || has_comm(profile, options->comm))
		return 0;
	error_set(err, -EINVAL, "--comm '%.256s': no process or thread of this name",
		  options->comm);
	error_hint(err, "sudo bpfprofil %s --split process, or thread, which has the names",
		   rows_command(profile));
	return -EINVAL;
}

/* Whether rows have inclusive figures. */
static bool has_chains(const struct profile *profile, const struct report_options *options)
{
	return options->callers && profile->callers && options->by <= REPORT_LINES;
}

int rows_named(const struct profile *profile, const struct report_options *options, bool folds,
	       struct report_rows *rows, struct error *err)
{
	const bool chains = has_chains(profile, options);
	struct report_options of = *options;
	const struct profile_choice choice = { histogram_chosen, &of,
					       chains ? PROFILE_ROWS_WITH_CALLERS :
							PROFILE_ROWS_FLAT };
	int ret;

	/* Ticks of all objects count for their callers, whichever objects were chosen. */
	if (chains)
		of.nr_objects = 0;
	ret = profile_rows_begin(&rows->from, profile, &choice);
	if (!ret)
		ret = collect(profile, options, folds && !chains, rows);
	if (!ret && chains) {
		rows->marks = row_marks_new(rows->rows, rows->nr);
		ret = rows->marks ? 0 : -ENOMEM;
	}
	return ret ? error_errno(err, ret, "report") : 0;
}

int rows_of_bins(const struct profile *profile, const struct report_options *options,
		 struct report_rows *rows, struct error *err)
{
	int ret;

	*rows = (struct report_rows){ 0 };
	ret = rows_check(profile, options, err);
	return ret ? ret : rows_named(profile, options, false, rows, err);
}

const char *rows_command(const struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->nr_targets; i++)
		if (strcmp(profile->targets[i].kind, "command") != 0)
			return "attach";
	return "run";
}

uint64_t row_address(const struct profile *profile, const struct report_row *row)
{
	return profile_object_address(&profile->objects[row->object], row->offset);
}

const struct profile_account *rows_account(const struct profile *profile,
					   const struct report_options *options)
{
	if (options->target == REPORT_ALL_TARGETS)
		return &profile->ticks;
	return &profile->targets[options->target].ticks;
}

double rows_ns(const struct profile *profile, const struct report_options *options)
{
	if (options->target == REPORT_ALL_TARGETS)
		return profile_time(profile);
	return profile_target_time(profile, (uint32_t)options->target);
}

bool is_cpu_known(const struct profile *profile, const struct report_options *options)
{
	uint64_t ns;

	if (options->target == REPORT_ALL_TARGETS)
		return profile_cpu_time(profile, &ns);
	return profile->targets[options->target].cpu_known;
}

double share_of(double whole, double ns)
{
	return whole > 0 ? 100 * ns / whole : 0;
}

double row_percent(double ns, const struct report_row *row)
{
	return share_of(ns, row->own.ns);
}

/* --- the hottest first ------------------------------------------------------------------------ */

static int compare_heat(const void *left, const void *right)
{
	const struct report_row *a = left, *b = right;
	int order = compare_double(b->own.ns, a->own.ns) ?: compare_u64(b->own.ticks, a->own.ticks);

	order = order ?: compare_double(b->inclusive.ns, a->inclusive.ns);
	order = order ?: compare_i64(a->pid, b->pid);
	if (order)
		return order;
	if (a->cgroup && b->cgroup)
		return strcmp(a->cgroup, b->cgroup);
	if (a->scattered && b->scattered && a->object == b->object)
		return strcmp(a->name, b->name);
	return row_compare_place(a, b);
}

DEFINE_COMPARE_AS(compare_inclusive, struct report_row,
		  compare_double(b->inclusive.ns, a->inclusive.ns) ?: compare_heat(a, b))

/* If more rows are wanted, sort all. */
#define FEW_ROWS 1000

void rows_sort(struct report_rows *rows, bool inclusive, size_t nr)
{
	int (*const compare)(const void *left, const void *right) = inclusive ? compare_inclusive :
										compare_heat;
	struct report_row *row = rows->rows, kept;
	size_t i, at;

	if (!nr || nr > FEW_ROWS || nr > rows->nr)
		nr = rows->nr;
	SORT(row, nr, compare);
	for (i = nr; i < rows->nr; i++) {
		if (compare(&row[i], &row[nr - 1]) >= 0)
			continue;
		kept = row[i];
		row[i] = row[nr - 1];
		for (at = nr - 1; at && compare(&kept, &row[at - 1]) < 0; at--)
			row[at] = row[at - 1];
		row[at] = kept;
	}
}
