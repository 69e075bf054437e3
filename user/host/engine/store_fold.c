// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Makes the store smaller. Each tick stays, but may lose its callers, its exact place or its
 * process. Waits lose their place at once, and keep their class.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/store_impl.h"

/* The ways to fold places. Later ones lose more. */
enum fold {
	FOLD_NOT,
	FOLD_CHAINS, /* ticks lose their callers */
	FOLD_COARSE, /* places become bins of 1 KiB, without callers */
	FOLD_WIDEST, /* places become bins of 64 KiB */
	FOLD_SPLITS, /* such bins lose their process, thread or cgroup too */
	FOLD_WAITS, /* waits lose their places; all others are ways of ticks */
};

/*
 * Nodes that can be folded are sorted by the highest bit of their ticks: places by their own ticks,
 * callers and waits by those of all below them. Folding one place below a caller that stays saves
 * nothing.
 */
enum { HEATS = 64 };

struct owner_places {
	uint64_t nr_nodes;
	uint64_t keep_above; /* nodes with more ticks stay */
	/* So many of the nodes in the topmost folded power of two are folded: choose_coldest(). */
	uint64_t nr_at_limit;
};

struct store_change {
	struct store *store;
	struct table_root_key *keys; /* by root: its new key */
	uint8_t *folds; /* by root: enum fold */
	struct owner_places *owners; /* by owner */
	uint64_t nr_nodes; /* of all owners */
	uint32_t *root_of; /* by node: its root before the change */
	/*
	 * By node, after the move: its node_ref(), or, if it does not stay, that of the last node
	 * above it that does.
	 */
	uint32_t *moved;
	uint8_t *keep; /* by node: it stays as it is, with its chain */
	/* By node: if it is a caller or a wait, the ticks or time of it and all below it; else 0. */
	uint64_t *called;
	const struct store_root *roots; /* before the change */
	const struct store_text *texts;
	uint32_t *new_texts; /* by text: its new number, or NO_TEXT_YET */
};

#define NO_TEXT_YET UINT32_MAX

static uint32_t bin_shift_of(const struct store *store, enum fold fold)
{
	return fold == FOLD_COARSE ? bin_coarser(store->bin_shift) : BIN_SHIFT_MAX;
}

/* Whether to widen a place can save its memory. */
static bool can_widen(const struct store *store, const struct store_node *node, enum fold fold)
{
	if (!has_place(node))
		return false;
	/* If bins are this wide already, only forgetting the process saves memory. */
	return place_shift(node->place) < bin_shift_of(store, fold) &&
	       (store->bin_shift < bin_shift_of(store, fold) || fold == FOLD_SPLITS);
}

static uint64_t waits_of(const struct store *store, size_t i)
{
	return store->waits ? store->waits[i] : 0;
}

/* The ticks, or the time of waits, of a node that can be folded; 0: it cannot. */
static uint64_t foldable_ticks(const struct store_change *change, size_t i)
{
	const struct store_node *node = &change->store->nodes[i];
	const enum fold fold = change->folds[change->root_of[i]];

	if (fold == FOLD_NOT)
		return 0;
	if (fold == FOLD_CHAINS)
		return change->called[i];
	if (fold == FOLD_WAITS)
		return has_place(node) ? change->called[i] ?: 1 : 0;
	return can_widen(change->store, node, fold) ? node->count : 0;
}

static unsigned int heat_of(uint64_t count)
{
	return HEATS - 1 - (unsigned int)__builtin_clzll(count);
}

/*
 * Chooses whether a node is hot enough to stay. Call it once for each node: of the nodes at their
 * owner's limit, the first nr_at_limit are not hot, and each call subtracts one.
 */
static bool choose_hot(struct store_change *change, size_t i)
{
	const uint64_t ticks = foldable_ticks(change, i);
	struct owner_places *owner = &change->owners[change->roots[change->root_of[i]].owner];

	if (!ticks || ticks > owner->keep_above)
		return true;
	if (heat_of(ticks) != heat_of(owner->keep_above))
		return false;
	if (!owner->nr_at_limit)
		return true;
	owner->nr_at_limit--;
	return false;
}

