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

static void renumber_classes(struct profile_waits *waits, const uint32_t *ids)
{
	size_t i, j;

	for (i = 0; i < waits->tree.nr_roots; i++)
		waits->tree.roots[i].class = ids[waits->tree.roots[i].class];
	for (i = 0; i < waits->nr_accounts; i++)
		for (j = 0; j < waits->accounts[i].nr_sums; j++)
			waits->accounts[i].sums[j].class = ids[waits->accounts[i].sums[j].class];
}

/* --- accounts --------------------------------------------------------------------------------- */

DEFINE_COMPARE(compare_sums, struct profile_wait_sum, class)

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

static int compare_accounts(const void *left, const void *right)
{
	const struct profile_wait_account *a = left, *b = right;
	int order = compare_u64(a->target, b->target) ?: compare_i64(a->pid, b->pid);

	return order ?: compare_text(a->process, b->process) ?: compare_text(a->cgroup, b->cgroup);
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

/* --- the whole -------------------------------------------------------------------------------- */

int profile_waits_fold(struct profile_waits *waits)
{
	const struct folding classes = FOLD(waits, classes, profile_wait_class_members,
					    profile_wait_class_compare, NULL, NULL);
	const struct folding accounts = FOLD(waits, accounts, profile_wait_account_members,
					     compare_accounts, NULL, add_account);
	cleanup_free uint32_t *ids = calloc(waits->nr_classes + 1, sizeof(*ids));
	size_t i;
	int ret = ids ? folding_fold(classes, ids) : -ENOMEM;

	if (ret)
		return ret;
	renumber_classes(waits, ids);
	for (i = 0; i < waits->nr_accounts; i++)
		join_sums(&waits->accounts[i]);
	return folding_fold(accounts, NULL) ?: profile_callers_fold(&waits->tree);
}
