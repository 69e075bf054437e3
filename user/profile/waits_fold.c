// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Folds the waits of a sum: equal classes, accounts and chains of its parts become one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile_fold.h"
#include "profile/profile_members.h"
#include "profile/waits.h"

/* --- classes ---------------------------------------------------------------------------------- */

static int compare_classes(const void *left, const void *right)
{
	const struct profile_wait_class *a = left, *b = right;

	return strcmp(a->name, b->name) ?: a->io - b->io;
}

static void renumber_classes(struct profile_waits *waits, const uint32_t *ids)
{
	size_t i, j;

	for (i = 0; i < waits->nr_roots; i++)
		waits->roots[i].class = ids[waits->roots[i].class];
	for (i = 0; i < waits->nr_accounts; i++)
		for (j = 0; j < waits->accounts[i].nr_sums; j++)
			waits->accounts[i].sums[j].class = ids[waits->accounts[i].sums[j].class];
}

/* --- accounts --------------------------------------------------------------------------------- */

static int compare_sums(const void *left, const void *right)
{
	const struct profile_wait_sum *a = left, *b = right;

	return compare_u64(a->class, b->class);
}

static void add_sum(void *first, const void *equal)
{
	struct profile_wait_sum *sum = first;
	const struct profile_wait_sum *other = equal;

	sum->ns = add_saturating(sum->ns, other->ns);
	sum->count = add_saturating(sum->count, other->count);
}

static void join_sums(struct profile_wait_account *account)
{
	account->nr_sums = COMBINE(account->sums, account->nr_sums, compare_sums, add_sum);
}

static int compare_owners(uint32_t target_a, int64_t pid_a, uint32_t target_b, int64_t pid_b)
{
	return compare_u64(target_a, target_b) ?: (pid_a > pid_b) - (pid_a < pid_b);
}

static int compare_accounts(const void *left, const void *right)
{
	const struct profile_wait_account *a = left, *b = right;
	int order = compare_owners(a->target, a->pid, b->target, b->pid);

	order = order ?: compare_text(a->process, b->process);
	return order ?: compare_text(a->cgroup, b->cgroup);
}

static void add_account_figures(struct profile_wait_account *sum,
				const struct profile_wait_account *part)
{
	sum->wall_ns = add_saturating(sum->wall_ns, part->wall_ns);
	sum->cpu_ns = add_saturating(sum->cpu_ns, part->cpu_ns);
	sum->runnable_ns = add_saturating(sum->runnable_ns, part->runnable_ns);
	sum->stolen_ns = add_saturating(sum->stolen_ns, part->stolen_ns);
	sum->unaccounted_ns = add_saturating(sum->unaccounted_ns, part->unaccounted_ns);
}

static int add_account(void *sum, void *part)
{
	struct profile_wait_account *account = sum;
	const struct profile_wait_account *other = part;
	struct profile_wait_sum *sums =
		reallocarray(account->sums, account->nr_sums + other->nr_sums + 1, sizeof(*sums));

	if (!sums)
		return -ENOMEM;
	account->sums = sums;
	add_account_figures(account, other);
	if (other->nr_sums)
		memcpy(sums + account->nr_sums, other->sums, other->nr_sums * sizeof(*sums));
	account->nr_sums += other->nr_sums;
	join_sums(account);
	return 0;
}

/* --- chains ----------------------------------------------------------------------------------- */

static int compare_roots(const void *left, const void *right)
{
	const struct profile_wait_root *a = left, *b = right;
	int order = compare_owners(a->target, a->pid, b->target, b->pid);

	order = order ?: compare_text(a->process, b->process);
	order = order ?: compare_text(a->cgroup, b->cgroup);
	return order ?: compare_u64(a->class, b->class) ?: compare_u64(a->end, b->end);
}

static int add_root(void *sum, void *part)
{
	struct profile_wait_root *root = sum;
	const struct profile_wait_root *other = part;

	root->ns = add_saturating(root->ns, other->ns);
	root->count = add_saturating(root->count, other->count);
	return 0;
}

/* Gives the folded nodes their sums. */
static void add_nodes(struct profile_waits *waits, const struct profile_callers *folded,
		      const uint32_t *ids, struct profile_wait_node *nodes)
{
	size_t i;

	for (i = 0; i < folded->nr_nodes; i++)
		nodes[i] = (struct profile_wait_node){ .parent = folded->nodes[i].parent,
						       .site = folded->nodes[i].site };
	for (i = 0; i < waits->nr_nodes; i++) {
		struct profile_wait_node *node = &nodes[ids[i]];

		node->ns = add_saturating(node->ns, waits->nodes[i].ns);
		node->count = add_saturating(node->count, waits->nodes[i].count);
	}
	free(waits->nodes);
	waits->nodes = nodes;
	waits->nr_nodes = folded->nr_nodes;
}

/* Folds nodes like those of callers, by their parents and sites. */
static int fold_wait_nodes(struct profile_waits *waits, uint32_t *sites, uint32_t *roots)
{
	struct profile_callers callers = { .nr_sites = waits->nr_sites,
					   .nr_roots = waits->nr_roots,
					   .nr_nodes = waits->nr_nodes };
	cleanup_free uint32_t *ids = calloc(waits->nr_nodes + 1, sizeof(*ids));
	struct profile_wait_node *nodes = calloc(waits->nr_nodes + 1, sizeof(*nodes));
	size_t i;
	int ret;

	callers.nodes = calloc(waits->nr_nodes + 1, sizeof(*callers.nodes));
	ret = ids && nodes && callers.nodes ? 0 : -ENOMEM;
	for (i = 0; !ret && i < waits->nr_nodes; i++)
		callers.nodes[i] = (struct profile_node){ .parent = waits->nodes[i].parent,
							  .site = waits->nodes[i].site };
	if (!ret)
		ret = fold_nodes(&callers, sites, roots, ids);
	if (!ret)
		add_nodes(waits, &callers, ids, nodes);
	else
		free(nodes);
	free(callers.nodes);
	return ret;
}

int profile_waits_fold(struct profile_waits *waits)
{
	const struct folding classes =
		FOLD(waits, classes, profile_wait_class_members, compare_classes, NULL, NULL);
	const struct folding accounts = FOLD(waits, accounts, profile_wait_account_members,
					     compare_accounts, NULL, add_account);
	const struct folding roots =
		FOLD(waits, roots, profile_wait_root_members, compare_roots, NULL, add_root);
	cleanup_free uint32_t *class_ids = calloc(waits->nr_classes + 1, sizeof(*class_ids));
	cleanup_free uint32_t *site_ids = calloc(waits->nr_sites + 1, sizeof(*site_ids));
	cleanup_free uint32_t *root_ids = calloc(waits->nr_roots + 1, sizeof(*root_ids));
	size_t i;
	int ret = class_ids && site_ids && root_ids ? folding_fold(classes, class_ids) : -ENOMEM;

	if (ret)
		return ret;
	renumber_classes(waits, class_ids);
	for (i = 0; i < waits->nr_accounts; i++)
		join_sums(&waits->accounts[i]);
	ret = folding_fold(accounts, NULL);
	if (!ret)
		ret = fold_sites(&waits->sites, &waits->nr_sites, site_ids);
	if (!ret)
		ret = folding_fold(roots, root_ids);
	return ret ? ret : fold_wait_nodes(waits, site_ids, root_ids);
}
