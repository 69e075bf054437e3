// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <criterion/criterion.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/engine/pool.h"
#include "need.h"
#include "shared/abi.h"

#include "selftest.skel.h"

TestSuite(xlat, .init = need_root);

/* The selftest's maps as the engine sizes and reads them. */
struct bench {
	struct selftest_bpf *skel;
	struct pool pool;
	const struct target_account *account;
	uint32_t shift;
};

static void bench_open(struct bench *bench, uint64_t memory, uint32_t shift)
{
	struct selftest_bpf *skel = selftest_bpf__open();
	uint32_t chunks;

	cr_assert(skel);
	memset(bench, 0, sizeof(*bench));
	bench->skel = skel;
	bench->shift = shift;
	cr_assert_eq(pool_plan(&bench->pool, memory, 100, false, NULL), 0);
	skel->rodata->bin_shift = shift;
	skel->rodata->base_pages = bench->pool.pages.base;
	skel->rodata->base_windows = bench->pool.dirs.base;
	chunks = (bench->pool.pages.limit - bench->pool.pages.base) / CHUNK_PAGES;
	bpf_map__set_max_entries(skel->maps.pages, bench->pool.pages.base);
	bpf_map__set_max_entries(skel->maps.page_chunks, chunks ?: 1);
	bpf_map__set_max_entries(skel->maps.dirs, bench->pool.dirs.base);
	bpf_map__set_max_entries(skel->maps.windows, bench->pool.dirs.limit);
	bpf_map__set_max_entries(skel->maps.spaces, 16);
	skel->rodata->space_sets = (uint32_t)libbpf_num_possible_cpus() * XLAT_SETS;
	bpf_map__set_max_entries(skel->maps.xlat, 2 * skel->rodata->space_sets);
	bpf_map__set_max_entries(skel->maps.xlat_origins, libbpf_num_possible_cpus() * XLAT_SETS);
	bpf_map__set_max_entries(skel->maps.cpu_accounts, libbpf_num_possible_cpus());
	bpf_map__set_max_entries(skel->maps.target_accounts, 2);
	cr_assert_eq(selftest_bpf__load(skel), 0);
	cr_assert_eq(pool_bind(&bench->pool, bpf_map__fd(skel->maps.pages),
			       bpf_map__fd(skel->maps.page_chunks), bpf_map__fd(skel->maps.dirs),
			       bpf_map__fd(skel->maps.dir_chunks), &skel->bss->pool, NULL),
		     0);
	bench->account = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED,
			      bpf_map__fd(skel->maps.target_accounts), 0);
	cr_assert(bench->account != MAP_FAILED);
}

static void bench_close(struct bench *bench)
{
	munmap((void *)bench->account, sysconf(_SC_PAGESIZE));
	pool_free(&bench->pool);
	selftest_bpf__destroy(bench->skel);
}

static void run(struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	cr_assert_eq(bpf_prog_test_run_opts(bpf_program__fd(program), &opts), 0);
}

/* Where the next tick falls, in a mapping of a file. */
static void place_tick(struct bench *bench, uint64_t inode, uint64_t start, uint64_t end,
		       uint64_t offset, uint64_t pc)
{
	struct selftest_bpf__bss *bss = bench->skel->bss;

	bss->in_inode = inode;
	bss->in_start = start;
	bss->in_end = end;
	bss->in_offset = offset;
	bss->in_pc = pc;
}

static void file_tick(struct bench *bench, uint64_t inode, uint64_t start, uint64_t end,
		      uint64_t offset, uint64_t pc)
{
	place_tick(bench, inode, start, end, offset, pc);
	run(bench->skel->progs.selftest_file);
}

