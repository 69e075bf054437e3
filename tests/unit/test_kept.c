// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/kept.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/profile_io.h"
#include "sample.h"
#include "test_file_fixture.h"

TestSuite(kept, .init = folder_enter, .fini = folder_remove);

static void begin(struct kept *kept, const char *pattern)
{
	struct error err = { 0 };

	cr_assert_eq(kept_init(kept, pattern, &err), 0, "%s", err.text);
}

static void add(struct kept *kept, struct profile *profile)
{
	struct error err = { 0 };

	cr_assert_eq(kept_add(kept, profile, &err), 0, "%s", err.text);
}

/* Saves, and returns what is in the file then. */
static struct profile *save(struct kept *kept, struct profile **last, const char *name)
{
	struct error err = { 0 };
	struct profile *written;

	cr_assert_eq(kept_save(kept, last, 1792889990, &err), 0, "%s", err.text);
	cr_assert_str_eq(kept_name(kept), name);
	cr_assert_eq(profile_load(name, &written, &err), 0, "%s", err.text);
	cr_assert(profile_account_exact(&written->ticks));
	return written;
}

/* However often it is written, an interval is in it once, and the last one stays the caller's. */
Test(kept, each_interval_once)
{
	struct profile *last = sample_profile(), *written;
	uint64_t one = last->ticks.total;
	struct kept kept;
	size_t rows;

	begin(&kept, "all.json");
	written = save(&kept, &last, "all.json");
	rows = written->nr_histograms;
	cr_expect_eq(written->ticks.total, one);
	cr_expect_eq(access("all.json.old", F_OK), -1);
	profile_free(written);
	add(&kept, last);
	add(&kept, sample_profile());
	last = sample_profile();
	profile_free(save(&kept, &last, "all.json"));
	written = save(&kept, &last, "all.json");
	cr_expect_eq(written->ticks.total, 3 * one);
	cr_expect_eq(written->duration_ns, 3 * last->duration_ns);
	cr_expect_eq(written->nr_histograms, rows);
	cr_expect_eq(access("all.json.old", F_OK), 0);
	profile_free(written);
	add(&kept, last);
	last = sample_profile();
	written = save(&kept, &last, "all.json");
	cr_expect_eq(written->ticks.total, 4 * one);
	profile_free(written);
	profile_free(last);
	kept_free(&kept);
}

Test(kept, a_file_that_cannot_be_is_no_end)
{
	struct profile *last = sample_profile(), *written;
	struct error err = { 0 };
	struct kept kept;
	char here[64];

	begin(&kept, "none/all.json");
	setenv("TMPDIR", getcwd(here, sizeof(here)), true);
	cr_expect_lt(kept_save(&kept, &last, 1792889990, &err), 0);
	cr_expect(strstr(err.text, "none/all.json"), "%s", err.text);
	cr_expect(strstr(err.text, "is kept as /tmp/bpfprofil-test-"), "%s", err.text);
	cr_expect_null(kept_name(&kept));
	cr_assert_eq(mkdir("none", 0777), 0);
	written = save(&kept, &last, "none/all.json");
	cr_expect_eq(written->ticks.total, last->ticks.total);
	profile_free(written);
	profile_free(last);
	kept_free(&kept);
}

/* An interval with a process, or an object, that no other interval has. */
static struct profile *another(uint32_t nr, bool object)
{
	struct profile *profile = sample_profile();
	size_t i;

	while (profile->nr_splits)
		profile_split_free(&profile->splits[--profile->nr_splits]);
	for (i = 0; i < profile->nr_histograms; i++)
		profile->histograms[i].pid = nr + 1;
	if (object) {
		free(profile->objects[0].path);
		cr_assert_gt(asprintf(&profile->objects[0].path, "/tmp/program-%u", nr), 0);
	}
	return profile;
}

static size_t count_notes(const struct profile *profile, const char *part)
{
	size_t i, nr = 0;

	for (i = 0; i < profile->nr_notes; i++)
		nr += strstr(profile->notes[i], part) ? 1 : 0;
	return nr;
}

static bool has_note(const struct profile *profile, const char *part)
{
	return count_notes(profile, part) > 0;
}

