// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Callers: the tables for the walks, the tree in the kernel, and from there to a profile. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/subordinates.h"
#include "base/util.h"
#include "host/engine/callers_rules.h"
#include "host/engine/session_state.h"
#include "shared/callers_abi.h"

/*
 * Of --memory, at most: for rules, and for the tree. Rules take what they need; clang alone has 10 MiB
 * of them, and a whole host without it 13.
 */
enum { RULES_SHARE = 2, NODES_SHARE = 16, NODES_MIN = 1024 };

/*
 * A tree is changed for an empty one when so much of it is in use. Of one that is half full an owner who comes
 * late may have only a part: see element_admitted().
 */
enum { FULL_SHARE = 4 };

uint64_t session_plan_callers(struct session *session)
{
	struct session_callers *callers = &session->callers;
	uint64_t memory = session->options.memory, nodes = NODES_MIN;

	if (!session->options.callers)
		return memory;
	while (2 * nodes * sizeof(struct caller_node) <= memory / NODES_SHARE)
		nodes *= 2;
	callers->nr_nodes = (uint32_t)nodes;
	callers->nr_trees = session->options.series ? 2 : 1;
	callers_rules_plan(&callers->lines, memory / RULES_SHARE);
	return memory - memory / RULES_SHARE - callers->nr_trees * (memory / NODES_SHARE);
}

uint32_t session_caller_elements(const struct session *session)
{
	return session->callers.nr_trees * session->callers.nr_nodes;
}

static uint32_t max_roots(const struct session *session)
{
	return (session->nr_targets + session->pool.nr_splits) * WALK_END_COUNT;
}

/* Uids that others have lent are their first one's: see struct owner. */
static void set_subordinates(struct host_bpf *skel)
{
	cleanup_file FILE *file = fopen(SUBORDINATES_FILE, "re");
	uint32_t nr = 0, first, uids;

	while (file && nr < SUBORDINATES_MAX && subordinates_next(file, &first, &uids)) {
		skel->rodata->subordinates[nr].first = first;
		skel->rodata->subordinates[nr++].nr = uids;
	}
	skel->rodata->nr_subordinates = nr;
}

static int size_callers(struct session *session)
{
	const struct session_callers *callers = &session->callers;
	struct host_bpf *skel = session->skel;
	uint32_t chunks = (callers->lines.limit - callers->lines.base) / CHUNK_LINES;
	const uint32_t roots = callers->nr_trees * max_roots(session);
	const uint32_t texts = session_max_texts(session);
	const uint32_t walks = 2 * session->nr_cpus; /* of ticks, and of exits */
	int ret;

	ret = bpf_map__set_max_entries(skel->maps.nodes, session_caller_elements(session));
	ret = ret ?: bpf_map__set_max_entries(skel->maps.lines, callers->lines.base);
	ret = ret ?: bpf_map__set_max_entries(skel->maps.line_chunks, chunks ?: 1);
	ret = ret ?: bpf_map__set_max_entries(skel->maps.rules, RULES_MAX);
	ret = ret ?: bpf_map__set_max_entries(skel->maps.rules_of_texts, texts);
	ret = ret ?: bpf_map__set_max_entries(skel->maps.texts, texts);
	ret = ret ?: bpf_map__set_max_entries(skel->maps.free_texts, texts);
	/* A file with a number is kept without a window too, because a walk may meet it again. */
	ret = ret   ?:
		      bpf_map__set_max_entries(skel->maps.spaces,
					       2 * session->pool.dirs.limit + texts);
	ret = ret ?: bpf_map__set_max_entries(skel->maps.ranges, walks * RANGES);
	ret = ret ?: bpf_map__set_max_entries(skel->maps.known_rules, walks * KNOWN_RULES);
	ret = ret ?: bpf_map__set_max_entries(skel->maps.walks, walks);
	return ret ?: bpf_map__set_max_entries(skel->maps.caller_roots, roots);
}

int session_configure_callers(struct session *session, struct error *err)
{
	struct host_bpf *skel = session->skel;
	int ret;

	bpf_program__set_autoload(skel->progs.profil_texts, session->options.callers);
	bpf_program__set_autoattach(skel->progs.profil_texts, false);
	set_subordinates(skel);
	if (!session->options.callers)
		return 0;
	skel->rodata->callers = true;
	skel->rodata->exit_walks = session->nr_cpus;
	skel->rodata->max_texts = session_max_texts(session);
	skel->rodata->max_roots = max_roots(session);
	skel->rodata->node_mask = session->callers.nr_nodes - 1;
	skel->rodata->base_lines = session->callers.lines.base;
	skel->bss->callers_state.next_text = TEXT_FIRST;
	skel->bss->callers_state.next_owner = OWNER_FIRST;
	ret = size_callers(session);
	return ret ? error_errno(err, ret, "sizing the maps of callers") : 0;
}

