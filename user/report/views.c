// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile_splits.h"
#include "profile/profile_weights.h"
#include "profile/waits.h"
#include "profile/waits_view.h"
#include "naming/object_file.h"

/* --- by place --------------------------------------------------------------------------------- */

static void by_functions(struct report_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		row_use_function(&rows->rows[i]);
	rows_merge(rows, row_compare_place);
}

/*
 * A JIT compiles a function several times, to different places. Combine these into one function.
 * Functions with a single place keep it.
 */
static void join_jit(const struct profile *profile, struct report_rows *rows)
{
	struct report_row *row = rows->rows;
	size_t i, nr = 0;
	bool twin = false, next;

	for (i = 0; i < rows->nr; i++) {
		row[i].scattered |= row[i].name &&
				    profile->objects[row[i].object].kind == PROFILE_JIT;
		nr += row[i].scattered;
	}
	if (!nr)
		return;
	SORT(row, rows->nr, row_compare_source);
	for (i = 0; i < rows->nr; i++, twin = next) {
		next = i + 1 < rows->nr && !row_compare_source(&row[i], &row[i + 1]);
		if (!twin && !next && profile->objects[row[i].object].kind == PROFILE_JIT)
			row[i].scattered = false;
	}
	rows_merge(rows, row_compare_source);
}

DEFINE_COMPARE_AS(compare_names, struct report_row,
		  compare_u64(a->object, b->object) ?: compare_text(a->name, b->name))

static int rename_rows(const struct report_options *options, struct report_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		if (options->rename(options->rename_of, &rows->rows[i]))
			return -ENOMEM;
	rows_merge(rows, compare_names);
	return 0;
}

/* Classes of waits stay apart by their offsets. */
static void by_objects(const struct report_options *options, struct report_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		rows->rows[i] = (struct report_row){
			.object = rows->rows[i].object,
			.offset = row_is_class(options, &rows->rows[i]) ? rows->rows[i].offset : 0,
			.own = rows->rows[i].own,
			.first_mark = rows->rows[i].first_mark,
			.last_mark = rows->rows[i].last_mark
		};
	rows_merge(rows, row_compare_place);
}

/*
 * Rows of text: bins, combined as the options say. separate: a function with code at several places
 * has several rows.
 */
static int by_place(const struct profile *profile, const struct report_options *options,
		    bool separate, struct report_rows *rows, struct error *err)
{
	const bool folds = options->by == REPORT_FUNCTIONS && !options->inlined;
	int ret = rows_named(profile, options, folds, rows, err);
	struct path_opener paths = { profile, options->symfs ? options->symfs : "" };
	const struct object_opener opener = path_opener(&paths);

	if (ret)
		return ret;
	rows->hints_symfs = options->hints_symfs;
	if (options->inlined)
		ret = rows_by_inlined(profile, &opener, rows, err);
	else if (options->by == REPORT_FUNCTIONS)
		by_functions(rows);
	else if (options->by == REPORT_OBJECTS)
		by_objects(options, rows);
	else if (options->by == REPORT_LINES)
		ret = rows_by_lines(profile, &opener, rows, err);
	if (!ret && !separate && options->by == REPORT_FUNCTIONS)
		join_jit(profile, rows);
	if (!ret && options->rename && rename_rows(options, rows))
		ret = error_errno(err, -ENOMEM, "report");
	return ret || !rows->marks ? ret : rows_chains_finish(profile, options, rows, err);
}

/*
 * --- by process, cgroup, thread and their names, for split profiles; by CPU
 * -----------------------
 */

static bool is_split(const struct profile *profile, enum report_by by)
{
	const char *split = profile->sampling.split;
	bool by_thread = split && !strcmp(split, "thread");
	const struct profile_waits *waits = profile->waits;
	size_t i;

	if ((by == REPORT_PROCESSES && by_thread) || (by == REPORT_THREADS && !by_thread))
		return false;
	for (i = 0; i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];

		if (by == REPORT_CGROUPS && histogram->cgroup)
			return true;
		if (by != REPORT_CGROUPS && profile_histogram_is_split(profile, histogram))
			return true;
	}
	for (i = 0; waits && i < waits->nr_accounts; i++)
		if (by == REPORT_CGROUPS ? !!waits->accounts[i].cgroup :
					   !!waits->accounts[i].process)
			return true;
	return !profile->nr_histograms;
}

int row_compare_split(const void *left, const void *right)
{
	const struct report_row *a = left, *b = right;
	int order = compare_i64(a->pid, b->pid) ?: compare_text(a->cgroup, b->cgroup);

	return order || a->cgroup ? order : compare_text(a->name, b->name);
}

struct report_row row_of_split(const struct profile_histogram *histogram, enum report_by by)
{
	struct report_row row = { .pid = -1, .own.ticks = profile_histogram_ticks(histogram) };

	if (by == REPORT_CGROUPS) {
		row.cgroup = histogram->cgroup;
		return row;
	}
	if (by != REPORT_COMMS)
		row.pid = histogram->pid;
	row.name = histogram->process;
	return row;
}

static int add_split_bins(const struct profile *profile, const struct report_options *options,
			  const struct profile_weights *weights, struct report_rows *rows)
{
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];
		struct report_row row;

		if (!histogram_chosen(profile, options, histogram))
			continue;
		row = row_of_split(histogram, options->by);
		row_weigh(&row, profile_weight(weights, histogram));
		ret = row.own.ticks ? rows_add(rows, &row) : 0;
	}
	return ret;
}

/*
 * Adds each split's time outside of bins, so that its row has all of its time, even without ticks.
 * If objects were chosen, only their time counts.
 */
