// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile_head.h"
#include "profile/profile_io.h"
#include "profile/profile_merge.h"
#include "sample.h"

Test(profile, free_takes_null_and_half_built)
{
	struct profile *profile = profile_new();

	profile_free(NULL);
	profile_free(profile);
	profile = profile_new();
	profile->targets = calloc(2, sizeof(*profile->targets));
	profile->nr_targets = 2;
	profile->objects = calloc(1, sizeof(*profile->objects));
	profile->nr_objects = 1;
	profile_free(profile);
}

/* As in the record of a server with very many calls. */
Test(profile, totals_of_many_calls, .timeout = 20)
{
	enum { CALLS = 300000 };
	static struct profile_target targets[CALLS];
	struct profile profile = { .targets = targets, .nr_targets = CALLS };
	uint32_t i;

	for (i = 0; i < CALLS; i++)
		targets[i] = (struct profile_target){ .kind = "call", .ticks.total = 1 };
	cr_assert_eq(profile_sum_targets(&profile), 0);
	cr_expect_eq(profile.ticks.total, CALLS);
	targets[CALLS - 1].kind = "pid";
	cr_assert_eq(profile_sum_targets(&profile), 0);
	cr_expect_eq(profile.ticks.total, 1);
}

Test(profile, account)
{
	struct profile_lost lost[] = { { NULL, 5 }, { NULL, 7 } };
	struct profile_account account = { 100, 50, 10, 20, 8, lost, 2 };

	cr_assert_eq(profile_account_lost(&account), 12);
	cr_assert(profile_account_exact(&account));
	account.total++;
	cr_assert_not(profile_account_exact(&account));
	account.total -= 2;
	cr_assert_not(profile_account_exact(&account));
}

/* The sum exceeds the total by 2^64, so they are equal in 64 bits but not exact. */
/* Causes are matched by name; one that the sum does not have is added. */
Test(profile, accounts_add_up)
{
	struct profile_lost of_a[] = { { "exit", 2 } }, of_b[] = { { "exec", 3 }, { "exit", 5 } };
	const struct profile_account a = { .total = 13,
					   .binned = 4,
					   .overflow = 1,
					   .outside = 1,
					   .filtered = 5,
					   .lost = of_a,
					   .nr_lost = 1 };
	const struct profile_account b = { .total = 9, .binned = 1, .lost = of_b, .nr_lost = 2 };
	struct profile_account sum = { 0 };

	cr_assert_eq(profile_account_add(&sum, &a), 0);
	cr_assert_eq(profile_account_add(&sum, &b), 0);
	cr_expect_eq(sum.total, 22);
	cr_expect_eq(sum.nr_lost, 2);
	cr_expect_eq(sum.lost[0].ticks, 7);
	cr_expect_eq(sum.lost[1].ticks, 3);
	cr_expect(profile_account_exact(&sum));
	profile_account_free(&sum);
}

Test(profile, account_that_overflows)
{
	struct profile_lost lost[] = { { NULL, UINT64_MAX }, { NULL, 1 } };
	struct profile_account account = { 100, 100, 0, 0, 0, lost, 2 };

	cr_assert_eq(profile_account_lost(&account), UINT64_MAX);
	cr_assert_not(profile_account_exact(&account));
	account.nr_lost = 0;
	cr_assert(profile_account_exact(&account));
	account.binned = UINT64_MAX;
	account.overflow = 101;
	cr_assert_not(profile_account_exact(&account));
}

Test(profile, histogram_ticks)
{
	struct profile_bin bins[] = { { 1, 2 }, { 5, 3 }, { 6, UINT64_MAX - 5 } };
	struct profile_histogram histogram = { .bins = bins, .nr_bins = 3 };

	cr_assert_eq(profile_histogram_ticks(&histogram), UINT64_MAX);
	bins[2].count++;
	cr_assert_eq(profile_histogram_ticks(&histogram), UINT64_MAX);
	histogram.nr_bins = 2;
	cr_assert_eq(profile_histogram_ticks(&histogram), 5);
	histogram.nr_bins = 0;
	cr_assert_eq(profile_histogram_ticks(&histogram), 0);
}

