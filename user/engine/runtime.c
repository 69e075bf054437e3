// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "engine/runtime.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

int spent_key_compare(const struct spent_key *a, const struct spent_key *b)
{
	if (a->target != b->target)
		return a->target < b->target ? -1 : 1;
	return (a->split > b->split) - (a->split < b->split);
}

static int compare_runtime_splits(const void *left, const void *right)
{
	const struct runtime_split *a = left, *b = right;

	return spent_key_compare(&a->key, &b->key);
}

static struct runtime_split *find_runtime_split(const struct runtime *runtime, size_t sorted,
						const struct spent_key *key)
{
	const struct runtime_split wanted = { .key = *key };

	if (!sorted)
		return NULL;
	return bsearch(&wanted, runtime->list, sorted, sizeof(wanted), compare_runtime_splits);
}

static int read_entry(struct runtime *runtime, size_t sorted, const struct spent_key *key,
		      const struct spent_cpu *spent, struct error *err)
{
	struct runtime_split *split = find_runtime_split(runtime, sorted, key);

	if (!split) {
		if (grow((void **)&runtime->list, &runtime->capacity, runtime->nr + 1,
			 sizeof(*split)))
			return error_no_memory(err, "profile");
		split = &runtime->list[runtime->nr++];
		*split = (struct runtime_split){ .key = *key };
	}
	split->ns = spent->ns - split->taken_ns;
	split->unbinned = spent->unbinned - split->taken_unbinned;
	split->walk = spent->walk;
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
		qsort(runtime->list, runtime->nr, sizeof(*runtime->list), compare_runtime_splits);
	return ret;
}

/*
 * A thread that was reaped before the walk may have been freed since, and have added its last
 * runtime.
 */
static bool is_idle_split(const struct runtime_split *split, int map_fd, uint32_t walk)
{
	struct spent_cpu spent;

	return !split->ns && !split->unbinned && split->walk != walk &&
	       !bpf_map_lookup_elem(map_fd, &split->key, &spent) && spent.ns == split->taken_ns &&
	       spent.unbinned == split->taken_unbinned;
}

void runtime_take(struct runtime *runtime, int map_fd, uint32_t walk)
{
	size_t from, to = 0;

	for (from = 0; from < runtime->nr; from++) {
		struct runtime_split *split = &runtime->list[from];

		if (is_idle_split(split, map_fd, walk) && !bpf_map_delete_elem(map_fd, &split->key))
			continue;
		split->taken_ns += split->ns;
		split->taken_unbinned += split->unbinned;
		split->ns = split->unbinned = 0;
		runtime->list[to++] = *split;
	}
	runtime->nr = to;
}

void runtime_free(struct runtime *runtime)
{
	free(runtime->list);
	memset(runtime, 0, sizeof(*runtime));
}
