// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* From the programs' tree of callers to that of a profile. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "host/engine/callers_tree.h"
#include "host/engine/kernel_modules.h"
#include "host/engine/session_state.h"
#include "host/engine/snapshot.h"
#include "profile/callers.h"

/* How often the tree is read again for ticks that are still on their way into it. */
enum { TREE_READS = 100, TREE_WAIT_US = 1000 };

struct filling {
	struct session *session;
	const struct counted *counted;
	struct seen_names *names;
	const struct kernel_modules *modules;
	struct profile *profile;
	struct caller_tree tree;
	uint32_t *objects; /* by number: its object; NO_SOURCE: not known yet */
	uint32_t *sources; /* by index in names->spaces: the object; NO_SOURCE: it has none */
	uint32_t *roots; /* by number: the profile's */
	uint32_t *gap_roots; /* the same for chains that lack frames above their leaf */
	uint64_t *more, *less; /* by target: see compare_ticks() */
	struct error *err;
	int ret;
};

/* --- texts and objects --------------------------------------------------------------------------- */

static int begin_texts(struct filling *filling)
{
	const uint32_t nr = filling->session->callers.nr_texts;

	filling->objects = malloc(nr * sizeof(*filling->objects));
	if (!filling->objects)
		return -ENOMEM;
	memset(filling->objects, 0xff, nr * sizeof(*filling->objects));
	return 0;
}

static int index_objects(struct filling *filling)
{
	const struct seen_names *names = filling->names;
	size_t i;

	filling->sources = malloc((names->spaces->nr + 1) * sizeof(*filling->sources));
	if (!filling->sources)
		return -ENOMEM;
	memset(filling->sources, 0xff, names->spaces->nr * sizeof(*filling->sources));
	for (i = filling->profile->nr_objects; i-- > 0;)
		if (names->sources[i] != NO_SOURCE)
			filling->sources[names->sources[i]] = (uint32_t)i;
	return 0;
}

/* An object that a histogram already has; NO_SOURCE: there is none. */
static uint32_t known_object(const struct filling *filling, const struct space *space,
			     const struct space_info *info)
{
	const struct profile *profile = filling->profile;
	uint32_t i;

	for (i = 0; space->kind == SPACE_VDSO && i < profile->nr_objects; i++)
		if (profile->objects[i].kind == PROFILE_FILE &&
		    !strcmp(profile->objects[i].path, "[vdso]"))
			return i;
	return info ? filling->sources[info - filling->names->spaces->list] : NO_SOURCE;
}

static uint32_t new_object(struct filling *filling, const struct space *space,
			   const struct space_info *info)
{
	struct profile *profile = filling->profile;
	uint32_t *sources, id = (uint32_t)profile->nr_objects;
	struct profile_object *objects;

	sources = reallocarray(filling->names->sources, id + 1, sizeof(*sources));
	if (sources)
		filling->names->sources = sources;
	objects = reallocarray(profile->objects, id + 1, sizeof(*objects));
	if (objects)
		profile->objects = objects;
	if (!sources || !objects) {
		filling->ret = error_no_memory(filling->err, "profile");
		return NO_SOURCE;
	}
	sources[id] = info ? (uint32_t)(info - filling->names->spaces->list) : NO_SOURCE;
	if (info)
		filling->sources[sources[id]] = id;
	filling->names->nr_nameless += !info && space->kind != SPACE_VDSO;
	profile->nr_objects++;
	filling->ret = object_describe(space, info, &objects[id], filling->err);
	return id;
}

static uint32_t object_of_text(struct filling *filling, uint32_t text)
{
	const struct session_callers *callers = &filling->session->callers;
	const struct space *space;
	const struct space_info *info;

	if (text >= callers->nr_texts || !callers->texts[text].space.kind)
		return NO_SOURCE;
	if (filling->objects[text] != NO_SOURCE)
		return filling->objects[text];
	space = &callers->texts[text].space;
	info = spaces_find(filling->names->spaces, space);
	if (info)
		filling->session->spaces.list[info - filling->names->spaces->list].called = true;
	filling->objects[text] = known_object(filling, space, info);
	if (filling->objects[text] == NO_SOURCE)
		filling->objects[text] = new_object(filling, space, info);
	return filling->objects[text];
}