Test(profile, object_kinds)
{
	static const char *const words[] = { "file", "jit", "kernel", "memory" };
	int i;

	for (i = 0; i < 4; i++)
		cr_assert_str_eq(profile_object_kinds[i], words[i]);
}

Test(profile, check_takes_the_sample)
{
	struct profile *profile = sample_profile();
	struct error err;

	cr_assert_eq(profile_check(profile, "sample", &err), 0, "%s", err.text);
	profile_free(profile);
	profile = sample_profile_of_bins(100);
	cr_assert_eq(profile_check(profile, "sample", &err), 0, "%s", err.text);
	profile_free(profile);
}

/* Makes a change to the sample, checks the error, and undoes the change. */
#define CHECK_REFUSES(place, value, message)                                                       \
	do {                                                                                       \
		__typeof__(place) saved = (place);                                                 \
		(place) = (value);                                                                 \
		cr_assert_eq(profile_check(p, "p", &err), -EBADMSG, "%s", message);                \
		cr_assert_str_eq(err.text, message);                                               \
		(place) = saved;                                                                   \
	} while (0)

Test(profile, check_refuses_what_breaks_a_promise)
{
	cleanup_profile struct profile *p = sample_profile();
	struct profile_histogram *h = p->histograms;
	struct error err;

	CHECK_REFUSES(p->started, NULL, "p: \"started\" is not a time as in RFC 3339");
	CHECK_REFUSES(p->sampling.source, p->tool, "p: unknown sampling source");
	CHECK_REFUSES(p->sampling.mode, NULL, "p: unknown sampling mode");
	CHECK_REFUSES(p->ticks.total, 1, "p: the ticks do not add up to their total");
	CHECK_REFUSES(p->targets[1].kind, p->tool, "p: target 1: unknown kind");
	CHECK_REFUSES(p->targets[0].ticks.lost[0].ticks, 4,
		      "p: target 0: its ticks do not add up to their total");
	CHECK_REFUSES(p->targets[0].kernel_ticks, 1001,
		      "p: target 0: more ticks in the kernel than it has");
	CHECK_REFUSES(p->targets[0].ticks.nr_lost, 0,
		      "p: target 0: its ticks do not add up to their total");
	CHECK_REFUSES(p->objects[0].build_id[0], 'F',
		      "p: object 0: its build id is not lower-case hexadecimal");
	CHECK_REFUSES(p->objects[0].build_id[7], '\0',
		      "p: object 0: its build id is not lower-case hexadecimal");
	CHECK_REFUSES(p->objects[0].text[0].size, UINT64_MAX,
		      "p: object 0: its text ends above 2^64");
	CHECK_REFUSES(h[0].target, 2, "p: histogram 0: its target does not exist");
	CHECK_REFUSES(h[0].object, 4, "p: histogram 0: its object does not exist");
	CHECK_REFUSES(h[0].bytes_per_bin, 0, "p: histogram 0: bins of no bytes");
	CHECK_REFUSES(h[0].width, 3, "p: histogram 0: counters are 2, 4 or 8 bytes wide");
	CHECK_REFUSES(h[0].offset, UINT64_MAX, "p: histogram 0: it ends above 2^64");
	CHECK_REFUSES(h[0].size, 0x7fff, "p: histogram 0: a bin lies beyond its size");
	CHECK_REFUSES(h[2].size, 0x3000, "p: histogram 2: a bin lies beyond its size");
	CHECK_REFUSES(h[0].bins[1].index, 0, "p: histogram 0: bins do not ascend");
	CHECK_REFUSES(h[0].bins[1].count, 0, "p: histogram 0: a bin without a tick");
	CHECK_REFUSES(h[0].bins[1].count, UINT64_MAX,
		      "p: histogram 0: its ticks do not fit 64 bits");
	CHECK_REFUSES(h[0].bins[1].count, 501,
		      "p: target 0: its bins do not add up to its binned ticks");
	CHECK_REFUSES(h[1].target, 0, "p: target 0: its bins do not add up to its binned ticks");
	CHECK_REFUSES(h[4].bins[0].count, 11,
		      "p: target 0: more ticks in overflow bins than it has");
	CHECK_REFUSES(p->functions[1].object, 4, "p: function 1: its object does not exist");
	CHECK_REFUSES(p->functions[1].ticks, 0, "p: function 1: it has no tick");
	CHECK_REFUSES(p->functions[1].size, UINT64_MAX, "p: function 1: it ends above 2^64");
	cr_assert_eq(profile_check(p, "p", &err), 0, "%s", err.text);
}

