// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/runtime.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/split_names.h"
#include "shared/callers_abi.h"

/* Each has 16 bytes, and all are compared for each name. */
enum { SUM_NAMES_MAX = 4096 };

/* By target, then by split. */
DEFINE_COMPARE_2(compare_runtime_splits, struct runtime_split, key.target, key.split)

/* Searches the first elements only, which are sorted. */
static struct runtime_split *find_in(const struct runtime *runtime, size_t sorted,
				     const struct spent_key *key)
{
	const struct runtime_split wanted = { .key = *key };

	if (!sorted)
		return NULL;
	return bsearch(&wanted, runtime->list, sorted, sizeof(wanted), compare_runtime_splits);
}

struct runtime_split *runtime_find(const struct runtime *runtime, const struct spent_key *key)
{
	return find_in(runtime, runtime->nr, key);
}

static int read_entry(struct runtime *runtime, size_t sorted, const struct spent_key *key,
		      const struct spent_cpu *spent, struct error *err)
{
	struct runtime_split *split = find_in(runtime, sorted, key);

	if (!split) {
		if (GROW(runtime->list, runtime->capacity, runtime->nr + 1))
			return error_no_memory(err, "profile");
		split = &runtime->list[runtime->nr++];
		*split = (struct runtime_split){ .key = *key };
	}
	split->ns = split->gone_ns + spent->ns - split->taken_ns;
	split->unbinned = split->gone_unbinned + spent->unbinned - split->taken_unbinned;
	split->pass = spent->pass;
	split->gone = false;
	memcpy(split->name, spent->comm, sizeof(split->name));
	return 0;
}

int runtime_read(struct runtime *runtime, int map_fd, struct error *err)
{
	struct spent_key key, last, *from = NULL;
	size_t sorted = runtime->nr;
	struct spent_cpu spent;
	int ret = 0;

	while (!ret && !bpf_map_get_next_key(map_fd, from, &key)) {
		last = key;
		from = &last;
		if (!bpf_map_lookup_elem(map_fd, &key, &spent))
			ret = read_entry(runtime, sorted, &key, &spent, err);
	}
	if (runtime->nr > sorted)
		SORT(runtime->list, runtime->nr, compare_runtime_splits);
	return ret;
}

/* The part of the deleted entry is read first, because it is read only once. */
static void mark_taken(struct runtime_split *split)
{
	uint64_t unbinned = split->unbinned < split->gone_unbinned ? split->unbinned :
								     split->gone_unbinned;

	split->taken_ns += split->ns - split->gone_ns;
	split->taken_unbinned += split->unbinned - unbinned;
	split->gone_ns = 0;
	split->gone_unbinned -= unbinned;
	split->ns = 0;
	split->unbinned = split->gone ? split->gone_unbinned : 0;
}

/* Reads and deletes the entry in one step, so that nothing is added in between. */
static void move_entry(struct runtime_split *split, const struct runtime_map *map)
{
	struct spent_cpu spent;

	if (bpf_map_lookup_and_delete_elem(map->fd, &split->key, &spent))
		return;
	__atomic_fetch_sub(&map->state->splits_used, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&map->owners[spent.owner % OWNERS_MAX].splits, 1, __ATOMIC_RELAXED);
	split->gone = true;
	split->ns = split->gone_ns += spent.ns - split->taken_ns;
	split->unbinned = split->gone_unbinned += spent.unbinned - split->taken_unbinned;
	split->taken_ns = split->taken_unbinned = 0;
	memcpy(split->name, spent.comm, sizeof(split->name));
}

void runtime_mark_taken(struct runtime *runtime, const struct runtime_map *map, uint32_t pass)
{
	size_t from, to = 0;

	for (from = 0; from < runtime->nr; from++) {
		struct runtime_split *split = &runtime->list[from];
		bool idle = !split->gone && !split->ns && !split->unbinned && split->pass != pass;

		/* A thread that was reaped before the pass may have added its last CPU time. */
		if (idle)
			move_entry(split, map);
		if (!idle || !split->gone)
			mark_taken(split);
		if (!split->gone || split->ns || split->unbinned)
			runtime->list[to++] = *split;
	}
	runtime->nr = to;
}

