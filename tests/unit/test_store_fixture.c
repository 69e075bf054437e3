// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "test_store_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "profile/profile.h"

struct store_fixture fixture;

static void tell(const struct space *space, const char *path)
{
	struct spaces *spaces = &fixture.spaces;

	cr_assert_eq(GROW(spaces->list, spaces->capacity, spaces->nr + 1), 0);
	spaces->list[spaces->nr++] = (struct space_info){ .space = *space,
							  .path = strdup(path),
							  .comm = "node",
							  .fd = -1,
							  .root_fd = -1,
							  .ns_fd = -1 };
}

static void begin_half(uint32_t half)
{
	memset(fixture.nodes, 0, HALF_NODES * sizeof(*fixture.nodes));
	memset(fixture.roots, 0, sizeof(fixture.roots));
	fixture.nr_roots = 0;
	fixture.half = (struct closed_half){ .nodes = fixture.nodes,
					     .nr_nodes = HALF_NODES,
					     .roots = fixture.roots,
					     .texts = fixture.texts,
					     .nr_texts = TEXTS,
					     .carries = &fixture.carries,
					     .half = half };
}

void store_begin(void)
{
	char path[16];
	uint64_t i;

	memset(&fixture, 0, sizeof(fixture));
	fixture.store = store_new(0);
	fixture.nodes = calloc(HALF_NODES, sizeof(*fixture.nodes));
	cr_assert(fixture.store && fixture.nodes);
	for (i = 0; i < FILES; i++) {
		fixture.texts[TEXT_FILE + i].space = (struct space){ .kind = SPACE_FILE,
								     .a = 0x1000 + i,
								     .b = 100 + i,
								     .dev = 1 };
		snprintf(path, sizeof(path), "/%u", (unsigned int)i);
		tell(&fixture.texts[TEXT_FILE + i].space, path);
	}
	fixture.texts[TEXT_JIT].space = (struct space){ .kind = SPACE_ANON, .a = 5, .b = 77 };
	tell(&fixture.texts[TEXT_JIT].space, "");
	fixture.texts[TEXT_STRANGE].space = (struct space){ .kind = SPACE_ANON };
	fixture.names = (struct seen_names){ .spaces = &fixture.spaces,
					     .splits = &fixture.splits,
					     .split = SPLIT_PROCESS };
	begin_half(0);
}

static void free_profile(void)
{
	free(fixture.names.sources);
	free(fixture.names.split_ids);
	profile_free(fixture.profile);
	fixture.names.sources = NULL;
	fixture.names.split_ids = NULL;
	fixture.names.nr_nameless = 0;
	fixture.profile = NULL;
	memset(fixture.tallies, 0, sizeof(fixture.tallies));
}

void store_end(void)
{
	free_profile();
	store_free(fixture.store);
	spaces_free(&fixture.spaces);
	split_names_free(&fixture.splits);
	kernel_modules_free(&fixture.modules);
	free(fixture.carries.list);
	free(fixture.nodes);
}

uint32_t put_root(uint32_t target, uint64_t split, uint32_t end)
{
	const struct table_root_key key = { .split = split,
					    .target = target,
					    .end = (uint16_t)end,
					    .half = (uint16_t)fixture.half.half };
	uint32_t i;

	/* Numbers of the other half, and those that two CPUs took for one root, have none. */
	for (i = fixture.half.half; i < fixture.nr_roots; i += 2)
		if (!memcmp(&fixture.roots[i].key, &key, sizeof(key)))
			return NODE_IS_ROOT | i;
	cr_assert_leq(i + 3, HALF_ROOTS);
	for (; fixture.nr_roots < i + 3; fixture.nr_roots++)
		fixture.roots[fixture.nr_roots].key.target = NO_TARGET;
	fixture.half.nr_roots = fixture.nr_roots;
	fixture.roots[i] = (struct kernel_root){ .key = key, .sums.number = i };
	return NODE_IS_ROOT | i;
}

void put_root_ticks(uint32_t root, uint64_t ticks)
{
	fixture.roots[root & ~NODE_IS_ROOT].sums.ticks += ticks;
}

uint32_t put_place(uint32_t parent, uint64_t site, uint32_t count)
{
	static uint64_t chance = 1;
	uint32_t at;

	do {
		chance = chance * 6364136223846793005ULL + 1442695040888963407ULL;
		at = chance >> 33 & (HALF_NODES - 1);
	} while (fixture.nodes[at].site);
	fixture.nodes[at] = (struct table_node){ .site = site, .parent = parent, .count = count };
	return (at | (fixture.half.half ? NODE_IN_SECOND : 0)) + 1;
}

void put_wraps(uint32_t node, uint64_t times)
{
	struct carries *carries = &fixture.carries;
	const uint64_t key = node - 1;
	size_t i = 0;

	while (i < carries->nr && carries->list[i].key != key)
		i++;
	if (i == carries->nr) {
		cr_assert_eq(GROW(carries->list, carries->capacity, carries->nr + 1), 0);
		carries->list[carries->nr++] = (struct carry){ .key = key };
	}
	carries->list[i].times += times;
}

