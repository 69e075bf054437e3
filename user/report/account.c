// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The figures above a table: the sampling, and the account of all ticks. */
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "profile/profile_splits.h"
#include "profile/profile_weights.h"
#include "profile/waits_view.h"
#include "report/render.h"
#include "report/rows.h"

/* Differences are noise up to CHANCE standard deviations, this share of the time, or a few ms. */
#define CHANCE 3
#define TOLERANCE 0.02
#define GRACE_NS 4e6

#define NAME_BYTES 256
/* If more than this share is missing, ticks may just as well have come late. */
#define NEARLY_ALL 0.9
/* A shorter time would be shown as 0.000 s. */
#define SHOWN_NS 5e5

/* A target or split whose CPU time is known from ticks and from the scheduler. */
struct sight {
	uint64_t ticks;
	double seen; /* nanoseconds, by its ticks */
	double used; /* nanoseconds, by the scheduler */
	const struct profile_target *target;
	const struct profile_split *split; /* NULL: the whole target */
};

static double gap(const struct sight *sight)
{
	return fabs(sight->seen - sight->used);
}

static void compare_sight(const struct sight *sight, double period, struct sight *worst)
{
	double chance = CHANCE * sqrt((double)sight->ticks) * period;

	if (gap(sight) > fmax(chance, TOLERANCE * sight->used) + GRACE_NS &&
	    gap(sight) > gap(worst))
		*worst = *sight;
}

/* Whether so much CPU time without a single tick cannot be chance. */
static bool cpu_time_is_missed(double ns, uint64_t period_ns)
{
	return ns * (1 - TOLERANCE) > GRACE_NS && ns > CHANCE * (double)period_ns;
}

/* Ticks of unknown processes may explain what this one lacks. */
static double known_time(const struct profile_weights *weights, const struct profile_split *split,
			 double seen)
{
	double used = (double)split->cpu_ns;

	return fmax(fmin(seen, used),
		    used - (double)profile_weights_unknown(weights, split->target));
}

static void compare_splits(const struct profile *profile, const struct report_options *options,
			   const struct profile_weights *weights, struct sight *worst)
{
	size_t i;

	for (i = 0; i < profile->nr_splits; i++) {
		const struct profile_split *split = &profile->splits[i];
		double period = (double)profile_target_period(profile, split->target);
		double seen = (double)split->ticks * period;
		const struct sight sight = { .ticks = split->ticks,
					     .seen = seen,
					     .used = known_time(weights, split, seen),
					     .target = &profile->targets[split->target],
					     .split = split };

		/* Skip sums of several splits: some of those may have had no tick. */
		if (profile_target_chosen(profile, options->target, split->target) &&
		    sight.target->cpu_known && (split->pid >= 0 || split->cgroup))
			compare_sight(&sight, period, worst);
	}
}

static void compare_targets(const struct profile *profile, const struct report_options *options,
			    struct sight *worst)
{
	uint32_t i;

	for (i = 0; i < profile->nr_targets; i++) {
		const struct profile_target *target = &profile->targets[i];
		double period = (double)profile_target_period(profile, i);
		const struct sight sight = { .ticks = target->ticks.total,
					     .seen = (double)target->ticks.total * period,
					     .used = (double)target->cpu_ns,
					     .target = target };

		if (profile_target_chosen(profile, options->target, i) && target->cpu_known)
			compare_sight(&sight, period, worst);
	}
}

static void name_sight(const struct sight *sight, char name[NAME_BYTES])
{
	const struct profile_target *target = sight->target;
	const struct profile_split *split = sight->split;
	/* For the whole host, the name "all processes" is enough. */
	const char *kind = strcmp(target->kind, "system") ? target->kind : "";

	if (split && split->process)
		snprintf(name, NAME_BYTES, "%.128s (pid %" PRId64 ")", split->process, split->pid);
	else if (split && split->pid >= 0)
		snprintf(name, NAME_BYTES, "pid %" PRId64, split->pid);
	else if (split)
		snprintf(name, NAME_BYTES, "cgroup %.200s", split->cgroup);
	else
		snprintf(name, NAME_BYTES, "%.16s%s%.128s%s%.64s", kind, *kind ? " " : "",
			 target->name, target->host ? " on " : "",
			 target->host ? target->host : "");
}