static uint32_t roots_for_good(const struct session *session)
{
	return session->nr_targets * WALK_END_COUNT;
}

/* There must be a root for each tick, even when no memory is left for another. */
static int make_roots(struct session *session, struct error *err)
{
	struct callers_state *state = &session->skel->bss->callers_state;
	int fd = bpf_map__fd(session->skel->maps.caller_roots), ret = 0;
	struct caller_root_key key = { 0 };
	struct caller_root root = { 0 };

	for (; key.tree < session->callers.nr_trees; key.tree++)
		for (key.target = 0; key.target < session->nr_targets; key.target++)
			for (key.end = 0; key.end < WALK_END_COUNT && !ret; key.end++) {
				root.number = 2 * state->next_root[key.tree]++ + key.tree;
				ret = bpf_map_update_elem(fd, &key, &root, BPF_NOEXIST);
			}
	return ret ? error_errno(err, ret, "callers") : 0;
}

int session_bind_callers(struct session *session, struct error *err)
{
	struct session_callers *callers = &session->callers;
	struct host_bpf *skel = session->skel;
	struct callers_rules_maps maps = {
		.lines_fd = bpf_map__fd(skel->maps.lines),
		.line_chunks_fd = bpf_map__fd(skel->maps.line_chunks),
		.free_texts_fd = bpf_map__fd(skel->maps.free_texts),
		.nr_texts = session_max_texts(session),
		.state = &skel->bss->callers_state,
	};
	const int both = PROT_READ | PROT_WRITE;
	int ret;

	if (!session->options.callers)
		return 0;
	ret = mapped_array_open(skel->maps.nodes, both, &callers->nodes, err);
	ret = ret ?: mapped_array_open(skel->maps.owners, both, &callers->owners, err);
	ret = ret ?: mapped_array_open(skel->maps.rules, both, &maps.rules, err);
	ret = ret ?: mapped_array_open(skel->maps.rules_of_texts, both, &maps.texts, err);
	ret = ret ?: make_roots(session, err);
	if (ret) {
		mapped_array_close(&maps.rules);
		mapped_array_close(&maps.texts);
		return ret;
	}
	maps.owners = callers->owners.at;
	callers->rules = callers_rules_start(&maps, &callers->lines, err);
	if (!callers->rules)
		return -ENOMEM;
	callers_rules_add(callers->rules, (struct wanted_rules){ .text = TEXT_VDSO, .fd = -1 });
	return 0;
}

struct root_state *session_root(struct session *session, uint32_t number)
{
	struct session_callers *callers = &session->callers;

	if (GROW(callers->roots, callers->roots_room, (size_t)number + 1))
		return NULL;
	for (; callers->nr_roots <= number; callers->nr_roots++)
		callers->roots[callers->nr_roots] = (struct root_state){ 0 };
	return &callers->roots[number];
}

void session_sum_callers(struct session *session)
{
	int fd = bpf_map__fd(session->skel->maps.caller_roots);
	struct caller_root_key key, *last = NULL;
	struct root_state *state;
	struct caller_root root;
	uint64_t sum;

	if (!session->options.callers)
		return;
	while (!bpf_map_get_next_key(fd, last, &key)) {
		last = &key;
		sum = runtime_sum_of(&session->runtime, key.target, key.split);
		if (!sum || bpf_map_lookup_elem(fd, &key, &root))
			continue;
		state = session_root(session, root.number);
		if (state)
			state->sum = sum;
	}
}

/* Numbers are odd and even by tree, so that there may be none at some. */
uint32_t session_nr_roots(const struct session *session)
{
	const uint32_t *next = session->skel->bss->callers_state.next_root;

	return 2 * (next[0] > next[1] ? next[0] : next[1]);
}

static uint32_t tree_in_use(const struct session *session)
{
	return session->skel->bss->callers_state.generation & 1;
}

/* The first element of the tree that programs add to. */
uint32_t session_caller_tree(const struct session *session)
{
	return tree_in_use(session) * session->callers.nr_nodes;
}