uint64_t site_at(uint32_t text, uint64_t offset)
{
	return (uint64_t)text << SITE_OFFSET_BITS | (offset & SITE_OFFSET_MASK);
}

void add_half(void)
{
	size_t i;

	cr_assert_eq(store_add(fixture.store, &fixture.half), 0);
	for (i = 0; i < fixture.carries.nr; i++)
		if (!(fixture.carries.list[i].key & NODE_IN_SECOND) == !fixture.half.half)
			fixture.carries.list[i].added = fixture.carries.list[i].times;
	begin_half(!fixture.half.half);
}

uint64_t split_of(uint32_t pid)
{
	return UINT64_C(123456) << SPLIT_PID_BITS | pid;
}

void name_split(uint64_t split, const char *name, enum space_state state)
{
	struct error err;

	cr_assert_eq(split_names_add(&fixture.splits, split, strdup(name), &err), 0);
	fixture.splits.list[fixture.splits.nr - 1].state = state;
}

void fill_profile(bool callers)
{
	struct error err;

	const struct store_fill_request request = { .names = &fixture.names,
						    .tallies = fixture.tallies,
						    .modules = &fixture.modules,
						    .callers = callers };

	free_profile();
	spaces_sort(&fixture.spaces);
	split_names_sort(&fixture.splits);
	fixture.profile = profile_new();
	cr_assert(fixture.profile);
	cr_assert_eq(store_fill(fixture.store, &request, fixture.profile, &err), 0);
}

uint64_t bin_at(uint32_t target, int64_t pid, const char *path, uint64_t offset, uint64_t width)
{
	const struct profile *profile = fixture.profile;
	uint64_t sum = 0;
	size_t i, n;

	for (i = 0; i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];

		if (histogram->target != target || histogram->pid != pid ||
		    histogram->bytes_per_bin != width ||
		    strcmp(profile->objects[histogram->object].path, path) != 0)
			continue;
		for (n = 0; n < histogram->nr_bins; n++)
			if (profile_bin_start(histogram, n) == offset)
				sum += histogram->bins[n].count;
	}
	return sum;
}

uint64_t all_bins(uint32_t target)
{
	const struct profile *profile = fixture.profile;
	uint64_t sum = 0;
	size_t i, n;

	for (i = 0; i < profile->nr_histograms; i++) {
		const struct profile_histogram *histogram = &profile->histograms[i];

		for (n = 1; n < histogram->nr_bins; n++)
			cr_assert_lt(histogram->bins[n - 1].index, histogram->bins[n].index);
		if (histogram->target == target)
			sum += profile_histogram_ticks(histogram);
	}
	return sum;
}

/* The root's index; -1: there is none, and no two are alike. */
static int64_t find_root(uint32_t target, int64_t pid, enum walk_end end)
{
	const struct profile_callers *callers = fixture.profile->callers;
	int64_t found = -1;
	size_t i;

	for (i = 0; i < callers->nr_roots; i++) {
		const struct profile_root *root = &callers->roots[i];

		if (root->target != target || root->pid != pid || root->end != end)
			continue;
		cr_assert_eq(found, -1);
		found = (int64_t)i;
	}
	return found;
}

int64_t root_ticks(uint32_t target, int64_t pid, enum walk_end end)
{
	const int64_t found = find_root(target, pid, end);

	return found < 0 ? -1 : (int64_t)fixture.profile->callers->roots[found].ticks;
}

static bool is_at(const struct profile_node *node, uint64_t offset)
{
	const struct profile_callers *callers = fixture.profile->callers;

	if (node->site == PROFILE_SITE_KERNEL)
		return offset == SITE_IN_KERNEL;
	return callers->sites[node->site].offset == offset &&
	       !strcmp(fixture.profile->objects[callers->sites[node->site].object].path, "/0");
}

int64_t chain_ticks(uint32_t target, int64_t pid, enum walk_end end, size_t nr,
		    const uint64_t *offsets)
{
	const struct profile_callers *callers = fixture.profile->callers;
	const int64_t root = find_root(target, pid, end);
	int64_t at = -1 - root;
	size_t n, i;

	for (n = 0; root >= 0 && n < nr; n++) {
		for (i = 0; i < callers->nr_nodes; i++)
			if (callers->nodes[i].parent == at && is_at(&callers->nodes[i], offsets[n]))
				break;
		if (i == callers->nr_nodes)
			return -1;
		at = (int64_t)i;
	}
	return root < 0 ? -1 : (int64_t)callers->nodes[at].ticks;
}

uint64_t all_chains(uint32_t target)
{
	const struct profile_callers *callers = fixture.profile->callers;
	uint32_t *roots = profile_callers_roots(callers);
	uint64_t sum = 0;
	size_t i;

	cr_assert(roots);
	for (i = 0; i < callers->nr_nodes; i++)
		if (callers->roots[roots[i]].target == target)
			sum += callers->nodes[i].ticks;
	for (i = 0; i < callers->nr_roots; i++)
		if (callers->roots[i].target == target)
			sum += callers->roots[i].ticks;
	free(roots);
	return sum;
}