bool runtime_split_ended(const struct runtime *runtime, const struct runtime_split *split)
{
	return split->gone || (int32_t)(split->pass - runtime->pass) < 0;
}

void runtime_move_ended(struct runtime *runtime, const struct runtime_map *map)
{
	size_t i;

	for (i = 0; i < runtime->nr; i++)
		if (!runtime->list[i].gone && runtime_split_ended(runtime, &runtime->list[i]))
			move_entry(&runtime->list[i], map);
}

/*
 * The number of a name. Programs may choose any name. Therefore, after some thousands of names or
 * without memory, the result is the number of the empty name.
 */
static size_t number_name(struct runtime *runtime, const char name[SPLIT_NAME_BYTES])
{
	size_t i;

	for (i = 1; i < runtime->nr_sums; i++)
		if (!memcmp(runtime->sums[i], name, SPLIT_NAME_BYTES))
			return i;
	if (!*name || runtime->nr_sums >= SUM_NAMES_MAX ||
	    GROW(runtime->sums, runtime->sum_capacity, runtime->nr_sums + 2))
		return 0;
	if (!runtime->nr_sums)
		memset(runtime->sums[runtime->nr_sums++], 0, SPLIT_NAME_BYTES);
	memcpy(runtime->sums[runtime->nr_sums], name, SPLIT_NAME_BYTES);
	return runtime->nr_sums++;
}

DEFINE_COMPARE_AS(compare_split_name, typeof(struct runtime_split *),
		  memcmp((*a)->name, (*b)->name, sizeof((*a)->name)))

void runtime_find_sums(struct runtime *runtime)
{
	cleanup_free struct runtime_split **sorted = calloc(runtime->nr + 1, sizeof(*sorted));
	size_t i, number = 0, nr = 0;

	for (i = 0; sorted && i < runtime->nr; i++)
		if (runtime->list[i].gone && split_pid(runtime->list[i].key.split) >= 0)
			sorted[nr++] = &runtime->list[i];
	SORT(sorted, nr, compare_split_name);
	for (i = 0; i < nr; i++) {
		if (!i || compare_split_name(&sorted[i - 1], &sorted[i]))
			number = number_name(runtime, sorted[i]->name);
		sorted[i]->sum = split_sum_id(number);
	}
}

uint64_t runtime_sum_of(const struct runtime *runtime, uint32_t target, uint64_t split)
{
	const struct spent_key key = { .split = split, .target = target };
	const struct runtime_split *found = runtime_find(runtime, &key);

	return found ? found->sum : 0;
}

static void add_up(void *sum, const void *split)
{
	const struct runtime_split *from = split;
	struct runtime_split *to = sum;

	to->ns = to->gone_ns += from->gone_ns;
	to->unbinned = to->gone_unbinned += from->gone_unbinned;
}

size_t runtime_add_up(struct runtime *runtime)
{
	struct runtime_split *list = runtime->list;
	size_t i, nr = 0;

	for (i = 0; i < runtime->nr; i++) {
		if (!list[i].sum)
			continue;
		nr++;
		list[i].key.split = list[i].sum;
		list[i].sum = 0;
		if (list[i].key.split == split_sum_id(0))
			memset(list[i].name, 0, sizeof(list[i].name));
	}
	runtime->nr = COMBINE(list, runtime->nr, compare_runtime_splits, add_up);
	return nr;
}

bool runtime_has_split(const struct runtime *runtime, uint32_t nr_targets, uint64_t id)
{
	struct spent_key key = { .split = id };

	for (; key.target < nr_targets; key.target++)
		if (runtime_find(runtime, &key))
			return true;
	return false;
}

bool runtime_has_ended(const struct runtime *runtime, uint32_t nr_targets, uint64_t id)
{
	const struct runtime_split *split;
	struct spent_key key = { .split = id };
	bool ended = false;

	for (; id && key.target < nr_targets; key.target++) {
		split = runtime_find(runtime, &key);
		if (split && (!split->pass || !runtime_split_ended(runtime, split)))
			return false;
		ended = ended || split;
	}
	return ended;
}

void runtime_free(struct runtime *runtime)
{
	free(runtime->list);
	free(runtime->sums);
	memset(runtime, 0, sizeof(*runtime));
}
