// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Taking counters out, including wrapped ones, with this test in place of the programs. */
#include <bpf/bpf.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/engine/counted.h"
#include "need.h"

TestSuite(take, .init = need_root);

enum { DIR = 0, ENTRY = 3, PAGE = 1, SLOT = 7 };

struct counters {
	struct counter_page pages[2];
	struct window_dir dirs[1];
	void *page_maps[1];
	void *dir_maps[1];
	struct pool pool;
	struct target_account account;
	struct xlat_set set;
	struct carries carries;
	struct tally tally;
	struct counted counted;
};

static void begin(struct counters *c)
{
	int carries_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "carries", sizeof(uint64_t),
					sizeof(uint64_t), 16, NULL);

	cr_assert_geq(carries_fd, 0);
	memset(c, 0, sizeof(*c));
	c->page_maps[0] = c->pages;
	c->dir_maps[0] = c->dirs;
	c->pool.pages = (struct chunked_array){ .element_size = sizeof(c->pages[0]),
						.base = 2,
						.present = 2,
						.maps = c->page_maps };
	c->pool.dirs = (struct chunked_array){ .element_size = sizeof(c->dirs[0]),
					       .base = 1,
					       .present = 1,
					       .maps = c->dir_maps };
	c->dirs[DIR].pages[ENTRY] = PAGE + 1;
	c->counted = (struct counted){ .pool = &c->pool,
				       .xlat = &c->set,
				       .nr_sets = 1,
				       .targets = &c->account,
				       .nr_targets = 1,
				       .carries_fd = carries_fd,
				       .carries = &c->carries,
				       .tallies = &c->tally };
}

static void end(struct counters *c)
{
	close(c->counted.carries_fd);
	free(c->carries.list);
}

/* Does the same as carry() in bpf/count.bpf.h. */
static void wrap(struct counters *c, uint64_t times)
{
	uint64_t key = (uint64_t)PAGE << PAGE_SHIFT_COUNTERS | SLOT;

	cr_assert_eq(bpf_map_update_elem(c->counted.carries_fd, &key, &times, BPF_ANY), 0);
}

/* The counter's ticks; the others of its page must be 0. */
static uint64_t read_counter(struct counters *c, bool take)
{
	uint64_t sums[PAGE_COUNTERS] = { 0 };
	struct counter_page *page;
	uint32_t number, i;

	c->counted.take = take;
	cr_assert_eq(counted_read_carries(&c->counted, NULL), 0);
	page = counted_page(&c->counted, DIR, ENTRY, &number);
	cr_assert_eq(page, &c->pages[PAGE]);
	counted_add(&c->counted, 0, page, number, sums);
	for (i = 0; i < PAGE_COUNTERS; i++)
		cr_assert(i == SLOT || !sums[i], "counter %u", i);
	return sums[SLOT];
}

Test(take, a_counter_once)
{
	struct counters c;
	uint32_t number;

	begin(&c);
	c.pages[PAGE].counters[SLOT] = 5;
	cr_assert_eq(read_counter(&c, false), 5);
	cr_assert_eq(read_counter(&c, true), 5);
	cr_assert_eq(read_counter(&c, true), 0);
	cr_assert_eq(c.pages[PAGE].counters[SLOT], 0);
	cr_assert_eq(c.tally.binned, 10, "looked at and taken");
	cr_assert_null(counted_page(&c.counted, DIR, ENTRY + 1, &number));
	cr_assert_null(counted_page(&c.counted, DIR + 1, ENTRY, &number));
	end(&c);
}

/* A wrap counts once, and a later wrap of the same counter counts again. */
Test(take, a_wrap_once)
{
	struct counters c;

	begin(&c);
	c.pages[PAGE].counters[SLOT] = 1;
	wrap(&c, 2);
	cr_assert_eq(read_counter(&c, false), (2ULL << 32) + 1);
	cr_assert_eq(read_counter(&c, true), (2ULL << 32) + 1);
	cr_assert_eq(read_counter(&c, true), 0);
	/* Noted after the counter was taken, it is found although nothing was added since. */
	wrap(&c, 3);
	cr_assert_eq(read_counter(&c, false), 1ULL << 32);
	cr_assert_eq(read_counter(&c, true), 1ULL << 32);
	cr_assert_eq(read_counter(&c, true), 0);
	end(&c);
}

Test(take, an_account_once)
{
	struct counters c;

	begin(&c);
	c.account = (struct target_account){ .ticks = 90,
					     .outside = 1,
					     .filtered = 2,
					     .deferred = 9,
					     .settled = 5,
					     .lost = { [LOST_EXIT] = 3 },
					     .forks_missed = 8 };
	c.set.way[1].ticks = 10;
	c.counted.take = true;
	counted_account(&c.counted, 0);
	cr_assert_eq(tally_ticks(&c.tally), 6, "what is put off is nobody's loss yet");
	counted_pending(&c.counted, 0);
	counted_account(&c.counted, 0);
	counted_pending(&c.counted, 0);
	cr_assert_eq(c.tally.outside, 1);
	cr_assert_eq(c.tally.filtered, 2);
	cr_assert_eq(c.tally.lost[LOST_EXIT], 3);
	cr_assert_eq(c.tally.lost[LOST_MAPPING_BUSY], 4);
	cr_assert_eq(c.tally.forks_missed, 8);
	cr_assert_eq(tally_ticks(&c.tally), 10);
	cr_assert_eq(counted_ticks(&c.counted, 0), 100, "the independent count stays");
	end(&c);
}