/* The value of a counter of a window; 0 if there is none. */
static uint32_t counter(struct bench *bench, uint64_t inode, uint64_t window, uint32_t shift,
			uint32_t page, uint32_t slot)
{
	struct window_key key = {
		.space = { .kind = SPACE_FILE, .b = inode },
		.window = window,
		.shift = shift,
	};
	const struct window_dir *dir;
	struct window found;

	if (bpf_map_lookup_elem(bpf_map__fd(bench->skel->maps.windows), &key, &found))
		return 0;
	dir = pool_dir(&bench->pool, found.dir);
	cr_assert(dir);
	if (!dir->pages[page])
		return 0;
	return pool_page(&bench->pool, dir->pages[page] - 1)->counters[slot];
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

/* For a random mapping and pc, the oracle's counter, and no other, must increase by one. */
static void check_one(struct bench *bench, uint64_t inode)
{
	uint64_t pages = 1 + random() % 100000, base = random64() % (1ULL << 34);
	uint64_t start = (random64() % (1ULL << 35)) << 12, offset = base << 12;
	uint64_t pc = start + random64() % (pages << 12);
	unsigned __int128 bin = oracle_bin(pc - start + offset, bench->shift);
	uint64_t window = bin / (WINDOW_PAGES * PAGE_COUNTERS);
	uint32_t page = bin / PAGE_COUNTERS % WINDOW_PAGES, slot = bin % PAGE_COUNTERS;
	uint32_t before = counter(bench, inode, window, bench->shift, page, slot);

	file_tick(bench, inode, start, start + (pages << 12), offset, pc);
	cr_assert_eq(counter(bench, inode, window, bench->shift, page, slot), before + 1,
		     "shift %u offset %#lx", bench->shift, pc - start + offset);
}

/* The sum of all counters of the pool. */
static uint64_t sum(const struct bench *bench)
{
	uint64_t total = 0;
	uint32_t i, j;

	for (i = 0; i < bench->pool.pages.present; i++)
		for (j = 0; j < PAGE_COUNTERS; j++)
			total += pool_page(&bench->pool, i)->counters[j];
	return total;
}

static uint64_t sum_of_window(const struct bench *bench, uint32_t dir)
{
	const struct window_dir *entries = pool_dir(&bench->pool, dir);
	uint64_t total = 0;
	uint32_t i, j;

	for (i = 0; i < WINDOW_PAGES; i++)
		for (j = 0; entries->pages[i] && j < PAGE_COUNTERS; j++)
			total += pool_page(&bench->pool, entries->pages[i] - 1)->counters[j];
	return total;
}

/* The ticks in windows with bins of 1 << shift bytes; nobody's: that are of no process. */
static uint64_t in_bins(const struct bench *bench, uint32_t shift, bool nobodys)
{
	int fd = bpf_map__fd(bench->skel->maps.windows);
	struct window_key key, last, *from = NULL;
	struct window window;
	uint64_t total = 0;

	while (!bpf_map_get_next_key(fd, from, &key)) {
		last = key;
		from = &last;
		cr_assert_eq(bpf_map_lookup_elem(fd, &key, &window), 0);
		if (key.shift == shift && (!nobodys || !key.space.b))
			total += sum_of_window(bench, window.dir);
	}
	return total;
}

static void check_shift(uint32_t shift)
{
	struct bench bench;
	int i;

	bench_open(&bench, 4 << 20, shift);
	for (i = 0; i < 200; i++)
		check_one(&bench, 1 + random() % 3);
	cr_assert_eq(sum(&bench), 200);
	cr_assert_eq(in_bins(&bench, shift, false), 200);
	bench_close(&bench);
}

Test(count, every_bin_is_the_oracles)
{
	uint32_t shift;

	NEED_ROOT();
	for (shift = 0; shift <= BIN_SHIFT_MAX; shift++)
		check_shift(shift);
}

/* Tests the header itself against the oracle, also at the edges of 64 bits. */
Test(count, arithmetic_round_trips)
{
	static const uint64_t edges[] = {
		0, 1, 1023, 1024, 131071, 131072, UINT32_MAX, 1ULL << 32, UINT64_MAX - 1, UINT64_MAX
	};
	uint32_t shift;
	size_t i;

	for (shift = 0; shift <= BIN_SHIFT_MAX; shift++)
		for (i = 0; i < 100000; i++) {
			uint64_t offset = i < 10 ? edges[i] : random64();
			uint64_t window = bin_window(offset, shift);
			uint64_t in_window = offset - window * bin_window_size(shift);
			uint64_t first = bin_offset(window, bin_page(in_window, shift),
						    bin_counter(in_window, shift), shift);

			cr_assert_eq(first, (uint64_t)(oracle_bin(offset, shift) << shift));
		}
}

/* New text in a full pool gets wide bins, then a named loss; the account adds up throughout. */
Test(count, full_pool_gets_coarser_then_says_so)
{
	const struct target_account *account;
	struct bench bench;
	uint64_t i, ticks = 200000;

	NEED_ROOT();
	bench_open(&bench, 256 << 10, 0);
	account = bench.account;
	for (i = 0; i < 64; i++)
		file_tick(&bench, 1, 0, 64 << 10, 0, i * 1024);
	cr_assert_gt(in_bins(&bench, COARSE_SHIFT, false), 20);
	cr_assert_eq(account->lost[LOST_NO_MEMORY], 0);
	cr_assert_eq(sum(&bench), 64, "nothing was dropped");
	cr_assert_eq(in_bins(&bench, BIN_SHIFT_MAX, false), 0);
	for (i = 0; i < 64; i++)
		file_tick(&bench, 1, 0, ticks << 12, 0, i << 20);
	cr_assert_gt(in_bins(&bench, BIN_SHIFT_MAX, false), 20);
	cr_assert_eq(account->lost[LOST_NO_MEMORY], 0);
	cr_assert_eq(sum(&bench), 128);
	for (i = 0; i < 64; i++)
		file_tick(&bench, 1, 0, ticks << 20, 0, i << 26);
	cr_assert_gt(account->lost[LOST_NO_MEMORY], 0);
	cr_assert_eq(sum(&bench) + account->lost[LOST_NO_MEMORY], 192);
	bench_close(&bench);
}

/* JIT text in any number of processes: what finds no memory of its own is merged. */
Test(count, anonymous_text_never_runs_out)
{
	const uint64_t start = 0x7f0000000000, end = start + (64 << 20);
	struct bench bench;
	uint64_t pid;

	NEED_ROOT();
	bench_open(&bench, 256 << 10, 0);
	bench.skel->data->in_kind = SPACE_ANON;
	for (pid = 1; pid <= 4000; pid++)
		file_tick(&bench, pid, start, end, start, start + pid % 1024 * 65536);
	cr_assert_eq(bench.account->lost[LOST_NO_MEMORY], 0);
	cr_assert_gt(in_bins(&bench, BIN_SHIFT_MAX, true), 3900);
	cr_assert_eq(sum(&bench), 4000);
	bench_close(&bench);
}

/* A pool below its limit asks for memory, and makes bins as fine as before once it was answered. */
Test(count, pool_grows_when_asked)
{
	struct bench bench;
	uint64_t i;

	NEED_ROOT();
	bench_open(&bench, 8 << 20, 0);
	for (i = 0; i < 1000; i++) {
		file_tick(&bench, 1, 0, 2000 << 10, 0, i * 1024);
		if (bench.skel->bss->pool.asked)
			cr_assert_eq(pool_grow(&bench.pool, NULL), 0);
	}
	cr_assert_eq(in_bins(&bench, 0, false), 1000);
	cr_assert_eq(sum(&bench), 1000);
	cr_assert_gt(bench.pool.pages.nr_maps, 3);
	bench_close(&bench);
}

/* What is to be there ahead is there at the start, so nothing waits for a grace period then. */
Test(count, pool_needs_no_chunk_to_begin)
{
	struct bench bench;
	struct pool wide;

	NEED_ROOT();
	bench_open(&bench, 64 << 20, 0);
	cr_assert_eq(bench.pool.pages.nr_maps, 1);
	cr_assert_eq(bench.pool.dirs.nr_maps, 1);
	bench_close(&bench);
	cr_assert_eq(pool_plan(&wide, 64 << 20, 64 * 1000, true, NULL), 0);
	wide.pages.present = wide.pages.base;
	cr_assert_gt(chunked_array_low(&wide.pages), 0);
}

/* Counters have 32 bits; a wrap is noted once each time. */
Test(count, wrapped_counter_is_carried)
{
	uint64_t key = 10, times = 0;
	struct bench bench;
	int i;

	NEED_ROOT();
	bench_open(&bench, 1 << 20, 0);
	bench.skel->data->in_ticks = 0xc0000000;
	for (i = 0; i < 3; i++)
		file_tick(&bench, 1, 0, 4096, 0, 10);
	cr_assert_eq(bpf_map_lookup_elem(bpf_map__fd(bench.skel->maps.carries), &key, &times), 0);
	cr_assert_eq((times << 32) + sum(&bench), 3 * 0xc0000000ULL);
	bench_close(&bench);
}

Test(count, text_that_is_no_text_is_outside)
{
	struct bench bench;

	NEED_ROOT();
	bench_open(&bench, 1 << 20, 0);
	bench.skel->data->in_exec = 0;
	file_tick(&bench, 1, 0, 4096, 0, 10);
	cr_assert_eq(bench.account->outside, 1);
	cr_assert_eq(sum(&bench), 0);
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

static void insert(struct bench *bench, uint64_t start, uint64_t end, uint64_t pc, uint32_t who,
		   uint32_t stamp)
{
	file_tick(bench, 1, start, end, 0, pc);
	bench->skel->bss->in_who = who;
	bench->skel->bss->in_stamp = stamp;
	run(bench->skel->progs.selftest_insert);
}

/* prog run stays on the CPU on which it is called, and the cache is per CPU. */
static void stay_here(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	cr_assert_eq(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* An entry matches only its own text, process and address-space state. */
Test(xlat, hit_needs_text_process_and_stamp)
{
	struct bench bench;

	stay_here();
	bench_open(&bench, 1 << 20, 0);
	insert(&bench, 0x400000, 0x404000, 0x401234, 7, 2);
	cr_assert_eq(find(&bench, 0x401234, 7, 2), 1);
	cr_assert_eq(bench.skel->bss->out_in_window, 0x1234);
	cr_assert_eq(find(&bench, 0x403fff, 7, 2), 1);
	cr_assert_eq(find(&bench, 0x401234, 8, 2), 0, "another process");
	cr_assert_eq(find(&bench, 0x401234, 7, 4), 0, "another state, and no mapping to renew by");
	cr_assert_eq(find(&bench, 0x404000, 7, 2), 0, "past the end");
	cr_assert_eq(find(&bench, 0x3fffff, 7, 2), 0, "before the start");
	bench_close(&bench);
}

/* Hits of an entry that is replaced are added to the target and not dropped with it. */
Test(xlat, eviction_keeps_ticks)
{
	struct bench bench;

	stay_here();
	bench_open(&bench, 1 << 20, 0);
	insert(&bench, 0x400000, 0x401000, 0x400100, 7, 2);
	cr_assert_eq(find(&bench, 0x400100, 7, 2), 1);
	cr_assert_eq(find(&bench, 0x400100, 7, 2), 1);
	insert(&bench, 0x401000, 0x402000, 0x401100, 7, 2);
	cr_assert_eq(find(&bench, 0x400100, 7, 2), 2, "the second way");
	insert(&bench, 0x402000, 0x403000, 0x402100, 7, 2);
	cr_assert_eq(find(&bench, 0x400100, 7, 2), 0, "evicted");
	cr_assert_eq(bench.account->ticks, 3);
	bench_close(&bench);
}

/* Counts a tick of a mapping in a window that is remembered; false: none is. */
static bool recall(struct bench *bench, uint64_t inode, uint64_t start, uint64_t end,
		   uint64_t offset, uint64_t pc)
{
	place_tick(bench, inode, start, end, offset, pc);
	run(bench->skel->progs.selftest_recall);
	return bench->skel->bss->out_found;
}

/* What one process's tick has found is another's, but only of the same file and target. */
Test(xlat, window_of_another_process)
{
	struct xlat_entry *entry;
	struct bench bench;

	stay_here();
	bench_open(&bench, 1 << 20, 0);
	entry = &bench.skel->bss->out_entry;
	file_tick(&bench, 1, 0x400000, 0x404000, 0x10000, 0x401234);
	run(bench.skel->progs.selftest_remember);
	cr_assert(recall(&bench, 1, 0x7000000, 0x7004000, 0x10000, 0x7001234));
	cr_expect_eq(counter(&bench, 1, 0, 0, 0x11234 >> 10, 0x11234 & 1023), 2);
	cr_expect_eq(entry->where, 0x7000000);
	cr_expect_eq(entry->span, 4);
	cr_assert(recall(&bench, 1, 0x7000000, 0x7002000, 0x11000, 0x7000234));
	cr_expect_eq(counter(&bench, 1, 0, 0, 0x11234 >> 10, 0x11234 & 1023), 3);
	cr_expect_eq(entry->where, 0x7000000, "the mapping begins in the window");
	cr_expect_eq(entry->span, 2, "and ends in it");
	cr_expect_eq(entry->place, 0x11);
	cr_expect_not(recall(&bench, 1, 0x400000, 0x408000, 0x10000, 0x404000), "not seen yet");
	cr_expect_not(recall(&bench, 2, 0x400000, 0x404000, 0x10000, 0x401234), "another file");
	bench.skel->data->in_kind = SPACE_ANON;
	cr_expect_not(recall(&bench, 1, 0x400000, 0x404000, 0x10000, 0x401234), "no file");
	bench.skel->data->in_kind = SPACE_FILE;
	bench.skel->bss->in_target = 1;
	cr_expect_not(recall(&bench, 1, 0x400000, 0x404000, 0x10000, 0x401234), "another target");
	bench.skel->bss->in_target = 0;
	cr_expect(recall(&bench, 1, 0x400000, 0x404000, 0x10000, 0x401234));
	bench_close(&bench);
}

/* Else each process had wide bins after memory was short, though there is room for fine ones again. */
Test(xlat, wide_window_is_not_remembered)
{
	struct bench bench;
	uint64_t i;

	stay_here();
	bench_open(&bench, 256 << 10, 0);
	for (i = 0; i < 64; i++)
		file_tick(&bench, 1, 0, 64 << 10, 0, i * 1024);
	cr_assert_gt(in_bins(&bench, COARSE_SHIFT, false), 20);
	run(bench.skel->progs.selftest_remember);
	cr_expect_not(recall(&bench, 1, 0, 64 << 10, 0, 63 * 1024));
	file_tick(&bench, 1, 0, 64 << 10, 0, 0);
	run(bench.skel->progs.selftest_remember);
	cr_expect(recall(&bench, 1, 0, 64 << 10, 0, 0));
	bench_close(&bench);
}
