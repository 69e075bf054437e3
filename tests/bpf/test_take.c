// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Reading the counts, including wrapped ones, with this test in place of the programs. */
#include <bpf/bpf.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/engine/counted.h"
#include "need.h"

TestSuite(take, .init = need_root);

/* --- counts that wrap ---------------------------------------------------------------------------- */

static const uint64_t first = 7, second = NODE_IN_SECOND | 7;

static void wrap(int fd, uint64_t key, uint64_t times)
{
	cr_assert_eq(bpf_map_update_elem(fd, &key, &times, BPF_ANY), 0);
}

/* How often a node has wrapped since it was taken. */
static uint64_t wraps(const struct carries *carries, uint64_t key)
{
	size_t i;

	for (i = 0; i < carries->nr; i++)
		if (carries->list[i].key == key)
			return carries->list[i].times - carries->list[i].added;
	return 0;
}

/* A wrap counts once, and a later wrap of the same node counts again. */
Test(take, a_wrap_once)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, "carries", sizeof(uint64_t), sizeof(uint64_t),
				16, NULL);
	struct carries carries = { 0 };

	cr_assert_geq(fd, 0);
	wrap(fd, first, 2);
	wrap(fd, second, 1);
	cr_assert_eq(carries_read(&carries, fd, NULL), 0);
	cr_assert_eq(wraps(&carries, first), 2);
	cr_assert_eq(wraps(&carries, second), 1);
	carries_mark_added(&carries, 0);
	cr_assert_eq(wraps(&carries, first), 0);
	cr_assert_eq(wraps(&carries, second), 1, "the other half was not taken");
	wrap(fd, first, 3);
	cr_assert_eq(carries_read(&carries, fd, NULL), 0);
	cr_assert_eq(wraps(&carries, first), 1);
	carries_mark_added(&carries, 1);
	cr_assert_eq(wraps(&carries, first), 1);
	cr_assert_eq(wraps(&carries, second), 0);
	cr_assert_eq(carries.nr, 2);
	free(carries.list);
	close(fd);
}

/* --- accounts ------------------------------------------------------------------------------------ */

struct counters {
	struct target_account account;
	struct cpu_account cpu;
	struct text_range ranges[RANGES];
	struct tally tally;
	struct counted counted;
};

static void begin(struct counters *c)
{
	memset(c, 0, sizeof(*c));
	c->counted = (struct counted){ .ranges = c->ranges,
				       .cpus = &c->cpu,
				       .nr_cpus = 1,
				       .targets = &c->account,
				       .nr_targets = 1,
				       .tallies = &c->tally };
	c->account = (struct target_account){ .ticks = 90,
					      .outside = 1,
					      .filtered = 2,
					      .deferred = 9,
					      .settled = 5,
					      .lost = { [LOST_EXIT] = 3 },
					      .forks_missed = 8 };
	c->cpu.hits = 50;
	c->cpu.miss_ticks = 40;
	c->ranges[1].ticks = 6;
	c->ranges[RANGES - 1].ticks = 4;
	c->ranges[2] = (struct text_range){ .ticks = 100, .target = 1 };
}

Test(take, an_account_once)
{
	static struct counters c;

	begin(&c);
	counted_account(&c.counted, 0);
	counted_account(&c.counted, 0);
	cr_assert_eq(tally_ticks(&c.tally), 12, "looked at twice");
	c.tally = (struct tally){ 0 };
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
	cr_assert_eq(counted_delivered(&c.counted, 0), 200);
}

/* With callers, what fell outside of all text is in the table of ticks. */
Test(take, outside_with_callers)
{
	static struct counters c;

	begin(&c);
	c.counted.callers = c.counted.take = true;
	counted_account(&c.counted, 0);
	cr_assert_eq(tally_ticks(&c.tally), 5);
}

/* After a failure the table still has its ticks, and the accounts do not have theirs. */
Test(take, what_failed)
{
	static struct counters c;

	begin(&c);
	c.counted.take = true;
	c.tally = (struct tally){ .binned = 70, .left_out = 20, .filtered = 20, .coarse = 3 };
	counted_account(&c.counted, 0);
	cr_assert_eq(tally_ticks(&c.tally), 96);
	tally_drop_table(&c.tally, false);
	cr_assert_eq(tally_ticks(&c.tally), 6);
	cr_assert_eq(c.tally.filtered, 2);
	cr_assert_eq(c.tally.coarse, 0);
}