static const char *reason(const struct profile *profile, const struct sight *sight)
{
	if (profile_is_partly_sampled(profile))
		return "not all ticks were counted";
	if (sight->seen > sight->used)
		return "they fall on its bursts, or on time that a hypervisor took away";
	if (sight->seen < NEARLY_ALL * sight->used)
		return "its bursts fall between ticks";
	return "its bursts fall between ticks, or these came late";
}

static void add_worst_note(const struct profile *profile, const struct sight *sight,
			   struct cpu_time_notes *notes)
{
	char *text = notes->text[notes->nr++], name[NAME_BYTES];
	double share = sight->seen / sight->used;

	name_sight(sight, name);
	if (!sight->ticks)
		snprintf(text, CPU_TIME_NOTE_BYTES,
			 "ticks saw nothing of the %.3f s of CPU time of %s: %s", sight->used / 1e9,
			 name, reason(profile, sight));
	else if (!(sight->used > 0))
		snprintf(text, CPU_TIME_NOTE_BYTES,
			 "ticks saw %.3f s of CPU time of %s, which had none", sight->seen / 1e9,
			 name);
	else
		snprintf(text, CPU_TIME_NOTE_BYTES,
			 "ticks saw %.2f%s the CPU time of %s: %s; SECONDS are the scheduler's",
			 share, share < 1 ? " of" : " times", name, reason(profile, sight));
}

static const char *noun(const struct profile *profile)
{
	if (!profile->nr_splits)
		return "targets";
	if (profile->splits[0].cgroup)
		return "cgroups";
	return profile->sampling.split && !strcmp(profile->sampling.split, "thread") ? "threads" :
										       "processes";
}

static void add_unseen_note(const struct profile *profile, const struct report_options *options,
			    const struct profile_weights *weights, struct cpu_time_notes *notes)
{
	double unseen = 0;
	uint32_t i;

	for (i = 0; i < profile->nr_targets; i++)
		if (profile_target_chosen(profile, options->target, i))
			unseen += (double)profile_weights_unseen(weights, i);
	if (unseen >= SHOWN_NS)
		snprintf(notes->text[notes->nr++], CPU_TIME_NOTE_BYTES,
			 "%.3f s were used by %s without a tick", unseen / 1e9, noun(profile));
}

int cpu_time_compare(const struct profile *profile, uint64_t target, struct cpu_time_notes *result)
{
	const struct report_options options = { .target = target };
	struct profile_weights *weights;
	struct sight worst = { 0 };

	result->nr = 0;
	/* Without ticks there is nothing to compare. render_empty() reports that. */
	if (!rows_account(profile, &options)->total)
		return 0;
	weights = profile_weights_new(profile);
	if (!weights)
		return -ENOMEM;
	compare_splits(profile, &options, weights, &worst);
	if (!worst.target)
		compare_targets(profile, &options, &worst);
	if (worst.target)
		add_worst_note(profile, &worst, result);
	add_unseen_note(profile, &options, weights, result);
	profile_weights_free(weights);
	return 0;
}

static bool has_several_rates(const struct profile *profile, const struct report_options *options)
{
	uint32_t i;

	for (i = 0; i < profile->nr_targets; i++)
		if (profile_target_chosen(profile, options->target, i) &&
		    profile->targets[i].ticks.total &&
		    profile_target_period(profile, i) != profile->sampling.period_ns)
			return true;
	return false;
}

/* Whether the difference exceeds chance, and the one per cent that a busy host may be off. */
static bool is_off(const struct profile_sampling *sampling, uint64_t total)
{
	double off = fabs(sampling->measured_hz / sampling->requested_hz - 1);

	return sampling->measured_hz > 0 && sampling->requested_hz > 0 && total &&
	       off > fmax(0.01, 3 / sqrt((double)total));
}

