// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/series.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "profile/profile_io.h"
#include "sample.h"

static struct profile *part(uint64_t period_ns, uint64_t duration_ns)
{
	struct profile *profile = sample_profile();

	profile->sampling.period_ns = period_ns;
	profile->duration_ns = duration_ns;
	return profile;
}

/* Each period has its own targets, and the profile says when it was. */
Test(segments, parts_become_one_profile)
{
	uint64_t one = 0;
	struct segments segments = { 0 };
	cleanup_profile struct profile *whole = part(1000000, 5000000000);
	struct error err = { 0 };
	size_t i, with[2] = { 0, 0 };

	one = whole->ticks.total;
	cr_assert_eq(segments_add(&segments, part(1000000, 2000000000), 10000000000, &err), 0);
	cr_assert_eq(segments_add(&segments, part(500000, 1000000000), 12500000000, &err), 0);
	cr_assert_eq(segments_finish(&segments, &whole, 14000000000, &err), 0, "%s", err.text);
	cr_assert_eq(profile_check(whole, "whole", &err), 0, "%s", err.text);
	cr_expect_eq(whole->ticks.total, 3 * one);
	cr_expect_eq(whole->duration_ns, 8000000000);
	cr_expect_eq(whole->sampling.period_ns, 500000);
	cr_assert_eq(whole->sampling.nr_segments, 3);
	cr_expect_eq(whole->sampling.segments[0].since_ns, 0);
	cr_expect_eq(whole->sampling.segments[0].period_ns, 1000000);
	cr_expect_eq(whole->sampling.segments[1].since_ns, 2500000000);
	cr_expect_eq(whole->sampling.segments[1].period_ns, 500000);
	cr_expect_eq(whole->sampling.segments[1].duration_ns, 1000000000);
	cr_expect_eq(whole->sampling.segments[2].since_ns, 4000000000);
	for (i = 0; i < whole->nr_targets; i++)
		with[whole->targets[i].period_ns == 1000000] += whole->targets[i].ticks.total;
	/* The first and the last have the same period, and so the same targets. */
	cr_expect_eq(with[1], 2 * with[0]);
	cr_expect_eq(segments.nr, 0);
	cr_expect_null(segments.merger.sum);
}

Test(segments, one_alone_is_as_it_was)
{
	struct segments segments = { 0 };
	struct profile *whole = part(1000000, 5), *same = whole;
	struct error err = { 0 };

	cr_assert_eq(segments_finish(&segments, &whole, 7, &err), 0);
	cr_expect_eq(whole, same);
	cr_expect_eq(whole->sampling.nr_segments, 0);
	profile_free(whole);
}

/*
 * Parts that were only taken separately, as scrapes do, are one segment, and a single segment is
 * not listed.
 */
Test(segments, equal_periods_are_one)
{
	struct segments segments = { 0 };
	struct profile *whole = part(1000000, 3000000000);
	uint64_t one = whole->ticks.total;
	struct error err = { 0 };

	cr_assert_eq(segments_add(&segments, part(1000000, 2000000000), 10000000000, &err), 0);
	cr_assert_eq(segments_add(&segments, part(1000000, 1000000000), 12000000000, &err), 0);
	cr_assert_eq(segments_finish(&segments, &whole, 13000000000, &err), 0, "%s", err.text);
	cr_expect_eq(whole->ticks.total, 3 * one);
	cr_expect_eq(whole->sampling.nr_segments, 0);
	profile_free(whole);
	whole = part(500000, 1000000000);
	cr_assert_eq(segments_add(&segments, part(1000000, 2000000000), 10000000000, &err), 0);
	cr_assert_eq(segments_add(&segments, part(1000000, 1000000000), 12000000000, &err), 0);
	cr_assert_eq(segments_finish(&segments, &whole, 13000000000, &err), 0, "%s", err.text);
	cr_assert_eq(whole->sampling.nr_segments, 2);
	cr_expect_eq(whole->sampling.segments[0].duration_ns, 3000000000);
	cr_expect_eq(whole->sampling.segments[1].since_ns, 3000000000);
	profile_free(whole);
}
