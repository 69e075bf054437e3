// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* From a store of waits to the waits of a profile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/store_impl.h"
#include "host/engine/wait_classes.h"
#include "profile/waits.h"

/*
 * In the store, the first node of a chain below a root is its class. In the profile the class and
 * the end are the root's, and nodes with runnable time are also in a tree below a root of the class
 * runnable. All lists are made in the order of arrival, and folded at the end.
 */
enum { STATES = 1 << WAIT_STATE_BITS };

enum kind { KIND_BLOCKED, KIND_RUNNABLE, KINDS };

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
	struct filling_tree tree;
	struct profile_waits *result;
	const struct waits_accounts *accounts;
	struct excess *excess; /* by account */
	struct excess **excess_of; /* by root of the store; NULL: it has no account */
	uint32_t classes[STATES]; /* by state: number + 1 */
	uint8_t *needed; /* by node of the store: the kinds of time in it or below it, as bits */
	int32_t *nodes[KINDS]; /* likewise: a parent in the profile */
	size_t class_room;
};

/* --- names ------------------------------------------------------------------------------------ */

/* -ENOMEM. */
static int class_of(struct wait_build *build, uint32_t state, uint32_t *result)
{
	struct profile_waits *waits = build->result;
	char name[WAIT_CLASS_BYTES];

	if (!build->classes[state]) {
		if (GROW(waits->classes, build->class_room, waits->nr_classes + 1))
			return -ENOMEM;
		wait_class_name(state & ~(uint32_t)WAIT_IO, name);
		waits->classes[waits->nr_classes] =
			(struct profile_wait_class){ strdup(name), state & WAIT_IO };
		if (!waits->classes[waits->nr_classes].name)
			return -ENOMEM;
		build->classes[state] = (uint32_t)++waits->nr_classes;
	}
	*result = build->classes[state] - 1;
	return 0;
}

/* --- runtime by the scheduler's clock --------------------------------------------------------- */

static int order_of(const struct spent_key *key, const struct table_root_key *root)
{
	return compare_u64(key->target, root->target) ?: compare_u64(key->split, root->split);
}

static struct excess *excess_of_root(const struct wait_build *build,
				     const struct table_root_key *root)
{
	const struct waits_account *list = build->accounts->list;
	const size_t nr = build->accounts->nr;
	const size_t at = BISECT(i, nr, order_of(&list[i].key, root) < 0);

	return at < nr && !order_of(&list[at].key, root) ? &build->excess[at] : NULL;
}

/* -ENOMEM. */
static int find_excess(struct wait_build *build)
{
	const struct filling *filling = build->tree.filling;
	const struct store *store = filling->store;
	const struct waits_account *list = build->accounts->list;
	size_t i;

	build->excess = calloc(build->accounts->nr + 1, sizeof(*build->excess));
	build->excess_of = calloc(store->nr_roots + 1, sizeof(struct excess *));
	if (!build->excess || !build->excess_of)
		return -ENOMEM;
	for (i = 0; i < store->nr_roots; i++)
		build->excess_of[i] = excess_of_root(build, &store->roots[i].key);
	for (i = 0; i < store->nr_nodes; i++)
		if (build->excess_of[filling->roots[i]])
			build->excess_of[filling->roots[i]]->runnable_ns +=
				store->waits[i].runnable_ns;
	for (i = 0; i < build->accounts->nr; i++) {
		struct excess *excess = &build->excess[i];

		if (list[i].cpu_ns > list[i].on_cpu_ns)
			excess->ns = list[i].cpu_ns - list[i].on_cpu_ns;
		if (excess->ns > excess->runnable_ns)
			excess->ns = excess->runnable_ns;
	}
	return 0;
}

static uint64_t part_of_excess(const struct excess *excess)
{
	return (uint64_t)((unsigned __int128)excess->ns * excess->seen_ns / excess->runnable_ns);
}

/* The runnable time of a node without its part of the excess. Call it once for each node. */
static uint64_t runnable_of(const struct wait_build *build, size_t i)
{
	const uint64_t ns = build->tree.filling->store->waits[i].runnable_ns;
	struct excess *excess = build->excess_of[build->tree.filling->roots[i]];
	uint64_t before;

	if (!excess || !excess->ns)
		return ns;
	before = part_of_excess(excess);
	excess->seen_ns += ns;
	return ns - (part_of_excess(excess) - before);
}

/* --- the tree --------------------------------------------------------------------------------- */

/* Adds a root of a state. -ENOMEM. */
static int add_root(struct wait_build *build, const struct table_root_key *key, uint32_t state,
		    uint32_t end, int32_t *result)
{
	if (filling_add_root(&build->tree, key, key->split, end, result))
		return -ENOMEM;
	return class_of(build, state, &build->result->tree.roots[-1 - *result].class);
}

/*
 * Finds the parent of a node's children in the profile. Chains with a gap hang from a root of
 * END_FULL. -ENOMEM.
 */
static int place_node(struct wait_build *build, size_t i, enum kind kind)
{
	const struct filling *filling = build->tree.filling;
	const struct store_node *node = &filling->store->nodes[i];
	const struct table_root_key *key = &filling->store->roots[filling->roots[i]].key;
	int32_t *result = &build->nodes[kind][i];

	if (node->parent & NODE_IS_ROOT)
		return add_root(
			build, key,
			kind == KIND_RUNNABLE ? WAIT_RUNNABLE : wait_site_state(node->place),
			key->end == END_FULL ? END_FULL : wait_site_end(node->place), result);
	*result = build->nodes[kind][node->parent - 1];
	/* For cgroups that were left out later no place is shown. */
	return filling->left_out[filling->roots[i]] ?
		       0 :
		       filling_add_node(&build->tree, node, *result, result);
}

