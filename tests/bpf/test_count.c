// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* From a mapping to the node of a place, and what is known of mappings meanwhile. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "need.h"
#include "shared/abi.h"

#include "selftest.skel.h"

TestSuite(count, .init = need_root);
TestSuite(ranges, .init = need_root);

enum { NODES = 1 << 12, ROOTS = 16 };

/* The selftest's maps as the engine sizes and reads them. */
struct bench {
	struct selftest_bpf *skel;
	struct table_node *nodes;
	const struct target_account *account;
	uint32_t shift;
};

static void *map_of(struct bpf_map *map, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	cr_assert(at != MAP_FAILED);
	return at;
}

static void bench_begin(struct bench *bench, uint32_t shift)
{
	struct selftest_bpf *skel = selftest_bpf__open();

	cr_assert(skel);
	memset(bench, 0, sizeof(*bench));
	bench->skel = skel;
	bench->shift = shift;
	skel->rodata->bin_shift = shift;
	skel->rodata->base_nodes = NODES;
	skel->rodata->max_texts = 1024;
	skel->rodata->max_roots = ROOTS;
	skel->rodata->roots_low = ROOTS;
	skel->bss->table_state.next_text = TEXT_FIRST;
	skel->bss->table_state.next_owner = OWNER_FIRST;
	skel->bss->table_state.node_mask[0] = NODES - 1;
	skel->bss->table_state.node_mask[1] = NODES - 1;
	bpf_map__set_max_entries(skel->maps.nodes, 2 * NODES / NODES_OF_LINE);
	bpf_map__set_max_entries(skel->maps.table_roots, 2 * ROOTS);
	bpf_map__set_max_entries(skel->maps.texts, 1024);
	bpf_map__set_max_entries(skel->maps.rules_of_texts, 1024);
	bpf_map__set_max_entries(skel->maps.spaces, 16);
	bpf_map__set_max_entries(skel->maps.ranges, libbpf_num_possible_cpus() * RANGES);
	bpf_map__set_max_entries(skel->maps.cpu_accounts, libbpf_num_possible_cpus());
	bpf_map__set_max_entries(skel->maps.target_accounts, 2);
}

static void bench_load(struct bench *bench)
{
	struct selftest_bpf *skel = bench->skel;

	cr_assert_eq(selftest_bpf__load(skel), 0);
	bench->nodes = map_of(skel->maps.nodes, 2 * NODES * sizeof(*bench->nodes));
	bench->account = map_of(skel->maps.target_accounts, sysconf(_SC_PAGESIZE));
	skel->bss->in_end = END_FLAT;
}

static void bench_open(struct bench *bench, uint32_t shift)
{
	bench_begin(bench, shift);
	bench_load(bench);
}

static void bench_close(struct bench *bench)
{
	munmap((void *)bench->account, sysconf(_SC_PAGESIZE));
	munmap(bench->nodes, 2 * NODES * sizeof(*bench->nodes));
	selftest_bpf__destroy(bench->skel);
}

static void run(struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	cr_assert_eq(bpf_prog_test_run_opts(bpf_program__fd(program), &opts), 0);
}

/* A root as the parent of what this process has below it. */
static uint32_t parent_of(uint32_t root)
{
	return owned_root(NODE_IS_ROOT | root, OWNER_FIRST);
}

/* Where the next tick falls, in a mapping of a file. */
static void make_range(struct bench *bench, uint64_t inode, uint64_t start, uint64_t stop,
		       uint64_t offset, uint64_t pc)
{
	struct selftest_bpf__bss *bss = bench->skel->bss;

	bss->in_inode = inode;
	bss->in_start = start;
	bss->in_stop = stop;
	bss->in_offset = offset;
	bss->in_pc = pc;
	run(bench->skel->progs.selftest_range);
}

static bool count_site(struct bench *bench, uint64_t site)
{
	bench->skel->bss->in_sites[0] = site;
	run(bench->skel->progs.selftest_count);
	return bench->skel->bss->out_found;
}

static uint64_t site_of(uint32_t text, uint64_t offset)
{
	return (uint64_t)text << SITE_OFFSET_BITS | offset;
}

/* The ticks of the nodes at a site below a root; of all with site 0. */
static uint64_t sum(const struct table_node *nodes, uint32_t nr, uint64_t site, uint32_t parent)
{
	uint64_t total = 0;
	uint32_t i;

	for (i = 0; i < nr; i++)
		if (!site || (nodes[i].site == site && nodes[i].parent == parent))
			total += nodes[i].count;
	return total;
}