/* At the limit processes are no longer told apart, and no tick is lost. */
Test(kept, many_processes)
{
	struct profile *last = another(0, false), *written;
	uint64_t one = last->ticks.total;
	struct kept kept;
	uint32_t i;

	begin(&kept, "all.json");
	kept.elements_max = 20000;
	kept.sum.fold_from = 2000;
	for (i = 1; i < 1000; i++) {
		add(&kept, another(i, false));
		cr_assert_leq(profile_elements(kept.sum.sum), 25000);
	}
	written = save(&kept, &last, "all.json");
	cr_expect_eq(written->ticks.total, 1000 * one);
	cr_expect(has_note(written, "not separated"));
	cr_expect_not(has_note(written, "begins later"));
	cr_expect_null(written->sampling.split);
	profile_free(written);
	/* The sum continues, and has the note of the first file. */
	written = save(&kept, &last, "all.json");
	cr_expect_eq(count_notes(written, "not separated"), 1);
	profile_free(written);
	profile_free(last);
	kept_free(&kept);
}

static struct profile *another_with_callers(uint32_t nr)
{
	struct profile *profile = another(nr, false);
	struct profile_callers *callers = profile->callers = calloc(1, sizeof(*callers));
	const struct profile_account *ticks;
	uint32_t i;

	cr_assert(callers);
	callers->roots = calloc(profile->nr_targets, sizeof(*callers->roots));
	cr_assert(callers->roots);
	for (i = 0; i < profile->nr_targets; i++) {
		ticks = &profile->targets[i].ticks;
		callers->roots[callers->nr_roots++] = (struct profile_root){
			.target = i,
			.pid = nr + 1,
			.process = strdup("worker"),
			.end = END_FULL,
			.ticks = ticks->binned + ticks->overflow + ticks->outside,
		};
	}
	return profile;
}

/* Nor are the roots of callers, and those that are equal then become one. */
Test(kept, many_processes_with_callers)
{
	struct profile *last = another_with_callers(3), *written;
	struct kept kept;
	uint32_t i;

	begin(&kept, "all.json");
	kept.elements_max = 20;
	kept.sum.fold_from = 2;
	for (i = 0; i < 3; i++)
		add(&kept, another_with_callers(i));
	written = save(&kept, &last, "all.json");
	cr_expect(has_note(written, "not separated"));
	cr_assert(written->callers);
	cr_assert_eq(written->callers->nr_roots, written->nr_targets);
	for (i = 0; i < written->callers->nr_roots; i++) {
		cr_expect_eq(written->callers->roots[i].pid, -1);
		cr_expect_null(written->callers->roots[i].process);
	}
	profile_free(written);
	profile_free(last);
	kept_free(&kept);
}

/* JIT text keeps its process, which it has in every profile, but not its thread. */
Test(kept, many_threads_of_a_jit)
{
	static const char *const splits[] = { "process", "thread" };
	struct profile *last, *written;
	struct kept kept;
	uint32_t i, split;

	for (split = 0; split < 2; split++) {
		begin(&kept, "all.json");
		kept.elements_max = 20;
		kept.sum.fold_from = 2;
		for (i = 0; i < 3; i++) {
			last = another(i, false);
			last->sampling.split = strdup(splits[split]);
			if (i < 2)
				add(&kept, last);
		}
		written = save(&kept, &last, "all.json");
		cr_expect(has_note(written, "not separated"));
		for (i = 0; i < written->nr_histograms; i++)
			cr_expect_eq(written->histograms[i].pid >= 0,
				     !split &&
					     written->objects[written->histograms[i].object].kind ==
						     PROFILE_JIT);
		profile_free(written);
		profile_free(last);
		kept_free(&kept);
	}
}

/* If that is not enough, the file says that it is incomplete. */
Test(kept, many_objects)
{
	struct profile *last = another(0, true), *written;
	uint64_t one = last->ticks.total;
	struct kept kept;
	uint32_t i;

	begin(&kept, "all.json");
	kept.elements_max = 20000;
	kept.sum.fold_from = 2000;
	for (i = 1; i < 5000; i++) {
		add(&kept, another(i, true));
		cr_assert_leq(profile_elements(kept.sum.sum), 25000);
	}
	written = save(&kept, &last, "all.json");
	cr_expect_gt(written->ticks.total, one);
	cr_expect_lt(written->ticks.total, 5000 * one);
	cr_expect(has_note(written, "not separated"));
	cr_expect(has_note(written, "begins later"));
	profile_free(written);
	profile_free(last);
	kept_free(&kept);
}