/* Just-in-time code that has moved or is gone is in a place of its own, as it is in the histograms. */
static int find_former(struct filling *filling, uint32_t text, uint64_t *offset)
{
	const struct session_callers *callers = &filling->session->callers;
	const struct text_state *state = text < callers->nr_texts ? &callers->texts[text] : NULL;
	const struct space_info *info = NULL;

	if (state && state->space.kind == SPACE_ANON)
		info = spaces_find(filling->names->spaces, &state->space);
	if (!info || !info->jit)
		return 0;
	return jit_text_find_former(info->jit, state->turn, *offset, offset);
}

static bool find_site(void *context, uint64_t site, struct profile_site *result)
{
	struct filling *filling = context;
	uint32_t text = site_text(site);
	int64_t object;

	result->offset = site_offset(site);
	if (text == TEXT_KERNEL) {
		result->offset |= SITE_KERNEL_BITS;
		object = kernel_modules_object(filling->modules, result->offset, filling->profile,
					       &filling->names->sources, NO_SOURCE);
		if (object < 0)
			filling->ret = error_no_memory(filling->err, "profile");
	} else {
		object = object_of_text(filling, text);
		if (find_former(filling, text, &result->offset))
			filling->ret = error_no_memory(filling->err, "profile");
	}
	result->object = (uint32_t)object;
	return !filling->ret && result->object != NO_SOURCE;
}

/* Ticks of elements whose counters have wrapped. */
static void add_carried(struct filling *filling)
{
	const struct carries *carries = filling->counted->carries;
	size_t i;

	for (i = 0; i < carries->nr; i++) {
		struct carry *carry = &carries->list[i];
		uint64_t element = carry->key & ~CARRY_OF_NODE;

		if (!(carry->key & CARRY_OF_NODE) || element >= filling->tree.nr_nodes)
			continue;
		filling->tree.counts[element] += (carry->times - carry->taken) << 32;
		if (filling->counted->take)
			carry->taken = carry->times;
	}
}

/* --- roots --------------------------------------------------------------------------------------- */

/* Reads all roots. What the programs count in them only grows, so what was taken is remembered. */
static int read_roots(struct filling *filling)
{
	struct session *session = filling->session;
	struct caller_tree *tree = &filling->tree;
	int fd = bpf_map__fd(session->skel->maps.caller_roots);
	struct caller_root_key key, *last = NULL;
	struct caller_root root;
	size_t room = tree->nr_roots;

	tree->nr_roots = 0;
	while (!bpf_map_get_next_key(fd, last, &key)) {
		if (GROW(tree->roots, room, tree->nr_roots + 1))
			return -ENOMEM;
		last = &tree->roots[tree->nr_roots].key;
		*last = key;
		if (bpf_map_lookup_elem(fd, &key, &root))
			continue;
		tree->roots[tree->nr_roots].number = root.number;
		tree->roots[tree->nr_roots++].ticks = root.ticks;
	}
	return 0;
}

/*
 * Puts each root at its number. There are numbers without a root, because two CPUs may have made the same
 * one at the same moment.
 */
static int place_roots(struct filling *filling)
{
	struct caller_tree *tree = &filling->tree;
	const struct root_state *state;
	size_t nr = session_nr_roots(filling->session), i;
	struct tree_root *placed = calloc(nr + 1, sizeof(*placed));

	if (!placed)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		placed[i].key.target = NO_TARGET;
	for (i = 0; i < tree->nr_roots; i++)
		if (tree->roots[i].number < nr)
			placed[tree->roots[i].number] = tree->roots[i];
	free(tree->roots);
	tree->roots = placed;
	tree->nr_roots = nr;
	for (i = 0; i < nr; i++) {
		state = session_root(filling->session, (uint32_t)i);
		if (!state)
			return -ENOMEM;
		placed[i].ticks -= placed[i].ticks ? state->taken : 0;
		placed[i].key.split = state->sum ?: placed[i].key.split;
		if (split_is_left_out(filling->names->splits, placed[i].key.split))
			placed[i].key.target = NO_TARGET;
	}
	return 0;
}

/*
 * The elements are read before the roots, so that each has its root. What two CPUs took for one root is a
 * number that no element has.
 */
static int read_tree(struct filling *filling)
{
	int ret;

	tree_read(&filling->tree, filling->counted->take);
	add_carried(filling);
	free(filling->tree.roots);
	filling->tree.roots = NULL;
	filling->tree.nr_roots = 0;
	ret = read_roots(filling);
	return ret ?: place_roots(filling);
}

