// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/callers.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile_io.h"
#include "profile/profile_merge.h"
#include "sample.h"

static struct profile *golden(void)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile_load("tests/golden/callers.json", &profile, &err), 0, "%s", err.text);
	return profile;
}

Test(callers, account)
{
	cleanup_profile struct profile *profile = golden(), *flat = sample_profile();
	struct callers_account account;

	cr_assert_eq(profile_callers_account(profile, PROFILE_ALL_TARGETS, &account), 0);
	cr_expect_eq(account.ticks[END_COMPLETE], 475);
	cr_expect_eq(account.ticks[END_GUESSED], 300);
	cr_expect_eq(account.ticks[END_LATE], 20);
	cr_expect_eq(account.ticks[END_NO_RULE], 110);
	cr_expect_eq(account.ticks[END_FULL], 15, "with no frame");
	cr_expect_eq(account.ticks[END_DEEP], 0);
	cr_assert_eq(profile_callers_account(profile, 1, &account), 0);
	cr_expect_eq(account.ticks[END_COMPLETE], 0, "of another target");
	cr_assert_eq(profile_callers_account(flat, PROFILE_ALL_TARGETS, &account), 0);
	cr_expect_eq(account.ticks[END_COMPLETE], 0, "nobody asked for callers");
}

/* --- cuts above main ----------------------------------------------------------------------------- */

enum { SHIM, MAIN, WORK, START, SITES };

static const char *const first_names[SITES] = { "shim", "main", "work", "std::sys::thread_start" };

static void *need(void *made)
{
	cr_assert(made);
	return made;
}

/* Two roots of one process, with a chain of each kind below both. */
static struct profile *cut_profile(enum walk_end a, enum walk_end b)
{
	static const struct profile_node nodes[] = {
		{ -1, SHIM, 1, 0 }, { 0, MAIN, 2, 0 },	{ 1, WORK, 4, 0 },   { 0, WORK, 8, 0 },
		{ -2, SHIM, 0, 0 }, { 4, MAIN, 16, 0 }, { -2, WORK, 32, 0 }, { -2, START, 64, 0 },
	};
	struct profile *profile = need(profile_new());
	struct profile_callers *callers = need(calloc(1, sizeof(*callers)));
	uint32_t i;

	profile->callers = callers;
	profile->objects = need(calloc(1, sizeof(*profile->objects)));
	profile->objects[profile->nr_objects++].path = strdup("/bin/x");
	profile->functions = need(calloc(SITES, sizeof(*profile->functions)));
	callers->sites = need(calloc(SITES, sizeof(*callers->sites)));
	for (i = 0; i < SITES; i++) {
		profile->functions[profile->nr_functions++] =
			(struct profile_function){ .name = strdup(first_names[i]),
						   .offset = i,
						   .size = 1 };
		callers->sites[callers->nr_sites++].offset = i;
	}
	callers->roots = need(calloc(2, sizeof(*callers->roots)));
	callers->roots[callers->nr_roots++] = (struct profile_root){ .pid = 7, .end = a };
	callers->roots[callers->nr_roots++] = (struct profile_root){ .pid = 7, .end = b };
	callers->roots[1].process = strdup("x");
	callers->roots[0].process = strdup("x");
	callers->nodes = need(malloc(sizeof(nodes)));
	memcpy(callers->nodes, nodes, sizeof(nodes));
	callers->nr_nodes = sizeof(nodes) / sizeof(nodes[0]);
	return profile;
}

static uint64_t ticks_of(const struct profile *profile, enum walk_end end)
{
	struct callers_account account;

	cr_assert_eq(profile_callers_account(profile, PROFILE_ALL_TARGETS, &account), 0);
	return account.ticks[end];
}

