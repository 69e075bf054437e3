// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/callers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "profile/profile.h"

#define WALK_END_WORD(id, key, text) [END_##id] = key,
const char *const walk_end_words[WALK_END_COUNT] = { WALK_ENDS(WALK_END_WORD) };
#undef WALK_END_WORD

int profile_site_compare(const void *left, const void *right)
{
	const struct profile_site *a = left, *b = right;

	return compare_u64(a->object, b->object) ?: compare_u64(a->offset, b->offset);
}

int profile_root_compare_owners(const struct profile_root *a, const struct profile_root *b)
{
	int order = compare_u64(a->target, b->target) ?: compare_i64(a->pid, b->pid);

	return order ?: compare_text(a->process, b->process) ?: compare_text(a->cgroup, b->cgroup);
}

int profile_root_compare(const void *left, const void *right)
{
	const struct profile_root *a = left, *b = right;
	int order = profile_root_compare_owners(a, b);

	return order ?: compare_u64(a->class, b->class) ?: compare_u64(a->end, b->end);
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

uint64_t *profile_callers_sums(const struct profile_callers *callers)
{
	cleanup_free uint32_t *roots = profile_callers_roots(callers);
	uint64_t *sums = roots ? calloc(callers->nr_roots + 1, sizeof(*sums)) : NULL;
	size_t i;

	for (i = 0; sums && i < callers->nr_roots; i++)
		sums[i] = callers->roots[i].ticks;
	for (i = 0; sums && i < callers->nr_nodes; i++)
		sums[roots[i]] = add_saturating(sums[roots[i]], callers->nodes[i].ticks);
	return sums;
}

static const char *site_fault(const struct profile *profile, const struct profile_callers *callers,
			      size_t i)
{
	const struct profile_site *site = &callers->sites[i];

	if (site->object >= profile->nr_objects)
		return "its object does not exist";
	if (i && profile_site_compare(&site[-1], site) >= 0)
		return "sites do not ascend";
	return NULL;
}

static const char *node_fault(const struct profile_callers *callers, size_t i)
{
	const struct profile_node *node = &callers->nodes[i];

	if (node->parent < 0 && (size_t)(-1 - node->parent) >= callers->nr_roots)
		return "its root does not exist";
	if (node->parent >= 0 && (size_t)node->parent >= i)
		return "its parent does not come before it";
	if (node->site != PROFILE_SITE_KERNEL && node->site >= callers->nr_sites)
		return "its site does not exist";
	return NULL;
}

const char *profile_callers_fault(const struct profile *profile,
				  const struct profile_callers *callers, const char **what,
				  size_t *at)
{
	const char *why = NULL;

	*what = "site";
	for (*at = 0; *at < callers->nr_sites; ++*at)
		if ((why = site_fault(profile, callers, *at)))
			return why;
	*what = "root";
	for (*at = 0; *at < callers->nr_roots; ++*at)
		if (callers->roots[*at].target >= profile->nr_targets)
			return "its target does not exist";
	*what = "node";
	for (*at = 0; *at < callers->nr_nodes; ++*at)
		if ((why = node_fault(callers, *at)))
			return why;
	return NULL;
}

int profile_callers_account(const struct profile *profile, uint64_t target,
			    struct callers_account *account)
{
	const struct profile_callers *callers = profile->callers;
	cleanup_free uint64_t *sums = callers ? profile_callers_sums(callers) : NULL;
	size_t i;

	*account = (struct callers_account){ 0 };
	if (!callers)
		return 0;
	for (i = 0; sums && i < callers->nr_roots; i++)
		if (target == PROFILE_ALL_TARGETS || target == callers->roots[i].target)
			account->ticks[callers->roots[i].end] += sums[i];
	return sums ? 0 : -ENOMEM;
}
