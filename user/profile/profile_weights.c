// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_weights.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile_splits.h"

typedef unsigned __int128 u128;

struct stratum {
	uint64_t ns; /* CPU time of `ticks`; if only the period is known, of one tick */
	uint64_t ticks;
	u128 ticks_done; /* ticks that have got their time, */
	u128 ns_done; /* and the nanoseconds for them */
};

/*
 * Each target has a stratum for ticks outside its splits. Then each split has one. Small splits of
 * one name share the stratum of the first of them.
 */
struct profile_weights {
	const struct profile *profile;
	bool by_place; /* small splits of one name share a stratum */
	struct stratum *strata;
	struct target_weight {
		uint64_t unseen;
		uint64_t unknown; /* time of splits for ticks of unknown splits */
	} * targets;
	struct split_weight {
		uint64_t ns; /* its CPU time; 0: its name has it */
		uint64_t ticks; /* all of its ticks, */
		uint64_t binned; /* and those in bins */
		size_t stratum; /* index */
	} * splits;
	size_t *of_histogram; /* by histogram: likewise; at first the index of its split */
};

/* The small splits of one name. */
struct weight_pool {
	size_t first; /* the split with the common stratum */
	uint64_t seen; /* nanoseconds of splits with ticks */
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

uint64_t profile_timed_ticks(const struct profile_target *target)
{
	uint64_t withheld = 0;
	size_t i;

	for (i = 0; i < target->ticks.nr_lost; i++)
		if (!strcmp(target->ticks.lost[i].cause, "throttled"))
			withheld = target->ticks.lost[i].ticks;
	return withheld < target->ticks.total ? target->ticks.total - withheld : 0;
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

static u128 many_periods(const struct profile *profile, uint32_t target, uint64_t ticks)
{
	return (u128)PROFILE_STRATUM_TICKS * profile_target_period(profile, target) * ticks;
}

/* In a sum, a split's histograms may have more ticks than the split; see profile_check(). */
static void count_ticks(struct profile_weights *weights)
{
	const struct profile *profile = weights->profile;
	size_t i, split;

	for (i = 0; i < profile->nr_histograms; i++) {
		split = weights->of_histogram[i];
		if (split != PROFILE_NO_SPLIT)
			weights->splits[split].binned =
				add_saturating(weights->splits[split].binned,
					       profile_histogram_ticks(&profile->histograms[i]));
	}
	for (i = 0; i < profile->nr_splits; i++)
		weights->splits[i].ticks =
			max_size(weights->splits[i].binned, profile->splits[i].ticks);
}

/*
 * Leaves in each target's own stratum the time outside its splits. Splits never have more than the
 * target.
 */
static void divide_time(struct profile_weights *weights)
{
	const struct profile *profile = weights->profile;
	struct stratum *elsewhere;
	size_t i;

	for (i = 0; i < profile->nr_targets; i++)
		weights->strata[i] = (struct stratum){
			.ns = profile->targets[i].cpu_ns,
			.ticks = profile_timed_ticks(&profile->targets[i]),
		};
	for (i = 0; i < profile->nr_splits; i++) {
		const struct profile_split *split = &profile->splits[i];

		elsewhere = &weights->strata[split->target];
		weights->splits[i].ns = split->cpu_ns < elsewhere->ns ? split->cpu_ns :
									elsewhere->ns;
		elsewhere->ns -= weights->splits[i].ns;
	}
}

/* Whether a split's time is known. Otherwise its ticks count for the target. */
static bool has_time(const struct profile_weights *weights, size_t i)
{
	const struct profile *profile = weights->profile;
	uint32_t target = profile->splits[i].target;

	return profile->targets[target].cpu_known &&
	       weights->strata[target].ns < profile->targets[target].cpu_ns;
}

static void place_own(struct profile_weights *weights, size_t i)
{
	weights->strata[weights->splits[i].stratum] =
		(struct stratum){ .ns = weights->splits[i].ns, .ticks = weights->splits[i].ticks };
	if (!weights->splits[i].ticks)
		weights->targets[weights->profile->splits[i].target].unseen +=
			weights->splits[i].ns;
}

/*
 * Whether chance alone decides if a split has a tick, or which of several of its name. A sum of
 * splits without ticks has their name and no pid.
 */
static bool is_small(const struct profile_weights *weights, size_t i)
{
	const struct profile_split *split = &weights->profile->splits[i];

	return weights->by_place && split->process &&
	       weights->splits[i].ticks < PROFILE_STRATUM_TICKS &&
	       (split->pid < 0 ||
		weights->splits[i].ns < many_periods(weights->profile, split->target, 1));
}

static void add_to_pool(struct profile_weights *weights, size_t i, struct weight_pool *pool)
{
	if (pool->first == PROFILE_NO_SPLIT)
		pool->first = i;
	weights->splits[i].stratum = weights->splits[pool->first].stratum;
	pool->ticks += weights->splits[i].ticks;
	*(weights->splits[i].ticks ? &pool->seen : &pool->rest) += weights->splits[i].ns;
	weights->splits[i].ns = 0;
}

static void fill_pool(struct profile_weights *weights, const struct weight_pool *pool)
{
	uint64_t all = pool->seen + pool->rest, ns;
	uint32_t target;
	u128 most;

	if (pool->first == PROFILE_NO_SPLIT)
		return;
	target = weights->profile->splits[pool->first].target;
	most = many_periods(weights->profile, target, pool->ticks);
	ns = pool->seen > most ? pool->seen : to_u64(most);
	ns = ns < all ? ns : all;
	weights->strata[weights->splits[pool->first].stratum] =
		(struct stratum){ .ns = ns, .ticks = pool->ticks };
	weights->targets[target].unseen += all - ns;
}

static bool have_one_name(const struct profile_split *a, const struct profile_split *b)
{
	return a->target == b->target && !compare_text(a->process, b->process);
}

static void place_splits(struct profile_weights *weights, const struct profile_split *const *sorted)
{
	const struct profile *profile = weights->profile;
	struct weight_pool pool = { .first = PROFILE_NO_SPLIT };
	struct stratum *elsewhere;
	size_t i, at;

	for (i = 0; i < profile->nr_splits; i++) {
		at = sorted[i] - profile->splits;
		if (i && !have_one_name(sorted[i - 1], sorted[i])) {
			fill_pool(weights, &pool);
			pool = (struct weight_pool){ .first = PROFILE_NO_SPLIT };
		}
		elsewhere = &weights->strata[sorted[i]->target];
		weights->splits[at].stratum = sorted[i]->target;
		if (!has_time(weights, at))
			continue;
		elsewhere->ticks -= weights->splits[at].ticks < elsewhere->ticks ?
					    weights->splits[at].ticks :
					    elsewhere->ticks;
		weights->splits[at].stratum = profile->nr_targets + at;
		if (is_small(weights, at))
			add_to_pool(weights, at, &pool);
		else
			place_own(weights, at);
	}
	fill_pool(weights, &pool);
}

/* Ticks of a target in bins whose process is unknown. */
struct unknown {
	uint64_t ticks;
	uint64_t lack; /* their time, less the time outside of splits */
	u128 spare; /* time of all strata of the target beyond their ticks */
};

/* The stratum's time beyond its ticks, at the average time of all the target's ticks. */
static uint64_t beyond_ticks(const struct stratum *stratum, const struct profile_target *target)
{
	uint64_t ticks = profile_timed_ticks(target);
	u128 due = ticks ? (u128)target->cpu_ns * stratum->ticks / ticks : 0;

	return stratum->ticks && stratum->ns > due ? stratum->ns - (uint64_t)due : 0;
}

static void find_unknown(const struct profile_weights *weights, struct unknown *unknown)
{
	const struct profile *profile = weights->profile;
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++)
		if (weights->of_histogram[i] == PROFILE_NO_SPLIT)
			unknown[profile->histograms[i].target].ticks +=
				profile_histogram_ticks(&profile->histograms[i]);
	for (i = 0; i < profile->nr_targets; i++) {
		const struct profile_target *target = &profile->targets[i];
		uint64_t ticks = profile_timed_ticks(target);
		u128 even = unknown[i].ticks < ticks ?
				    (u128)target->cpu_ns * unknown[i].ticks / ticks :
				    0;

		unknown[i].lack =
			even > weights->strata[i].ns ? (uint64_t)even - weights->strata[i].ns : 0;
		unknown[i].spare = weights->targets[i].unseen;
	}
	for (i = 0; i < profile->nr_splits; i++) {
		uint32_t target = profile->splits[i].target;

		unknown[target].spare += beyond_ticks(&weights->strata[profile->nr_targets + i],
						      &profile->targets[target]);
	}
}

/* Moves a share of `ns`, in proportion to its `spare`, to the target's stratum. */
static void spare(struct profile_weights *weights, const struct unknown *unknown, uint32_t target,
		  uint64_t spare, uint64_t *ns)
{
	u128 lack = unknown[target].lack < unknown[target].spare ? unknown[target].lack :
								   unknown[target].spare;
	uint64_t part = unknown[target].spare ? (uint64_t)(lack * spare / unknown[target].spare) :
						0;

	*ns -= part;
	weights->strata[target].ns += part;
	weights->targets[target].unknown += part;
}

/*
 * If the process of a tick is unknown, its time is included in the times of processes. By place,
 * such a tick gets as much as any other tick. That is moved from time without known ticks, so that
 * a process whose ticks are all known keeps its time. By process, such ticks get the time outside
 * of splits.
 */
static int share_with_unknown(struct profile_weights *weights)
{
	const struct profile *profile = weights->profile;
	cleanup_free struct unknown *unknown = calloc(profile->nr_targets + 1, sizeof(*unknown));
	struct stratum *stratum;
	uint32_t target;
	size_t i;

	if (!unknown)
		return -1;
	find_unknown(weights, unknown);
	for (i = 0; i < profile->nr_splits; i++) {
		target = profile->splits[i].target;
		stratum = &weights->strata[profile->nr_targets + i];
		spare(weights, unknown, target, beyond_ticks(stratum, &profile->targets[target]),
		      &stratum->ns);
	}
	for (target = 0; target < profile->nr_targets; target++) {
		spare(weights, unknown, target, weights->targets[target].unseen,
		      &weights->targets[target].unseen);
		/*
		 * The time of lost ticks of unknown processes is included in the times of
		 * processes, too.
		 */
		if (unknown[target].lack)
			weights->strata[target].ticks = unknown[target].ticks;
	}
	return 0;
}

/* Sets the time without ticks. Without the scheduler's time, a tick is a period. */
static void finish_targets(struct profile_weights *weights)
{
	const struct profile *profile = weights->profile;
	uint32_t i;

	for (i = 0; i < profile->nr_targets; i++) {
		if (!profile->targets[i].cpu_known)
			weights->strata[i] =
				(struct stratum){ profile_target_period(profile, i), 1, 0, 0 };
		else if (!weights->strata[i].ticks)
			weights->targets[i].unseen += weights->strata[i].ns;
	}
}

static int fill_weights(struct profile_weights *weights)
{
	cleanup_free const struct profile_split **sorted = profile_splits_by_name(weights->profile);

	if (!sorted)
		return -1;
	count_ticks(weights);
	divide_time(weights);
	place_splits(weights, sorted);
	if (weights->by_place && share_with_unknown(weights))
		return -1;
	finish_targets(weights);
	return 0;
}

static void place_ticks(struct profile_weights *weights)
{
	const struct profile *profile = weights->profile;
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++) {
		size_t *of = &weights->of_histogram[i];

		*of = *of == PROFILE_NO_SPLIT ? profile->histograms[i].target :
						weights->splits[*of].stratum;
	}
}

