// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* From the store to the waits of a profile: names of classes, and accounts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/store_impl.h"
#include "host/engine/wait_classes.h"
#include "profile/waits.h"

enum { STATES = 1 << WAIT_STATE_BITS };

/*
 * If a wakeup preempts another thread, the scheduler switches with the time of the wakeup. The woken
 * thread's runtime therefore includes time in which it was runnable by our clock. This time is
 * runtime in the profile too, in proportion from all places of the account.
 */
struct excess {
	uint64_t ns; /* of the account's runtime, beyond its time on a CPU */
	uint64_t runnable_ns; /* of the account */
	uint64_t seen_ns; /* of these */
};

struct wait_build {
	struct filling *filling;
	const struct waits_accounts *accounts;
	struct profile_waits *result;
	struct excess *excess; /* by account */
	uint32_t classes[STATES]; /* by state: number + 1 */
};

/* --- runtime by the scheduler's clock --------------------------------------------------------- */

static int order_of(const struct spent_key *key, const struct table_root_key *root)
{
	return compare_u64(key->target, root->target) ?: compare_u64(key->split, root->split);
}

/* NULL: the node has no runnable time, or no account. */
static struct excess *excess_of(const struct wait_build *build, size_t node)
{
	const struct filling *filling = build->filling;
	const struct store_root *root = &filling->store->roots[filling->roots[node]];
	const struct waits_account *list = build->accounts->list;
	const size_t nr = root->class == WAIT_RUNNABLE ? build->accounts->nr : 0;
	const size_t at = BISECT(i, nr, order_of(&list[i].key, &root->key) < 0);

	return at < nr && !order_of(&list[at].key, &root->key) ? &build->excess[at] : NULL;
}

static uint64_t part_of_excess(const struct excess *excess)
{
	return (uint64_t)((unsigned __int128)excess->ns * excess->seen_ns / excess->runnable_ns);
}

/* Subtracts each node's part of it. */
static void subtract_excess(struct wait_build *build)
{
	const struct waits_account *list = build->accounts->list;
	uint64_t *counts = build->filling->counts, before;
	struct excess *excess;
	size_t i;

	for (i = 0; i < build->filling->store->nr_nodes; i++)
		if ((excess = excess_of(build, i)))
			excess->runnable_ns += counts[i];
	for (i = 0; i < build->accounts->nr; i++) {
		excess = &build->excess[i];
		if (list[i].cpu_ns > list[i].on_cpu_ns)
			excess->ns = list[i].cpu_ns - list[i].on_cpu_ns;
		if (excess->ns > excess->runnable_ns)
			excess->ns = excess->runnable_ns;
	}
	for (i = 0; i < build->filling->store->nr_nodes; i++) {
		excess = excess_of(build, i);
		if (!excess || !excess->ns)
			continue;
		before = part_of_excess(excess);
		excess->seen_ns += counts[i];
		counts[i] -= part_of_excess(excess) - before;
	}
}

/* --- the tree --------------------------------------------------------------------------------- */

static void add_unplaced_root(struct wait_build *build, uint32_t target, uint32_t state,
			      uint64_t ns, uint64_t waits)
{
	struct profile_callers *tree = &build->result->tree;

	tree->roots[tree->nr_roots++] = (struct profile_root){
		.target = target,
		.pid = -1,
		.class = state,
		.end = build->filling->profile->callers ? END_FULL : END_FLAT,
		.ticks = ns,
		.waits = waits,
	};
}

/* Waits that are in no node. -ENOMEM. */
static int add_unplaced(struct wait_build *build)
{
	const struct waits_accounts *accounts = build->accounts;
	struct profile_callers *tree = &build->result->tree;
	struct profile_root *roots = reallocarray(
		tree->roots, tree->nr_roots + 2 * accounts->nr_unplaced + 1, sizeof(*roots));
	uint32_t i;

	if (!roots)
		return -ENOMEM;
	tree->roots = roots;
	for (i = 0; i < accounts->nr_unplaced; i++) {
		const struct node_waits *of = &accounts->unplaced[i];

		if (of->ns || of->count)
			add_unplaced_root(build, i, WAIT_OTHER, of->ns, of->count);
		if (of->runnable_ns)
			add_unplaced_root(build, i, WAIT_RUNNABLE, of->runnable_ns, of->count);
	}
	return 0;
}

/* Makes classes of the states of roots. -ENOMEM. */
static int name_classes(struct wait_build *build)
{
	struct profile_waits *waits = build->result;
	struct profile_root *root = waits->tree.roots, *end = root + waits->tree.nr_roots;
	struct profile_wait_class *class;
	char name[WAIT_CLASS_BYTES];
	size_t room = 0;

	for (; root < end; root++) {
		uint32_t *number = &build->classes[root->class];

		if (!*number) {
			if (GROW(waits->classes, room, waits->nr_classes + 1))
				return -ENOMEM;
			wait_class_name(root->class & ~(uint32_t)WAIT_IO, name);
			class = &waits->classes[waits->nr_classes];
			*class = (struct profile_wait_class){ strdup(name), root->class & WAIT_IO };
			if (!class->name)
				return -ENOMEM;
			*number = (uint32_t)++waits->nr_classes;
		}
		root->class = *number - 1;
	}
	return 0;
}