static int add_split_rests(const struct profile *profile, const struct report_options *options,
			   const struct profile_weights *weights, struct report_rows *rows)
{
	int ret = 0;
	size_t i;

	for (i = 0; !ret && !options->nr_objects && i < profile->nr_splits; i++) {
		const struct profile_split *split = &profile->splits[i];
		const struct profile_histogram of = { .target = split->target,
						      .pid = split->pid,
						      .process = split->process,
						      .cgroup = split->cgroup };
		struct report_row row;

		if (!split_chosen(profile, options, split->target, split->process))
			continue;
		row = row_of_split(&of, options->by);
		row.own.ns = (double)profile_weights_unbinned(weights, i);
		ret = row.own.ns > 0 ? rows_add(rows, &row) : 0;
	}
	return ret;
}

static int add_rows(const struct profile *profile, const struct report_options *options,
		    struct report_rows *rows)
{
	struct profile_weights *weights = profile_weights_of_splits(profile);
	int ret = weights ? 0 : -ENOMEM;

	if (!ret)
		ret = add_split_bins(profile, options, weights, rows);
	if (!ret)
		ret = add_split_rests(profile, options, weights, rows);
	profile_weights_free(weights);
	return ret;
}

static int name_cgroups(const struct profile *profile, struct report_rows *rows)
{
	size_t i;

	rows->cgroups = cgroup_names_new(profile);
	if (!rows->cgroups)
		return -ENOMEM;
	for (i = 0; i < rows->nr; i++)
		rows->rows[i].name = cgroup_names_find(rows->cgroups, rows->rows[i].cgroup);
	return 0;
}

int rows_check_split(const struct profile *profile, enum report_by by, struct error *err)
{
	const char *word = report_by_words[by], *command = rows_command(profile);

	if (is_split(profile, by))
		return 0;
	error_set(err, -EINVAL, "--by %s: the profile was not split by it", word);
	error_hint(err, "sudo bpfprofil %s --split %s %s", command,
		   by == REPORT_COMMS ? "process" : word,
		   strcmp(command, "run") ? "..." : "COMMAND");
	return -EINVAL;
}

/* A part of a sum may not be split. */
static int by_split(const struct profile *profile, const struct report_options *options, bool part,
		    struct report_rows *rows, struct error *err)
{
	int ret = part ? 0 : rows_check_split(profile, options->by, err);

	if (ret)
		return ret;
	if (add_rows(profile, options, rows))
		return error_errno(err, -ENOMEM, "report");
	rows_merge(rows, row_compare_split);
	if (options->by == REPORT_CGROUPS && name_cgroups(profile, rows))
		return error_errno(err, -ENOMEM, "report");
	return 0;
}

/*
 * The profile has neither text nor scheduler time by CPU. Therefore a tick has the same weight on
 * all CPUs.
 */
static int by_cpu(const struct profile *profile, const struct report_options *options,
		  struct report_rows *rows, struct error *err)
{
	const struct profile_sampling *sampling = &profile->sampling;
	uint64_t total = 0;
	size_t i;

	if (!sampling->nr_delivered)
		return error_with_hint(err, -EINVAL, "a profile of one host, by this version",
				       "--by cpu: the profile does not tell CPUs apart");
	for (i = 0; i < sampling->nr_delivered; i++)
		total += sampling->delivered[i];
	for (i = 0; i < sampling->nr_delivered; i++) {
		struct report_row row = { .pid = (int64_t)i, .own.ticks = sampling->delivered[i] };

		if (!row.own.ticks)
			continue;
		row_weigh(&row, rows_ns(profile, options) / (double)total);
		if (rows_add(rows, &row))
			return error_errno(err, -ENOMEM, "report");
	}
	return 0;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Parts of a sum may lack the function, but not all of them. */
static int keep_functions(const struct profile *profile, const struct report_options *options,
			  bool part, struct report_rows *rows, struct error *err)
{
	const struct function_refusal refusal = { "--function", "has a tick",
						  "bpfprofil report --limit 0" };
	cleanup_free bool *chosen = calloc(rows->nr + 1, sizeof(*chosen));
	size_t from, to = 0;

	if (!chosen || rows_choose_functions(profile, options, rows, chosen))
		return error_errno(err, -ENOMEM, "report");
	for (from = 0; from < rows->nr; from++)
		if (chosen[from])
			rows->rows[to++] = rows->rows[from];
	if (!to && rows->nr && !part)
		return rows_refuse_function(profile, options, &refusal, rows, err);
	rows->nr = to;
	return 0;
}

static int make_rows(const struct profile *profile, const struct report_options *options,
		     bool separate, struct report_rows *rows, struct error *err)
{
	int ret;

	*rows = (struct report_rows){ 0 };
	if (options->by >= REPORT_PROCESSES && options->by <= REPORT_COMMS)
		ret = by_split(profile, options, separate, rows, err);
	else if (options->by == REPORT_CPUS)
		ret = by_cpu(profile, options, rows, err);
	else
		ret = by_place(profile, options, separate, rows, err);
	if (!ret && options->function && !options->tree)
		ret = keep_functions(profile, options, separate, rows, err);
	if (ret || options->tree)
		return ret;
	rows_sort(rows, options->inclusive, options->limit);
	return 0;
}

int rows_of_part(const struct profile *profile, const struct report_options *options,
		 struct report_rows *rows, struct error *err)
{
	return make_rows(profile, options, true, rows, err);
}

int rows_build(const struct profile *profile, const struct report_options *options,
	       struct report_rows *rows, struct error *err)
{
	int ret = rows_check(profile, options, err);

	*rows = (struct report_rows){ 0 };
	return ret ? ret : make_rows(profile, options, false, rows, err);
}
