// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/waits_view.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile_io.h"
#include "profile/profile_rows.h"
#include "profile/waits.h"
#include "report/report.h"
#include "sample.h"

#define CLASSES_MAX 8

/* The time and number of each class. */
struct class_sums {
	uint64_t ns[CLASSES_MAX], waits[CLASSES_MAX];
	uint64_t ticks; /* of CPU time */
};

static struct profile *with_waits(void)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile_load("tests/golden/waits.json", &profile, &err), 0, "%s", err.text);
	return profile;
}

static struct class_sums sum_accounts(const struct profile_waits *waits)
{
	const uint32_t runnable = profile_waits_runnable(waits);
	struct class_sums sums = { 0 };
	size_t i, j;

	for (i = 0; i < waits->nr_accounts; i++) {
		sums.ns[runnable] += waits->accounts[i].runnable_ns;
		for (j = 0; j < waits->accounts[i].nr_sums; j++) {
			const struct profile_wait_sum *sum = &waits->accounts[i].sums[j];

			sums.ns[sum->class] += sum->ns;
			sums.waits[sum->class] += sum->count;
		}
	}
	return sums;
}

/* Adds up the rows, as tables and exports do. */
static struct class_sums sum_rows(const struct waits_view *view)
{
	const struct profile_choice choice = { .callers = PROFILE_ROWS_WITH_OWN_CALLERS };
	struct class_sums sums = { 0 };
	const struct profile_row *row;
	struct profile_rows rows;

	cr_assert_eq(profile_rows_begin(&rows, &view->profile, &choice), 0);
	profile_rows_start(&rows, PROFILE_ROWS_OF_CHAINS);
	while ((row = profile_rows_of_all(&rows))) {
		if (row->object != view->object) {
			sums.ticks += row->ticks;
			continue;
		}
		cr_assert_neq(row->node, PROFILE_NO_NODE);
		cr_assert_lt(row->offset, CLASSES_MAX);
		cr_expect_eq((uint64_t)profile_rows_weigh(&rows, row).ns, row->ticks);
		sums.ns[row->offset] += row->ticks;
		sums.waits[row->offset] += view->callers.nodes[row->node].waits;
		cr_expect_str_eq(profile_rows_function(&rows, row)->name, view->names[row->offset]);
	}
	profile_rows_end(&rows);
	return sums;
}

static void expect_classes(const struct class_sums *found, const struct class_sums *wanted)
{
	size_t i;

	for (i = 0; i < CLASSES_MAX; i++)
		cr_expect_eq(found->ns[i], wanted->ns[i], "class %zu: %lu ns", i,
			     (unsigned long)found->ns[i]);
}

Test(waits_view, all_of_each_class)
{
	cleanup_profile struct profile *profile = with_waits();
	const struct class_sums wanted = sum_accounts(profile->waits);
	struct class_sums found;
	struct waits_view view;
	size_t i;

	cr_assert_eq(waits_view_open(&view, profile, NULL, false), 0);
	found = sum_rows(&view);
	expect_classes(&found, &wanted);
	for (i = 0; i < CLASSES_MAX; i++)
		if (i != profile_waits_runnable(profile->waits))
			cr_expect_eq(found.waits[i], wanted.waits[i]);
	cr_expect_eq(found.ticks, 0);
	cr_expect(profile_account_exact(&view.profile.targets[0].ticks));
	cr_expect_str_eq(view.classes[2], "read I/O");
	waits_view_close(&view);
}

/* Ticks are the same as without the view, and have targets of their own. */
Test(waits_view, with_cpu)
{
	cleanup_profile struct profile *profile = with_waits();
	const struct class_sums wanted = sum_accounts(profile->waits);
	struct class_sums found;
	struct waits_view view;

	cr_assert_eq(waits_view_open(&view, profile, NULL, true), 0);
	found = sum_rows(&view);
	expect_classes(&found, &wanted);
	cr_expect_eq(found.ticks, profile->ticks.binned);
	cr_expect_eq(view.profile.ticks.total, profile->ticks.total);
	cr_assert_eq(view.profile.nr_targets, 2 * profile->nr_targets);
	cr_expect(!view.profile.targets[0].waits && view.profile.targets[1].waits);
	cr_expect(profile_target_chosen(&view.profile, 0, 1), "target 0 also means its waits");
	waits_view_close(&view);
}

Test(waits_view, choice)
{
	cleanup_profile struct profile *profile = with_waits();
	const char *const only[] = { "read", "f*" }, *const without[] = { "read I/O" };
	const struct waits_choice choice = { only, 2, without, 1 };
	const struct class_sums all = sum_accounts(profile->waits);
	struct class_sums found, wanted = { .ns = { all.ns[0], all.ns[1] } };
	struct waits_view view;

	cr_assert_eq(waits_view_open(&view, profile, &choice, false), 0);
	found = sum_rows(&view);
	expect_classes(&found, &wanted);
	cr_expect_eq(view.profile.ticks.total, all.ns[0] + all.ns[1]);
	waits_view_close(&view);
}

/* Each wait of a chain that no kernel walks has all text above it as callers. */
Test(waits_view, report_of_endless_chain, .timeout = 120)
{
	const struct report_options options = { .target = REPORT_ALL_TARGETS };
	cleanup_profile struct profile *profile = with_waits();
	struct profile_callers *tree = &profile->waits->tree;
	const size_t nr = 1000000;
	struct error err = { 0 };
	char *text = NULL;
	size_t i, size;
	FILE *out = open_memstream(&text, &size);

	free(tree->nodes);
	tree->nodes = calloc(nr, sizeof(*tree->nodes));
	cr_assert(tree->nodes);
	tree->nr_nodes = nr;
	for (i = 0; i < nr; i++)
		tree->nodes[i] = (struct profile_node){ (int32_t)i - 1, i % tree->nr_sites, 1, 1 };
	cr_assert_eq(report_waits(profile, &options, out, &err), 0, "%s", err.text);
	fclose(out);
	cr_expect(strstr(text, " futex "), "%s", text);
	free(text);
}