/* Hot callers stay, and the functions that they called directly. */
static void mark_hot_callers(struct store_change *change)
{
	uint32_t parent;
	size_t i;

	for (i = 0; i < change->store->nr_nodes; i++) {
		parent = change->store->nodes[i].parent;
		change->keep[i] = choose_hot(change, i) &&
				  (parent & NODE_IS_ROOT || change->keep[node_number(parent)]);
	}
}

static void mark_hot_places(struct store_change *change)
{
	size_t i;

	for (i = 0; i < change->store->nr_nodes; i++)
		change->keep[i] = choose_hot(change, i) &&
				  (change->store->nodes[i].count || waits_of(change->store, i));
}

/* A node also stays if one below it does. */
static void keep_above_kept(struct store_change *change)
{
	uint32_t parent;
	size_t i;

	for (i = change->store->nr_nodes; i-- > 0;) {
		parent = change->store->nodes[i].parent;
		if (change->keep[i] && !(parent & NODE_IS_ROOT))
			change->keep[node_number(parent)] = true;
	}
}

/* Folds ticks in the kernel at the place that it works for. */
static void move_kernel_ticks(struct store_change *change)
{
	struct store_node *nodes = change->store->nodes, *node;
	size_t i;

	for (i = 0; i < change->store->nr_nodes; i++) {
		node = &nodes[i];
		if (change->keep[i] || !(node->place & SITE_IN_KERNEL) ||
		    node->parent & NODE_IS_ROOT)
			continue;
		node->text = nodes[node_number(node->parent)].text;
		node->place = nodes[node_number(node->parent)].place & SITE_OFFSET_MASK;
	}
}

/* A root's successor, as a parent. */
static uint32_t new_root(struct store_change *change, uint32_t root, bool keep)
{
	struct store_root new = change->roots[root];

	new.key = change->keys[root];
	return store_put_parent(change->store, new, !keep);
}

static uint32_t new_text(struct store_change *change, uint32_t text)
{
	uint32_t *known = &change->new_texts[text];

	if (*known == NO_TEXT_YET)
		*known = store_put_text(change->store, &change->texts[text]);
	return *known;
}

/* Anonymous text has no meaning without its process. */
static void forget_process(struct store_change *change, struct store_node *node)
{
	const struct store_text unknown = { .space.kind = SPACE_ANON };

	if (change->store->texts[node->text].space.kind != SPACE_ANON)
		return;
	node->text = store_put_text(change->store, &unknown);
	node->place = (uint64_t)BIN_SHIFT_MAX << PLACE_SHIFT_BIT;
}

static void widen(struct store_change *change, enum fold fold, struct store_node *node)
{
	const uint32_t shift = bin_shift_of(change->store, fold);

	if (fold == FOLD_WAITS) {
		node->place = SITE_IN_KERNEL;
		node->text = 0;
		return;
	}
	node->place = (node->place & SITE_OFFSET_MASK) >> shift << shift |
		      (uint64_t)shift << PLACE_SHIFT_BIT;
}

/* Returns the last node that stays of the chain from a parent up; NO_NODE: none stays. */
static uint32_t rest_above(const struct store_change *change, uint32_t parent)
{
	return parent & NODE_IS_ROOT ? NO_NODE : change->moved[node_number(parent)];
}

/*
 * Copies the rest of a chain below END_FULL, into the free slots before node i. Returns the last
 * node of the copy as a parent. If there are too few slots, it returns the root: the ticks lose
 * these callers.
 */
