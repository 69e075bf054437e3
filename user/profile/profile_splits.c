// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_splits.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Compares all but the name. */
static int compare_owners(const struct profile_split *a, const struct profile_split *b)
{
	int order = compare_u64(a->target, b->target) ?: compare_i64(a->pid, b->pid);

	return order ?: compare_text(a->cgroup, b->cgroup);
}

int profile_split_compare(const void *left, const void *right)
{
	const struct profile_split *a = left, *b = right;

	return compare_owners(a, b) ?: compare_text(a->process, b->process);
}

bool profile_split_is_rest(const struct profile_split *split)
{
	return split->pid < 0 && !split->cgroup && !split->process;
}

bool profile_histogram_is_split(const struct profile *profile,
				const struct profile_histogram *histogram)
{
	const char *split = profile->sampling.split;

	if (histogram->pid < 0)
		return histogram->process;
	return profile->objects[histogram->object].kind != PROFILE_JIT ||
	       (split && strcmp(split, "cgroup") != 0);
}

static int compare_pointers(const void *left, const void *right)
{
	return profile_split_compare(*(const struct profile_split *const *)left,
				     *(const struct profile_split *const *)right);
}

static int compare_names(const void *left, const void *right)
{
	const struct profile_split *a = *(const struct profile_split *const *)left;
	const struct profile_split *b = *(const struct profile_split *const *)right;

	return compare_u64(a->target, b->target) ?: compare_text(a->process, b->process);
}

static const struct profile_split **sort_splits(const struct profile *profile,
						int (*compare)(const void *, const void *))
{
	const struct profile_split **sorted = calloc(profile->nr_splits + 1, sizeof(*sorted));
	size_t i;

	if (!sorted)
		return NULL;
	for (i = 0; i < profile->nr_splits; i++)
		sorted[i] = &profile->splits[i];
	SORT(sorted, profile->nr_splits, compare);
	return sorted;
}

const struct profile_split **profile_splits_by_name(const struct profile *profile)
{
	return sort_splits(profile, compare_names);
}

/*
 * Of an owner's splits, returns the one with the same name; else the only one, or one without a
 * name.
 */
static const struct profile_split *find_profile_split(const struct profile_split *const *sorted,
						      size_t nr, const struct profile_split *key)
{
	size_t first, named;

	if (profile_split_is_rest(key))
		return NULL;
	first = BISECT(i, nr, compare_owners(sorted[i], key) < 0);
	if (first == nr || compare_owners(sorted[first], key) != 0)
		return NULL;
	named = BISECT(i, nr, profile_split_compare(sorted[i], key) < 0);
	if (named < nr && !profile_split_compare(sorted[named], key))
		return sorted[named];
	/* Without a pid, only the name identifies it. */
	if (key->pid < 0 && !key->cgroup)
		return NULL;
	if (first + 1 == nr || compare_owners(sorted[first + 1], key) != 0)
		return sorted[first];
	return !sorted[first]->process || !key->process ? sorted[first] : NULL;
}

/* JIT text has a process, even in a profile that is split by cgroup. */
static struct profile_split split_key_of(const struct profile_histogram *histogram)
{
	struct profile_split key = { .target = histogram->target, .pid = -1 };

	key.cgroup = histogram->cgroup;
	if (!key.cgroup) {
		key.pid = histogram->pid;
		key.process = histogram->process;
	}
	return key;
}

size_t *profile_splits_match(const struct profile *profile)
{
	cleanup_free const struct profile_split **sorted = sort_splits(profile, compare_pointers);
	size_t *matches = calloc(profile->nr_histograms + 1, sizeof(*matches));
	const struct profile_split *found;
	struct profile_split key;
	size_t i;

	if (!sorted || !matches) {
		free(matches);
		return NULL;
	}
	for (i = 0; i < profile->nr_histograms; i++) {
		key = split_key_of(&profile->histograms[i]);
		found = find_profile_split(sorted, profile->nr_splits, &key);
		matches[i] = found ? (size_t)(found - profile->splits) : PROFILE_NO_SPLIT;
	}
	return matches;
}
