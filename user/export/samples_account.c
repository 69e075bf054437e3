// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Samples of ticks outside of bins, by reason. For a process or cgroup of a split, only their
 * number is known. If the target has several reasons, they are "[in no bin]".
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/export_impl.h"
#include "export/samples_impl.h"
#include "profile/profile_splits.h"

/* CPU time without ticks. */
#define NOT_SAMPLED "[not sampled]"

/* Ticks of a target or split outside of bins. */
struct outside {
	uint64_t ticks;
	const char *reason; /* the common reason; NULL: none */
	bool several; /* more than one reason */
};

struct accounts {
	struct samples *samples;
	const struct profile *profile;
	const struct profile_weights *weights;
	uint64_t *missing; /* by split: ticks outside of bins */
	uint64_t *of_splits; /* by target: their sum over its splits */
};

uint32_t samples_named_place(struct samples *samples, const char *format, const char *word)
{
	struct sample_place place = { .nr = 1 };
	struct sample_line line = { 0 };
	char name[256];

	snprintf(name, sizeof(name), format, word);
	line.function = samples_function(samples, name, NULL);
	return samples_place(samples, &place, &line);
}

static void note_reason(struct outside *outside, const char *reason, uint64_t ticks)
{
	if (!ticks)
		return;
	outside->ticks += ticks;
	outside->several = outside->several || outside->reason;
	outside->reason = reason;
}

static void put_reason(struct accounts *accounts, uint32_t target, const char *format,
		       const char *word, uint64_t ticks)
{
	struct sample sample = { .ticks = ticks };

	if (!ticks)
		return;
	sample.service = samples_service(accounts->samples, target, NULL);
	sample.place = samples_named_place(accounts->samples, format, word);
	samples_add(accounts->samples, &sample);
}

static void put_reasons(struct accounts *accounts, uint32_t target)
{
	const struct profile_account *ticks = &accounts->profile->targets[target].ticks;
	size_t i;

	put_reason(accounts, target, "[%s]", "overflow", ticks->overflow);
	put_reason(accounts, target, "[%s]", "outside", ticks->outside);
	put_reason(accounts, target, "[%s]", "filtered", ticks->filtered);
	for (i = 0; i < ticks->nr_lost; i++)
		put_reason(accounts, target, "[lost: %s]", ticks->lost[i].cause,
			   ticks->lost[i].ticks);
}

/* For excluded cgroups, the reason is known: their ticks were filtered. */
static bool is_left_out(const struct profile_split *split)
{
	return split->cgroup && !strcmp(split->cgroup, PROFILE_LEFT_OUT);
}

static uint64_t find_left_out(const struct accounts *accounts, uint32_t target)
{
	const struct profile *profile = accounts->profile;
	uint64_t filtered = profile->targets[target].ticks.filtered;
	size_t i;

	for (i = 0; i < profile->nr_splits; i++)
		if (profile->splits[i].target == target && is_left_out(&profile->splits[i]))
			return accounts->missing[i] < filtered ? accounts->missing[i] : filtered;
	return 0;
}

/* Without the filtered ticks of excluded cgroups. */
static struct outside reasons_of(const struct profile_account *ticks, uint64_t left_out,
				 char name[256])
{
	struct outside outside = { 0 };
	size_t i;

	note_reason(&outside, "[overflow]", ticks->overflow);
	note_reason(&outside, "[outside]", ticks->outside);
	note_reason(&outside, "[filtered]", ticks->filtered - left_out);
	for (i = 0; i < ticks->nr_lost; i++) {
		if (!ticks->lost[i].ticks)
			continue;
		snprintf(name, 256, "[lost: %s]", ticks->lost[i].cause);
		note_reason(&outside, name, ticks->lost[i].ticks);
	}
	if (outside.several)
		outside.reason = "[in no bin]";
	return outside;
}

static void put_account_split(struct accounts *accounts, size_t i, const char *reason)
{
	const struct profile_split *split = &accounts->profile->splits[i];
	const struct profile_histogram of = { .pid = split->pid, .process = split->process };
	struct sample sample = { .ticks = accounts->missing[i],
				 .ns = profile_weights_unbinned(accounts->weights, i) };

	if (!sample.ticks && (!sample.ns || split->ticks))
		return;
	sample.service = samples_service(accounts->samples, split->target, split->cgroup);
	sample.process = samples_process(accounts->samples, &of);
	sample.place =
		samples_named_place(accounts->samples, "%s", sample.ticks ? reason : NOT_SAMPLED);
	samples_add(accounts->samples, &sample);
}