/* The bin by long division with 128 bits, as if all bins of a file were one long array. */
static unsigned __int128 oracle_bin(uint64_t offset, uint32_t shift)
{
	return (unsigned __int128)offset / ((unsigned __int128)1 << shift);
}

static uint64_t random64(void)
{
	return (uint64_t)random() << 42 ^ (uint64_t)random() << 21 ^ random();
}

/* For a random mapping and pc the site is that of the oracle's bin, and a node of its own is counted up. */
static void check_one(struct bench *bench, uint64_t inode)
{
	uint64_t pages = 1 + random() % 100000, base = random64() % (1ULL << 34);
	uint64_t start = (random64() % (1ULL << 35)) << 12, offset = base << 12;
	uint64_t pc = start + random64() % (pages << 12), bin, before, site;
	const uint32_t root = parent_of(fixed_root(0, END_FLAT, 0));

	make_range(bench, inode, start, start + (pages << 12), offset, pc);
	cr_assert(bench->skel->bss->out_found);
	site = bench->skel->bss->out_site;
	bin = oracle_bin(pc - start + offset, bench->shift);
	cr_assert_eq(site & SITE_OFFSET_MASK, bin << bench->shift, "shift %u offset %#lx",
		     bench->shift, pc - start + offset);
	cr_assert_geq(site_text(site), TEXT_FIRST);
	cr_assert_lt(site_text(site), TEXT_FIRST + 3);
	before = sum(bench->nodes, NODES, site, root);
	cr_assert(count_site(bench, site));
	cr_assert_eq(sum(bench->nodes, NODES, site, root), before + 1);
}

static void check_shift(uint32_t shift)
{
	struct bench bench;
	int i;

	bench_open(&bench, shift);
	for (i = 0; i < 200; i++)
		check_one(&bench, 1 + random() % 3);
	cr_assert_eq(sum(bench.nodes, NODES, 0, 0), 200);
	cr_assert_eq(bench.skel->bss->table_state.next_text, TEXT_FIRST + 3);
	bench_close(&bench);
}

Test(count, every_place_is_the_oracles)
{
	uint32_t shift;

	NEED_ROOT();
	for (shift = 0; shift <= BIN_SHIFT_MAX; shift++)
		check_shift(shift);
}

/* A place that finds no node is counted with the 64 KiB around it, and then with its target alone; nothing is lost. */
Test(count, full_table_gets_coarser_then_forgets_places)
{
	uint64_t i, coarse = 0, unplaced = 0;
	struct bench bench;

	NEED_ROOT();
	bench_open(&bench, 0);
	for (i = 0; i < 2 * NODES; i++)
		count_site(&bench, site_of(TEXT_FIRST, i << 15));
	for (i = 0; i < NODES; i++) {
		if (!site_is_coarse(bench.nodes[i].site))
			continue;
		cr_assert_eq(bench.nodes[i].site & ((1 << COARSE_SITE_SHIFT) - 1), 0);
		if (bench.nodes[i].site == SITE_OF_OTHER) {
			unplaced += bench.nodes[i].count;
			continue;
		}
		cr_assert_eq(site_text(bench.nodes[i].site), TEXT_FIRST);
		coarse += bench.nodes[i].count;
	}
	cr_assert_gt(coarse, NODES / 32);
	cr_assert_gt(unplaced, 0);
	cr_assert_eq(bench.account->lost[LOST_NO_MEMORY], 0);
	cr_assert_eq(sum(bench.nodes, NODES, 0, 0), 2 * NODES);
	cr_assert(count_site(&bench, site_of(TEXT_FIRST, 0)), "what has a node goes on");
	bench_close(&bench);
}

/* User space is asked once for a swap before a half is full, and again after the swap. */
Test(count, requests_a_swap_at_a_quarter)
{
	struct table_state *state;
	struct bench bench;
	uint32_t i;

	NEED_ROOT();
	bench_open(&bench, 0);
	state = &bench.skel->bss->table_state;
	for (i = 0; i < NODES / SWAP_PART - 1; i++)
		count_site(&bench, site_of(TEXT_FIRST, i << 10));
	cr_assert_eq(state->room_requested, 0);
	count_site(&bench, site_of(TEXT_FIRST + 1, 0));
	count_site(&bench, site_of(TEXT_FIRST + 1, 1));
	cr_assert_eq(state->room_requested, 1);
	state->generation++;
	state->room_requested = 0;
	count_site(&bench, site_of(TEXT_FIRST + 1, 2));
	cr_assert_eq(state->room_requested, 0, "the other half is empty");
	cr_assert_eq(state->nodes_used[1], 1);
	bench_close(&bench);
}

