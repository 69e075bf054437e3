// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_weights.h"

#include <stdlib.h>

#include "base/util.h"
#include "profile/profile_splits.h"

typedef unsigned __int128 u128;

struct stratum {
	uint64_t ns; /* CPU time of `ticks`; if only the period is known, of one tick */
	uint64_t ticks;
	u128 taken; /* ticks already given out, */
	u128 given; /* and the nanoseconds for them */
};

/*
 * Each target has a stratum for what is in no split and one for its small splits; each large split
 * has its own.
 */
struct profile_weights {
	const struct profile *profile;
	struct stratum *strata;
	uint64_t *unseen; /* by target */
	uint64_t *ticks; /* by split */
	size_t *of_split; /* by split: the index of its stratum */
	size_t *of_histogram; /* by histogram: the same; at first the index of its split */
};

/* The sum of a target's splits, and then their share of its time. */
struct split_sum {
	u128 ns;
	uint64_t ticks;
	uint64_t share;
};

/* The small splits of a target. */
struct weight_pool {
	uint64_t seen; /* nanoseconds of splits with a tick */
	uint64_t rest; /* nanoseconds of the others */
	uint64_t ticks;
};

static uint64_t to_u64(u128 value)
{
	return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

uint64_t profile_target_period(const struct profile *profile, uint32_t target)
{
	uint64_t own = profile->targets[target].period_ns;

	return own ? own : profile->sampling.period_ns;
}

double profile_tick_variance(const struct profile *profile, uint32_t i)
{
	const struct profile_target *target = &profile->targets[i];

	if (!target->ticks.total)
		return 1;
	return 1 + (double)target->excess / (double)target->ticks.total;
}

double profile_target_time(const struct profile *profile, uint32_t i)
{
	const struct profile_target *target = &profile->targets[i];

	if (target->cpu_known)
		return (double)target->cpu_ns;
	return (double)target->ticks.total * (double)profile_target_period(profile, i);
}

double profile_time(const struct profile *profile)
{
	double elsewhere = (double)profile->ticks.total, time = 0;
	uint32_t i;

	for (i = 0; i < profile->nr_targets; i++) {
		if (!profile_target_counts(profile, i))
			continue;
		time += profile_target_time(profile, i);
		elsewhere -= (double)profile->targets[i].ticks.total;
	}
	return time + (elsewhere > 0 ? elsewhere : 0) * (double)profile->sampling.period_ns;
}

static struct stratum *elsewhere(const struct profile_weights *weights, uint32_t target)
{
	return &weights->strata[target];
}

static u128 many_periods(const struct profile *profile, uint32_t target, uint64_t ticks)
{
	return (u128)PROFILE_STRATUM_TICKS * profile_target_period(profile, target) * ticks;
}

/* In a sum, a split's histograms may have more ticks than the split; profile_check() says why. */
static void count_ticks(struct profile_weights *weights)
{
	const struct profile *profile = weights->profile;
	size_t i, split;

	for (i = 0; i < profile->nr_histograms; i++) {
		split = weights->of_histogram[i];
		if (split != PROFILE_NO_SPLIT)
			weights->ticks[split] =
				add_saturating(weights->ticks[split],
					       profile_histogram_ticks(&profile->histograms[i]));
	}
	for (i = 0; i < profile->nr_splits; i++)
		if (weights->ticks[i] < profile->splits[i].ticks)
			weights->ticks[i] = profile->splits[i].ticks;
}

static void add_up_splits(const struct profile_weights *weights, struct split_sum *sums)
{
	const struct profile *profile = weights->profile;
	size_t i;

	for (i = 0; i < profile->nr_splits; i++) {
		struct split_sum *sum = &sums[profile->splits[i].target];

		sum->ns += profile->splits[i].cpu_ns;
		sum->ticks = add_saturating(sum->ticks, weights->ticks[i]);
	}
}

/* Computes what is in no split, and what is left for the splits. */
static void divide(struct profile_weights *weights, uint32_t i, struct split_sum *sum)
{
	const struct profile_target *target = &weights->profile->targets[i];
	uint64_t total = target->ticks.total, ticks = total > sum->ticks ? total - sum->ticks : 0;
	uint64_t missing = target->cpu_ns > sum->ns ? target->cpu_ns - (uint64_t)sum->ns : 0;
	struct stratum *stratum = elsewhere(weights, i);
	uint64_t even;

	if (!sum->ns) {
		/* There are no splits, or their times are unknown. */
		*stratum = (struct stratum){ .ns = target->cpu_ns, .ticks = total };
		weights->unseen[i] = total ? 0 : target->cpu_ns;
		return;
	}
	/*
	 * Time that is in no split belongs to the ticks that are in none. But lost ticks may be
	 * anyone's, and their time may be in the time of splits, so they get at least the same
	 * share as all other ticks.
	 */
	even = total ? (uint64_t)((u128)target->cpu_ns * ticks / total) : 0;
	*stratum = (struct stratum){ .ns = missing > even ? missing : even, .ticks = ticks };
	weights->unseen[i] = ticks ? 0 : stratum->ns;
	sum->share = target->cpu_ns - stratum->ns;
}

static void place_split(struct profile_weights *weights, size_t i, const struct split_sum *sum,
			struct weight_pool *pool)
{
	const struct profile_split *split = &weights->profile->splits[i];
	uint64_t ns = (uint64_t)((u128)split->cpu_ns * sum->share / sum->ns);
	uint64_t ticks = weights->ticks[i];
	bool large = ns >= many_periods(weights->profile, split->target, 1);

	if (ticks >= PROFILE_STRATUM_TICKS || (ticks && large)) {
		weights->of_split[i] = 2 * weights->profile->nr_targets + i;
		weights->strata[weights->of_split[i]] =
			(struct stratum){ .ns = ns, .ticks = ticks };
	} else if (ticks) {
		pool->seen += ns;
		pool->ticks += ticks;
	} else if (large && !profile_split_is_rest(split)) {
		weights->unseen[split->target] += ns;
	} else {
		pool->rest += ns;
	}
}

static void fill_pool(struct profile_weights *weights, uint32_t target,
		      const struct weight_pool *pool)
{
	u128 most = many_periods(weights->profile, target, pool->ticks);
	uint64_t all = pool->seen + pool->rest, ns = pool->seen > most ? pool->seen : to_u64(most);

	ns = ns < all ? ns : all;
	weights->strata[weights->profile->nr_targets + target] =
		(struct stratum){ .ns = ns, .ticks = pool->ticks };
	weights->unseen[target] += all - ns;
}

static int fill_weights(struct profile_weights *weights)
{
	const struct profile *profile = weights->profile;
	cleanup_free struct split_sum *sums = calloc(profile->nr_targets + 1, sizeof(*sums));
	cleanup_free struct weight_pool *pools = calloc(profile->nr_targets + 1, sizeof(*pools));
	size_t i;

	if (!sums || !pools)
		return -1;
	count_ticks(weights);
	add_up_splits(weights, sums);
	for (i = 0; i < profile->nr_targets; i++) {
		if (profile->targets[i].cpu_known)
			divide(weights, (uint32_t)i, &sums[i]);
		else
			weights->strata[i] =
				(struct stratum){ profile_target_period(profile, (uint32_t)i), 1, 0,
						  0 };
	}
	for (i = 0; i < profile->nr_splits; i++) {
		uint32_t target = profile->splits[i].target;

		weights->of_split[i] = profile->nr_targets + target;
		if (!profile->targets[target].cpu_known || !sums[target].ns)
			weights->of_split[i] = target;
		else
			place_split(weights, i, &sums[target], &pools[target]);
	}
	for (i = 0; i < profile->nr_targets; i++)
		fill_pool(weights, (uint32_t)i, &pools[i]);
	return 0;
}

static void place_histograms(struct profile_weights *weights)
{
	const struct profile *profile = weights->profile;
	size_t i, split;

	for (i = 0; i < profile->nr_histograms; i++) {
		split = weights->of_histogram[i];
		weights->of_histogram[i] = split == PROFILE_NO_SPLIT ?
						   profile->histograms[i].target :
						   weights->of_split[split];
	}
}

struct profile_weights *profile_weights_new(const struct profile *profile)
{
	struct profile_weights *weights = calloc(1, sizeof(*weights));

	if (!weights)
		return NULL;
	weights->profile = profile;
	weights->strata =
		calloc(2 * profile->nr_targets + profile->nr_splits + 1, sizeof(*weights->strata));
	weights->unseen = calloc(profile->nr_targets + 1, sizeof(*weights->unseen));
	weights->ticks = calloc(profile->nr_splits + 1, sizeof(*weights->ticks));
	weights->of_split = calloc(profile->nr_splits + 1, sizeof(*weights->of_split));
	weights->of_histogram = profile_splits_match(profile);
	if (!weights->strata || !weights->unseen || !weights->ticks || !weights->of_split ||
	    !weights->of_histogram || fill_weights(weights)) {
		profile_weights_free(weights);
		return NULL;
	}
	place_histograms(weights);
	return weights;
}

void profile_weights_free(struct profile_weights *weights)
{
	if (!weights)
		return;
	free(weights->strata);
	free(weights->unseen);
	free(weights->ticks);
	free(weights->of_split);
	free(weights->of_histogram);
	free(weights);
}

static struct stratum *stratum_of(const struct profile_weights *weights,
				  const struct profile_histogram *histogram)
{
	return &weights->strata[weights->of_histogram[histogram - weights->profile->histograms]];
}

double profile_weight(const struct profile_weights *weights,
		      const struct profile_histogram *histogram)
{
	const struct stratum *stratum = stratum_of(weights, histogram);

	return stratum->ticks ? (double)stratum->ns / (double)stratum->ticks : 0;
}

uint64_t profile_weights_take(struct profile_weights *weights,
			      const struct profile_histogram *histogram, uint64_t ticks)
{
	struct stratum *stratum = stratum_of(weights, histogram);
	u128 before = stratum->given, taken = stratum->taken + ticks;

	if (!stratum->ticks)
		return 0;
	/* In a profile whose ticks do not add up, taken may exceed the stratum's ticks. */
	stratum->taken = taken;
	stratum->given = to_u64(taken) == taken ? stratum->ns * taken / stratum->ticks : before;
	return to_u64(stratum->given - before);
}

uint64_t profile_weights_unseen(const struct profile_weights *weights, uint32_t target)
{
	return weights->unseen[target];
}
