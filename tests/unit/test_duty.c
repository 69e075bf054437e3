// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/sample_loop.h"

#include <criterion/criterion.h>
#include <math.h>

#define SECOND UINT64_C(1000000000)
#define BEGIN (1000 * SECOND)

/* A run of the schedule in simulated time. */
struct schedule {
	struct duty duty;
	uint64_t now;
	uint64_t sampled_ns;
	uint64_t late_ns; /* how long after its time each window ends */
	bool on;
};

static void schedule_begin(struct schedule *schedule, double percent, uint64_t interval_ns)
{
	*schedule = (struct schedule){ .now = BEGIN };
	duty_begin(&schedule->duty, percent, interval_ns, BEGIN);
}

/* Goes on to the next time to look; returns for how long sampling is on or off from now on. */
static uint64_t schedule_step(struct schedule *schedule)
{
	uint64_t until, ns;

	schedule->on = duty_look(&schedule->duty, schedule->now, schedule->sampled_ns, &until);
	cr_assert_gt(until, schedule->now);
	ns = until - schedule->now + (schedule->on ? schedule->late_ns : 0);
	schedule->now += ns;
	schedule->sampled_ns += schedule->on ? ns : 0;
	return ns;
}

Test(duty, always)
{
	struct duty duty;
	uint64_t until = 1;

	duty_begin(&duty, 0, 60 * SECOND, BEGIN);
	cr_expect_eq(duty.begin_ns, 0);
	cr_expect(duty_look(&duty, BEGIN, 0, &until));
	cr_expect_eq(until, 0);
}

/* An interval has several windows, which are neither so short nor so long that they are no sample. */
Test(duty, slots)
{
	const struct {
		uint64_t interval, slot;
	} cases[] = { { SECOND, SECOND },
		      { 12 * SECOND, 2 * SECOND },
		      { 60 * SECOND, 10 * SECOND },
		      { 3600 * SECOND, 10 * SECOND } };
	struct duty duty;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		duty_begin(&duty, 10, cases[i].interval, BEGIN);
		cr_expect_eq(duty.slot_ns, cases[i].slot);
		cr_expect_eq(duty.window_ns, cases[i].slot / 10);
	}
}

/* Each slot has its share, and each part of a slot is sampled as often as any other. */
Test(duty, every_moment_is_as_likely)
{
	enum { SLOTS = 3000, PARTS = 20 };
	struct schedule schedule;
	unsigned int seen[PARTS] = { 0 }, i;
	uint64_t from, part = 10 * SECOND / PARTS, at;
	double spread = sqrt(SLOTS * 0.2 * 0.8);

	schedule_begin(&schedule, 20, 60 * SECOND);
	while (schedule.now < BEGIN + SLOTS * 10 * SECOND) {
		from = schedule.now - BEGIN;
		schedule_step(&schedule);
		if (schedule.now - schedule.duty.begin_ns == 10 * SECOND)
			cr_assert_eq(schedule.sampled_ns, (schedule.now - BEGIN) / 5);
		/* The middle of each part. */
		for (at = from / part * part + part / 2; at < schedule.now - BEGIN; at += part)
			seen[at / part % PARTS] += at >= from && schedule.on;
	}
	for (i = 0; i < PARTS; i++)
		cr_expect_float_eq(seen[i], SLOTS * 0.2, 5 * spread, "part %u: %u of %d", i,
				   seen[i], SLOTS);
}

/* A window that ended late, on a busy host, is made up for by the next. */
Test(duty, what_is_late_is_made_up_for)
{
	struct schedule schedule;

	schedule_begin(&schedule, 10, 60 * SECOND);
	schedule.late_ns = 50000000;
	while (schedule.now < BEGIN + 1000 * SECOND)
		schedule_step(&schedule);
	cr_expect_float_eq((double)schedule.sampled_ns, 0.1 * (double)(schedule.now - BEGIN),
			   1.5e9);
}

/* A process that was stopped for an hour amid a window has sampled that hour; this is forgiven. */
Test(duty, a_stop_is_forgiven)
{
	struct schedule schedule;
	uint64_t sampled_ns, begin;

	schedule_begin(&schedule, 10, 60 * SECOND);
	do
		schedule_step(&schedule);
	while (!schedule.on);
	schedule.now += 3600 * SECOND;
	schedule.sampled_ns += 3600 * SECOND;
	sampled_ns = schedule.sampled_ns;
	begin = schedule.now;
	while (schedule.now < begin + 100 * SECOND)
		schedule_step(&schedule);
	cr_expect_float_eq((double)(schedule.sampled_ns - sampled_ns), 10e9, 3e9);
}

/* All of a slot, or more than it has: what is owed never makes it longer than it is. */
Test(duty, at_its_limits)
{
	struct schedule schedule;

	schedule_begin(&schedule, 99.9, 60 * SECOND);
	/* Someone else had it paused. */
	schedule.now += 15 * SECOND;
	while (schedule.now < BEGIN + 200 * SECOND)
		schedule_step(&schedule);
	cr_expect_leq(schedule.sampled_ns, schedule.now - BEGIN);
	schedule_begin(&schedule, 0.1, SECOND);
	while (schedule.now < BEGIN + 200 * SECOND)
		schedule_step(&schedule);
	cr_expect_float_eq((double)schedule.sampled_ns, 0.2e9, 2e6);
}