static int check_time(struct profile *profile, const char *text)
{
	free(profile->started);
	profile->started = strdup(text);
	return profile_check(profile, "p", NULL);
}

Test(profile, check_of_times)
{
	static const char *const refused[] = {
		"",
		"2026-01-31",
		"2026-01-31 23:59:59Z",
		"2026-01-31T23:59:59",
		"yesterday",
		"2026-01-31T23:59:59.Z",
		"2026-01-31T23:59:59z",
		"2026-01-31T23:59:59+01",
		"2026-01-31T23:59:59+01:00 ",
		"2026-01-31T23:59:59Z\n",
	};
	cleanup_profile struct profile *profile = sample_profile();
	size_t i;

	cr_assert_eq(check_time(profile, "2026-01-31T23:59:59Z"), 0);
	cr_assert_eq(check_time(profile, "2026-01-31T23:59:59.5-11:30"), 0);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		cr_assert_eq(check_time(profile, refused[i]), -EBADMSG, "%s", refused[i]);
}

static void assert_function(const struct profile_index *index, uint32_t object, uint64_t offset,
			    uint64_t size, const char *name)
{
	const struct profile_function *function = profile_index_find(index, object, offset, size);

	cr_assert_eq(!function, !name, "%u 0x%lx", object, offset);
	if (name)
		cr_assert_str_eq(function->name, name);
}

Test(profile, index_finds_functions)
{
	struct profile *profile = sample_profile();
	struct profile_index *index = profile_index_new(profile);

	assert_function(index, 0, 0xfff, 1, NULL);
	assert_function(index, 0, 0x1000, 1, "main");
	assert_function(index, 0, 0x100f, 1, "main");
	assert_function(index, 0, 0x1010, 1, "operator,(A, B)");
	assert_function(index, 0, 0x102f, 1, "operator,(A, B)");
	assert_function(index, 0, 0x1030, 1, NULL);
	assert_function(index, 0, 0x800, 0x800, NULL);
	assert_function(index, 0, 0x800, 0x801, "main");
	assert_function(index, 0, 0x1030, UINT64_MAX, NULL);
	assert_function(index, 1, 0x1000, 1, NULL);
	assert_function(index, 1, 0x7f0000003000, 4096, "late");
	assert_function(index, 9, 0, 1, NULL);
	profile_index_free(index);
	profile_free(profile);

	profile = profile_new();
	index = profile_index_new(profile);
	assert_function(index, 0, 0, UINT64_MAX, NULL);
	profile_index_free(index);
	profile_index_free(NULL);
	profile_free(profile);
}

Test(profile, confidential)
{
	char mode[] = "split", kind[] = "system", command[] = "command";
	struct profile_target target = { .kind = command };
	struct profile_object object = { .kind = PROFILE_FILE };
	struct profile profile = { .targets = &target,
				   .nr_targets = 1,
				   .objects = &object,
				   .nr_objects = 1 };

	cr_assert(!profile_is_confidential(&profile));
	target.kind = kind;
	cr_assert(profile_is_confidential(&profile));
	target.kind = command;
	object.kind = PROFILE_KERNEL;
	cr_assert(profile_is_confidential(&profile));
	object.kind = PROFILE_FILE;
	profile.sampling.mode = mode;
	cr_assert(profile_is_confidential(&profile));
}

/* The files of a series are put in order by it, and two may begin in one second. */
Test(profile, began_to_the_millisecond)
{
	static const struct timespec times[] = { { 1000000000, 109999999 }, { 1000000000, 0 } };
	struct profile *later = profile_new(), *earlier = profile_new();

	cr_assert_eq(profile_fill_head(later, &times[0]), 0);
	cr_assert_eq(profile_fill_head(earlier, &times[1]), 0);
	cr_expect_str_eq(later->started, "2001-09-09T01:46:40.109Z");
	cr_expect_str_eq(earlier->started, "2001-09-09T01:46:40.000Z");
	cr_expect_gt(profile_compare_times(later->started, earlier->started), 0);
	profile_free(later);
	profile_free(earlier);
}
