// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/result.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/output.h"
#include "base/util.h"
#include "host/record/symbolizer.h"
#include "profile/profile_head.h"
#include "profile/profile_io.h"
#include "profile/profile_merge.h"
#include "report/report.h"

static void keep_elsewhere(const struct profile *profile, const char *path, int failed,
			   struct error *err)
{
	const char *folders[] = { getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm" };
	const char *suffix = output_is_compressed(path) ? ".gz" : "";
	struct error why = *err, ignored;
	char kept[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		if (!folders[i])
			continue;
		snprintf(kept, sizeof(kept), "%s/bpfprofil-%d.json%s", folders[i], getpid(),
			 suffix);
		if (profile_save(profile, kept, 0, &ignored))
			continue;
		error_set(err, failed, "%.200s; the profile is kept as %.200s", why.text, kept);
		return;
	}
}

int save_last_profile(const struct profile *profile, const char *path, struct error *err)
{
	int ret = profile_save(profile, path, OUTPUT_KEEP_OLD, err);

	if (ret && ret != -EPIPE && strcmp(path, "-") != 0)
		keep_elsewhere(profile, path, ret, err);
	return ret;
}

/* Limit for tables of files that are kept between profiles. */
#define SYMBOLS_BYTES (4 << 20)

static int set_command(struct profile *profile, char **argv, struct error *err)
{
	size_t nr = 0, i;

	while (argv && argv[nr])
		nr++;
	if (!nr)
		return 0;
	profile->command = calloc(nr + 1, sizeof(*profile->command));
	for (i = 0; profile->command && i < nr; i++) {
		profile->command[i] = strdup(argv[i]);
		if (!profile->command[i])
			break;
	}
	if (!profile->command || i < nr)
		return error_no_memory(err, "profile");
	return 0;
}

static void print_live(struct session *session)
{
	struct session_live live;

	session_live(session, &live);
	fprintf(stderr,
		"mappings: %" PRIu64 " hits, %" PRIu64 " misses; %" PRIu64 " KiB of counters\n",
		live.hits, live.misses, live.memory / 1024);
}

void result_measure_rate(struct profile *profile)
{
	struct profile_sampling *sampling = &profile->sampling;
	uint64_t cpu_ns;

	/* With several periods, there is no single rate. */
	if (!sampling->nr_segments && profile_cpu_time(profile, &cpu_ns) && cpu_ns)
		sampling->measured_hz = (double)profile->ticks.total * 1e9 / (double)cpu_ns;
}

static int add_result_part(struct result *result, const struct profile *part)
{
	uint64_t cpu_ns;
	size_t i;

	if (profile_account_add(&result->sum, &part->ticks))
		return -ENOMEM;
	result->sum_ns += (double)part->ticks.total * (double)part->sampling.period_ns;
	result->duration_ns += part->duration_ns;
	result->sampled_ns += profile_sampled_ns(part);
	result->partly_sampled |= profile_is_partly_sampled(part);
	if (profile_cpu_time(part, &cpu_ns))
		result->cpu_ns += cpu_ns;
	else
		result->cpu_unknown = true;
	for (i = 0; i < part->nr_targets; i++)
		result->kernel_ticks += part->targets[i].kernel_ticks;
	return 0;
}

/*
 * Most tables of one profile in a series are useful for the next. Without memory, there is no
 * cache.
 */
static struct symbol_cache *symbols_of(struct result *result)
{
	if (result->options->interval_ns && !result->symbols)
		result->symbols = symbol_cache_new(SYMBOLS_BYTES);
	return result->symbols;
}

/*
 * Reads a profile from the session, and finds its names while the session can still open the
 * objects. *result is set even after a failure.
 */
static int read_part(struct result *result, struct session *session, struct profile **profile,
		     bool last, struct error *err)
{
	int ret = session_take(session, profile, err);

	if (!ret && result->taken)
		result->taken(result->loop);
	if (!ret && add_result_part(result, *profile))
		ret = error_no_memory(err, "profile");
	if (!ret)
		ret = symbolizer_once(session, result->options, symbols_of(result), *profile, err);
	if (!ret && profile_join_copies(*profile))
		ret = error_no_memory(err, "profile");
	if (!ret && cgroup_labels_add(&result->labels, *profile, last))
		ret = error_no_memory(err, "profile");
	if (!ret && result->observe)
		result->observe(result->context, *profile);
	return ret;
}

/* If other programs exceed the budget, fewer ticks cannot help. */
static int note_cost(const struct result *result, struct profile *profile)
{
	const struct profile_cost *cost = &profile->sampling.cost;

	if (!result->options->adapt_duty || !(cost->fixed_percent > cost->budget_percent))
		return 0;
	return profile_note(profile, "--budget is not kept: to see processes come and go takes "
				     "more, however little is sampled");
}

/* Fills in values for the whole profile. */
static int complete(struct result *result, struct profile *profile, struct error *err)
{
	int ret = set_command(profile, result->argv, err);

	result_measure_rate(profile);
	if (!ret && result->calls)
		ret = profile_append(profile, result->calls);
	profile->sampling.cost = result->cost;
	if (!ret)
		ret = note_cost(result, profile);
	return ret ? error_no_memory(err, "profile") : 0;
}

/* The start of the next profile, including parts that were put aside. */
static struct timespec begins(const struct result *result, const struct session *session)
{
	return session_time(session, result->segments.nr ? result->segments.since_ns :
							   session_since_ns(session));
}

/*
 * Chooses the next file's name, if it needs one. The first file is named by the clock at the start.
 */
static int name_next(struct result *result, const struct session *session, struct error *err)
{
	struct series *series = &result->series;
	time_t now = begins(result, session).tv_sec;

	if (result->deliver || (series->path && series->written))
		return 0;
	return series->path ? series_start(series, now, err) : series_next(series, now, err);
}

/* The first of several parts may have a date by another clock than the last. */
static int join_parts(struct result *result, struct session *session, struct profile **profile,
		      uint64_t since_ns, struct error *err)
{
	bool parts = result->segments.nr;
	struct timespec started = begins(result, session);
	int ret = segments_finish(&result->segments, profile, since_ns, err);

	if (!ret && parts && profile_set_started(*profile, &started))
		ret = error_no_memory(err, "profile");
	return ret;
}

/*
 * Takes a profile from the session, completes it and writes it. *result is set even if the write
 * failed.
 */
static int make_file(struct result *result, struct session *session, struct profile **profile,
		     bool last, struct error *err)
{
	uint64_t since_ns = session_since_ns(session);
	int ret;

	/* Choose the name first: after a failure the session still has the ticks. */
	ret = name_next(result, session, err);
	if (ret)
		return ret;
	ret = read_part(result, session, profile, last, err);
	if (!*profile)
		return ret;
	if (!ret)
		ret = join_parts(result, session, profile, since_ns, err);
	if (!ret)
		ret = complete(result, *profile, err);
	if (!ret && result->deliver) {
		result->deliver(result->context, *profile);
		return 0;
	}
	if (!ret)
		ret = result->options->interval_ns ?
			      profile_save(*profile, result->series.path, 0, err) :
			      save_last_profile(*profile, result->series.path, err);
	if (!ret)
		return series_written(&result->series, err);
	series_skip(&result->series);
	return ret;
}

static void complain(struct result *result, const struct error *err)
{
	print_error(err);
	result->failed = true;
}

int result_cut(struct result *result, struct session *session)
{
	struct profile *profile = NULL;
	struct error err = { 0 };
	int ret = make_file(result, session, &profile, false, &err);

	if (ret)
		complain(result, &err);
	profile_free(profile);
	return ret;
}

int result_put_aside(struct result *result, struct session *session)
{
	uint64_t since_ns = session_since_ns(session);
	struct profile *profile = NULL;
	struct error err = { 0 };
	int ret = read_part(result, session, &profile, false, &err);

	if (!ret)
		ret = segments_add(&result->segments, profile, since_ns, &err);
	else
		profile_free(profile);
	if (ret)
		complain(result, &err);
	return ret;
}

/* Prints the account of all profiles of a series. With a budget, it uses the mean period. */
static void print_sum(const struct result *result, const struct profile *last)
{
	struct profile_target all = { .kind = (char *)"all", .name = (char *)"targets" };
	struct profile whole = { .sampling = last->sampling,
				 .duration_ns = result->duration_ns,
				 .ticks = result->sum,
				 .targets = &all,
				 .nr_targets = 1 };

	if (last->nr_targets == 1)
		all = last->targets[0];
	all.ticks = result->sum;
	all.cpu_known = !result->cpu_unknown;
	all.cpu_ns = result->cpu_unknown ? 0 : result->cpu_ns;
	all.kernel_known = true;
	all.kernel_ticks = result->kernel_ticks;
	all.period_ns = 0;
	whole.sampling.nr_segments = 0;
	whole.sampling.sampled_ns = result->partly_sampled ? result->sampled_ns : 0;
	if (result->options->budget_percent && result->sum.total) {
		whole.sampling.period_ns = (uint64_t)(result->sum_ns / (double)result->sum.total);
		whole.sampling.requested_hz = (double)result->sum.total * 1e9 / result->sum_ns;
	}
	result_measure_rate(&whole);
	report_account(&whole, stderr);
}

static int print_summary(const struct result *result, struct session *session,
			 const struct profile *profile, struct error *err)
{
	int ret = 0;

	if (result->options->verbosity < 0)
		return 0;
	if (result->options->interval_ns)
		print_sum(result, profile);
	else
		ret = report_summary(profile, color_enabled(stderr), table_width(stderr, false),
				     stderr, err);
	if (ret)
		return ret;
	if (result->options->verbosity > 0)
		print_live(session);
	if (strcmp(result->options->output, "-"))
		series_print(&result->series, stderr);
	return 0;
}

void result_finish(struct result *result, struct session *session)
{
	bool single = !result->options->interval_ns;
	struct profile *profile = NULL;
	struct error err = { 0 };
	int ret = make_file(result, session, &profile, true, &err);

	if (ret)
		complain(result, &err);
	/* The summary covers the whole series, not only its last file. */
	if (profile && (!ret || !single) && print_summary(result, session, profile, &err))
		complain(result, &err);
	profile_free(profile);
}

int result_begin_files(struct result *result, const struct sampling_options *options, char **argv,
		       pid_t pid, struct error *err)
{
	result->options = options;
	result->argv = argv;
	return series_begin(&result->series, options->output, pid, time(NULL), options->keep, err) ?:
		       output_check(result->series.path, err) ?:
		       cgroup_labels_begin(&result->labels, options, err);
}

int result_started(struct result *result, const struct session *session, struct error *err)
{
	return result->deliver ? 0 :
				 series_start(&result->series, begins(result, session).tv_sec, err);
}

void result_free(struct result *result)
{
	cgroup_labels_end(&result->labels);
	series_free(&result->series);
	segments_free(&result->segments);
	profile_free(result->calls);
	symbol_cache_free(result->symbols);
	profile_account_free(&result->sum);
}
