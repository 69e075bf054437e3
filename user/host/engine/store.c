// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The session's own table of ticks. A profile is made from it alone.
 *
 * The programs count in one half of the kernel's table at a time. When no program uses a half any
 * more, store_add() adds its ticks here, and they stay until a profile is made. The table is a
 * forest. A root has the target and the split of its ticks, and how the walk to their callers
 * ended. Each node below it is a frame, and each tick is in one node.
 *
 *     root (target, split, end)      its own ticks fell outside of all text
 *       main+0x1b                    a call in main
 *         find+0x44          12      12 ticks in find
 *           the kernel        3      3 ticks in the kernel: histograms count them at find+0x44
 *
 * A tick without callers is a node below a root of END_FLAT. Nodes, roots and texts are lists, each
 * with a hash. The kernel reuses its numbers of texts and roots. Here a text is identified by its
 * space, and a root by its key.
 *
 * If the table exceeds its part of --memory, store_fold.c makes it smaller. store_profile.c makes
 * objects of texts, store_bins.c histograms, and store_callers.c the tree of callers.
 */
#include "host/engine/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/engine/store_impl.h"

/* --- a hash of each list ---------------------------------------------------------------------- */

static uint64_t hash_node(const struct store_node *node)
{
	return hash_mix(hash_mix(node->parent, node->place), node->text);
}

static uint64_t hash_root(const struct table_root_key *key, uint32_t owner)
{
	return hash_mix(hash_mix(hash_mix(key->split, key->target), key->end), owner);
}

static uint64_t hash_text(const struct store_text *text)
{
	return hash_bytes(hash_bytes(HASH_BEGIN, &text->space, sizeof(text->space)), &text->version,
			  sizeof(text->version));
}

static uint32_t *slot_of_node(const struct store *store, const struct store_node *node)
{
	const struct store_node *nodes = store->nodes;

	return HASH_SLOT(&store->node_index, hash_node(node), i,
			 nodes[i].parent == node->parent && nodes[i].place == node->place &&
				 nodes[i].text == node->text);
}

static uint32_t *slot_of_root(const struct store *store, const struct table_root_key *key,
			      uint32_t owner)
{
	const struct store_root *roots = store->roots;

	return HASH_SLOT(&store->root_index, hash_root(key, owner), i,
			 roots[i].key.split == key->split && roots[i].key.target == key->target &&
				 roots[i].key.end == key->end && roots[i].owner == owner);
}

static bool is_same_text(const struct store_text *a, const struct store_text *b)
{
	return a->version == b->version && !memcmp(&a->space, &b->space, sizeof(a->space));
}

static uint32_t *slot_of_text(const struct store *store, const struct store_text *text)
{
	return HASH_SLOT(&store->text_index, hash_text(text), i,
			 is_same_text(&store->texts[i], text));
}

static int reserve_nodes(struct store *store, size_t more)
{
	const size_t need = store->nr_nodes + more;
	int ret = GROW(store->nodes, store->node_room, need);
	size_t i;

	if (!ret && store->has_waits)
		ret = GROW(store->waits, store->wait_room, need);
	if (!ret)
		ret = hash_index_reserve(&store->node_index, need);
	for (i = 0; ret > 0 && i < store->nr_nodes; i++)
		*slot_of_node(store, &store->nodes[i]) = (uint32_t)i + 1;
	return ret < 0 ? -ENOMEM : 0;
}

static int reserve_roots(struct store *store, size_t more)
{
	const size_t need = store->nr_roots + more;
	int ret = GROW(store->roots, store->root_room, need);
	size_t i;

	if (!ret)
		ret = hash_index_reserve(&store->root_index, need);
	for (i = 0; ret > 0 && i < store->nr_roots; i++)
		*slot_of_root(store, &store->roots[i].key, store->roots[i].owner) = (uint32_t)i + 1;
	return ret < 0 ? -ENOMEM : 0;
}

