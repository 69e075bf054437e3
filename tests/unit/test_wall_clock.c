// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/util.h"
#include "profile/profile_head.h"

#define S INT64_C(1000000000)
#define NOON 1000000000 /* 2001-09-09T01:46:40Z */

static const struct wall_clock clock_at_noon = { .real_ns = (NOON - 100) * S, .asleep_ns = 30 * S };

static void expect_time(const struct wall_clock *clock, uint64_t at_ns, time_t second, long ns)
{
	struct timespec time = wall_clock_at(clock, at_ns);

	cr_expect_eq(time.tv_sec, second, "%lld", (long long)time.tv_sec);
	cr_expect_eq(time.tv_nsec, ns, "%ld", time.tv_nsec);
}

Test(wall_clock, says_when_something_was)
{
	const struct wall_clock long_ago = { .real_ns = -10 * S };

	expect_time(&clock_at_noon, 70 * S, NOON, 0);
	expect_time(&clock_at_noon, 70 * S - 1, NOON - 1, S - 1);
	expect_time(&long_ago, S / 2, -10, S / 2);
}

/* What is monotonic keeps its place to the second, whatever two readings differ by. */
Test(wall_clock, ignores_jitter)
{
	struct wall_clock clock = clock_at_noon, now = clock_at_noon, change;

	now.real_ns += 900000;
	now.asleep_ns -= 900000;
	change = wall_clock_follow(&clock, &now);
	cr_expect(!change.real_ns && !change.asleep_ns);
	expect_time(&clock, 70 * S, NOON, 0);
}

static void expect_change(int64_t set_ns, int64_t asleep_ns, int64_t told_set, int64_t told_asleep)
{
	struct wall_clock clock = clock_at_noon, now = clock_at_noon, change;
	const int64_t at = NOON * S + set_ns + asleep_ns, second = at / S;

	now.real_ns += set_ns;
	now.asleep_ns += asleep_ns;
	change = wall_clock_follow(&clock, &now);
	cr_expect_eq(change.real_ns, told_set, "%lld", (long long)change.real_ns);
	cr_expect_eq(change.asleep_ns, told_asleep, "%lld", (long long)change.asleep_ns);
	expect_time(&clock, 70 * S, second, at % S);
	change = wall_clock_follow(&clock, &now);
	cr_expect(!change.real_ns && !change.asleep_ns, "it is told once");
}

Test(wall_clock, follows_what_it_is_set_to)
{
	expect_change(28800 * S, 0, 28800 * S, 0);
	expect_change(-28800 * S, 0, -28800 * S, 0);
	expect_change(0, 3600 * S, 0, 3600 * S);
	expect_change(-60 * S, 3600 * S, -60 * S, 3600 * S);
}

/* A leap second too. */
Test(wall_clock, tells_of_more_than_a_second_only)
{
	expect_change(S, 0, 0, 0);
	expect_change(-S, 0, 0, 0);
	expect_change(-S / 2, S / 4, 0, 0);
}

Test(wall_clock, is_that_of_the_host)
{
	struct wall_clock clock = wall_clock_read();
	struct timespec said = wall_clock_at(&clock, monotonic_ns()), now;

	clock_gettime(CLOCK_REALTIME, &now);
	cr_expect_lt(llabs((now.tv_sec - said.tv_sec) * S + now.tv_nsec - said.tv_nsec), S);
}

Test(wall_clock, notes_of_a_profile)
{
	const struct wall_clock changes[] = { { 0, 0 }, { 28800 * S, 0 }, { -2 * S, 3600 * S } };
	struct profile *profile = profile_new();
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		cr_assert_eq(profile_note_clock(profile, &changes[i]), 0);
	cr_assert_eq(profile->nr_notes, 3);
	cr_expect_str_eq(profile->notes[0], "the clock was set forward by 28800 s meanwhile: its "
					    "times are by what it said last");
	cr_expect_str_eq(profile->notes[1], "the clock was set back by 2 s meanwhile: its times "
					    "are by what it said last");
	cr_expect_str_eq(profile->notes[2],
			 "the host was suspended for 3600 s, which are in none of its times");
	profile_free(profile);
}
