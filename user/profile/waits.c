// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile.h"

int profile_wait_class_compare(const void *left, const void *right)
{
	const struct profile_wait_class *a = left, *b = right;

	return strcmp(a->name, b->name) ?: a->io - b->io;
}

uint32_t profile_waits_runnable(const struct profile_waits *waits)
{
	uint32_t i = 0;

	while (i < waits->nr_classes && strcmp(waits->classes[i].name, PROFILE_WAITS_RUNNABLE) != 0)
		i++;
	return i;
}

/* --- the check of what was read --------------------------------------------------------------- */

/* What the accounts have of a target and class, less what the tree has. */
struct wait_balance {
	uint64_t pair; /* see pair_of() */
	uint64_t ns;
	uint64_t count;
};

struct wait_check {
	const struct profile *profile;
	const struct profile_waits *waits;
	const char *name;
	struct error *err;
	struct wait_balance *balances; /* by target and class; only those that accounts have */
	size_t nr_balances;
	uint32_t runnable;
};

static int broken(const struct wait_check *c, const char *what, size_t i, const char *why)
{
	return error_set(c->err, -EBADMSG, "%s: %s %zu of waits: %s", c->name, what, i, why);
}

static uint64_t pair_of(uint32_t target, uint32_t class)
{
	return (uint64_t)target << 32 | class;
}

DEFINE_COMPARE(compare_balances, struct wait_balance, pair)

/* A file may have many targets and many classes, but few pairs of them. */
static int begin_balances(struct wait_check *c)
{
	const struct profile_wait_account *account = c->waits->accounts;
	const struct profile_wait_account *end = account + c->waits->nr_accounts;
	size_t i, nr = c->waits->nr_accounts;

	for (i = 0; i < c->waits->nr_accounts; i++)
		nr += account[i].nr_sums;
	c->balances = calloc(nr + 1, sizeof(*c->balances));
	if (!c->balances)
		return error_errno(c->err, -ENOMEM, "%s", c->name);
	for (nr = 0; account < end; account++) {
		c->balances[nr++].pair = pair_of(account->target, c->runnable);
		for (i = 0; i < account->nr_sums; i++)
			c->balances[nr++].pair = pair_of(account->target, account->sums[i].class);
	}
	c->nr_balances = COMBINE(c->balances, nr, compare_balances, NULL);
	return 0;
}

/* NULL: no account has the pair. */
static struct wait_balance *balance_of(const struct wait_check *c, uint32_t target, uint32_t class)
{
	const struct wait_balance wanted = { .pair = pair_of(target, class) };

	return c->nr_balances ? bsearch(&wanted, c->balances, c->nr_balances, sizeof(wanted),
					compare_balances) :
				NULL;
}

static int check_classes(const struct wait_check *c)
{
	const size_t nr = c->waits->nr_classes;
	cleanup_free struct profile_wait_class *sorted = calloc(nr + 1, sizeof(*sorted));
	size_t i;

	if (!sorted)
		return error_errno(c->err, -ENOMEM, "%s", c->name);
	if (nr)
		memcpy(sorted, c->waits->classes, nr * sizeof(*sorted));
	SORT(sorted, nr, profile_wait_class_compare);
	for (i = 1; i < nr; i++)
		if (!profile_wait_class_compare(&sorted[i - 1], &sorted[i]))
			return error_set(c->err, -EBADMSG, "%s: a class of waits occurs twice",
					 c->name);
	return 0;
}

static const char *sum_fault(const struct wait_check *c, const struct profile_wait_account *account,
			     size_t i, uint64_t *total)
{
	const struct profile_wait_sum *sum = &account->sums[i];
	struct wait_balance *balance;

	if (sum->class >= c->waits->nr_classes)
		return "a class that does not exist";
	if (sum->class == c->runnable || (i && sum[-1].class >= sum->class))
		return "its classes do not ascend, or runnable is one of them";
	balance = balance_of(c, account->target, sum->class);
	if (__builtin_add_overflow(*total, sum->ns, total) ||
	    __builtin_add_overflow(balance->ns, sum->ns, &balance->ns) ||
	    __builtin_add_overflow(balance->count, sum->count, &balance->count))
		return "its sums do not fit 64 bits";
	return NULL;
}