/* --- accounts --------------------------------------------------------------------------------- */

/* CPU time is at most the wall time that is left for it. */
static int add_spent(const struct wait_build *build, const struct waits_account *from,
		     uint64_t excess_ns, struct profile_wait_account *to)
{
	const uint64_t on_cpu_ns = from->on_cpu_ns + excess_ns;
	const uint64_t cpu_ns = from->cpu_ns < on_cpu_ns ? from->cpu_ns : on_cpu_ns;

	*to = (struct profile_wait_account){ .target = from->key.target,
					     .cpu_ns = cpu_ns,
					     .stolen_ns = on_cpu_ns - cpu_ns,
					     .unaccounted_ns = from->unaccounted_ns,
					     .wall_ns = on_cpu_ns + from->unaccounted_ns };
	return filling_name_split(build->filling, from->key.split, &to->pid, &to->process,
				  &to->cgroup);
}

/* Begins an account for the nodes below a root; its sums come later. */
static int begin_sum(const struct profile_root *root, uint32_t runnable,
		     struct profile_wait_account *account)
{
	account->target = root->target;
	account->pid = root->pid;
	account->process = root->process ? strdup(root->process) : NULL;
	account->cgroup = root->cgroup ? strdup(root->cgroup) : NULL;
	if ((root->process && !account->process) || (root->cgroup && !account->cgroup))
		return -ENOMEM;
	if (root->class == runnable)
		return 0;
	account->sums = calloc(1, sizeof(*account->sums));
	if (!account->sums)
		return -ENOMEM;
	account->nr_sums = 1;
	account->sums->class = root->class;
	return 0;
}

static void add_sum(struct profile_wait_account *account, uint64_t ns, uint64_t count)
{
	account->wall_ns += ns;
	if (!account->nr_sums) {
		account->runnable_ns += ns;
		return;
	}
	account->sums->ns += ns;
	account->sums->count += count;
}

/*
 * Each root's waits, and below the same names the time spent outside of waits. Each target has an
 * account without a split.
 */
static int add_accounts(struct wait_build *build)
{
	const struct waits_accounts *accounts = build->accounts;
	const size_t nr_targets = build->filling->profile->nr_targets;
	struct profile_waits *waits = build->result;
	const struct profile_callers *tree = &waits->tree;
	cleanup_free uint32_t *roots = profile_callers_roots(tree);
	const uint32_t runnable = profile_waits_runnable(waits);
	struct profile_wait_account *list =
		calloc(tree->nr_roots + nr_targets + accounts->nr + 1, sizeof(*list));
	struct waits_account none = { 0 };
	size_t i;

	waits->accounts = list;
	if (!list || !roots)
		return -ENOMEM;
	for (i = 0; i < tree->nr_roots; i++) {
		if (begin_sum(&tree->roots[i], runnable, &list[waits->nr_accounts++]))
			return -ENOMEM;
		add_sum(&list[i], tree->roots[i].ticks, tree->roots[i].waits);
	}
	for (i = 0; i < tree->nr_nodes; i++)
		add_sum(&list[roots[i]], tree->nodes[i].ticks, tree->nodes[i].waits);
	for (; none.key.target < nr_targets; none.key.target++)
		if (add_spent(build, &none, 0, &list[waits->nr_accounts++]))
			return -ENOMEM;
	for (i = 0; i < accounts->nr; i++)
		if (add_spent(build, &accounts->list[i], build->excess[i].ns,
			      &list[waits->nr_accounts++]))
			return -ENOMEM;
	return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int build_waits(struct wait_build *build)
{
	int ret;

	build->excess = calloc(build->accounts->nr + 1, sizeof(*build->excess));
	if (!build->excess)
		return -ENOMEM;
	subtract_excess(build);
	ret = filling_tree(build->filling, true, &build->result->tree);
	ret = ret ?: add_unplaced(build);
	ret = ret ?: name_classes(build);
	ret = ret ?: add_accounts(build);
	return ret ?: profile_waits_fold(build->result);
}

int filling_waits(struct filling *filling, const struct waits_accounts *accounts,
		  struct profile_waits *result)
{
	struct wait_build *build = calloc(1, sizeof(*build));
	int ret = -ENOMEM;

	if (build) {
		build->filling = filling;
		build->accounts = accounts;
		build->result = result;
		ret = build_waits(build);
		free(build->excess);
	}
	free(build);
	return ret;
}
