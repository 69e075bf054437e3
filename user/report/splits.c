// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The views by process, cgroup, thread and their names, for profiles that were split, and by CPU. */
#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile_splits.h"
#include "profile/profile_weights.h"
#include "report/rows.h"

static bool is_split(const struct profile *profile, enum report_by by)
{
	const char *split = profile->sampling.split;
	bool by_thread = split && !strcmp(split, "thread");
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
	return !profile->nr_histograms;
}

/* One pid may have belonged to several processes, one after the other. */
static int compare_splits(const void *left, const void *right)
{
	const struct report_row *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->cgroup || b->cgroup)
		return compare_text(a->cgroup, b->cgroup);
	return compare_text(a->name, b->name);
}

static struct report_row split_row(const struct profile_weights *weights,
				   const struct profile_histogram *histogram, enum report_by by)
{
	struct report_row row = { .pid = -1, .ticks = profile_histogram_ticks(histogram) };

	if (weights)
		row_weigh(&row, profile_weight(weights, histogram));
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
		row = split_row(weights, histogram, options->by);
		ret = row.ticks ? rows_add(rows, &row) : 0;
	}
	return ret;
}

/*
 * Adds the time of each split that is in no bin, so that its row has all its time, also where it had
 * no tick. Where text was chosen, only that text's time is asked for.
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

		if (!split_chosen(profile, options, split))
			continue;
		row = split_row(NULL, &of, options->by);
		row.ns = (double)profile_weights_unbinned(weights, i);
		ret = row.ns > 0 ? rows_add(rows, &row) : 0;
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

int rows_by_split(const struct profile *profile, const struct report_options *options,
		  struct report_rows *rows, struct error *err)
{
	const char *word = report_by_words[options->by];
	const char *command = rows_command(profile);
	const char *split = options->by == REPORT_COMMS ? "process" : word;

	if (!is_split(profile, options->by)) {
		error_set(err, -EINVAL, "--by %s: the profile was not split by it", word);
		error_hint(err, "sudo bpfprofil %s --split %s %s", command, split,
			   strcmp(command, "run") ? "..." : "COMMAND");
		return -EINVAL;
	}
	if (add_rows(profile, options, rows))
		return error_errno(err, -ENOMEM, "report");
	rows_merge(rows, compare_splits);
	if (options->by == REPORT_CGROUPS && name_cgroups(profile, rows))
		return error_errno(err, -ENOMEM, "report");
	return 0;
}

/*
 * The profile has neither the text by CPU nor the scheduler's time by CPU, so a tick stands for the
 * same on all of them.
 */
int rows_by_cpu(const struct profile *profile, const struct report_options *options,
		struct report_rows *rows, struct error *err)
{
	const struct profile_sampling *sampling = &profile->sampling;
	uint64_t total = 0;
	size_t i;

	if (!sampling->nr_delivered) {
		error_set(err, -EINVAL, "--by cpu: the profile does not tell CPUs apart");
		error_hint(err, "a profile of one host, by this version");
		return -EINVAL;
	}
	for (i = 0; i < sampling->nr_delivered; i++)
		total += sampling->delivered[i];
	for (i = 0; i < sampling->nr_delivered; i++) {
		struct report_row row = { .pid = (int64_t)i, .ticks = sampling->delivered[i] };

		if (!row.ticks)
			continue;
		row_weigh(&row, rows_ns(profile, options) / (double)total);
		if (rows_add(rows, &row))
			return error_errno(err, -ENOMEM, "report");
	}
	return 0;
}