/* What has main goes to one root, and what has not stays. */
Test(callers, cut_above_main)
{
	cleanup_profile struct profile *profile = cut_profile(END_NO_RULE, END_UNREADABLE);
	const struct profile_callers *callers = profile->callers;
	size_t i, j;

	cr_assert_eq(profile_cut_above_main(profile), 0);
	cr_expect_eq(ticks_of(profile, END_ABOVE_MAIN), 2 + 4 + 16 + 64);
	cr_expect_eq(ticks_of(profile, END_NO_RULE), 1 + 8);
	cr_expect_eq(ticks_of(profile, END_UNREADABLE), 32);
	cr_expect_eq(callers->nr_roots, 3);
	cr_expect_eq(callers->nr_nodes, 4 + 2 + 1);
	for (i = 0; i < callers->nr_roots; i++) {
		cr_expect_eq(callers->roots[i].pid, 7);
		cr_expect_str_eq(callers->roots[i].process, "x");
	}
	for (i = 0; i < callers->nr_nodes; i++) {
		cr_expect_lt(callers->nodes[i].parent, (int32_t)i);
		for (j = 0; j < i; j++)
			cr_expect(callers->nodes[i].parent != callers->nodes[j].parent ||
				  callers->nodes[i].site != callers->nodes[j].site);
	}
}

/* Nothing is cut above main that was walked to its end, or that has lost its lower end. */
Test(callers, not_cut_above_main)
{
	static const enum walk_end ends[] = { END_COMPLETE, END_GUESSED, END_FULL, END_EXEC,
					      END_32BIT };
	size_t i;

	for (i = 0; i + 1 < sizeof(ends) / sizeof(ends[0]); i++) {
		cleanup_profile struct profile *profile = cut_profile(ends[i], ends[i + 1]);

		cr_assert_eq(profile_cut_above_main(profile), 0);
		cr_expect_eq(ticks_of(profile, END_ABOVE_MAIN), 0);
		cr_expect_eq(ticks_of(profile, ends[i]), 15);
		cr_expect_eq(ticks_of(profile, ends[i + 1]), 112);
	}
}

/* --- sums of random trees ------------------------------------------------------------------------ */

/*
 * What is counted, named by texts alone: of each chain from its root to its last frame. Adding up
 * means that equal texts become one.
 */
struct chain {
	char *text;
	uint64_t ticks;
};

struct chains {
	struct chain *list;
	size_t nr;
};

static void chains_free(struct chains *chains)
{
	while (chains->nr)
		free(chains->list[--chains->nr].text);
	free(chains->list);
}

static void add_chain(struct chains *chains, char *text, uint64_t ticks)
{
	size_t i;

	for (i = 0; i < chains->nr; i++) {
		if (strcmp(chains->list[i].text, text) != 0)
			continue;
		chains->list[i].ticks += ticks;
		free(text);
		return;
	}
	chains->list = reallocarray(chains->list, chains->nr + 1, sizeof(*chains->list));
	cr_assert(chains->list);
	chains->list[chains->nr++] = (struct chain){ text, ticks };
}

static const char *say(const char *text)
{
	return text ? text : "nobody";
}

static char *root_text(const struct profile *profile, const struct profile_root *root)
{
	const struct profile_target *target = &profile->targets[root->target];
	const char *host = target->host ? target->host : profile->host.name;
	char *text;

	cr_assert_gt(asprintf(&text, "%s on %s, %d %s %s, %s", target->name, host, (int)root->pid,
			      say(root->process), say(root->cgroup), walk_end_words[root->end]),
		     0);
	return text;
}

static char *frame_text(const struct profile *profile, const char *above, uint32_t i)
{
	const struct profile_site *site = &profile->callers->sites[i];
	char *text;
	int ret;

	if (i == PROFILE_SITE_KERNEL)
		ret = asprintf(&text, "%s;kernel", above);
	else
		ret = asprintf(&text, "%s;%s+%d", above, profile->objects[site->object].path,
			       (int)site->offset);
	cr_assert_gt(ret, 0);
	return text;
}