static const char *account_fault(const struct wait_check *c,
				 const struct profile_wait_account *account)
{
	uint64_t total = account->cpu_ns;
	struct wait_balance *balance;
	const char *why = NULL;
	size_t i;

	if (account->target >= c->profile->nr_targets)
		return "its target does not exist";
	if (__builtin_add_overflow(total, account->runnable_ns, &total) ||
	    __builtin_add_overflow(total, account->stolen_ns, &total) ||
	    __builtin_add_overflow(total, account->unaccounted_ns, &total))
		return "its sums do not fit 64 bits";
	for (i = 0; !why && i < account->nr_sums; i++)
		why = sum_fault(c, account, i, &total);
	if (why)
		return why;
	if (total != account->wall_ns)
		return "its parts do not add up to its wall time";
	if (c->runnable == c->waits->nr_classes)
		return account->runnable_ns ? "runnable time without its class" : NULL;
	balance = balance_of(c, account->target, c->runnable);
	if (__builtin_add_overflow(balance->ns, account->runnable_ns, &balance->ns))
		return "its sums do not fit 64 bits";
	return NULL;
}

/* Takes a part of the tree from the sums. */
static const char *subtract(const struct wait_check *c, uint32_t root, uint64_t ns, uint64_t count)
{
	const struct profile_root *of = &c->waits->tree.roots[root];
	struct wait_balance *balance;

	if (of->class >= c->waits->nr_classes)
		return "its class does not exist";
	count = of->class == c->runnable ? 0 : count;
	if (!ns && !count)
		return NULL;
	balance = balance_of(c, of->target, of->class);
	if (!balance || ns > balance->ns || count > balance->count)
		return "more than the accounts have";
	balance->ns -= ns;
	balance->count -= count;
	return NULL;
}

static int check_tree(const struct wait_check *c)
{
	const struct profile_callers *tree = &c->waits->tree;
	const char *what, *why;
	cleanup_free uint32_t *roots = NULL;
	size_t i;

	why = profile_callers_fault(c->profile, tree, &what, &i);
	if (why)
		return broken(c, what, i, why);
	roots = profile_callers_roots(tree);
	if (!roots)
		return error_errno(c->err, -ENOMEM, "%s", c->name);
	for (i = 0; i < tree->nr_roots; i++)
		if ((why = subtract(c, (uint32_t)i, tree->roots[i].ticks, tree->roots[i].waits)))
			return broken(c, "root", i, why);
	for (i = 0; i < tree->nr_nodes; i++)
		if ((why = subtract(c, roots[i], tree->nodes[i].ticks, tree->nodes[i].waits)))
			return broken(c, "node", i, why);
	for (i = 0; i < c->nr_balances; i++)
		if (c->balances[i].ns || c->balances[i].count)
			return error_set(c->err, -EBADMSG,
					 "%s: the tree of waits has less than their accounts",
					 c->name);
	return 0;
}

int profile_waits_check(const struct profile *profile, const char *name, struct error *err)
{
	const struct profile_waits *waits = profile->waits;
	struct wait_check check = { .profile = profile,
				    .waits = waits,
				    .name = name,
				    .err = err,
				    .runnable = profile_waits_runnable(waits) };
	const char *why;
	size_t i;
	int ret = check_classes(&check) ?: begin_balances(&check);

	for (i = 0; !ret && i < waits->nr_accounts; i++)
		if ((why = account_fault(&check, &waits->accounts[i])))
			ret = broken(&check, "account", i, why);
	ret = ret ?: check_tree(&check);
	free(check.balances);
	return ret;
}
