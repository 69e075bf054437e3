// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* What a CPU keeps of chains and of rules, against a climb up the table and a linear search. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "need.h"
#include "shared/abi.h"
#include "shared/callers_abi.h"

#include "selftest.skel.h"

TestSuite(bpf_callers, .init = need_root);

enum { NODES = 1 << 15, ROUNDS = 4000, TEXTS = 4, GRANULES = 8, ROWS = 60, TABLE_WORDS = 128 };

struct bench {
	struct selftest_bpf *skel;
	struct table_node *nodes;
	struct owner *owners;
	struct unwind_line *lines;
	struct rules_of_text *tables;
};

static void *map_of(struct bpf_map *map, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	cr_assert(at != MAP_FAILED);
	return at;
}

static void bench_open(struct bench *bench)
{
	struct selftest_bpf *skel = selftest_bpf__open();
	const uint32_t lines = TEXTS * TABLE_WORDS >> UNWIND_LINE_SHIFT;

	cr_assert(skel);
	memset(bench, 0, sizeof(*bench));
	bench->skel = skel;
	skel->rodata->base_nodes = NODES;
	skel->rodata->max_roots = 2 * WALK_END_COUNT;
	skel->rodata->roots_low = 2 * WALK_END_COUNT;
	skel->rodata->base_lines = lines;
	bpf_map__set_max_entries(skel->maps.nodes, 2 * NODES / NODES_OF_LINE);
	skel->bss->table_state.next_owner = OWNER_FIRST;
	skel->bss->table_state.node_mask[0] = NODES - 1;
	skel->bss->table_state.node_mask[1] = NODES - 1;
	bpf_map__set_max_entries(skel->maps.walks, 1);
	bpf_map__set_max_entries(skel->maps.known_rules, KNOWN_RULES);
	bpf_map__set_max_entries(skel->maps.rule_lines, lines);
	bpf_map__set_max_entries(skel->maps.rules_of_texts, TEXTS);
	cr_assert_eq(selftest_bpf__load(skel), 0);
	bench->owners = map_of(skel->maps.owners, OWNERS_MAX * sizeof(*bench->owners));
	bench->nodes = map_of(skel->maps.nodes, 2 * NODES * sizeof(*bench->nodes));
	bench->lines = map_of(skel->maps.rule_lines, lines * sizeof(*bench->lines));
	bench->tables = map_of(skel->maps.rules_of_texts, TEXTS * sizeof(*bench->tables));
}

static void run(struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	cr_assert_eq(bpf_prog_test_run_opts(bpf_program__fd(program), &opts), 0);
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)rand() % n;
}

/* From the root on a chain begins as the one before, up to some frame. */
static void change_chain(struct selftest_bpf__bss *bss)
{
	const uint32_t most = sizeof(bss->in_sites) / sizeof(bss->in_sites[0]);
	uint32_t nr = 1 + below(most), same = below(most), i;
	uint64_t last[sizeof(bss->in_sites) / sizeof(bss->in_sites[0])];

	if (same > bss->in_nr)
		same = bss->in_nr;
	for (i = 0; i < same; i++)
		last[i] = bss->in_sites[bss->in_nr - 1 - i];
	for (i = 0; i < nr; i++)
		bss->in_sites[nr - 1 - i] = i < same ? last[i] : 1 + below(3);
	bss->in_nr = nr;
}

/* The number of a parent that is no root. */
static const struct table_node *node_of(const struct bench *bench, uint32_t parent)
{
	const uint32_t number = (parent - 1) & (NODE_IN_SECOND - 1);

	cr_assert(parent && !(parent & NODE_IS_ROOT) && number < NODES);
	return &bench->nodes[half_of(parent) * NODES + number];
}

/* A root as the parent of what the first owner's processes have below it. */
static uint32_t first_owners(uint32_t root)
{
	return NODE_IS_ROOT | owned_root(root, OWNER_FIRST);
}

/* From the chain's leaf up to its root each element must be the chain's. */
static void expect_chain(struct bench *bench)
{
	const struct selftest_bpf__bss *bss = bench->skel->bss;
	uint32_t at = bss->out_node, half = bss->table_state.generation & 1, i;

	for (i = 0; i < bss->in_nr; i++) {
		cr_assert_eq(node_of(bench, at)->site, bss->in_sites[i], "frame %u of %u", i,
			     bss->in_nr);
		cr_assert_eq(half_of(at), half, "the other half");
		at = node_of(bench, at)->parent;
	}
	cr_assert_eq(at, first_owners(fixed_root(bss->in_target, END_COMPLETE, half)));
}