/* A half larger than its part of the first map is a map of its own. */
Test(count, large_half_is_a_map_of_its_own)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	const uint32_t root = parent_of(fixed_root(1, END_FLAT, 1)), large = 4 * NODES;
	const uint32_t many = NODES + NODES / 4;
	uint32_t slot = 1, i, found = 0;
	struct table_node *nodes;
	struct bench bench;
	int fd;

	NEED_ROOT();
	bench_open(&bench, 0);
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "half", sizeof(slot), sizeof(struct node_line),
			    large / NODES_OF_LINE, &options);
	cr_assert_geq(fd, 0);
	cr_assert_eq(bpf_map_update_elem(bpf_map__fd(bench.skel->maps.halves), &slot, &fd, 0), 0);
	bench.skel->bss->table_state.node_mask[1] = large - 1;
	bench.skel->bss->table_state.generation = 1;
	bench.skel->bss->in_target = 1;
	for (i = 0; i < many; i++)
		cr_assert(count_site(&bench, site_of(TEXT_FIRST, i << 10)));
	nodes = mmap(NULL, large * sizeof(*nodes), PROT_READ, MAP_SHARED, fd, 0);
	cr_assert(nodes != MAP_FAILED);
	for (i = 0; i < large; i++)
		found += nodes[i].site && nodes[i].parent == root && nodes[i].count == 1;
	cr_assert_eq(found, many);
	cr_assert_eq(sum(bench.nodes, 2 * NODES, 0, 0), 0);
	munmap(nodes, large * sizeof(*nodes));
	close(fd);
	bench_close(&bench);
}

/* Counts have 32 bits; a wrap is noted once each time. */
Test(count, wrapped_count_is_carried)
{
	uint64_t key, times = 0;
	struct bench bench;
	uint32_t i;

	NEED_ROOT();
	bench_open(&bench, 0);
	bench.skel->bss->table_state.generation = 1;
	bench.skel->data->in_ticks = 0xc0000000;
	for (i = 0; i < 3; i++)
		cr_assert(count_site(&bench, site_of(TEXT_FIRST, 10)));
	for (i = NODES; !bench.nodes[i].site; i++)
		cr_assert_lt(i, 2 * NODES);
	key = NODE_IN_SECOND | (i - NODES);
	cr_assert_eq(bpf_map_lookup_elem(bpf_map__fd(bench.skel->maps.carries), &key, &times), 0);
	cr_assert_eq((times << 32) + bench.nodes[i].count, 3 * 0xc0000000ULL);
	bench_close(&bench);
}

/* Each process has a root of its own as long as there is room; the ticks of others are the target's. */
Test(count, root_of_a_split_or_of_its_target)
{
	const uint32_t none = parent_of(fixed_root(0, END_FLAT, 0));
	const uint64_t site = site_of(TEXT_FIRST, 10);
	struct bench bench;
	uint32_t i, own = 0;

	NEED_ROOT();
	bench_begin(&bench, 0);
	bench.skel->rodata->split = SPLIT_PROCESS;
	bench.skel->rodata->max_splits = 16;
	bpf_map__set_max_entries(bench.skel->maps.spent_cpus, 16);
	bench.skel->bss->table_state.next_root[0] = 1;
	bench.skel->bss->table_state.next_root[1] = ROOTS;
	bench_load(&bench);
	cr_assert(count_site(&bench, site));
	cr_assert(count_site(&bench, site));
	cr_assert_eq(sum(bench.nodes, NODES, site, none), 0);
	for (i = 0; i < NODES; i++)
		own += bench.nodes[i].count * (bench.nodes[i].parent == parent_of(2));
	cr_assert_eq(own, 2, "the first number that is free");
	bench.skel->bss->table_state.generation = 1;
	cr_assert(count_site(&bench, site));
	cr_assert_eq(sum(bench.nodes + NODES, NODES, site, none | 1), 1, "no room");
	bench_close(&bench);
}

static pthread_barrier_t together;

static void *count_many(void *arg)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct bpf_program *program = arg;
	uint32_t i;

	for (i = 0; i < 2000; i++) {
		pthread_barrier_wait(&together);
		bpf_prog_test_run_opts(bpf_program__fd(program), &opts);
	}
	return NULL;
}

