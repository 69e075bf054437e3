// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* From a store of waits to the waits of a profile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/store_fill.h"
#include "host/engine/wait_classes.h"

/*
 * In the store, below a root, the first node of a chain is its class. In the profile the class and the end are the root's,
 * and each node with runnable time has another one below a root of the class runnable.
 */
enum { STATES = 1 << WAIT_STATE_BITS };

/* A hash: a place below a parent, or a class and an end below a root of the store. */
struct wait_slot {
	uint64_t key;
	uint32_t number; /* + 1; 0: empty */
};

struct wait_index {
	struct wait_slot *slots;
	size_t nr; /* a power of two */
	size_t used;
};

struct wait_build {
	struct filling *filling;
	struct profile_waits *result;
	uint32_t classes[STATES]; /* by state: number + 1 */
	struct wait_index accounts, sites, roots, nodes;
	size_t class_room, account_room, site_room, root_room, node_room;
};

/* --- hashes -------------------------------------------------------------------------------------- */

enum { INDEX_MIN = 256 };

static size_t first_slot(const struct wait_index *index, uint64_t key)
{
	uint64_t hash = (key ^ key >> 32) * 0x9e3779b97f4a7c15ULL;

	return (hash ^ hash >> 32) & (index->nr - 1);
}

static struct wait_slot *find_slot(const struct wait_index *index, uint64_t key)
{
	size_t at = first_slot(index, key);

	while (index->slots[at].number && index->slots[at].key != key)
		at = (at + 1) & (index->nr - 1);
	return &index->slots[at];
}