static void count_chains(const struct profile *profile, struct chains *chains)
{
	const struct profile_callers *callers = profile->callers;
	cleanup_free char **texts = calloc(callers->nr_nodes + 1, sizeof(*texts));
	cleanup_free char **roots = calloc(callers->nr_roots + 1, sizeof(*roots));
	size_t i;

	cr_assert(texts && roots);
	for (i = 0; i < callers->nr_roots; i++) {
		roots[i] = root_text(profile, &callers->roots[i]);
		add_chain(chains, strdup(roots[i]), callers->roots[i].ticks);
	}
	for (i = 0; i < callers->nr_nodes; i++) {
		const struct profile_node *node = &callers->nodes[i];
		const char *above = node->parent < 0 ? roots[-1 - node->parent] :
						       texts[node->parent];

		texts[i] = frame_text(profile, above, node->site);
		add_chain(chains, strdup(texts[i]), node->ticks);
	}
	for (i = 0; i < callers->nr_roots; i++)
		free(roots[i]);
	for (i = 0; i < callers->nr_nodes; i++)
		free(texts[i]);
}

static void check_same(const struct chains *a, const struct chains *b)
{
	size_t i, j;

	cr_assert_eq(a->nr, b->nr, "%zu chains, %zu wanted", a->nr, b->nr);
	for (i = 0; i < a->nr; i++) {
		for (j = 0; j < b->nr; j++)
			if (!strcmp(a->list[i].text, b->list[j].text))
				break;
		cr_assert_lt(j, b->nr, "%s is too many", a->list[i].text);
		cr_assert_eq(a->list[i].ticks, b->list[j].ticks, "%s", a->list[i].text);
	}
}

static unsigned int chance(unsigned int *seed, unsigned int below)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 8) % below;
}

static char *copy(const char *text)
{
	char *result = text ? strdup(text) : NULL;

	cr_assert(!text || result);
	return result;
}

enum { OBJECTS = 4, TARGETS = 2, ROOTS = 6, NODES = 60 };

static void add_objects(struct profile *profile, unsigned int *seed)
{
	static const char *const paths[] = { "/a", "/b", "[jit 7]", "/d" };
	struct profile_object *object;
	size_t i, first = chance(seed, OBJECTS);

	profile->objects = calloc(OBJECTS, sizeof(*profile->objects));
	cr_assert(profile->objects);
	for (i = 0; i < OBJECTS; i++) {
		object = &profile->objects[profile->nr_objects++];
		object->path = copy(paths[(first + i) % OBJECTS]);
		object->kind = *object->path == '[' ? PROFILE_JIT : PROFILE_FILE;
		object->build_id = copy(object->path[1] == 'd' ? "dd" : NULL);
	}
}

static void add_targets(struct profile *profile, unsigned int *seed)
{
	static const char *const names[] = { "one", "two" };
	size_t i, first = chance(seed, TARGETS);

	profile->targets = calloc(TARGETS, sizeof(*profile->targets));
	cr_assert(profile->targets);
	for (i = 0; i < TARGETS; i++) {
		profile->targets[i].kind = copy("pid");
		profile->targets[i].name = copy(names[(first + i) % TARGETS]);
	}
	profile->nr_targets = TARGETS;
}

/* Roots in any order, each once. */
static void add_roots(struct profile *profile, unsigned int *seed)
{
	static const char *const names[] = { NULL, "sh", "cc" };
	struct profile_callers *callers = profile->callers;
	size_t i;

	callers->roots = calloc(ROOTS, sizeof(*callers->roots));
	cr_assert(callers->roots);
	while (callers->nr_roots < ROOTS) {
		struct profile_root root = { .target = chance(seed, TARGETS),
					     .pid = (int64_t)chance(seed, 3) - 1,
					     .process = (char *)names[chance(seed, 3)],
					     .end = chance(seed, WALK_END_COUNT),
					     .ticks = chance(seed, 3) };

		for (i = 0; i < callers->nr_roots; i++)
			if (!profile_root_compare(&callers->roots[i], &root))
				break;
		if (i < callers->nr_roots)
			continue;
		root.process = copy(root.process);
		callers->roots[callers->nr_roots++] = root;
	}
}