static int reserve_texts(struct store *store, size_t more)
{
	const size_t need = store->nr_texts + more;
	int ret = GROW(store->texts, store->text_room, need);
	size_t i;

	if (!ret)
		ret = hash_index_reserve(&store->text_index, need);
	for (i = 0; ret > 0 && i < store->nr_texts; i++)
		*slot_of_text(store, &store->texts[i]) = (uint32_t)i + 1;
	return ret < 0 ? -ENOMEM : 0;
}

int store_reserve(struct store *store, size_t nodes, size_t roots, size_t texts)
{
	if (reserve_nodes(store, nodes) || reserve_roots(store, roots) ||
	    reserve_texts(store, texts))
		return -ENOMEM;
	return 0;
}

uint32_t store_put_root(struct store *store, const struct table_root_key *key, uint32_t owner)
{
	uint32_t *slot = slot_of_root(store, key, owner);

	if (!*slot) {
		store->roots[store->nr_roots] = (struct store_root){ .key = *key, .owner = owner };
		store->roots[store->nr_roots].key.half = 0;
		*slot = (uint32_t)++store->nr_roots;
	}
	return *slot - 1;
}

uint32_t store_put_text(struct store *store, const struct store_text *text)
{
	uint32_t *slot = slot_of_text(store, text);

	if (!*slot) {
		store->texts[store->nr_texts] = *text;
		*slot = (uint32_t)++store->nr_texts;
	}
	return *slot - 1;
}

uint32_t store_put_node(struct store *store, const struct store_node *node)
{
	uint32_t *slot = slot_of_node(store, node);

	if (!*slot) {
		store->nodes[store->nr_nodes] = *node;
		if (store->has_waits)
			store->waits[store->nr_nodes] = (struct node_waits){ 0 };
		*slot = (uint32_t)++store->nr_nodes;
	} else {
		store->nodes[*slot - 1].count += node->count;
	}
	return *slot - 1;
}

void store_add_waits(struct store *store, uint32_t node, const struct node_waits *waits)
{
	store->waits[node].ns += waits->ns;
	store->waits[node].runnable_ns += waits->runnable_ns;
	store->waits[node].count += waits->count;
}

/* --- a closed half ---------------------------------------------------------------------------- */

/*
 * The state of store_add(). Each node with ticks, and each one above it, is copied once, parents
 * first. A chain with a gap (SITE_AFTER_GAP) is copied below a root of END_FULL. A node above the
 * gap that is also in complete chains is then copied twice. Its own ticks count in one copy only:
 * in that below END_FULL if its own chain has a gap.
 */
struct adding {
	struct store *store;
	const struct closed_half *half;
	uint32_t *order; /* indices in the half, parents first; IN_FULL: below a root of END_FULL */
	size_t nr;
	uint32_t *copies; /* by index: NO_NODE, IN_ORDER, or the children's parent in the store */
	uint32_t *copies_in_full; /* the same below END_FULL */
	uint32_t *texts; /* by the kernel's number: the store's + 1; 0: not added yet */
	uint8_t owners[OWNERS_MAX]; /* by number: the order has a chain of this owner */
	size_t nr_owners;
};

#define IN_ORDER UINT32_MAX
#define IN_FULL (1U << 31)
#define NO_INDEX UINT32_MAX

static uint32_t *copy_of(const struct adding *adding, uint32_t index, bool full)
{
	return full ? &adding->copies_in_full[index] : &adding->copies[index];
}

/* NO_INDEX: the parent is a root, or does not exist. */
static uint32_t parent_index(const struct closed_half *half, uint32_t index)
{
	const uint32_t parent = half->nodes[index].parent;
	const uint32_t at = node_number(parent) & ~NODE_IN_SECOND;

	if (parent == NO_NODE || parent & NODE_IS_ROOT || half_of(parent) != half->half ||
	    at >= half->nr_nodes)
		return NO_INDEX;
	return at;
}

