// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/callers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "profile/profile.h"

#define WALK_END_WORD(id, key, text) [END_##id] = key,
const char *const walk_end_words[WALK_END_COUNT] = { WALK_ENDS(WALK_END_WORD) };
#undef WALK_END_WORD

int profile_root_compare(const struct profile_root *a, const struct profile_root *b)
{
	int order = compare_u64(a->target, b->target);

	if (!order)
		order = (a->pid > b->pid) - (a->pid < b->pid);
	if (!order)
		order = compare_text(a->process, b->process);
	if (!order)
		order = compare_text(a->cgroup, b->cgroup);
	return order ? order : compare_u64(a->end, b->end);
}

uint32_t *profile_callers_roots(const struct profile_callers *callers)
{
	uint32_t *roots = calloc(callers->nr_nodes + 1, sizeof(*roots));
	size_t i;

	for (i = 0; roots && i < callers->nr_nodes; i++) {
		int32_t parent = callers->nodes[i].parent;

		roots[i] = parent < 0 ? (uint32_t)(-1 - parent) : roots[parent];
	}
	return roots;
}

int profile_callers_account(const struct profile *profile, uint64_t target,
			    struct callers_account *account)
{
	const struct profile_callers *callers = profile->callers;
	cleanup_free uint32_t *roots = callers ? profile_callers_roots(callers) : NULL;
	const struct profile_root *root;
	size_t i;

	*account = (struct callers_account){ 0 };
	if (!callers)
		return 0;
	if (!roots)
		return -ENOMEM;
	for (i = 0; i < callers->nr_roots; i++) {
		root = &callers->roots[i];
		if (target == PROFILE_ALL_TARGETS || target == root->target)
			account->ticks[root->end] += root->ticks;
	}
	for (i = 0; i < callers->nr_nodes; i++) {
		root = &callers->roots[roots[i]];
		if (target == PROFILE_ALL_TARGETS || target == root->target)
			account->ticks[root->end] += callers->nodes[i].ticks;
	}
	return 0;
}
