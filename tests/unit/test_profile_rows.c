// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_rows.h"

#include <criterion/criterion.h>

#include "profile/profile_io.h"
#include "sample.h"

static struct profile *with_callers(void)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile_load("tests/golden/callers.json", &profile, &err), 0, "%s", err.text);
	return profile;
}

static struct profile_rows begin(const struct profile *profile, enum profile_rows_callers callers)
{
	const struct profile_choice choice = { .callers = callers };
	struct profile_rows rows;

	cr_assert_eq(profile_rows_begin(&rows, profile, &choice), 0);
	return rows;
}

/* Two histograms have one place of libc's text, and calls have places of their own. */
Test(profile_rows, by_place)
{
	cleanup_profile struct profile *profile = with_callers();
	struct profile_rows rows = begin(profile, PROFILE_ROWS_WITH_CALLERS);
	const struct profile_row *row;
	uint64_t ticks = 0, last = 0;
	size_t calls = 0, again = 0;
	uint32_t object = 0;

	profile_rows_start(&rows, PROFILE_ROWS_BY_PLACE);
	while ((row = profile_rows_of_all(&rows))) {
		cr_expect(row->object > object || row->offset >= last);
		cr_expect_eq(profile_rows_function(&rows, row),
			     profile_index_find(rows.index, row->object, row->offset, row->size));
		object = row->object;
		last = row->offset;
		ticks += row->ticks;
		calls += !row->histogram;
		again += row->again && row->histogram;
	}
	cr_expect_eq(ticks, profile->ticks.binned);
	cr_expect_eq(calls, profile->callers->nr_sites);
	cr_expect_eq(again, 1);
	profile_rows_end(&rows);
}

/* Each bin has a row for each of its chains, and the places that no chain came by are no rows. */
Test(profile_rows, of_chains)
{
	cleanup_profile struct profile *profile = with_callers();
	struct profile_rows rows = begin(profile, PROFILE_ROWS_WITH_OWN_CALLERS);
	const struct profile_row *row;
	uint64_t ticks = 0;
	size_t calls = 0, in_kernel = 0;

	profile_rows_start(&rows, PROFILE_ROWS_BY_PLACE | PROFILE_ROWS_OF_CHAINS);
	while ((row = profile_rows_of_all(&rows))) {
		ticks += row->ticks;
		calls += !row->histogram;
		in_kernel += row->in_kernel;
	}
	cr_expect_eq(ticks, profile->ticks.binned);
	cr_expect_eq(in_kernel, 2);
	cr_expect_lt(calls, profile->callers->nr_sites);
	cr_expect_gt(calls, 0);
	profile_rows_end(&rows);
}