static bool hangs_from_root(const struct closed_half *half, uint32_t index)
{
	const uint32_t parent = half->nodes[index].parent, root = root_number(parent);

	return parent & NODE_IS_ROOT && root < half->nr_roots &&
	       half->roots[root].key.target != NO_TARGET && root_owner(parent) < OWNERS_MAX;
}

static void note_owner(struct adding *adding, uint32_t index)
{
	uint8_t *known = &adding->owners[root_owner(adding->half->nodes[index].parent)];

	adding->nr_owners += !*known;
	*known = true;
}

struct chain {
	uint32_t list[CHAIN_MAX]; /* indices, from a node up */
	uint32_t nr;
	bool full; /* it has a gap */
};

enum chain_end { CHAIN_TO_ROOT, CHAIN_TO_ORDER, CHAIN_DAMAGED };

/* Collects a chain up to its root, or up to a node in the order, above which there is no gap. */
static enum chain_end collect_chain(const struct adding *adding, uint32_t index,
				    struct chain *chain)
{
	const struct closed_half *half = adding->half;
	uint32_t at;

	for (chain->nr = 0, chain->full = false;; index = at) {
		if (!chain->full && adding->copies[index])
			return CHAIN_TO_ORDER;
		if (chain->nr == CHAIN_MAX)
			return CHAIN_DAMAGED;
		chain->list[chain->nr++] = index;
		chain->full |= (half->nodes[index].site & SITE_AFTER_GAP) != 0;
		at = parent_index(half, index);
		if (at == NO_INDEX)
			return hangs_from_root(half, index) ? CHAIN_TO_ROOT : CHAIN_DAMAGED;
	}
}

/* Adds a node to the order, after all above it. Chains of a damaged table are ignored. */
static void schedule_chain(struct adding *adding, uint32_t index)
{
	struct chain chain;
	const enum chain_end end = collect_chain(adding, index, &chain);
	uint32_t *copy;

	if (end == CHAIN_DAMAGED)
		return;
	if (end == CHAIN_TO_ROOT)
		note_owner(adding, chain.list[chain.nr - 1]);
	while (chain.nr--) {
		copy = copy_of(adding, chain.list[chain.nr], chain.full);
		if (*copy)
			continue;
		*copy = IN_ORDER;
		adding->order[adding->nr++] = chain.list[chain.nr] | (chain.full ? IN_FULL : 0);
	}
}

/* The index of the node whose count has wrapped; NO_INDEX: none of this half. */
static uint32_t wrapped_index(const struct closed_half *half, const struct carry *carry)
{
	const uint32_t number = (uint32_t)carry->key, at = number & ~NODE_IN_SECOND;

	if (!(number & NODE_IN_SECOND) != !half->half || at >= half->nr_nodes ||
	    carry->times == carry->added)
		return NO_INDEX;
	return at;
}

/* The list of wraps is short, because a wrap needs 2^32 ticks. */
static uint64_t node_ticks(const struct closed_half *half, uint32_t index)
{
	uint64_t ticks = half->nodes[index].count;
	size_t i;

	for (i = 0; half->carries && i < half->carries->nr; i++) {
		const struct carry *carry = &half->carries->list[i];

		if (wrapped_index(half, carry) == index)
			ticks += (carry->times - carry->added) << 32;
	}
	return ticks;
}

static bool has_waits(const struct node_waits *waits)
{
	return waits->ns || waits->runnable_ns || waits->count;
}

static void schedule_half(struct adding *adding)
{
	const struct closed_half *half = adding->half;
	uint32_t i, at;

	for (i = 0; i < half->nr_nodes; i++)
		if (half->waits ? has_waits(&half->waits[i]) : half->nodes[i].count)
			schedule_chain(adding, i);
	for (i = 0; !half->waits && half->carries && i < half->carries->nr; i++) {
		at = wrapped_index(half, &half->carries->list[i]);
		if (at != NO_INDEX)
			schedule_chain(adding, at);
	}
}