void render_ticks(const struct profile *profile, const struct report_options *options, FILE *out)
{
	const struct profile_sampling *sampling = &profile->sampling;
	uint64_t total = rows_account(profile, options)->total;

	fprintf(out, "%" PRIu64 " tick%s, %.3f s of CPU time at ", total, total == 1 ? "" : "s",
		rows_ns(profile, options) / 1e9);
	if (has_several_rates(profile, options))
		fputs("several rates", out);
	else
		fprintf(out, "%.6g Hz", sampling->requested_hz);
	if (is_off(sampling, total))
		fprintf(out, " (measured: %.6g Hz)", sampling->measured_hz);
	fprintf(out, ", in %.3f s", (double)profile->duration_ns / 1e9);
	if (profile->duration_ns && !sampling->sampled_ns)
		fprintf(out, " (%.1f %% of a CPU)",
			100 * rows_ns(profile, options) / (double)profile->duration_ns);
	if (sampling->sampled_ns)
		fprintf(out, ", in which %.3g %% of the ticks were counted",
			share_of((double)profile->duration_ns, (double)sampling->sampled_ns));
	if (sampling->unsampled_ns)
		fprintf(out, ", and %.3f s more had no agent",
			(double)sampling->unsampled_ns / 1e9);
}

/* Below this share of a CPU, users may wonder where the remaining time is. */
enum { BUSY_PERCENT = 10 };

/* Nobody expects the whole host to be busy all the time, and a short time proves nothing. */
static bool may_wait(const struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->nr_targets; i++)
		if (!strcmp(profile->targets[i].kind, "system") ||
		    profile_target_is_call(&profile->targets[i]))
			return false;
	return profile->nr_targets && !profile->sampling.sampled_ns &&
	       profile->duration_ns >= 1000000000 && profile->ticks.total;
}

void render_waits(const struct profile *profile, const struct report_options *options,
		  const char *label, FILE *out)
{
	const double percent = share_of((double)profile->duration_ns, rows_ns(profile, options));

	if (!profile->waits && may_wait(profile) && percent < BUSY_PERCENT)
		fprintf(out,
			"%sit used %.1f %% of a CPU and waited for the rest: --waits shows where\n",
			label, percent);
}

static double kernel_ns(const struct profile *profile, const struct report_options *options)
{
	struct profile_weights *weights = profile_weights_new(profile);
	double ns = 0;
	size_t i;

	for (i = 0; weights && i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];

		if (profile->objects[histogram->object].kind == PROFILE_KERNEL &&
		    profile_target_chosen(profile, options->target, histogram->target))
			ns += (double)profile_histogram_ticks(histogram) *
			      profile_weight(weights, histogram);
	}
	profile_weights_free(weights);
	return ns;
}

/* CPU time of the chosen targets' ticks in the kernel; negative: unknown for one of them. */
static double charged_ns(const struct profile *profile, const struct report_options *options)
{
	double ns = 0;
	uint32_t i;

	for (i = 0; i < profile->nr_targets; i++) {
		const struct profile_target *target = &profile->targets[i];

		if (!profile_target_chosen(profile, options->target, i) ||
		    !profile_timed_ticks(target))
			continue;
		if (!target->kernel_known)
			return -1;
		ns += profile_target_time(profile, i) * (double)target->kernel_ticks /
		      (double)profile_timed_ticks(target);
	}
	return ns;
}

/* Whether there is a mode and CPU time, so that a share makes sense. */
static bool has_time(const struct report *report)
{
	const struct profile *profile = report->profile;

	return profile->sampling.mode && report->ns > 0 && report->account->total &&
	       profile->nr_targets && strcmp(profile->targets[0].kind, "call") != 0;
}