static void put_account_target(struct accounts *accounts, uint32_t target)
{
	const struct profile *profile = accounts->profile;
	uint64_t left_out = find_left_out(accounts, target), of_splits;
	char name[256];
	struct outside outside = reasons_of(&profile->targets[target].ticks, left_out, name);
	bool by_split;
	size_t i;

	of_splits = accounts->of_splits[target];
	by_split = of_splits && of_splits <= outside.ticks + left_out;
	if (!by_split)
		put_reasons(accounts, target);
	for (i = 0; i < profile->nr_splits; i++)
		if (profile->splits[i].target == target && (by_split || !profile->splits[i].ticks))
			put_account_split(accounts, i,
					  is_left_out(&profile->splits[i]) ? "[filtered]" :
									     outside.reason);
	if (by_split)
		put_reason(accounts, target, "%s", outside.reason,
			   outside.ticks + left_out - of_splits);
}

static int find_missing(struct accounts *accounts)
{
	const struct profile *profile = accounts->profile;
	cleanup_free size_t *matches = profile_splits_match(profile);
	uint64_t *missing = accounts->missing, *sum;
	uint64_t ticks;
	size_t i;

	if (!matches)
		return -1;
	for (i = 0; i < profile->nr_splits; i++)
		missing[i] = profile->splits[i].ticks;
	for (i = 0; i < profile->nr_histograms; i++) {
		if (matches[i] == PROFILE_NO_SPLIT || profile->histograms[i].overflow)
			continue;
		ticks = profile_histogram_ticks(&profile->histograms[i]);
		missing[matches[i]] -= ticks < missing[matches[i]] ? ticks : missing[matches[i]];
	}
	for (i = 0; i < profile->nr_splits; i++) {
		sum = &accounts->of_splits[profile->splits[i].target];
		*sum = add_saturating(*sum, missing[i]);
	}
	return 0;
}

/* Adds the target's CPU time that its samples lack. */
static void put_unseen(struct accounts *accounts, uint32_t target, uint64_t given)
{
	const struct profile_target *of = &accounts->profile->targets[target];
	struct sample sample = { 0 };

	if (!of->cpu_known || of->cpu_ns <= given)
		return;
	sample.ns = of->cpu_ns - given;
	sample.service = samples_service(accounts->samples, target, NULL);
	sample.place = samples_named_place(accounts->samples, "%s", NOT_SAMPLED);
	samples_add(accounts->samples, &sample);
}

/* Without the scheduler's time, each tick counts as one period, wherever it is. */
static void put_period(struct accounts *accounts, struct sample *sample)
{
	uint32_t target = accounts->samples->services[sample->service].target;

	if (accounts->profile->targets[target].cpu_known)
		return;
	if (__builtin_mul_overflow(sample->ticks, profile_target_period(accounts->profile, target),
				   &sample->ns))
		sample->ns = UINT64_MAX;
}

static void add_up_ns(const struct samples *samples, uint64_t *by_target)
{
	uint64_t *sum;
	size_t i;

	for (i = 0; i < samples->nr; i++) {
		sum = &by_target[samples->services[samples->all[i].service].target];
		*sum = add_saturating(*sum, samples->all[i].ns);
	}
}

static void put_accounts(struct accounts *accounts, const struct export_options *options,
			 uint64_t *given)
{
	struct samples *samples = accounts->samples;
	size_t i, nr = samples->nr;

	for (i = 0; i < accounts->profile->nr_targets; i++)
		if (profile_target_chosen(accounts->profile, options->target, (uint32_t)i))
			put_account_target(accounts, (uint32_t)i);
	for (i = nr; i < samples->nr; i++)
		put_period(accounts, &samples->all[i]);
	if (samples_error(samples))
		return;
	add_up_ns(samples, given);
	for (i = 0; i < accounts->profile->nr_targets; i++)
		if (profile_target_chosen(accounts->profile, options->target, (uint32_t)i))
			put_unseen(accounts, (uint32_t)i, given[i]);
}

void samples_add_account(struct samples *samples, const struct profile_weights *weights,
			 const struct export_options *options)
{
	const struct profile *profile = samples->profile;
	cleanup_free uint64_t *missing = calloc(profile->nr_splits + 1, sizeof(*missing));
	cleanup_free uint64_t *sums = calloc(profile->nr_targets + 1, 2 * sizeof(*sums));
	struct accounts accounts = { samples, profile, weights, missing, sums };

	if (!missing || !sums || find_missing(&accounts))
		samples_fail(samples);
	else
		put_accounts(&accounts, options, sums + profile->nr_targets + 1);
}