/* A text with an unknown number counts as the text of an unknown process. */
static struct store_text text_numbered(const struct closed_half *half, uint32_t number)
{
	struct store_text text = { .space.kind = SPACE_ANON };

	if (number == TEXT_KERNEL)
		text.space.kind = SPACE_KERNEL;
	else if (number == TEXT_VDSO || number == TEXT_VDSO32)
		text.space = (struct space){ .kind = SPACE_VDSO, .a = number == TEXT_VDSO32 };
	else if (number == TEXT_WAIT)
		text.space.kind = SPACE_WAIT;
	else if (number != TEXT_OTHER && number < half->nr_texts && half->texts[number].space.kind)
		text = half->texts[number];
	return text;
}

static uint32_t add_text(struct adding *adding, uint32_t number)
{
	const struct store_text text = text_numbered(adding->half, number);
	uint32_t *known = &adding->texts[number];

	if (!*known)
		*known = store_put_text(adding->store, &text) + 1;
	return *known - 1;
}

/* Sets the text and place of a node from a site of the kernel's table. */
static void add_place(struct adding *adding, uint64_t site, struct store_node *node)
{
	const uint64_t coarse = (uint64_t)COARSE_SITE_SHIFT << PLACE_SHIFT_BIT;
	const struct space *space;

	if (!site_text(site)) {
		node->place = SITE_IN_KERNEL;
		return;
	}
	node->text = add_text(adding, site_text(site));
	space = &adding->store->texts[node->text].space;
	node->place = site & SITE_OFFSET_MASK;
	/* Without its process, an address has no meaning. */
	if (space->kind == SPACE_ANON && !space->b)
		node->place &= ~SITE_OFFSET_MASK;
	if (site_is_coarse(site) || (space->kind == SPACE_ANON && !space->b))
		node->place |= coarse;
}

/*
 * The parent for chains of a root that have lost frames. Ticks without callers have no such root.
 */
static uint32_t full_root(struct store *store, uint32_t root)
{
	struct table_root_key key = store->roots[root & ~NODE_IS_ROOT].key;

	if (key.end != END_FLAT)
		key.end = END_FULL;
	return NODE_IS_ROOT | store_put_root(store, &key, store->roots[root & ~NODE_IS_ROOT].owner);
}

/* A node's parent in the store, which has all nodes above it by now. */
static uint32_t add_parent(struct adding *adding, uint32_t index, bool full)
{
	const uint32_t parent = adding->half->nodes[index].parent;
	uint32_t root;

	if (!(parent & NODE_IS_ROOT))
		return *copy_of(adding, parent_index(adding->half, index), full);
	root = NODE_IS_ROOT |
	       store_put_root(adding->store, &adding->half->roots[root_number(parent)].key,
			      root_owner(parent));
	return full ? full_root(adding->store, root) : root;
}

/*
 * A coarse node has no callers: it goes directly below a root of END_FULL, and its children below
 * its parent.
 */
static void add_coarse(struct store *store, struct store_node *node)
{
	while (!(node->parent & NODE_IS_ROOT))
		node->parent = store->nodes[node_number(node->parent)].parent;
	node->parent = full_root(store, node->parent);
	if (node->count)
		store_put_node(store, node);
}

/*
 * The node of the class above a parent, as a parent: a coarse wait loses its callers, but not its
 * class.
 */
static uint32_t class_parent(const struct store *store, uint32_t parent)
{
	while (!(parent & NODE_IS_ROOT) &&
	       !(store->nodes[node_number(parent)].parent & NODE_IS_ROOT))
		parent = store->nodes[node_number(parent)].parent;
	return parent;
}