double kernel_percent(const struct report *report)
{
	const struct profile *profile = report->profile;
	double ns = -1;

	if (!has_time(report))
		return -1;
	/* The sum at the end of a series has an account but no counters. */
	if (!strcmp(profile->sampling.mode, "split") && profile->nr_histograms)
		ns = kernel_ns(profile, report->options);
	else if (!strcmp(profile->sampling.mode, "charged"))
		ns = charged_ns(profile, report->options);
	return ns < 0 ? -1 : 100 * ns / report->ns;
}

void render_kernel(const struct report *report, const char *label, FILE *out)
{
	const double percent = kernel_percent(report);
	bool charged = has_time(report) && !strcmp(report->profile->sampling.mode, "charged");

	if (percent < 0 && !charged)
		return;
	fputs(label, out);
	if (percent >= 0)
		fprintf(out, "%.2f %% of the time%s", percent, charged ? ", " : "\n");
	if (charged)
		fputs("counted for its callers; --mode split shows it separately\n", out);
}

/* Skip cuts above main: they hide hardly any callers. */
static bool is_plain_cut(enum walk_end end)
{
	return walk_end_is_cut(end) && end != END_ABOVE_MAIN;
}

/* is_time: the walks are counted in nanoseconds. */
static void put_walks(const uint64_t *ticks, bool is_time, const char *label, FILE *out)
{
	const char *separator = " (";
	double total = 0, cut = 0, above = (double)ticks[END_ABOVE_MAIN];
	size_t i;

	for (i = 0; i < WALK_END_COUNT; i++) {
		total += (double)ticks[i];
		cut += is_plain_cut(i) ? (double)ticks[i] : 0;
	}
	if (total <= 0)
		return;
	fprintf(out, "%scomplete %.1f %%, guessed %.1f %%", label,
		share_of(total, (double)ticks[END_COMPLETE]),
		share_of(total, (double)ticks[END_GUESSED]));
	if (above > 0)
		fprintf(out, ", cut above main %.1f %%", share_of(total, above));
	fprintf(out, ", cut %.1f %%", share_of(total, cut));
	for (i = 0; i < WALK_END_COUNT; i++) {
		if (!is_plain_cut(i) || ticks[i] < (is_time ? SHOWN_NS : 1))
			continue;
		fprintf(out, "%s%s ", separator, walk_end_words[i]);
		if (is_time)
			fprintf(out, "%.3f s", (double)ticks[i] / 1e9);
		else
			fprintf(out, "%" PRIu64, ticks[i]);
		separator = ", ";
	}
	fputs(*separator == ',' ? ")\n" : "\n", out);
}

void render_callers(const struct report *report, const char *label, FILE *out)
{
	if (report->profile->callers)
		put_walks(report->walks.ticks, false, label, out);
}

void render_wait_callers(const struct profile *profile, uint64_t target, const char *label,
			 FILE *out)
{
	struct callers_account walks;

	/* Without memory, skip the line. */
	if (profile->waits && !waits_walks(profile, target, &walks))
		put_walks(walks.ticks, true, label, out);
}

void render_cost(const struct profile *profile, FILE *out)
{
	const struct profile_cost *cost = &profile->sampling.cost;

	if (!(cost->budget_percent > 0))
		return;
	if (!(cost->percent > 0)) {
		fprintf(out, "cost: not measured, of a budget of %.3g %%\n", cost->budget_percent);
		return;
	}
	fprintf(out, "cost: %.3g %% of a busy CPU, of a budget of %.3g %%: ", cost->percent,
		cost->budget_percent);
	if (cost->interrupt_ns > 0)
		fprintf(out, "%.1f us an interrupt, ", cost->interrupt_ns / 1000);
	fprintf(out, "%.2f us in programs a tick, forks and exits included\n",
		cost->handler_ns / 1000);
}

