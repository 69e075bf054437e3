// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The session's own table of ticks and waits. A profile is made from it alone.
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
 * A tick without callers is a node below a root of END_FLAT. A root of waits also has their class,
 * and its nodes count nanoseconds. The time from the end of a wait until the thread got a CPU is
 * below a root of WAIT_RUNNABLE. Waits without a place are in a node of SITE_IN_KERNEL below the
 * root.
 *
 * Nodes, roots and texts are lists, each with a hash. The kernel reuses its numbers of texts and
 * roots. Here a text is identified by its space, and a root by its key.
 *
 * If the table exceeds its part of --memory, store_fold.c makes it smaller. store_profile.c makes
 * objects of texts, store_bins.c histograms, store_callers.c trees, and store_waits.c the accounts
 * of waits.
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

static uint64_t hash_root(const struct store_root *root)
{
	const struct table_root_key *key = &root->key;

	return hash_mix(hash_mix(hash_mix(key->split, key->target), key->end),
			(uint64_t)root->class << 32 | root->owner);
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

static bool is_same_root(const struct store_root *a, const struct store_root *b)
{
	return a->key.split == b->key.split && a->key.target == b->key.target &&
	       a->key.end == b->key.end && a->owner == b->owner && a->class == b->class;
}

static uint32_t *slot_of_root(const struct store *store, const struct store_root *root)
{
	return HASH_SLOT(&store->root_index, hash_root(root), i,
			 is_same_root(&store->roots[i], root));
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

int store_reserve(struct store *store, size_t nodes, size_t roots, size_t texts)
{
	nodes += store->nr_nodes;
	roots += store->nr_roots;
	texts += store->nr_texts;
	if (GROW(store->nodes, store->node_room, nodes) ||
	    (store->has_waits && GROW(store->waits, store->wait_room, nodes)) ||
	    GROW(store->roots, store->root_room, roots) ||
	    GROW(store->texts, store->text_room, texts))
		return -ENOMEM;
	if (HASH_RESERVE(&store->node_index, nodes, i, 0, store->nr_nodes,
			 slot_of_node(store, &store->nodes[i])) ||
	    HASH_RESERVE(&store->root_index, roots, i, 0, store->nr_roots,
			 slot_of_root(store, &store->roots[i])))
		return -ENOMEM;
	return HASH_RESERVE(&store->text_index, texts, i, 0, store->nr_texts,
			    slot_of_text(store, &store->texts[i]));
}

uint32_t store_put_root(struct store *store, const struct store_root *root)
{
	uint32_t *slot = slot_of_root(store, root);

	if (!*slot) {
		store->roots[store->nr_roots] = *root;
		store->roots[store->nr_roots].key.half = 0;
		*slot = (uint32_t)++store->nr_roots;
	} else {
		store->roots[*slot - 1].ticks += root->ticks;
	}
	return *slot - 1;
}

uint32_t store_put_parent(struct store *store, struct store_root root, bool full)
{
	root.ticks = 0;
	if (full && root.key.end != END_FLAT)
		root.key.end = END_FULL;
	return NODE_IS_ROOT | store_put_root(store, &root);
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

uint32_t store_put_node(struct store *store, const struct store_node *node, uint64_t waits)
{
	uint32_t *slot = slot_of_node(store, node);

	if (!*slot) {
		store->nodes[store->nr_nodes] = *node;
		if (store->has_waits)
			store->waits[store->nr_nodes] = 0;
		*slot = (uint32_t)++store->nr_nodes;
	} else {
		store->nodes[*slot - 1].count += node->count;
	}
	if (store->has_waits)
		store->waits[*slot - 1] += waits;
	return *slot - 1;
}

/* --- a closed half ---------------------------------------------------------------------------- */

/* Marks of an entry: below a root of END_FULL, and of WAIT_RUNNABLE. They are above all indices. */
#define IN_FULL (1U << 31)
#define IN_RUNNABLE (1U << 30)
enum { NR_COPIES = 4 };

/*
 * The state of store_add(). Each node with ticks, and each one above it, is copied once, parents
 * first. A chain with a gap (SITE_AFTER_GAP) is copied below a root of END_FULL. A node above the
 * gap that is also in complete chains is then copied twice. Its own ticks count in one copy only:
 * in that below END_FULL if its own chain has a gap. A node with runnable time is copied below a
 * root of it, too.
 */
struct adding {
	struct store *store;
	const struct closed_half *half;
	uint32_t *order; /* entries: indices in the half with IN_FULL and IN_RUNNABLE; parents first */
	size_t nr;
	size_t nr_classes; /* entries that become roots */
	/* By entry: NO_NODE, IN_ORDER, or the children's parent in the store. */
	uint32_t *copies[NR_COPIES];
	uint32_t *texts; /* by the kernel's number: the store's + 1; 0: not added yet */
	uint8_t owners[OWNERS_MAX]; /* by number: the order has a chain of this owner */
	size_t nr_owners;
};

#define IN_ORDER UINT32_MAX
#define NO_INDEX UINT32_MAX

static uint32_t index_of(uint32_t entry)
{
	return entry & ~(IN_FULL | IN_RUNNABLE);
}

static uint32_t *copy_of(const struct adding *adding, uint32_t entry)
{
	return &adding->copies[entry / IN_RUNNABLE][index_of(entry)];
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

/* The first node of a chain of waits, which has their class. */
static bool is_class(const struct closed_half *half, uint32_t index)
{
	return half->nodes[index].parent & NODE_IS_ROOT &&
	       site_text(half->nodes[index].site) == TEXT_WAIT;
}

static bool hangs_from_root(const struct closed_half *half, uint32_t index)
{
	const uint32_t parent = half->nodes[index].parent, root = root_number(parent);

	return parent & NODE_IS_ROOT && root < half->nr_roots &&
	       half->roots[root].key.target != NO_TARGET && root_owner(parent) < OWNERS_MAX &&
	       is_class(half, index) == (half->roots[root].key.end == END_WAIT);
}

static void note_owner(struct adding *adding, uint32_t index)
{
	uint8_t *known = &adding->owners[root_owner(adding->half->nodes[index].parent)];

	adding->nr_owners += !*known;
	*known = true;
}

struct chain {
	uint32_t list[CHAIN_MAX]; /* entries, from a node up */
	uint32_t nr;
	bool full; /* it has a gap */
};

enum chain_end { CHAIN_TO_ROOT, CHAIN_TO_ORDER, CHAIN_DAMAGED };

/* Collects a chain up to its root, or up to a node in the order, above which there is no gap. */
static enum chain_end collect_chain(const struct adding *adding, uint32_t entry,
				    struct chain *chain)
{
	const struct closed_half *half = adding->half;
	uint32_t above;

	for (chain->nr = 0, chain->full = false;; entry = above | (entry & IN_RUNNABLE)) {
		if (!chain->full && *copy_of(adding, entry))
			return CHAIN_TO_ORDER;
		if (chain->nr == CHAIN_MAX)
			return CHAIN_DAMAGED;
		chain->list[chain->nr++] = entry;
		chain->full |= (half->nodes[index_of(entry)].site & SITE_AFTER_GAP) != 0;
		above = parent_index(half, index_of(entry));
		if (above == NO_INDEX)
			return hangs_from_root(half, index_of(entry)) ? CHAIN_TO_ROOT :
									CHAIN_DAMAGED;
	}
}

/* Adds an entry to the order, after all above it. Chains of a damaged table are ignored. */
static void schedule_chain(struct adding *adding, uint32_t entry)
{
	struct chain chain;
	const enum chain_end end = collect_chain(adding, entry, &chain);
	uint32_t *copy;

	if (end == CHAIN_DAMAGED)
		return;
	if (end == CHAIN_TO_ROOT)
		note_owner(adding, index_of(chain.list[chain.nr - 1]));
	while (chain.nr--) {
		entry = chain.list[chain.nr] | (chain.full ? IN_FULL : 0);
		copy = copy_of(adding, entry);
		if (*copy)
			continue;
		*copy = IN_ORDER;
		adding->order[adding->nr++] = entry;
		adding->nr_classes += is_class(adding->half, index_of(entry));
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

static bool has_waits(const struct closed_half *half, uint32_t index)
{
	const struct node_waits *waits = half->waits ? &half->waits[index] : NULL;

	return waits && (waits->ns || waits->runnable_ns || waits->count);
}

/* The state of the class above a node of waits. */
static uint32_t state_of(const struct closed_half *half, uint32_t index)
{
	uint32_t nr, above;

	for (nr = 0; nr < CHAIN_MAX; nr++, index = above) {
		above = parent_index(half, index);
		if (above == NO_INDEX)
			break;
	}
	return wait_site_state(half->nodes[index].site);
}

/* Ticks, or nanoseconds and the number of waits. */
struct amount {
	uint64_t count;
	uint64_t waits;
};

/* What an entry has of its own. A preempted thread did not wait: all of its time is runnable. */
static struct amount own_amount(const struct closed_half *half, uint32_t entry)
{
	const uint32_t index = index_of(entry);
	const struct node_waits *waits;
	bool preempted;

	if (!has_waits(half, index))
		return (struct amount){ node_ticks(half, index), 0 };
	waits = &half->waits[index];
	preempted = state_of(half, index) == WAIT_RUNNABLE;
	if (entry & IN_RUNNABLE)
		return waits->runnable_ns || preempted ?
			       (struct amount){ waits->runnable_ns, waits->count } :
			       (struct amount){ 0 };
	return preempted ? (struct amount){ 0 } : (struct amount){ waits->ns, waits->count };
}

static void schedule(struct adding *adding, uint32_t entry)
{
	const struct amount amount = own_amount(adding->half, entry);

	if (amount.count || amount.waits)
		schedule_chain(adding, entry);
}

static void schedule_half(struct adding *adding)
{
	uint32_t i;

	for (i = 0; i < adding->half->nr_nodes; i++) {
		schedule(adding, i);
		if (has_waits(adding->half, i))
			schedule(adding, i | IN_RUNNABLE);
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

/* The root of a chain's first frame, as a parent. */
static uint32_t add_root(struct adding *adding, uint32_t entry)
{
	const struct table_node *first = &adding->half->nodes[index_of(entry)];
	struct store_root root = { .key = adding->half->roots[root_number(first->parent)].key,
				   .owner = root_owner(first->parent) };

	if (is_class(adding->half, index_of(entry))) {
		root.class = entry & IN_RUNNABLE ? WAIT_RUNNABLE : wait_site_state(first->site);
		root.key.end = (uint16_t)wait_site_end(first->site);
	}
	return store_put_parent(adding->store, root, entry & IN_FULL);
}

/* An entry's parent in the store, which has all nodes above it by now. */
static uint32_t add_parent(struct adding *adding, uint32_t entry)
{
	const uint32_t above = parent_index(adding->half, index_of(entry));

	return above == NO_INDEX ? add_root(adding, entry) :
				   *copy_of(adding, above | (entry & (IN_FULL | IN_RUNNABLE)));
}

/*
 * A coarse node has no callers: it goes directly below a root, and its children below its parent.
 * The root of ticks is one of END_FULL.
 */
static void lose_callers(struct store *store, struct store_node *node)
{
	const struct store_root *root;

	while (!(node->parent & NODE_IS_ROOT))
		node->parent = store->nodes[node_number(node->parent)].parent;
	root = &store->roots[node->parent & ~NODE_IS_ROOT];
	if (!root->class)
		node->parent = store_put_parent(store, *root, true);
}

static void add_node(struct adding *adding, uint32_t entry)
{
	const struct closed_half *half = adding->half;
	const uint32_t index = index_of(entry);
	const bool counted = entry & IN_FULL && *copy_of(adding, entry & ~IN_FULL);
	const struct amount own = counted ? (struct amount){ 0 } : own_amount(half, entry);
	struct store_node node = { .parent = add_parent(adding, entry), .count = own.count };
	uint32_t *children = copy_of(adding, entry);
	bool alone = is_class(half, index);

	*children = node.parent;
	if (alone) {
		node.place = SITE_IN_KERNEL;
	} else {
		add_place(adding, half->nodes[index].site, &node);
		alone = place_shift(node.place);
		if (alone)
			lose_callers(adding->store, &node);
	}
	if (!alone)
		*children = node_ref(store_put_node(adding->store, &node, own.waits));
	else if (own.count || own.waits)
		store_put_node(adding->store, &node, own.waits);
}

static void add_root_ticks(struct adding *adding)
{
	const struct closed_half *half = adding->half;
	uint32_t i;

	for (i = 0; i < half->nr_roots; i++) {
		const struct store_root root = { .key = half->roots[i].key,
						 .owner = OWNER_ROOT,
						 .ticks = half->roots[i].sums.ticks };

		if (root.key.target != NO_TARGET && root.ticks)
			store_put_root(adding->store, &root);
	}
}

static int add_half(struct adding *adding)
{
	const struct closed_half *half = adding->half;
	size_t nr_roots = 0, i;

	if (!adding->order || !adding->copies[0] || !adding->texts)
		return -ENOMEM;
	for (i = 1; i < NR_COPIES; i++)
		adding->copies[i] = adding->copies[i - 1] + half->nr_nodes;
	schedule_half(adding);
	for (i = 0; i < half->nr_roots; i++)
		nr_roots += half->roots[i].key.target != NO_TARGET;
	/*
	 * A root becomes up to two for each owner (its end, and END_FULL), and one for its own
	 * ticks. A class becomes one.
	 */
	nr_roots += 2 * min_size(adding->nr, nr_roots * adding->nr_owners) + adding->nr_classes;
	if (store_reserve(adding->store, adding->nr, nr_roots, min_size(TEXTS_MAX, adding->nr)))
		return -ENOMEM;
	for (i = 0; i < adding->nr; i++)
		add_node(adding, adding->order[i]);
	add_root_ticks(adding);
	return 0;
}

int store_add(struct store *store, const struct closed_half *half)
{
	const size_t nr = half->nr_nodes + (size_t)1;
	struct adding adding = {
		.store = store,
		.half = half,
		.order = malloc(NR_COPIES * nr * sizeof(*adding.order)),
		.copies = { calloc(NR_COPIES * nr, sizeof(**adding.copies)) },
		.texts = calloc(TEXTS_MAX, sizeof(*adding.texts)),
	};
	int ret;

	store->has_waits |= half->waits != NULL;
	ret = add_half(&adding);
	free(adding.order);
	free(adding.copies[0]);
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
	if (HASH_RESERVE(&store->node_index, store->nr_nodes, i, 0, store->nr_nodes,
			 slot_of_node(store, &store->nodes[i])))
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
	*store = (struct store){ .bin_shift = store->bin_shift };
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
		       (sizeof(*store->nodes) + (store->waits ? sizeof(*store->waits) : 0)) +
	       store->nr_roots * sizeof(*store->roots) + store->nr_texts * sizeof(*store->texts) +
	       (store->node_index.nr + store->root_index.nr + store->text_index.nr) *
		       sizeof(uint32_t);
}

uint64_t store_waits_bytes(const struct store *store)
{
	cleanup_free uint32_t *roots = store->has_waits ? store_roots_of_nodes(store) : NULL;
	uint64_t nr = 0;
	size_t i;

	for (i = 0; roots && i < store->nr_nodes; i++)
		nr += store->roots[roots[i]].class != 0;
	return store_bytes(store) / (store->nr_nodes + 1) * nr;
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
		if (store->roots[i].ticks || store->roots[i].class)
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