/* The half is changed for the other one, which is emptied first, as user space does. */
static void swap(struct bench *bench)
{
	uint32_t generation = ++bench->skel->bss->table_state.generation, i;

	memset(&bench->nodes[generation & 1 ? NODES : 0], 0, NODES * sizeof(*bench->nodes));
	for (i = 0; i < OWNERS_MAX; i++)
		bench->owners[i].nodes_used[generation & 1] = 0;
	bench->skel->bss->table_state.nodes_used[generation & 1] = 0;
}

static uint32_t used(const struct bench *bench)
{
	uint32_t i, nr = 0;

	for (i = 0; i < 2 * NODES; i++)
		nr += bench->nodes[i].site != 0;
	return nr;
}

/* Chains of which no two have a frame in common: the first owner gets what is lent and no more. */
Test(bpf_callers, one_owner_cannot_fill_the_table)
{
	struct bench bench;
	struct selftest_bpf__bss *bss;
	uint32_t i, nr, tries, at;

	bench_open(&bench);
	bss = bench.skel->bss;
	bss->in_nr = 64;
	for (tries = 0; tries < NODES / 32; tries++) {
		for (i = 0; i < bss->in_nr; i++)
			bss->in_sites[i] = 1 + tries * 100 + i;
		run(bench.skel->progs.selftest_chain);
	}
	cr_expect_eq(bss->out_node, 0);
	nr = used(&bench);
	cr_expect_eq(nr, bss->table_state.nodes_used[0]);
	cr_expect_eq(nr, bench.owners[OWNER_FIRST].nodes_used[0]);
	cr_expect_geq(nr, NODES / 16 * 9 - 64);
	cr_expect_leq(nr, NODES / 16 * 9 + 64);
	/* The leaf of what does not fit is marked, and below the root. */
	run(bench.skel->progs.selftest_leaf);
	at = bss->out_node;
	cr_assert(at);
	cr_expect_eq(node_of(&bench, at)->site, bss->in_sites[0] | SITE_AFTER_GAP);
	cr_expect_eq(node_of(&bench, at)->parent, first_owners(fixed_root(0, END_COMPLETE, 0)));
	/* Another owner, as whom the test has the first's number taken away. */
	bench.owners[OWNER_FIRST].nodes_used[0] = 0;
	for (i = 0; i < bss->in_nr; i++)
		bss->in_sites[i] = 1 + (1 << 20) + i;
	run(bench.skel->progs.selftest_chain);
	expect_chain(&bench);
	selftest_bpf__destroy(bench.skel);
}

static uint32_t owner_of_cgroup(struct bench *bench, uint64_t id)
{
	bench->skel->bss->in_key = OWNER_OF_CGROUP | id;
	run(bench->skel->progs.selftest_owner);
	return bench->skel->bss->out_owner;
}

/* Control groups that come when all numbers were given: each shares one, and few share the same. */
Test(bpf_callers, owners_beyond_the_numbers_share)
{
	bool taken[OWNERS_MAX] = { false };
	struct bench bench;
	uint32_t i, owner, distinct = 0;

	bench_open(&bench);
	for (i = OWNER_FIRST; i < OWNERS_MAX; i++)
		cr_assert_eq(owner_of_cgroup(&bench, 5000 + i), i);
	for (i = 0; i < 100; i++) {
		owner = owner_of_cgroup(&bench, 9000 + i);
		cr_assert(owner >= OWNER_FIRST && owner < OWNERS_MAX, "%u", owner);
		cr_expect_eq(owner_of_cgroup(&bench, 9000 + i), owner);
		distinct += !taken[owner];
		taken[owner] = true;
	}
	cr_expect_gt(distinct, 80);
	cr_expect_eq(owner_of_cgroup(&bench, 5000 + OWNER_FIRST), OWNER_FIRST);
	selftest_bpf__destroy(bench.skel);
}

Test(bpf_callers, chains_begin_where_others_did)
{
	struct bench bench;
	int round;

	bench_open(&bench);
	for (round = 0; round < ROUNDS; round++) {
		/* At times this CPU has no chain between two swaps: the half is the same again, and empty. */
		if (!below(20))
			swap(&bench);
		if (!below(40)) {
			swap(&bench);
			swap(&bench);
		}
		change_chain(bench.skel->bss);
		bench.skel->bss->in_target = below(2);
		run(bench.skel->progs.selftest_chain);
		expect_chain(&bench);
	}
	selftest_bpf__destroy(bench.skel);
}