/*
 * By target: how many ticks the tree has more than the histograms, and how many it lacks. True: it lacks
 * some.
 */
static bool compare_ticks(struct filling *filling)
{
	const uint32_t nr = filling->session->nr_targets;
	bool lacks = false;
	uint32_t i;

	memset(filling->more, 0, nr * sizeof(*filling->more));
	tree_sum(&filling->tree, filling->more, nr);
	for (i = 0; i < nr; i++) {
		const struct tally *tally = &filling->counted->tallies[i];
		uint64_t wanted = tally->binned + tally->outside, got = filling->more[i];

		filling->more[i] = got > wanted ? got - wanted : 0;
		filling->less[i] = got < wanted ? wanted - got : 0;
		lacks |= filling->less[i] > 0;
	}
	return lacks;
}

/*
 * Each tick enters its histogram and then the tree, so the tree is read last: first it may lack ticks that
 * are on their way, and then it has those that fell since. These are left for the next profile.
 */
static int settle_tree(struct filling *filling)
{
	const bool take = filling->counted->take;
	struct session_callers *callers = &filling->session->callers;
	int ret = read_tree(filling), tries;
	size_t i;

	for (tries = 0; !ret && compare_ticks(filling) && tries < TREE_READS; tries++) {
		usleep(TREE_WAIT_US);
		ret = read_tree(filling);
	}
	if (ret)
		return ret;
	tree_give_back(&filling->tree, filling->more, filling->session->nr_targets, take);
	for (i = 0; take && i < filling->tree.nr_roots; i++)
		callers->roots[i].taken += filling->tree.roots[i].ticks;
	return 0;
}

static int name_root(const struct filling *filling, const struct tree_root *root, enum walk_end end,
		     struct profile_root *result)
{
	const struct seen_names *names = filling->names;
	uint64_t split = root->key.split;
	const struct split_name *told = split ? split_names_find(names->splits, split) : NULL;

	*result = (struct profile_root){ .target = root->key.target, .pid = -1, .end = end };
	if (!split)
		return 0;
	if (names->split == SPLIT_CGROUP) {
		result->cgroup = split_cgroup_name(names->splits, split);
		return result->cgroup ? 0 : -ENOMEM;
	}
	result->pid = split_pid(split);
	result->process = told ? strdup(told->name) : NULL;
	return told && !result->process ? -ENOMEM : 0;
}

/* after_gap: only those with chains that lack frames above their leaf; else all others. */
static void mark_used(const struct caller_tree *tree, bool after_gap, bool *used)
{
	uint32_t i;

	for (i = 0; i < tree->nr_roots; i++)
		used[i] = !after_gap && tree->roots[i].ticks > 0;
	for (i = 0; i < tree->nr_nodes; i++)
		if (tree->counts[i] && tree_is_after_gap(tree, i) == after_gap)
			used[tree_root_of(tree, i)] = true;
}

static int compare_made(const void *left, const void *right, void *roots)
{
	const struct profile_root *all = roots;

	return profile_root_compare(&all[*(const uint32_t *)left], &all[*(const uint32_t *)right]);
}

/* Splits of one name and pid, as a pid that came again has, are one root. */
static int join_roots(struct filling *filling, struct profile_callers *result)
{
	size_t nr = result->nr_roots, i, to = 0;
	struct profile_root *joined = calloc(nr + 1, sizeof(*joined));
	cleanup_free uint32_t *order = calloc(nr + 1, sizeof(*order));
	cleanup_free uint32_t *index = calloc(nr + 1, sizeof(*index));

	if (!joined || !order || !index) {
		free(joined);
		return -ENOMEM;
	}
	for (i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, nr, sizeof(*order), compare_made, result->roots);
	for (i = 0; i < nr; i++) {
		struct profile_root *root = &result->roots[order[i]];

		if (i && !profile_root_compare(root, &joined[to - 1])) {
			joined[to - 1].ticks += root->ticks;
			free(root->process);
			free(root->cgroup);
		} else {
			joined[to++] = *root;
		}
		index[order[i]] = (uint32_t)to - 1;
	}
	for (i = 0; i < filling->tree.nr_roots; i++) {
		if (filling->roots[i] != UINT32_MAX)
			filling->roots[i] = index[filling->roots[i]];
		if (filling->gap_roots[i] != UINT32_MAX)
			filling->gap_roots[i] = index[filling->gap_roots[i]];
	}
	free(result->roots);
	result->roots = joined;
	result->nr_roots = to;
	return 0;
}