static uint32_t copy_rest(struct store_change *change, size_t i, uint32_t root, uint32_t rest)
{
	struct store *store = change->store;
	uint32_t chain[CHAIN_MAX], nr = 0, at, parent = new_root(change, root, false);
	struct store_node node;

	if (!rest)
		return parent;
	for (at = rest; !(at & NODE_IS_ROOT) && nr < CHAIN_MAX;
	     at = store->nodes[chain[nr - 1]].parent)
		chain[nr++] = node_number(at);
	if (at == parent)
		return rest;
	if (store->nr_nodes + nr > i)
		return parent;
	while (nr--) {
		node = store->nodes[chain[nr]];
		node.parent = parent;
		node.count = 0;
		parent = node_ref(store_put_node(store, &node, 0));
	}
	return parent;
}

static uint32_t put_moved(struct store_change *change, enum fold fold, struct store_node *node,
			  uint64_t waits)
{
	if (!(node->place & SITE_IN_KERNEL)) {
		node->text = new_text(change, node->text);
		if (fold == FOLD_SPLITS)
			forget_process(change, node);
	}
	return node_ref(store_put_node(change->store, node, waits));
}

static void move_kept(struct store_change *change, size_t i)
{
	const uint32_t root = change->root_of[i];
	struct store_node node = change->store->nodes[i];

	node.parent = rest_above(change, node.parent) ?: new_root(change, root, true);
	change->moved[i] =
		put_moved(change, change->folds[root], &node, waits_of(change->store, i));
}

/*
 * Ticks go to the same place below the rest of the chain, or to a wider place without callers.
 * Waits go to their root.
 */
static void move_folded(struct store_change *change, size_t i)
{
	const uint32_t root = change->root_of[i];
	const enum fold fold = change->folds[root];
	struct store_node node = change->store->nodes[i];
	const uint32_t rest = rest_above(change, node.parent);
	const uint64_t waits = waits_of(change->store, i);

	change->moved[i] = rest;
	if (!node.count && !waits)
		return;
	if (fold == FOLD_CHAINS) {
		node.parent = copy_rest(change, i, root, rest);
	} else {
		node.parent = new_root(change, root, false);
		widen(change, fold, &node);
	}
	put_moved(change, fold, &node, waits);
}

/*
 * Rewrites the list in place. The new list never reaches the node that is moved: each node becomes
 * at most one, and copy_rest() uses only slots that are free.
 */
static void move_nodes(struct store_change *change)
{
	struct store *store = change->store;
	const size_t nr = store->nr_nodes;
	size_t i;

	memset(store->node_index.slots, 0, store->node_index.nr * sizeof(uint32_t));
	store->nr_nodes = 0;
	for (i = 0; i < nr; i++) {
		if (change->keep[i])
			move_kept(change, i);
		else
			move_folded(change, i);
	}
}

static void move_root_ticks(struct store_change *change, size_t nr)
{
	struct store_root root;
	size_t i;

	for (i = 0; i < nr; i++) {
		root = change->roots[i];
		root.key = change->keys[i];
		if (root.ticks)
			store_put_root(change->store, &root);
	}
}

/* Begins new lists of roots and texts; -ENOMEM: nothing has changed. */
static int begin_lists(struct store_change *change, const struct store *former)
{
	struct store *store = change->store;

	store->roots = NULL;
	store->texts = NULL;
	store->nr_roots = store->root_room = store->nr_texts = store->text_room = 0;
	store->root_index = store->text_index = (struct hash_index){ 0 };
	/*
	 * Each root may get another one of END_FULL. One text may be new: that of unknown
	 * processes.
	 */
	if (!store_reserve(store, 0, 2 * former->nr_roots, former->nr_texts + 1))
		return 0;
	store_free_roots_and_texts(store);
	*store = *former;
	return -ENOMEM;
}

static int move_all(struct store_change *change)
{
	struct store former = *change->store;
	size_t i;

	change->new_texts = malloc((former.nr_texts + 1) * sizeof(*change->new_texts));
	if (!change->new_texts)
		return -ENOMEM;
	for (i = 0; i < former.nr_texts; i++)
		change->new_texts[i] = NO_TEXT_YET;
	if (change->called)
		mark_hot_callers(change);
	else
		mark_hot_places(change);
	keep_above_kept(change);
	if (begin_lists(change, &former))
		return -ENOMEM;
	move_kernel_ticks(change);
	move_nodes(change);
	move_root_ticks(change, former.nr_roots);
	store_free_roots_and_texts(&former);
	store_trim(change->store);
	return 0;
}