static uint32_t used_elements(const struct caller_node *tree, uint32_t nr)
{
	uint32_t i, used = 0;

	for (i = 0; i < nr; i++)
		used += __atomic_load_n(&tree[i].site, __ATOMIC_RELAXED) != 0;
	return used;
}

static bool has_ticks(const struct caller_node *tree, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		if (tree[i].count)
			return true;
	return false;
}

static bool roots_have_ticks(const struct session *session, uint32_t tree)
{
	int fd = bpf_map__fd(session->skel->maps.caller_roots);
	const struct session_callers *callers = &session->callers;
	struct caller_root_key key, *last = NULL;
	struct caller_root root;

	for (; !bpf_map_get_next_key(fd, last, &key); last = &key) {
		if (key.tree != tree || bpf_map_lookup_elem(fd, &key, &root) || !root.ticks)
			continue;
		if (root.number >= callers->nr_roots ||
		    root.ticks != callers->roots[root.number].taken)
			return true;
	}
	return false;
}

/* Those of split 0 stay, so that there is one for each tick. */
static void empty_roots(struct session *session, uint32_t tree)
{
	int fd = bpf_map__fd(session->skel->maps.caller_roots);
	struct session_callers *callers = &session->callers;
	struct caller_root_key key, next;
	struct caller_root root;
	bool more = !bpf_map_get_next_key(fd, NULL, &key);

	for (; more; key = next) {
		more = !bpf_map_get_next_key(fd, &key, &next);
		if (key.tree != tree || !key.split || bpf_map_lookup_elem(fd, &key, &root))
			continue;
		bpf_map_delete_elem(fd, &key);
		if (root.number < callers->nr_roots)
			callers->roots[root.number] = (struct root_state){ 0 };
	}
	session->skel->bss->callers_state.next_root[tree] = roots_for_good(session);
}

static void empty_tree(struct session *session, uint32_t tree)
{
	struct session_callers *callers = &session->callers;
	struct caller_node *nodes = callers->nodes.at;
	struct owner *owners = callers->owners.at;
	const uint32_t nr = callers->nr_nodes;
	uint32_t i;

	nodes += tree * nr;
	if (has_ticks(nodes, nr) || roots_have_ticks(session, tree))
		return;
	memset(nodes, 0, nr * sizeof(*nodes));
	for (i = 0; i < OWNERS_MAX; i++)
		owners[i].elements[tree] = 0;
	session->skel->bss->callers_state.elements[tree] = 0;
	empty_roots(session, tree);
	callers->outgoing = false;
}

/* Whether the tree in use, or what is named in it, takes so much that an empty one is wanted. */
static bool is_filling_up(const struct session *session)
{
	const struct session_callers *callers = &session->callers;
	const uint32_t tree = tree_in_use(session), few = roots_for_good(session);
	const struct caller_node *nodes = callers->nodes.at;

	return used_elements(nodes + tree * callers->nr_nodes, callers->nr_nodes) >=
		       callers->nr_nodes / FULL_SHARE ||
	       session->skel->bss->callers_state.next_root[tree] - few >
		       (max_roots(session) - few) / FULL_SHARE ||
	       callers->holds_idle;
}

/*
 * Elements are not freed one by one, because their numbers are in those below them, and in walks. What
 * chains are left in use is entered again at the next tick.
 */
void session_turn_callers(struct session *session)
{
	struct callers_state *state = &session->skel->bss->callers_state;
	struct session_callers *callers = &session->callers;

	if (callers->nr_trees < 2)
		return;
	/* This take waited until no program was in it. */
	if (callers->outgoing)
		empty_tree(session, !tree_in_use(session));
	session_turn_texts(session);
	if (callers->outgoing || !is_filling_up(session))
		return;
	__atomic_store_n(&state->generation, state->generation + 1, __ATOMIC_RELEASE);
	callers->outgoing = true;
	session->recycler.struck = true; /* the next take is to wait for the programs */
}

uint64_t session_callers_bytes(const struct session *session)
{
	const struct session_callers *callers = &session->callers;

	if (!session->options.callers)
		return 0;
	return (uint64_t)session_caller_elements(session) * sizeof(struct caller_node) +
	       callers_rules_bytes(callers->rules);
}

void session_free_callers(struct session *session)
{
	callers_rules_end(session->callers.rules);
	mapped_array_close(&session->callers.nodes);
	mapped_array_close(&session->callers.owners);
	free(session->callers.roots);
	free(session->callers.texts);
}