/*
 * What the tree still lacks of a target's ticks, as where a CPU was taken away amid a tick for longer than
 * was waited, is told of a root without frames.
 */
static int add_missing(struct filling *filling, struct profile_callers *result)
{
	uint64_t missing = 0;
	uint32_t i;

	for (i = 0; i < filling->session->nr_targets; i++) {
		if (!filling->less[i])
			continue;
		missing += filling->less[i];
		result->roots[result->nr_roots++] =
			(struct profile_root){ .target = i,
					       .pid = -1,
					       .end = END_LATE,
					       .ticks = filling->less[i] };
	}
	if (!missing || !filling->counted->take)
		return 0;
	return profile_note(filling->profile,
			    "%llu ticks were not in the tree of callers when it was read",
			    (unsigned long long)missing);
}

/* Makes the roots for some of the ticks, and returns which they are by number; NULL: out of memory. */
static uint32_t *make_roots_of(struct filling *filling, bool after_gap,
			       struct profile_callers *result)
{
	const struct caller_tree *tree = &filling->tree;
	cleanup_free bool *used = calloc(tree->nr_roots + 1, sizeof(*used));
	uint32_t *made = malloc((tree->nr_roots + 1) * sizeof(*made));
	struct profile_root *root;
	size_t i;

	if (!used || !made) {
		free(made);
		return NULL;
	}
	mark_used(tree, after_gap, used);
	for (i = 0; i < tree->nr_roots; i++) {
		enum walk_end end = after_gap ? END_FULL : tree->roots[i].key.end;

		made[i] = UINT32_MAX;
		if (!used[i] || tree->roots[i].key.target == NO_TARGET)
			continue;
		root = &result->roots[result->nr_roots];
		if (name_root(filling, &tree->roots[i], end, root)) {
			free(made);
			return NULL;
		}
		root->ticks = after_gap ? 0 : tree->roots[i].ticks;
		made[i] = (uint32_t)result->nr_roots++;
	}
	return made;
}

/* Makes the roots that have ticks, in themselves or below. */
static int make_profile_roots(struct filling *filling, struct profile_callers *result)
{
	result->roots = calloc(2 * filling->tree.nr_roots + filling->session->nr_targets + 1,
			       sizeof(*result->roots));
	if (!result->roots)
		return -ENOMEM;
	filling->roots = make_roots_of(filling, false, result);
	filling->gap_roots = make_roots_of(filling, true, result);
	if (!filling->roots || !filling->gap_roots)
		return -ENOMEM;
	if (add_missing(filling, result))
		return -ENOMEM;
	return join_roots(filling, result);
}

static void free_filling(struct filling *filling)
{
	tree_free(&filling->tree);
	free(filling->objects);
	free(filling->sources);
	free(filling->roots);
	free(filling->gap_roots);
	free(filling->more);
	free(filling->less);
}

int session_fill_callers(struct session *session, const struct counted *counted,
			 struct seen_names *names, const struct kernel_modules *modules,
			 struct profile *profile, struct error *err)
{
	struct filling filling = {
		.session = session,
		.counted = counted,
		.names = names,
		.modules = modules,
		.profile = profile,
		.tree = { .nodes = session->callers.nodes.at,
			  .nr_nodes = session_caller_elements(session),
			  .first = session_caller_tree(session) },
		.err = err,
	};
	int ret;

	if (!session->options.callers)
		return 0;
	profile->callers = calloc(1, sizeof(*profile->callers));
	filling.more = calloc(session->nr_targets + 1, sizeof(*filling.more));
	filling.less = calloc(session->nr_targets + 1, sizeof(*filling.less));
	ret = profile->callers && filling.more && filling.less ? tree_begin(&filling.tree) :
								 -ENOMEM;
	ret = ret ?: settle_tree(&filling);
	/* Each text has its number before a chain that it is in. */
	ret = ret ?: session_read_texts(session);
	ret = ret ?: begin_texts(&filling);
	ret = ret ?: index_objects(&filling);
	ret = ret ?: make_profile_roots(&filling, profile->callers);
	ret = ret   ?:
		      tree_build(&filling.tree, find_site, &filling, filling.roots,
				 filling.gap_roots, profile->callers);
	free_filling(&filling);
	if (filling.ret)
		return filling.ret;
	return ret ? error_no_memory(err, "callers") : 0;
}