struct row {
	uint32_t offset;
	uint32_t rule;
	uint32_t flag; /* UNWIND_ROW_EARLY, or 0 */
};

static int by_offset(const void *a, const void *b)
{
	const struct row *one = a, *other = b;

	return one->offset < other->offset ? -1 : one->offset > other->offset;
}

static void put_word(struct bench *bench, uint32_t number, uint32_t word)
{
	bench->lines[unwind_line_of(number)].word[unwind_word_of(number)] = word;
}

/* A file takes a text's number: a table of its own, in place of the last one's. */
static void make_table(struct bench *bench, uint32_t text, struct row *rows)
{
	const uint32_t index = text * TABLE_WORDS, first = index + GRANULES + 1;
	uint32_t i, granule = 0;

	for (i = 0; i < ROWS; i++)
		rows[i] = (struct row){ i ? 1 + below(GRANULES * UNWIND_GRANULE - 1) : 0,
					1 + below(1000), below(2) ? UNWIND_ROW_EARLY : 0 };
	qsort(rows, ROWS, sizeof(*rows), by_offset);
	for (i = 0; i < ROWS; i++) {
		if (i && rows[i].offset == rows[i - 1].offset)
			rows[i] = rows[i - 1];
		for (; granule <= unwind_granule(rows[i].offset); granule++)
			put_word(bench, index + granule, first + i);
		put_word(bench, first + i, unwind_row(rows[i].offset, rows[i].rule | rows[i].flag));
	}
	for (; granule <= GRANULES; granule++)
		put_word(bench, index + granule, first + ROWS);
	bench->tables[text] = (struct rules_of_text){ .state = RULES_READY,
						      .index = index,
						      .granules = GRANULES };
	bench->skel->bss->table_state.epoch++;
}

static uint32_t rule_at(const struct row *rows, uint32_t offset)
{
	uint32_t rule = 0, i;

	for (i = 0; i < ROWS && rows[i].offset <= offset; i++)
		rule = rows[i].rule | (rows[i].offset == offset ? rows[i].flag : 0);
	return rule;
}

Test(bpf_callers, rules_are_those_of_the_text)
{
	struct row rows[TEXTS][ROWS];
	struct bench bench;
	int round;

	bench_open(&bench);
	for (round = 0; round < ROUNDS; round++) {
		uint32_t text = below(TEXTS), offset = below(GRANULES * UNWIND_GRANULE / 16) * 16;

		if (round < TEXTS)
			make_table(&bench, (uint32_t)round, rows[round]);
		if (!below(100))
			make_table(&bench, text, rows[text]);
		if (round < TEXTS)
			continue;
		bench.skel->bss->in_text = text;
		bench.skel->bss->in_epoch = bench.skel->bss->table_state.epoch;
		bench.skel->bss->in_rule_at = offset;
		run(bench.skel->progs.selftest_rule);
		cr_assert_eq(bench.skel->bss->out_rule, (int)rule_at(rows[text], offset),
			     "text %u, offset %u, round %d", text, offset, round);
	}
	selftest_bpf__destroy(bench.skel);
}

/*
 * A walk finds a file's text by its number, and then that is taken from the file. What the walk still looks
 * up is the file's, and not that of the next one with this number, for which the epoch does not change again.
 */
Test(bpf_callers, walk_while_a_number_is_given_back)
{
	struct row rows[ROWS];
	struct bench bench;
	uint32_t before, granule;

	bench_open(&bench);
	make_table(&bench, 0, rows);
	bench.skel->bss->in_epoch = bench.skel->bss->table_state.epoch++;
	bench.skel->bss->in_rule_at = rows[ROWS / 2].offset;
	run(bench.skel->progs.selftest_rule);
	before = rule_at(rows, rows[ROWS / 2].offset);
	cr_assert_eq(bench.skel->bss->out_rule, (int)before);

	for (granule = 0; granule <= GRANULES; granule++)
		put_word(&bench, granule, GRANULES + 1 + !!granule);
	put_word(&bench, GRANULES + 1, unwind_row(0, unwind_row_rule(before) + 1));
	bench.skel->bss->in_epoch = bench.skel->bss->table_state.epoch;
	run(bench.skel->progs.selftest_rule);
	cr_expect_eq(bench.skel->bss->out_rule, (int)unwind_row_rule(before) + 1,
		     "the rule of the file before");
	selftest_bpf__destroy(bench.skel);
}