/* Parents come before their children; there is no other order. */
static void add_nodes(struct profile *profile, unsigned int *seed)
{
	struct profile_callers *callers = profile->callers;
	size_t i;

	callers->sites = calloc(OBJECTS * 2, sizeof(*callers->sites));
	callers->nodes = calloc(NODES, sizeof(*callers->nodes));
	cr_assert(callers->sites && callers->nodes);
	for (i = 0; i < OBJECTS * 2; i++)
		callers->sites[callers->nr_sites++] =
			(struct profile_site){ (uint32_t)i / 2, i % 2 ? 64 : chance(seed, 3) };
	while (callers->nr_nodes < NODES) {
		struct profile_node node = {
			.parent = (int32_t)chance(seed, ROOTS + (unsigned int)callers->nr_nodes) -
				  ROOTS,
			.site = chance(seed, OBJECTS * 2 + 1),
			.ticks = chance(seed, 4),
		};

		if (node.site == OBJECTS * 2)
			node.site = PROFILE_SITE_KERNEL;
		for (i = 0; i < callers->nr_nodes; i++)
			if (callers->nodes[i].parent == node.parent &&
			    callers->nodes[i].site == node.site)
				break;
		if (i == callers->nr_nodes)
			callers->nodes[callers->nr_nodes++] = node;
	}
}

/* All ticks are outside, which needs no histogram. */
static void fill_accounts(struct profile *profile)
{
	const struct profile_callers *callers = profile->callers;
	cleanup_free uint32_t *roots = profile_callers_roots(callers);
	struct profile_account *ticks;
	size_t i;

	cr_assert(roots);
	for (i = 0; i < callers->nr_roots; i++)
		profile->targets[callers->roots[i].target].ticks.total += callers->roots[i].ticks;
	for (i = 0; i < callers->nr_nodes; i++)
		profile->targets[callers->roots[roots[i]].target].ticks.total +=
			callers->nodes[i].ticks;
	for (i = 0; i < TARGETS; i++) {
		ticks = &profile->targets[i].ticks;
		ticks->outside = ticks->total;
		profile->ticks.total += ticks->total;
	}
	profile->ticks.outside = profile->ticks.total;
}

static struct profile *random_tree(unsigned int seed)
{
	struct profile *profile = profile_new();
	struct error err = { 0 };

	cr_assert(profile);
	profile->callers = calloc(1, sizeof(*profile->callers));
	cr_assert(profile->callers);
	profile->tool = copy("0");
	profile->started = copy("2026-02-01T12:00:00Z");
	profile->host.kernel = copy("6.1");
	profile->host.arch = copy("x86_64");
	profile->host.name = copy(seed % 2 ? "host" : "other");
	profile->sampling.source = copy("clock");
	profile->sampling.mode = copy("charged");
	add_targets(profile, &seed);
	add_objects(profile, &seed);
	add_roots(profile, &seed);
	add_nodes(profile, &seed);
	fill_accounts(profile);
	cr_assert_eq(profile_check(profile, "random", &err), 0, "%s", err.text);
	return profile;
}

static struct profile *add_up(struct profile *a, struct profile *b)
{
	struct profile_merger merger = { 0 };
	struct profile *sum = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile_merger_add(&merger, a, "a", &err), 0, "%s", err.text);
	if (b)
		cr_assert_eq(profile_merger_add(&merger, b, "b", &err), 0, "%s", err.text);
	cr_assert_eq(profile_merger_finish(&merger, &sum, &err), 0, "%s", err.text);
	cr_assert_eq(profile_check(sum, "sum", &err), 0, "%s", err.text);
	return sum;
}