static void end_change(struct store_change *change)
{
	free(change->keys);
	free(change->folds);
	free(change->owners);
	free(change->root_of);
	free(change->moved);
	free(change->keep);
	free(change->called);
	free(change->new_texts);
}

/* Initializes a change in which nothing folds. Call end_change() in any case. */
static int begin_change(struct store_change *change, struct store *store)
{
	size_t i;

	*change =
		(struct store_change){ .store = store,
				       .roots = store->roots,
				       .texts = store->texts,
				       .keys = calloc(store->nr_roots + 1, sizeof(*change->keys)),
				       .folds = calloc(store->nr_roots + 1, sizeof(*change->folds)),
				       .owners = calloc(OWNERS_MAX, sizeof(*change->owners)),
				       .keep = calloc(store->nr_nodes + 1, sizeof(*change->keep)),
				       .moved = calloc(store->nr_nodes + 1, sizeof(*change->moved)),
				       .root_of = store_roots_of_nodes(store) };
	if (!change->keys || !change->folds || !change->owners || !change->keep || !change->moved ||
	    !change->root_of)
		return -ENOMEM;
	for (i = 0; i < store->nr_roots; i++)
		change->keys[i] = store->roots[i].key;
	return 0;
}

/* --- how far it is folded --------------------------------------------------------------------- */

struct fold_step {
	uint64_t bytes; /* that the store may have after it */
	bool (*has_ended)(void *ctx, uint32_t target, uint64_t split);
	void *ctx;
	bool spare_small_owners; /* owners who have few places keep them */
	bool also_running; /* processes that have not ended are folded, too */
	enum fold fold;
};

/* Each step folds either ticks or waits. */
static bool is_of_step(const struct store_change *change, size_t root, const struct fold_step *step)
{
	return (change->roots[root].class != 0) == (step->fold == FOLD_WAITS);
}

static void choose_roots(struct store_change *change, const struct fold_step *step)
{
	size_t i;

	for (i = 0; i < change->store->nr_roots; i++) {
		const struct table_root_key *key = &change->keys[i];

		if (!is_of_step(change, i, step) ||
		    (!step->also_running &&
		     (!key->split || !step->has_ended(step->ctx, key->target, key->split))))
			continue;
		change->folds[i] = step->fold;
	}
}

/* Of the roots that choose_roots() chose, those of owners that keep their places stay. */
static void forget_splits(struct store_change *change)
{
	size_t i;

	for (i = 0; i < change->store->nr_roots; i++) {
		if (change->folds[i] != FOLD_SPLITS)
			continue;
		if (change->owners[change->roots[i].owner].keep_above)
			change->keys[i].split = 0;
		else
			change->folds[i] = FOLD_NOT;
	}
}

/* A kernel frame counts as part of the place above it, not as its callee. */
static int sum_called(struct store_change *change)
{
	const struct store_node *nodes = change->store->nodes;
	const size_t nr = change->store->nr_nodes;
	cleanup_free uint64_t *own = calloc(nr + 1, sizeof(*own));
	uint64_t *called = calloc(nr + 1, sizeof(*called));
	const struct store_root *root;
	size_t i;

	change->called = called;
	if (!own || !called)
		return -ENOMEM;
	for (i = nr; i-- > 0;) {
		const uint64_t all = called[i] + own[i] + nodes[i].count;
		uint64_t *of_parent = nodes[i].place & SITE_IN_KERNEL ? own : called;

		if (!(nodes[i].parent & NODE_IS_ROOT))
			of_parent[node_number(nodes[i].parent)] += all;
		root = &change->roots[change->root_of[i]];
		if (!root->class && root->key.end == END_FLAT)
			called[i] = 0;
		else if (root->class || called[i])
			called[i] = all;
	}
	return 0;
}