/* The kinds of time in an element. A preempted thread did not wait. */
static uint8_t kinds_of(const struct node_waits *of, bool preempted)
{
	const bool blocked = !preempted && (of->ns || of->count);
	const bool runnable = of->runnable_ns || (preempted && of->count);

	return (uint8_t)(blocked << KIND_BLOCKED | runnable << KIND_RUNNABLE);
}

/* Parents come before their children. */
static void find_needed(struct wait_build *build)
{
	const struct store *store = build->tree.filling->store;
	uint8_t *needed = build->needed;
	uint32_t parent;
	size_t i;

	for (i = 0; i < store->nr_nodes; i++) {
		parent = store->nodes[i].parent;
		needed[i] = parent & NODE_IS_ROOT ?
				    (wait_site_state(store->nodes[i].place) == WAIT_RUNNABLE)
					    << KINDS :
				    needed[parent - 1] & 1 << KINDS;
		needed[i] |= kinds_of(&store->waits[i], needed[i]);
	}
	for (i = store->nr_nodes; i-- > 0;)
		if (!(store->nodes[i].parent & NODE_IS_ROOT))
			needed[store->nodes[i].parent - 1] |= needed[i];
}

/* After a wait, the thread was also runnable. */
static int add_tree(struct wait_build *build)
{
	const struct store *store = build->tree.filling->store;
	size_t i;

	find_needed(build);
	for (i = 0; i < store->nr_nodes; i++) {
		const struct node_waits *of = &store->waits[i];
		const uint8_t own = kinds_of(of, build->needed[i] & 1 << KINDS);
		enum kind kind;

		for (kind = 0; kind < KINDS; kind++) {
			if (!(build->needed[i] & 1 << kind))
				continue;
			if (place_node(build, i, kind))
				return -ENOMEM;
			if (own & 1 << kind)
				filling_add_ticks(&build->tree, build->nodes[kind][i],
						  kind == KIND_BLOCKED ? of->ns :
									 runnable_of(build, i),
						  of->count);
		}
	}
	return 0;
}

/* Waits that are in no node. */
static int add_unplaced(struct wait_build *build)
{
	const struct waits_accounts *accounts = build->accounts;
	const uint32_t end = build->tree.filling->profile->callers ? END_FULL : END_FLAT;
	struct table_root_key key = { 0 };
	int32_t root;

	for (; key.target < accounts->nr_unplaced; key.target++) {
		const struct node_waits *of = &accounts->unplaced[key.target];

		if (of->ns || of->count) {
			if (add_root(build, &key, WAIT_OTHER, end, &root))
				return -ENOMEM;
			filling_add_ticks(&build->tree, root, of->ns, of->count);
		}
		if (of->runnable_ns) {
			if (add_root(build, &key, WAIT_RUNNABLE, end, &root))
				return -ENOMEM;
			filling_add_ticks(&build->tree, root, of->runnable_ns, of->count);
		}
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
	return filling_name_split(build->tree.filling, from->key.split, &to->pid, &to->process,
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
	const size_t nr_targets = build->tree.filling->profile->nr_targets;
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
	const size_t room = build->tree.filling->store->nr_nodes + 1;
	int ret = filling_tree_begin(&build->tree, KINDS * room);

	build->needed = calloc(room, sizeof(*build->needed));
	build->nodes[KIND_BLOCKED] = calloc(room, sizeof(int32_t));
	build->nodes[KIND_RUNNABLE] = calloc(room, sizeof(int32_t));
	if (!build->needed || !build->nodes[KIND_BLOCKED] || !build->nodes[KIND_RUNNABLE])
		ret = -ENOMEM;
	ret = ret ?: find_excess(build);
	ret = ret ?: add_tree(build);
	ret = ret ?: add_unplaced(build);
	ret = ret ?: add_accounts(build);
	free(build->excess);
	free(build->excess_of);
	free(build->needed);
	free(build->nodes[KIND_BLOCKED]);
	free(build->nodes[KIND_RUNNABLE]);
	filling_tree_end(&build->tree);
	return ret ?: profile_waits_fold(build->result);
}

int store_fill_waits(const struct store *store, const struct waits_accounts *accounts,
		     struct seen_names *names, const struct kernel_modules *modules,
		     struct profile *profile, struct error *err)
{
	struct filling filling = { .store = store,
				   .names = names,
				   .modules = modules,
				   .profile = profile,
				   .err = err };
	struct wait_build *build = calloc(1, sizeof(*build));
	int ret = build ? filling_begin(&filling) : -ENOMEM;

	profile->waits = calloc(1, sizeof(*profile->waits));
	if (!ret && profile->waits) {
		build->tree = (struct filling_tree){ .filling = &filling,
						     .result = &profile->waits->tree };
		build->result = profile->waits;
		build->accounts = accounts;
		ret = build_waits(build);
	}
	filling_end(&filling);
	free(build);
	return ret || !profile->waits ? error_no_memory(err, "profile") : 0;
}