/* Also frees it. */
static char *text_of(struct profile *profile)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert_eq(profile_write(profile, out, NULL), 0);
	fclose(out);
	profile_free(profile);
	return text;
}

/* In a sum siblings ascend, which is how its order does not depend on its parts'. */
static void check_order(const struct profile *sum)
{
	const struct profile_node *nodes = sum->callers->nodes;
	size_t i;

	for (i = 1; i < sum->callers->nr_nodes; i++) {
		if (nodes[i].parent != nodes[i - 1].parent)
			continue;
		cr_assert_gt(nodes[i].site, nodes[i - 1].site);
	}
}

Test(callers, sums_of_random_trees)
{
	enum { PARTS = 4 };
	struct profile *sum, *other;
	struct chains wanted, found;
	char *forth, *back;
	unsigned int seed;
	size_t i;

	for (seed = 0; seed < 400; seed += PARTS) {
		wanted = found = (struct chains){ 0 };
		for (i = 0; i < PARTS; i++) {
			cleanup_profile struct profile *part = random_tree(seed + i);

			count_chains(part, &wanted);
		}
		sum = random_tree(seed);
		for (i = 1; i < PARTS; i++)
			sum = add_up(sum, random_tree(seed + i));
		check_order(sum);
		count_chains(sum, &found);
		check_same(&found, &wanted);
		forth = text_of(sum);
		sum = add_up(random_tree(seed + 3), random_tree(seed + 1));
		other = add_up(random_tree(seed + 2), random_tree(seed));
		back = text_of(add_up(other, sum));
		cr_assert_str_eq(back, forth);
		free(forth);
		free(back);
		chains_free(&wanted);
		chains_free(&found);
	}
}

/* Text that only calls is in no histogram, and yet it is one host's. */
Test(callers, jit_text_of_two_hosts)
{
	struct profile *one = golden(), *two = golden(), *sum;
	size_t i, nr = 0;

	free(two->host.name);
	two->host.name = copy("other");
	for (i = 0; i < one->nr_histograms; i++)
		if (one->objects[one->histograms[i].object].kind == PROFILE_JIT) {
			one->histograms[i].object = 0;
			two->histograms[i].object = 0;
		}
	sum = add_up(one, two);
	for (i = 0; i < sum->nr_objects; i++)
		nr += sum->objects[i].kind == PROFILE_JIT;
	cr_expect_eq(nr, 2);
	profile_free(sum);
}

Test(callers, copies_of_a_file)
{
	cleanup_profile struct profile *profile = golden();
	struct profile_callers *callers = profile->callers;
	struct profile_object *copied;
	struct error err = { 0 };
	size_t sites = callers->nr_sites, nodes = callers->nr_nodes;
	struct callers_account account;

	/* sh's text once more, and a call in it is one in the other. */
	profile->objects =
		reallocarray(profile->objects, profile->nr_objects + 1, sizeof(*profile->objects));
	cr_assert(profile->objects);
	copied = &profile->objects[profile->nr_objects++];
	*copied = (struct profile_object){ .path = copy("/usr/bin/sh"),
					   .build_id = copy("00ff12ad") };
	callers->sites = reallocarray(callers->sites, sites + 1, sizeof(*callers->sites));
	cr_assert(callers->sites);
	callers->sites[callers->nr_sites++] = (struct profile_site){ 5, 4300 };
	callers->nodes = reallocarray(callers->nodes, nodes + 1, sizeof(*callers->nodes));
	cr_assert(callers->nodes);
	cr_assert_eq(callers->nodes[9].site, 6, "the call in sh");
	callers->nodes[callers->nr_nodes++] =
		(struct profile_node){ callers->nodes[9].parent, (uint32_t)sites, 0, 0 };
	cr_assert_eq(profile_check(profile, "copied", &err), 0, "%s", err.text);

	cr_assert_eq(profile_join_copies(profile), 0);
	cr_assert_eq(profile_check(profile, "joined", &err), 0, "%s", err.text);
	cr_expect_eq(callers->nr_sites, sites);
	cr_expect_eq(callers->nr_nodes, nodes);
	cr_assert_eq(profile_callers_account(profile, 0, &account), 0);
	cr_expect_eq(account.ticks[END_COMPLETE], 475);
}