static void count_places(struct store_change *change, const struct fold_step *step)
{
	size_t i;

	for (i = 0; i < change->store->nr_nodes; i++) {
		if (!is_of_step(change, change->root_of[i], step))
			continue;
		change->owners[change->roots[change->root_of[i]].owner].nr_nodes++;
		change->nr_nodes++;
	}
}

/* How many places owners have beyond a share. */
static uint64_t beyond(const struct store_change *change, uint64_t share)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < OWNERS_MAX; i++)
		if (change->owners[i].nr_nodes > share)
			sum += change->owners[i].nr_nodes - share;
	return sum;
}

/* Finds the largest share such that cutting each owner to it removes at least `wanted` places. */
static uint64_t fair_share(const struct store_change *change, uint64_t wanted)
{
	uint64_t low = 0, high = change->nr_nodes, middle;

	while (low < high) {
		middle = high - (high - low) / 2;
		if (beyond(change, middle) >= wanted)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* Chooses `wanted` of an owner's coldest nodes; all, if there are fewer. */
static void choose_coldest(struct owner_places *owner, const uint32_t places[HEATS],
			   uint64_t wanted)
{
	unsigned int heat;
	uint64_t sum = 0;

	for (heat = 0; heat < HEATS && sum < wanted; heat++)
		sum += places[heat];
	owner->keep_above = heat == HEATS ? UINT64_MAX : (1ULL << heat) - 1;
	owner->nr_at_limit = heat ? places[heat - 1] - (sum > wanted ? sum - wanted : 0) : 0;
}

/* Counts the places that can be folded, by owner and heat; returns how many there are. */
static uint64_t count_foldable(const struct store_change *change, uint32_t (*places)[HEATS])
{
	const struct store *store = change->store;
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < store->nr_nodes; i++) {
		const uint64_t ticks = foldable_ticks(change, i);

		if (!ticks)
			continue;
		places[store->roots[change->root_of[i]].owner][heat_of(ticks)]++;
		all++;
	}
	return all;
}

/*
 * How many of the wanted places an owner gives: all beyond the share, or without a share in
 * proportion.
 */
static uint64_t part_of(const struct store_change *change, const struct owner_places *owner,
			uint64_t wanted, uint64_t share)
{
	if (share)
		return owner->nr_nodes > share ? owner->nr_nodes - share : 0;
	return wanted * owner->nr_nodes / (change->nr_nodes + 1) + 1;
}

enum { ALL_PLACES = 0 };

/*
 * Chooses the coldest places of each owner, at most `quarters` of the owner's part. ALL_PLACES:
 * all places of each owner that has a part. *nr_foldable gets how many places could be folded.
 */
static int choose_places(struct store_change *change, const struct fold_step *step, uint64_t wanted,
			 uint64_t quarters, uint64_t *nr_foldable)
{
	cleanup_free uint32_t(*places)[HEATS] = calloc(OWNERS_MAX, sizeof(*places));
	uint64_t share, part;
	size_t i;

	if (!places)
		return -ENOMEM;
	count_places(change, step);
	/* Joined splits save roots, which are not counted here: owners give who have the most. */
	if (step->fold == FOLD_SPLITS)
		wanted = change->nr_nodes / 2;
	share = step->spare_small_owners ? fair_share(change, wanted) : 0;
	*nr_foldable = count_foldable(change, places);
	for (i = 0; i < OWNERS_MAX; i++) {
		part = part_of(change, &change->owners[i], wanted, share);
		choose_coldest(&change->owners[i], places[i],
			       part && quarters == ALL_PLACES ? UINT64_MAX :
								part * quarters / 4 + !!part);
	}
	return 0;
}

/* Folds `quarters` of the wanted places. *all: no other place can be folded in this step. */
static int fold_places(struct store *store, const struct fold_step *step, uint64_t wanted,
		       uint64_t quarters, bool *all)
{
	struct store_change change;
	uint64_t nr_foldable = 0;
	int ret = begin_change(&change, store);

	if (!ret) {
		choose_roots(&change, step);
		if (step->fold == FOLD_CHAINS || step->fold == FOLD_WAITS)
			ret = sum_called(&change);
	}
	if (!ret)
		ret = choose_places(&change, step, wanted, quarters, &nr_foldable);
	if (!ret)
		forget_splits(&change);
	if (!ret && (nr_foldable || step->fold == FOLD_SPLITS))
		ret = move_all(&change);
	end_change(&change);
	*all = quarters == ALL_PLACES || nr_foldable <= wanted * quarters / 4;
	return ret;
}

/*
 * Folds in one way until the store is small enough. Folding a node may save more than the node, as
 * with a chain, or nothing, as with a cold place that is alone in its wider bin. Therefore each try
 * folds more.
 */
static int fold_by(struct store *store, const struct fold_step *step)
{
	enum { TRIES = 7 };
	static const uint64_t quarters[TRIES] = { 1, 2, 4, 8, 16, 64, ALL_PLACES };
	const uint64_t node_bytes = sizeof(struct store_node) + sizeof(uint32_t) +
				    (store->waits ? sizeof(*store->waits) : 0);
	size_t try = step->fold == FOLD_SPLITS ? TRIES - 1 : 0;
	uint64_t wanted;
	bool all = false;
	int ret = 0;

	for (; !ret && !all && store_bytes(store) > step->bytes; try++) {
		wanted = (store_bytes(store) - step->bytes) / node_bytes + 1;
		ret = fold_places(store, step, wanted, quarters[try], &all);
	}
	return ret;
}

int store_fold(struct store *store, uint64_t bytes,
	       bool (*has_ended)(void *ctx, uint32_t target, uint64_t split), void *ctx)
{
	static const struct {
		bool also_running;
		enum fold fold;
	} steps[] = {
		{ false, FOLD_CHAINS }, { false, FOLD_COARSE }, { false, FOLD_WIDEST },
		{ true, FOLD_CHAINS },	{ true, FOLD_COARSE },	{ true, FOLD_WIDEST },
		{ false, FOLD_SPLITS }, { true, FOLD_SPLITS },
	};
	const size_t nr = sizeof(steps) / sizeof(*steps);
	struct fold_step step = { .has_ended = has_ended, .ctx = ctx };
	size_t i;
	int ret = 0;

	store_trim(store);
	step.bytes = bytes + store_waits_bytes(store);
	for (i = 0; !ret && i < 2 * nr; i++) {
		step.spare_small_owners = i < nr;
		step.also_running = steps[i % nr].also_running;
		step.fold = steps[i % nr].fold;
		ret = fold_by(store, &step);
	}
	return ret;
}

int store_drop_places(struct store *store, uint64_t bytes)
{
	const struct fold_step step = {
		.bytes = store_bytes(store) - store_waits_bytes(store) + bytes,
		.spare_small_owners = true,
		.also_running = true,
		.fold = FOLD_WAITS,
	};

	return fold_by(store, &step);
}

/* --- splits ----------------------------------------------------------------------------------- */

int store_sum_splits(struct store *store,
		     uint64_t (*sum_of)(void *ctx, uint32_t target, uint64_t split), void *ctx)
{
	struct store_change change;
	int ret = begin_change(&change, store);
	bool changed = false;
	uint64_t sum;
	size_t i;

	for (i = 0; !ret && i < store->nr_roots; i++) {
		struct table_root_key *key = &change.keys[i];

		sum = key->split ? sum_of(ctx, key->target, key->split) : 0;
		changed |= sum && sum != key->split;
		key->split = sum ? sum : key->split;
	}
	if (changed)
		ret = move_all(&change);
	end_change(&change);
	return ret;
}