static int grow_index(struct wait_index *index)
{
	struct wait_index grown = { .nr = index->nr ? 2 * index->nr : INDEX_MIN,
				    .used = index->used };
	size_t i;

	grown.slots = calloc(grown.nr, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (i = 0; i < index->nr; i++)
		if (index->slots[i].number)
			*find_slot(&grown, index->slots[i].key) = index->slots[i];
	free(index->slots);
	*index = grown;
	return 0;
}

/* The slot of a key, which is empty if the key is new. NULL: out of memory. */
static struct wait_slot *slot_for(struct wait_index *index, uint64_t key)
{
	struct wait_slot *slot;

	if (2 * index->used >= index->nr && grow_index(index))
		return NULL;
	slot = find_slot(index, key);
	if (!slot->number) {
		slot->key = key;
		index->used++;
	}
	return slot;
}

/* --- classes and sites --------------------------------------------------------------------------- */

static bool is_class(const struct profile_wait_class *class, const char *name, bool io)
{
	return class->io == io && !strcmp(class->name, name);
}

/* System calls of both tables may have one name. -ENOMEM. */
static int class_of(struct wait_build *build, uint32_t state, uint32_t *result)
{
	struct profile_waits *waits = build->result;
	const bool io = state & WAIT_IO;
	char name[WAIT_CLASS_BYTES];
	size_t i;

	if (!build->classes[state]) {
		wait_class_name(state & ~(uint32_t)WAIT_IO, name);
		for (i = 0; i < waits->nr_classes && !is_class(&waits->classes[i], name, io);)
			i++;
		if (i == waits->nr_classes) {
			if (GROW(waits->classes, build->class_room, i + 1))
				return -ENOMEM;
			waits->classes[i] = (struct profile_wait_class){ strdup(name), io };
			if (!waits->classes[i].name)
				return -ENOMEM;
			waits->nr_classes++;
		}
		build->classes[state] = (uint32_t)i + 1;
	}
	*result = build->classes[state] - 1;
	return 0;
}

static int site_of(struct wait_build *build, const struct store_node *node, uint32_t *result)
{
	struct profile_waits *waits = build->result;
	struct profile_site site;
	struct wait_slot *slot;

	if (node->place & SITE_IN_KERNEL) {
		*result = PROFILE_SITE_KERNEL;
		return 0;
	}
	if (filling_site(build->filling, node, &site))
		return -ENOMEM;
	slot = slot_for(&build->sites, site.offset * 0x9e3779b97f4a7c15ULL ^ site.object);
	if (!slot)
		return -ENOMEM;
	if (!slot->number) {
		if (GROW(waits->sites, build->site_room, waits->nr_sites + 1))
			return -ENOMEM;
		waits->sites[waits->nr_sites] = site;
		slot->number = (uint32_t)++waits->nr_sites;
	}
	*result = slot->number - 1;
	return 0;
}

/* An index of sites in their order. */
static int compare_sites(const void *left, const void *right, void *context)
{
	const struct profile_site *sites = context;
	const struct profile_site *a = &sites[*(const uint32_t *)left];
	const struct profile_site *b = &sites[*(const uint32_t *)right];

	return compare_u64(a->object, b->object) ?: compare_u64(a->offset, b->offset);
}

static int sort_sites(struct profile_waits *waits)
{
	cleanup_free uint32_t *order = calloc(waits->nr_sites + 1, sizeof(*order));
	cleanup_free uint32_t *ranks = calloc(waits->nr_sites + 1, sizeof(*ranks));
	struct profile_site *sites = calloc(waits->nr_sites + 1, sizeof(*sites));
	size_t i;

	if (!order || !ranks || !sites) {
		free(sites);
		return -ENOMEM;
	}
	for (i = 0; i < waits->nr_sites; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, waits->nr_sites, sizeof(*order), compare_sites, waits->sites);
	for (i = 0; i < waits->nr_sites; i++) {
		sites[i] = waits->sites[order[i]];
		ranks[order[i]] = (uint32_t)i;
	}
	for (i = 0; i < waits->nr_nodes; i++)
		if (waits->nodes[i].site != PROFILE_SITE_KERNEL)
			waits->nodes[i].site = ranks[waits->nodes[i].site];
	free(waits->sites);
	waits->sites = sites;
	return 0;
}

/* --- accounts ------------------------------------------------------------------------------------ */

/* The names of a split; none: the split is not known. -ENOMEM. */
static int name_split(const struct filling *filling, uint64_t split, int64_t *pid, char **process,
		      char **cgroup)
{
	const struct seen_names *names = filling->names;
	const struct split_name *name = split ? split_names_find(names->splits, split) : NULL;

	*pid = -1;
	if (!split)
		return 0;
	if (names->split == SPLIT_CGROUP) {
		*cgroup = split_cgroup_name(names->splits, split);
		return *cgroup ? 0 : -ENOMEM;
	}
	*pid = split_pid(split);
	*process = name && *name->name ? strdup(name->name) : NULL;
	return name && *name->name && !*process ? -ENOMEM : 0;
}

/* The account of a target's split, which is added if it is new. -ENOMEM. */
static int account_of(struct wait_build *build, uint32_t target, uint64_t split, uint32_t *result)
{
	struct wait_slot *slot = slot_for(&build->accounts, split * 0x9e3779b97f4a7c15ULL ^ target);
	struct profile_waits *waits = build->result;
	struct profile_wait_account *account;

	if (!slot || GROW(waits->accounts, build->account_room, waits->nr_accounts + 1))
		return -ENOMEM;
	*result = slot->number - 1;
	if (slot->number)
		return 0;
	account = &waits->accounts[waits->nr_accounts];
	*account = (struct profile_wait_account){ .target = target };
	slot->number = (uint32_t)++waits->nr_accounts;
	*result = slot->number - 1;
	return name_split(build->filling, split, &account->pid, &account->process,
			  &account->cgroup);
}

static int add_sum(struct profile_wait_account *account, uint32_t class, uint64_t ns,
		   uint64_t count)
{
	struct profile_wait_sum *sums = account->sums;
	size_t i = 0;

	while (i < account->nr_sums && sums[i].class < class)
		i++;
	if (i == account->nr_sums || sums[i].class != class) {
		sums = reallocarray(sums, account->nr_sums + 1, sizeof(*sums));
		if (!sums)
			return -ENOMEM;
		account->sums = sums;
		memmove(&sums[i + 1], &sums[i], (account->nr_sums++ - i) * sizeof(*sums));
		sums[i] = (struct profile_wait_sum){ .class = class };
	}
	sums[i].ns += ns;
	sums[i].count += count;
	account->wall_ns += ns;
	return 0;
}

/*
 * The scheduler's account of a running thread may be ahead of the clock by what it had not settled at the start: then
 * the CPU time is the clock's.
 */
static void add_account(const struct waits_account *from, struct profile_wait_account *to)
{
	const uint64_t cpu_ns = from->cpu_ns < from->on_cpu_ns ? from->cpu_ns : from->on_cpu_ns;

	to->cpu_ns += cpu_ns;
	to->stolen_ns += from->on_cpu_ns - cpu_ns;
	to->unaccounted_ns += from->unaccounted_ns;
	to->wall_ns += from->on_cpu_ns + from->unaccounted_ns;
}

/* What was spent beside waits. Each target has an account without a split. */
static int add_accounts(struct wait_build *build, const struct waits_accounts *accounts)
{
	const struct waits_account *from;
	uint32_t account;
	size_t i;

	for (i = 0; i < build->filling->profile->nr_targets; i++)
		if (account_of(build, (uint32_t)i, 0, &account))
			return -ENOMEM;
	for (i = 0; i < accounts->nr; i++) {
		from = &accounts->list[i];
		if (account_of(build, from->key.target, from->key.split, &account))
			return -ENOMEM;
		add_account(from, &build->result->accounts[account]);
	}
	return 0;
}

/* --- the tree ------------------------------------------------------------------------------------ */

/* Whose waits these are, in the profile: a root of the store, or only a target. */
struct waiter {
	uint32_t target;
	uint64_t split;
	uint32_t account;
};

/* The root of a class and an end, which is added if it is new. -ENOMEM. */
static int root_of(struct wait_build *build, const struct waiter *waiter, uint32_t state,
		   uint32_t end, uint32_t *result)
{
	const uint64_t key = (uint64_t)waiter->account << 32 | end << WAIT_STATE_BITS | state;
	struct wait_slot *slot = slot_for(&build->roots, key);
	struct profile_waits *waits = build->result;
	struct profile_wait_root *root;

	if (!slot || GROW(waits->roots, build->root_room, waits->nr_roots + 1))
		return -ENOMEM;
	*result = slot->number - 1;
	if (slot->number)
		return 0;
	root = &waits->roots[waits->nr_roots];
	*root = (struct profile_wait_root){ .target = waiter->target, .end = end };
	slot->number = (uint32_t)++waits->nr_roots;
	*result = slot->number - 1;
	if (class_of(build, state, &root->class))
		return -ENOMEM;
	return name_split(build->filling, waiter->split, &root->pid, &root->process, &root->cgroup);
}

/* Goes from a parent of the profile to its child at a site, which is added if it is new. -ENOMEM. */
static int child_of(struct wait_build *build, uint32_t site, int32_t *parent)
{
	struct wait_slot *slot = slot_for(&build->nodes, (uint64_t)(uint32_t)*parent << 32 | site);
	struct profile_waits *waits = build->result;

	if (!slot || GROW(waits->nodes, build->node_room, waits->nr_nodes + 1))
		return -ENOMEM;
	if (!slot->number) {
		waits->nodes[waits->nr_nodes] =
			(struct profile_wait_node){ .parent = *parent, .site = site };
		slot->number = (uint32_t)++waits->nr_nodes;
	}
	*parent = (int32_t)slot->number - 1;
	return 0;
}

/* A chain of the store: its nodes below the class, the leaf first. */
struct wait_chain {
	uint32_t nodes[WALK_FRAMES + 1];
	uint32_t nr;
	uint32_t state;
	uint32_t end;
};

/* Chains with a gap hang from a root of END_FULL. */
static void read_chain(const struct store *store, size_t node, struct wait_chain *chain)
{
	const struct store_node *at = &store->nodes[node];

	chain->nr = 0;
	while (!(at->parent & NODE_IS_ROOT) && chain->nr < WALK_FRAMES) {
		chain->nodes[chain->nr++] = (uint32_t)(at - store->nodes);
		at = &store->nodes[at->parent - 1];
	}
	chain->state = wait_site_state(at->place);
	chain->end = store->roots[at->parent & ~NODE_IS_ROOT].key.end == END_FULL ?
			     END_FULL :
			     wait_site_end(at->place);
}

/* Adds time to the profile's node for a chain, or to its root if there is no place. */
static int add_time(struct wait_build *build, const struct waiter *waiter,
		    const struct wait_chain *chain, uint32_t state, uint64_t ns, uint64_t count)
{
	struct profile_waits *waits = build->result;
	struct profile_wait_account *account = &waits->accounts[waiter->account];
	uint32_t root, site, i;
	int32_t at;

	if (root_of(build, waiter, state, chain->end, &root))
		return -ENOMEM;
	at = -1 - (int32_t)root;
	for (i = chain->nr; i-- > 0;) {
		if (site_of(build, &build->filling->store->nodes[chain->nodes[i]], &site) ||
		    child_of(build, site, &at))
			return -ENOMEM;
	}
	if (at < 0) {
		waits->roots[root].ns += ns;
		waits->roots[root].count += count;
	} else {
		waits->nodes[at].ns += ns;
		waits->nodes[at].count += count;
	}
	if (state != WAIT_RUNNABLE)
		return add_sum(account, waits->roots[root].class, ns, count);
	account->runnable_ns += ns;
	account->wall_ns += ns;
	return 0;
}

/* A wait was also a time of being runnable after it. What was preempted was only that. */
static int add_waits(struct wait_build *build, const struct waiter *waiter,
		     const struct wait_chain *chain, const struct node_waits *of)
{
	int ret = 0;

	if (chain->state != WAIT_RUNNABLE && (of->ns || of->count))
		ret = add_time(build, waiter, chain, chain->state, of->ns, of->count);
	if (!ret && (of->runnable_ns || chain->state == WAIT_RUNNABLE))
		ret = add_time(build, waiter, chain, WAIT_RUNNABLE, of->runnable_ns, of->count);
	return ret;
}

static int add_tree(struct wait_build *build)
{
	const struct filling *filling = build->filling;
	const struct store *store = filling->store;
	struct wait_chain chain;
	struct waiter waiter;
	size_t i;

	for (i = 0; i < store->nr_nodes; i++) {
		const struct node_waits *of = &store->waits[i];
		const struct table_root_key *key = &store->roots[filling->roots[i]].key;

		if (!of->ns && !of->runnable_ns && !of->count)
			continue;
		waiter = (struct waiter){ .target = key->target, .split = key->split };
		read_chain(store, i, &chain);
		/* Of cgroups that were left out later no place is shown. */
		if (filling->left_out[filling->roots[i]])
			chain.nr = 0;
		if (account_of(build, waiter.target, waiter.split, &waiter.account) ||
		    add_waits(build, &waiter, &chain, of))
			return -ENOMEM;
	}
	return 0;
}

static int add_unplaced(struct wait_build *build, const struct waits_accounts *accounts,
			bool callers)
{
	const struct wait_chain chain = { .state = WAIT_OTHER,
					  .end = callers ? END_FULL : END_FLAT };
	struct waiter waiter = { 0 };
	size_t i;

	for (i = 0; i < accounts->nr_unplaced; i++) {
		waiter.target = waiter.account = (uint32_t)i;
		if (add_waits(build, &waiter, &chain, &accounts->unplaced[i]))
			return -ENOMEM;
	}
	return 0;
}

static int build_waits(struct wait_build *build, const struct waits_accounts *accounts)
{
	int ret = add_accounts(build, accounts);

	ret = ret ?: add_tree(build);
	ret = ret ?: add_unplaced(build, accounts, build->filling->profile->callers);
	free(build->accounts.slots);
	free(build->sites.slots);
	free(build->roots.slots);
	free(build->nodes.slots);
	return ret ?: sort_sites(build->result);
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
		build->filling = &filling;
		build->result = profile->waits;
		ret = build_waits(build, accounts);
	}
	filling_end(&filling);
	free(build);
	return ret || !profile->waits ? error_no_memory(err, "profile") : 0;
}