static struct profile_weights *make_weights(const struct profile *profile, bool by_place)
{
	struct profile_weights *weights = calloc(1, sizeof(*weights));
	size_t nr = profile->nr_splits + 1;

	if (!weights)
		return NULL;
	weights->profile = profile;
	weights->by_place = by_place;
	weights->strata = calloc(profile->nr_targets + nr, sizeof(*weights->strata));
	weights->targets = calloc(profile->nr_targets + 1, sizeof(*weights->targets));
	weights->splits = calloc(nr, sizeof(*weights->splits));
	weights->of_histogram = profile_splits_match(profile);
	if (!weights->strata || !weights->targets || !weights->splits || !weights->of_histogram ||
	    fill_weights(weights)) {
		profile_weights_free(weights);
		return NULL;
	}
	place_ticks(weights);
	return weights;
}

struct profile_weights *profile_weights_new(const struct profile *profile)
{
	return make_weights(profile, true);
}

struct profile_weights *profile_weights_of_splits(const struct profile *profile)
{
	return make_weights(profile, false);
}

void profile_weights_free(struct profile_weights *weights)
{
	if (!weights)
		return;
	free(weights->strata);
	free(weights->targets);
	free(weights->splits);
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

uint64_t profile_weights_next_ns(struct profile_weights *weights,
				 const struct profile_histogram *histogram, uint64_t ticks)
{
	struct stratum *stratum = stratum_of(weights, histogram);
	u128 before = stratum->ns_done, done = stratum->ticks_done + ticks;

	if (!stratum->ticks)
		return 0;
	/* In a profile whose ticks do not add up, `done` may exceed the stratum's ticks. */
	stratum->ticks_done = done;
	stratum->ns_done = to_u64(done) == done ? stratum->ns * done / stratum->ticks : before;
	return to_u64(stratum->ns_done - before);
}

uint64_t profile_weights_unseen(const struct profile_weights *weights, uint32_t target)
{
	return weights->targets[target].unseen;
}

uint64_t profile_weights_unknown(const struct profile_weights *weights, uint32_t target)
{
	return weights->targets[target].unknown;
}

uint64_t profile_weights_unbinned(const struct profile_weights *weights, size_t i)
{
	const struct split_weight *split = &weights->splits[i];

	if (!has_time(weights, i))
		return 0;
	return split->ticks ?
		       split->ns - (uint64_t)((u128)split->ns * split->binned / split->ticks) :
		       split->ns;
}