static void add_wait_node(struct adding *adding, uint32_t index, bool full, struct store_node *node)
{
	const bool coarse = place_shift(node->place);
	uint32_t number, *children = copy_of(adding, index, full);

	*children = node->parent;
	if (coarse)
		node->parent = class_parent(adding->store, node->parent);
	number = store_put_node(adding->store, node);
	if (!coarse)
		*children = node_ref(number);
	if (!full || !adding->copies[index])
		store_add_waits(adding->store, number, &adding->half->waits[index]);
}

static void add_node(struct adding *adding, uint32_t index, bool full)
{
	struct store_node node = { .parent = add_parent(adding, index, full) };

	if (!full || !adding->copies[index])
		node.count = node_ticks(adding->half, index);
	add_place(adding, adding->half->nodes[index].site, &node);
	if (adding->half->waits) {
		add_wait_node(adding, index, full, &node);
	} else if (place_shift(node.place)) {
		*copy_of(adding, index, full) = node.parent;
		add_coarse(adding->store, &node);
	} else {
		*copy_of(adding, index, full) = node_ref(store_put_node(adding->store, &node));
	}
}

static void add_root_ticks(struct adding *adding)
{
	const struct closed_half *half = adding->half;
	struct store *store = adding->store;
	uint32_t i;

	for (i = 0; i < half->nr_roots; i++)
		if (half->roots[i].key.target != NO_TARGET && half->roots[i].sums.ticks)
			store->roots[store_put_root(store, &half->roots[i].key, OWNER_ROOT)].ticks +=
				half->roots[i].sums.ticks;
}

static int add_half(struct adding *adding)
{
	const struct closed_half *half = adding->half;
	size_t nr_roots = 0, i;

	if (!adding->order || !adding->copies || !adding->copies_in_full || !adding->texts)
		return -ENOMEM;
	schedule_half(adding);
	for (i = 0; i < half->nr_roots; i++)
		nr_roots += half->roots[i].key.target != NO_TARGET;
	/*
	 * A root becomes up to two for each owner (its end, and END_FULL), and one for its own
	 * ticks.
	 */
	nr_roots += 2 * min_size(adding->nr, nr_roots * adding->nr_owners);
	if (store_reserve(adding->store, adding->nr, nr_roots, min_size(TEXTS_MAX, adding->nr)))
		return -ENOMEM;
	for (i = 0; i < adding->nr; i++)
		add_node(adding, adding->order[i] & ~IN_FULL, adding->order[i] & IN_FULL);
	if (!half->waits)
		add_root_ticks(adding);
	return 0;
}

int store_add(struct store *store, const struct closed_half *half)
{
	struct adding adding = {
		.store = store,
		.half = half,
		.order = malloc((2 * (size_t)half->nr_nodes + 1) * sizeof(*adding.order)),
		.copies = calloc(half->nr_nodes + 1, sizeof(*adding.copies)),
		.copies_in_full = calloc(half->nr_nodes + 1, sizeof(*adding.copies_in_full)),
		.texts = calloc(TEXTS_MAX, sizeof(*adding.texts)),
	};
	const int ret = add_half(&adding);

	free(adding.order);
	free(adding.copies);
	free(adding.copies_in_full);
	free(adding.texts);
	return ret;
}

/* --- the whole -------------------------------------------------------------------------------- */

struct store *store_new(uint32_t bin_shift)
{
	struct store *store = calloc(1, sizeof(*store));

	if (store)
		store->bin_shift = bin_shift;
	return store;
}

struct store *store_new_waits(uint32_t bin_shift)
{
	struct store *store = store_new(bin_shift);

	if (store)
		store->has_waits = true;
	return store;
}

void store_free_roots_and_texts(struct store *store)
{
	free(store->roots);
	free(store->root_index.slots);
	free(store->texts);
	free(store->text_index.slots);
}