/* For people, skip terms that are 0. Scripts get every term. */
static void render_terms(const struct profile_account *account, bool brief, FILE *out)
{
	const struct {
		const char *name;
		uint64_t ticks;
	} terms[] = {
		{ "binned", account->binned },
		{ "overflow", account->overflow },
		{ "outside", account->outside },
		{ "filtered", account->filtered },
		{ "lost", profile_account_lost(account) },
	};
	size_t i;

	fprintf(out, "%" PRIu64 " = %" PRIu64 " %s", account->total, terms[0].ticks, terms[0].name);
	for (i = 1; i < sizeof(terms) / sizeof(*terms); i++)
		if (!brief || terms[i].ticks)
			fprintf(out, " + %" PRIu64 " %s", terms[i].ticks, terms[i].name);
}

void render_identity(const struct profile_account *account, bool brief, FILE *out)
{
	const char *separator = " (";
	size_t i;

	render_terms(account, brief, out);
	for (i = 0; i < account->nr_lost; i++) {
		if (!account->lost[i].ticks)
			continue;
		fputs(separator, out);
		text_write(out, account->lost[i].cause, 0);
		fprintf(out, " %" PRIu64, account->lost[i].ticks);
		separator = ", ";
	}
	fputs(*separator == ',' ? ")\n" : "\n", out);
}

void render_cpu_time(const struct profile *profile, uint64_t target, const char *label, FILE *out)
{
	struct cpu_time_notes notes;
	size_t i;

	/* Without memory, skip the notes; the account is still useful. */
	if (cpu_time_compare(profile, target, &notes))
		return;
	for (i = 0; i < notes.nr; i++) {
		fputs(label, out);
		text_write(out, notes.text[i], 0);
		fputc('\n', out);
	}
}

void render_targets(const struct profile *profile, uint64_t chosen, FILE *out)
{
	size_t i;

	for (i = 0; profile->nr_targets > 1 && i < profile->nr_targets; i++) {
		if (chosen != REPORT_ALL_TARGETS && chosen != i)
			continue;
		fprintf(out, "target %-2zu ", i);
		text_write(out, profile->targets[i].kind, 0);
		fputc(' ', out);
		text_write(out, profile->targets[i].name, 0);
		if (profile->targets[i].host) {
			fputs(" on ", out);
			text_write(out, profile->targets[i].host, 0);
		}
		fprintf(out, ": %" PRIu64 " tick%s", profile->targets[i].ticks.total,
			profile->targets[i].ticks.total == 1 ? "" : "s");
		if (profile->targets[i].cpu_known)
			fprintf(out, ", %.3f s", (double)profile->targets[i].cpu_ns / 1e9);
		fputc('\n', out);
	}
}

void render_empty(const struct profile *profile, const struct report_options *options, FILE *out)
{
	const char *source = profile->sampling.source;
	uint64_t period = profile->sampling.period_ns;
	double ns = rows_ns(profile, options);

	if (options->waits) {
		fprintf(out, "No wait that was chosen.\n");
		return;
	}
	if (rows_account(profile, options)->total) {
		fprintf(out, "No tick is in a bin that was chosen.\n");
		return;
	}
	/* A longer run would not catch more ticks. Therefore do not suggest one. */
	if (is_cpu_known(profile, options) && cpu_time_is_missed(ns, period)) {
		fprintf(out,
			"No tick, for %.3f s of CPU time: its bursts fall between ticks, of which "
			"one stands for %.6g ms.\n",
			ns / 1e9, (double)period / 1e6);
		return;
	}
	if (is_cpu_known(profile, options) && !(ns > 0)) {
		fprintf(out, "No tick: nothing of it ran.\n");
		return;
	}
	if (is_cpu_known(profile, options))
		fprintf(out,
			"No tick: it hardly ran, for %.6f s, and one tick stands for %.6g ms. ",
			ns / 1e9, (double)period / 1e6);
	else
		fprintf(out, "No tick: less CPU time was used than one tick stands for, %.6g ms. ",
			(double)period / 1e6);
	if (profile->waits)
		fputs("report --waits shows where it waited.\n", out);
	else
		fprintf(out, "Try %s or more work.\n",
			source && !strcmp(source, "tick") ? "--source clock" :
							    "a higher --frequency");
}