/* --- what does not add up ------------------------------------------------------------------------ */

static int try_sum(struct profile *a, struct profile *b, struct error *err)
{
	struct profile_merger merger = { 0 };
	int ret;

	cr_assert_eq(profile_merger_add(&merger, a, "a", err), 0, "%s", err->text);
	ret = profile_merger_add(&merger, b, "b", err);
	profile_merger_free(&merger);
	return ret;
}

static struct profile *without_callers(void)
{
	struct profile *profile = golden();

	profile_callers_free(profile->callers);
	profile->callers = NULL;
	return profile;
}

static struct profile *without_ticks(void)
{
	struct profile *profile = without_callers();
	struct profile_account *ticks = &profile->targets[0].ticks;

	ticks->binned = ticks->outside = 0;
	ticks->total = profile_account_lost(ticks);
	return profile;
}

Test(callers, one_part_without)
{
	struct error err = { 0 };

	cr_expect_eq(try_sum(golden(), without_callers(), &err), -EINVAL);
	cr_expect_str_eq(err.text, "b: no callers, and a has them");
	cr_expect_str_eq(err.hint, "one sum of those with callers, another of those without");
	cr_expect_eq(try_sum(without_callers(), golden(), &err), -EINVAL);
	cr_expect_str_eq(err.text, "b: callers, and a has none");
}

/* A part that has no tick goes with both, and is not the one that is named. */
Test(callers, parts_without_ticks)
{
	struct profile_merger merger = { 0 }, other = { 0 };
	struct error err = { 0 };

	cr_expect_eq(try_sum(golden(), without_ticks(), &err), 0, "%s", err.text);
	cr_expect_eq(try_sum(without_callers(), without_ticks(), &err), 0, "%s", err.text);
	cr_assert_eq(profile_merger_add(&merger, without_ticks(), "a", &err), 0);
	cr_assert_eq(profile_merger_add(&merger, golden(), "b", &err), 0, "%s", err.text);
	cr_assert_eq(profile_merger_add(&merger, without_ticks(), "c", &err), 0);
	cr_assert_eq(profile_merger_add(&other, without_ticks(), "d", &err), 0);
	cr_assert_eq(profile_merger_add(&other, without_callers(), "e", &err), 0);
	cr_expect_eq(profile_merger_join(&merger, &other, &err), -EINVAL);
	cr_expect_str_eq(err.text, "e: no callers, and b has them");
	profile_merger_free(&merger);
}

/* As run appends the calls of a program that it sampled, which have no callers. */
Test(callers, calls_beside_them)
{
	cleanup_profile struct profile *profile = golden();
	struct profile *calls = without_callers();
	struct error err = { 0 };
	size_t nodes = profile->callers->nr_nodes;

	free(calls->targets[0].kind);
	calls->targets[0].kind = copy("call");
	calls->nr_functions -= 2;
	free(calls->functions[calls->nr_functions].name);
	free(calls->functions[calls->nr_functions + 1].name);
	cr_assert_eq(profile_check(calls, "calls", &err), 0, "%s", err.text);
	cr_expect_eq(profile_append(profile, calls), 0);
	profile_free(calls);
	cr_expect_eq(profile->nr_targets, 2);
	cr_expect_eq(profile->callers->nr_nodes, nodes);
	cr_expect_eq(profile_check(profile, "both", &err), 0, "%s", err.text);
	profile->callers->roots[0].target = 1;
	cr_expect_eq(profile_check(profile, "both", &err), -EBADMSG);
	cr_expect_str_eq(err.text, "both: root 0: a program's own call has no callers");
}