/* Without memory for a smaller index the old one stays. */
void store_trim(struct store *store)
{
	const struct hash_index former = store->node_index;
	struct store_node *nodes = realloc(store->nodes, (store->nr_nodes + 1) * sizeof(*nodes));

	if (nodes) {
		store->nodes = nodes;
		store->node_room = store->nr_nodes + 1;
	}
	store->node_index = (struct hash_index){ 0 };
	if (reserve_nodes(store, 0))
		store->node_index = former;
	else
		free(former.slots);
}

void store_clear(struct store *store)
{
	free(store->nodes);
	free(store->waits);
	free(store->node_index.slots);
	store_free_roots_and_texts(store);
	*store = (struct store){ .bin_shift = store->bin_shift, .has_waits = store->has_waits };
}

void store_free(struct store *store)
{
	if (store)
		store_clear(store);
	free(store);
}

/* Reserved memory has no pages yet, and does not count. */
uint64_t store_bytes(const struct store *store)
{
	return store->nr_nodes *
		       (sizeof(*store->nodes) + (store->has_waits ? sizeof(*store->waits) : 0)) +
	       store->nr_roots * sizeof(*store->roots) + store->nr_texts * sizeof(*store->texts) +
	       (store->node_index.nr + store->root_index.nr + store->text_index.nr) *
		       sizeof(uint32_t);
}

uint32_t store_first_version(const struct store *store, const struct space *space)
{
	uint32_t first = UINT32_MAX;
	size_t i;

	for (i = 0; i < store->nr_texts; i++)
		if (store->texts[i].version < first &&
		    !memcmp(&store->texts[i].space, space, sizeof(*space)))
			first = store->texts[i].version;
	return first;
}

bool store_names_text(const struct store *store, const struct space *space)
{
	const struct store_text text = { .space = *space };

	return (store->text_index.nr && *slot_of_text(store, &text)) ||
	       (space->kind == SPACE_ANON && store_first_version(store, space) != UINT32_MAX);
}

uint32_t *store_roots_of_nodes(const struct store *store)
{
	uint32_t *roots = malloc((store->nr_nodes + 1) * sizeof(*roots));
	uint32_t parent;
	size_t i;

	for (i = 0; roots && i < store->nr_nodes; i++) {
		parent = store->nodes[i].parent;
		roots[i] = parent & NODE_IS_ROOT ? parent & ~NODE_IS_ROOT :
						   roots[node_number(parent)];
	}
	return roots;
}

int store_each_use(const struct store *store,
		   void (*use)(void *ctx, const struct space *space, uint32_t target,
			       uint64_t split),
		   void *ctx)
{
	cleanup_free uint32_t *roots = store_roots_of_nodes(store);
	cleanup_free uint32_t *last = calloc(store->nr_texts + 1, sizeof(*last));
	const struct space none = { 0 };
	size_t i;

	if (!roots || !last)
		return -ENOMEM;
	for (i = 0; i < store->nr_roots; i++)
		if (store->roots[i].ticks)
			use(ctx, &none, store->roots[i].key.target, store->roots[i].key.split);
	for (i = 0; i < store->nr_nodes; i++) {
		const struct store_node *node = &store->nodes[i];
		const struct table_root_key *key = &store->roots[roots[i]].key;

		if (node->place & SITE_IN_KERNEL || last[node->text] == roots[i] + 1)
			continue;
		last[node->text] = roots[i] + 1;
		use(ctx, &store->texts[node->text].space, key->target, key->split);
	}
	return 0;
}

void store_each_site(const struct store *store, const struct store_text *text,
		     void (*seen)(void *ctx, uint64_t offset), void *ctx)
{
	const uint32_t found = store->text_index.nr ? *slot_of_text(store, text) : 0;
	size_t i;

	for (i = 0; found && i < store->nr_nodes; i++)
		if (store->nodes[i].text == found - 1 && !(store->nodes[i].place & SITE_IN_KERNEL))
			seen(ctx, place_offset(store, &store->nodes[i]));
}