/* Two CPUs that meet a place for the first time at the same moment may make two nodes of it; no tick is lost. */
Test(count, two_at_once)
{
	struct bench bench;
	pthread_t other;
	uint32_t i;

	NEED_ROOT();
	bench_open(&bench, 0);
	pthread_barrier_init(&together, NULL, 2);
	cr_assert_eq(pthread_create(&other, NULL, count_many, bench.skel->progs.selftest_count), 0);
	for (i = 0; i < 2000; i++) {
		bench.skel->bss->in_sites[0] = site_of(TEXT_FIRST, (uint64_t)(i / 2) << 10);
		pthread_barrier_wait(&together);
		run(bench.skel->progs.selftest_count);
	}
	pthread_join(other, NULL);
	cr_assert_eq(sum(bench.nodes, NODES, 0, 0), 4000);
	bench_close(&bench);
}

Test(count, text_that_is_no_text_is_outside)
{
	struct bench bench;

	NEED_ROOT();
	bench_open(&bench, 0);
	bench.skel->data->in_exec = 0;
	make_range(&bench, 1, 0, 4096, 0, 10);
	cr_assert_eq(bench.skel->bss->out_found, 0);
	cr_assert_eq(bench.skel->bss->table_state.texts, 0);
	bench_close(&bench);
}

/* A text without a number is told as one whose place is not known. */
Test(count, text_without_a_number)
{
	struct bench bench;

	NEED_ROOT();
	bench_open(&bench, 0);
	bench.skel->bss->table_state.next_text = 1024;
	make_range(&bench, 1, 0, 4096, 0, 10);
	cr_assert_eq(bench.skel->bss->out_found, 1);
	cr_assert_eq(bench.skel->bss->out_site, site_of(TEXT_OTHER, 0) | SITE_COARSE);
	cr_assert_neq(bench.skel->bss->out_range.epoch, bench.skel->bss->table_state.epoch,
		      "it is looked up again");
	bench_close(&bench);
}

static uint32_t find(struct bench *bench, uint64_t pc, uint32_t who, uint32_t stamp)
{
	struct selftest_bpf__bss *bss = bench->skel->bss;

	bss->in_pc = pc;
	bss->in_who = who;
	bss->in_stamp = stamp;
	run(bench->skel->progs.selftest_find);
	return bench->skel->bss->out_found;
}

static void put(struct bench *bench, uint64_t start, uint64_t stop, uint64_t offset, uint64_t pc,
		uint32_t who, uint32_t stamp)
{
	bench->skel->data->in_exec = 4 | 1 << 16;
	bench->skel->bss->in_who = who;
	bench->skel->bss->in_stamp = stamp;
	make_range(bench, 1, start, stop, offset, pc);
	run(bench->skel->progs.selftest_put);
}

/* prog run stays on the CPU on which it is called, and the cache is per CPU. */
static void stay_here(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	cr_assert_eq(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* A range holds only for its own text, process, address-space state and epoch. */
Test(ranges, hit_needs_text_process_stamp_and_epoch)
{
	struct bench bench;

	stay_here();
	bench_open(&bench, 0);
	put(&bench, 0x400000, 0x404000, 0x3000, 0x401234, 7, 2);
	cr_assert_eq(find(&bench, 0x401234, 7, 2), 1);
	cr_assert_eq(bench.skel->bss->out_site, site_of(TEXT_FIRST, 0x4234));
	cr_assert_eq(find(&bench, 0x403fff, 7, 2), 1);
	cr_assert_eq(find(&bench, 0x401234, 8, 2), 0, "another process");
	cr_assert_eq(find(&bench, 0x401234, 7, 4), 0, "another state, and no mapping to renew by");
	cr_assert_eq(find(&bench, 0x404000, 7, 2), 0, "past the end");
	cr_assert_eq(find(&bench, 0x3fffff, 7, 2), 0, "before the start");
	bench.skel->bss->table_state.epoch++;
	cr_assert_eq(find(&bench, 0x401234, 7, 2), 0, "numbers were given back");
	bench_close(&bench);
}

/* Hits of a range that is replaced are added to the target and not dropped with it. */
Test(ranges, eviction_keeps_ticks)
{
	struct bench bench;

	stay_here();
	bench_open(&bench, 0);
	put(&bench, 0x400000, 0x401000, 0, 0x400100, 7, 2);
	cr_assert_eq(find(&bench, 0x400100, 7, 2), 1);
	cr_assert_eq(find(&bench, 0x400100, 7, 2), 1);
	cr_assert_eq(bench.account->ticks, 0);
	put(&bench, 0x401000, 0x402000, 0, 0x401100, 7, 2);
	cr_assert_eq(find(&bench, 0x400100, 7, 2), 0, "replaced");
	cr_assert_eq(bench.account->ticks, 2);
	bench_close(&bench);
}
