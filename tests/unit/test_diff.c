// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/diff.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile_io.h"
#include "sample.h"

static const struct diff_options by_functions = { .by = REPORT_FUNCTIONS };

#define FUNCTIONS 40
#define RUNS 100

/* A fixed sequence of numbers: Knuth's MMIX generator, whose upper bits are good. */
static uint64_t state = 1;

static double uniform(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(state >> 11) / 9007199254740992.0;
}

/*
 * Ticks at random functions; function i gets time[i], and the number of ticks follows the total
 * time.
 */
static struct profile *simulate(const double *time, double hz)
{
	struct profile *profile = sample_profile_of_bins(FUNCTIONS);
	struct profile_histogram *histogram = &profile->histograms[0];
	double sum = 0, at;
	uint64_t ticks, i, f;

	for (f = 0; f < FUNCTIONS; f++) {
		sum += time[f];
		histogram->bins[f].count = 0;
	}
	ticks = (uint64_t)(sum * hz);
	for (i = 0; i < ticks; i++) {
		at = uniform() * sum;
		for (f = 0; f < FUNCTIONS - 1 && at >= time[f]; f++)
			at -= time[f];
		histogram->bins[f].count++;
	}
	profile->functions = calloc(FUNCTIONS, sizeof(*profile->functions));
	profile->nr_functions = FUNCTIONS;
	for (f = 0; f < FUNCTIONS; f++) {
		profile->functions[f] = (struct profile_function){ .offset = f * 3, .size = 3 };
		cr_assert(asprintf(&profile->functions[f].name, "f%d", (int)f) > 0);
	}
	profile->targets[0].ticks.total = profile->targets[0].ticks.binned = ticks;
	profile->ticks.total = profile->ticks.binned = ticks;
	return profile;
}

/* From a quarter of the time down to nearly nothing. */
static void usual_times(double *time)
{
	int i;

	for (i = 0; i < FUNCTIONS; i++)
		time[i] = 2.5 * pow(0.75, i);
}

/* Makes each of its samples stand for n ticks. */
static void make_heavy(struct profile *profile, uint64_t n)
{
	struct profile_account *ticks = &profile->targets[0].ticks;
	size_t i;

	for (i = 0; i < profile->histograms[0].nr_bins; i++)
		profile->histograms[0].bins[i].count *= n;
	profile->targets[0].excess = ticks->total * n * (n - 1);
	ticks->total = ticks->binned = ticks->total * n;
	profile->ticks.total = profile->ticks.binned = ticks->total;
}

/* How many rows change beyond noise; *grew: whether f0 is one that grew. */
static size_t heavy_changes(const double *before, const double *after, double hz, uint64_t n,
			    bool *grew)
{
	struct profile *old = simulate(before, hz), *new = simulate(after, 3 * hz);
	struct diff diff;
	struct error err = { 0 };
	size_t i, nr;

	make_heavy(old, n);
	make_heavy(new, n);
	cr_assert_eq(diff_build(old, new, &by_functions, &diff, &err), 0, "%s", err.text);
	nr = diff.significant;
	*grew = false;
	for (i = 0; i < nr; i++)
		*grew |= !strcmp(diff.rows[i].name, "f0") && diff.rows[i].change > 0;
	diff_free(&diff);
	profile_free(old);
	profile_free(new);
	return nr;
}

static size_t changes(const double *before, const double *after, double hz, bool *grew)
{
	return heavy_changes(before, after, hz, 1, grew);
}

/* Objects of one name in many versions, of which the first are in both profiles. */
static struct profile *versions(size_t nr, size_t nr_shared, int side)
{
	struct interval_count *counted = calloc(nr, sizeof(*counted));
	struct profile *profile;
	char *path;
	size_t i;

	cr_assert(counted);
	for (i = 0; i < nr; i++) {
		cr_assert(asprintf(&path, "/bin/app-%d.%zu", i < nr_shared ? 9 : side, i) > 0);
		counted[i] = (struct interval_count){ .object = path,
						      .function = "f",
						      .pid = -1,
						      .ticks = 1 };
	}
	profile = interval_profile(counted, nr, 0);
	for (i = 0; i < nr; i++)
		free((char *)counted[i].object);
	free(counted);
	return profile;
}

/* They must not cost time by the cube of their number. */
Test(diff, many_versions, .timeout = 60)
{
	enum { OBJECTS = 4000 };
	const struct diff_options options = { .by = REPORT_OBJECTS };
	struct profile *old = versions(OBJECTS, OBJECTS / 2, 0);
	struct profile *new = versions(OBJECTS / 2, OBJECTS / 2, 1);
	struct diff diff;
	struct error err = { 0 };

	cr_assert_eq(diff_build(old, new, &options, &diff, &err), 0, "%s", err.text);
	cr_expect_eq(diff.nr, OBJECTS);
	diff_free(&diff);
	profile_free(old);
	profile_free(new);
}

/*
 * Five ticks of one sample are one draw: when they were counted as five, 95 of these pairs
 * differed.
 */
Test(diff, equal_runs_of_heavy_samples_show_nothing)
{
	double time[FUNCTIONS];
	int i, flagged = 0;
	bool grew;

	usual_times(time);
	for (i = 0; i < RUNS; i++)
		flagged += heavy_changes(time, time, 100 + 20 * i, 5, &grew) > 0;
	cr_expect_leq(flagged, RUNS / 20, "%d of %d", flagged, RUNS);
}

Test(diff, equal_runs_show_nothing)
{
	double time[FUNCTIONS];
	int i, flagged = 0;
	bool grew;

	usual_times(time);
	for (i = 0; i < RUNS; i++)
		flagged += changes(time, time, 100 + 20 * i, &grew) > 0;
	cr_expect_leq(flagged, RUNS / 20, "%d of %d", flagged, RUNS);
}

/* 25 % of the time become 28.6 %: with 10,000 ticks that is always found. */
Test(diff, a_function_made_20_percent_slower_is_found)
{
	double before[FUNCTIONS], after[FUNCTIONS];
	int i, found = 0;
	bool grew;

	usual_times(before);
	usual_times(after);
	after[0] *= 1.2;
	for (i = 0; i < RUNS; i++) {
		changes(before, after, 1000, &grew);
		found += grew;
	}
	cr_expect_geq(found, RUNS * 95 / 100, "%d of %d", found, RUNS);
}

/* A run of a command, whose time the scheduler knows. */
static struct profile *simulate_run(const double *time)
{
	struct profile *profile = simulate(time, 30000);
	struct profile_target *target = &profile->targets[0];
	size_t i;

	free(target->kind);
	target->kind = strdup("command");
	target->cpu_known = true;
	for (i = 0; i < FUNCTIONS; i++)
		target->cpu_ns += (uint64_t)(time[i] * 1e9);
	return profile;
}

/* Rows whose shares grew by more than 2 %; those that are spared; and whether a note has the words. */
static void check_gate(const double *before, const double *after, size_t above, bool spares,
		       const char *words)
{
	struct profile *old = simulate_run(before), *new = simulate_run(after);
	struct error err = { 0 };
	struct diff diff;
	size_t spared;

	cr_assert_eq(diff_build(old, new, &by_functions, &diff, &err), 0, "%s", err.text);
	cr_expect_eq(diff_above(&diff, 2, &spared), above);
	cr_expect_eq(spared > 0, spares);
	cr_expect_eq(diff.nr_notes, words ? 1 : 0);
	if (words && diff.nr_notes)
		cr_expect(strstr(diff.notes[0], words), "%s", diff.notes[0]);
	diff_free(&diff);
	profile_free(old);
	profile_free(new);
}

/* Shares grow where others fall, which is no reason to fail a build; but one that is slower is. */
Test(diff, gate_of_runs)
{
	double before[FUNCTIONS], after[FUNCTIONS];
	int i;

	usual_times(before);
	usual_times(after);
	check_gate(before, after, 0, false, NULL);
	after[0] /= 5;
	check_gate(before, after, 0, true, "less CPU time, most of it in f0 (");
	after[1] *= 1.5;
	check_gate(before, after, 1, false, "less CPU time");
	after[0] = 2 * before[0];
	after[1] = before[1];
	check_gate(before, after, 1, false, "more CPU time");
	for (i = 0; i < FUNCTIONS; i++)
		after[i] = 2.5 * before[i];
	check_gate(before, after, 0, false, "150.0 % more CPU time");
}

/* --- weights ------------------------------------------------------------------------------------ */

/* The ticks of split.json, with some added to a bin or taken from it. */
static double p_of(const char *name, size_t histogram, int64_t more)
{
	struct profile *old = NULL, *new = NULL;
	struct error err = { 0 };
	struct diff diff;
	double p = -1;
	size_t i;

	cr_assert_eq(profile_load("tests/golden/split.json", &old, &err), 0, "%s", err.text);
	cr_assert_eq(profile_load("tests/golden/split.json", &new, &err), 0, "%s", err.text);
	new->histograms[histogram].bins[0].count += (uint64_t)more;
	cr_assert_eq(diff_build(old, new, &by_functions, &diff, &err), 0, "%s", err.text);
	for (i = 0; i < diff.nr; i++)
		if (!strcmp(diff.rows[i].name, name))
			p = diff.rows[i].probability;
	diff_free(&diff);
	profile_free(old);
	profile_free(new);
	return p;
}

/*
 * How certain a row is depends on the number of its ticks, whatever they stand for: 30 more of 480
 * ticks that stand for a millisecond, or 30 fewer of 250 that stand for two and a half, are noise;
 * 150 are not.
 */
Test(diff, noise_is_a_matter_of_counts)
{
	cr_expect_eq(p_of("spin", 0, 0), 1);
	cr_expect_gt(p_of("spin", 0, 20), 0.05);
	cr_expect_lt(p_of("spin", 0, -200), DIFF_LEVEL);
	cr_expect_gt(p_of("aeMain", 1, -20), 0.05);
	cr_expect_lt(p_of("aeMain", 1, -150), DIFF_LEVEL);
	/* Five ticks of 2 ms each are few, whatever their share of the time. */
	cr_expect_gt(p_of("main", 4, 3), 0.05);
}

/* Text is matched after it was renamed, loaded elsewhere, rebuilt, or run in another process. */
Test(diff, text_is_found_again)
{
	struct profile *old = sample_profile(), *new = sample_profile();
	struct diff diff;
	struct error err = { 0 };
	size_t i;

	free(new->objects[0].path);
	new->objects[0].path = strdup("/opt/renamed");
	free(new->objects[1].path);
	new->objects[1].path = strdup("[jit 78]");
	free(new->objects[2].build_id);
	new->objects[2].build_id = strdup("8badf00e");
	new->histograms[3].offset += 0x200000;
	new->histograms[2].offset += 0x1000000;
	new->functions[1].offset += 0x1000000;
	cr_assert_eq(diff_build(old, new, &by_functions, &diff, &err), 0, "%s", err.text);
	cr_expect_eq(diff.nr, 5);
	for (i = 0; i < diff.nr; i++) {
		cr_expect_eq(diff.rows[i].change, 0, "%s", diff.rows[i].name);
		cr_expect_gt(diff.rows[i].old.sum.ticks, 0);
		cr_expect_not(diff.rows[i].significant);
	}
	diff_free(&diff);
	profile_free(old);
	profile_free(new);
}

/* Rows of text without a symbol; the second profile has it at another place. */
static size_t nameless_rows(const char *build_id)
{
	struct profile *old = sample_profile(), *new = sample_profile();
	struct error err = { 0 };
	struct diff diff;
	size_t i, nr = 0;

	free(old->functions[0].name);
	old->functions[0].name = strdup("work+0x1010");
	free(new->functions[0].name);
	new->functions[0].name = strdup("work+0x1020");
	free(new->objects[0].build_id);
	new->objects[0].build_id = build_id ? strdup(build_id) : NULL;
	cr_assert_eq(diff_build(old, new, &by_functions, &diff, &err), 0, "%s", err.text);
	for (i = 0; i < diff.nr; i++)
		nr += strstr(diff.rows[i].object, "work") &&
		      (!diff.rows[i].name || !strncmp(diff.rows[i].name, "work+0x10", 9));
	diff_free(&diff);
	profile_free(old);
	profile_free(new);
	return nr;
}

/* Of one build it is called as in a report; another build has other text there. */
Test(diff, text_without_a_symbol)
{
	cr_expect_eq(nameless_rows("00ff12ab"), 3);
	cr_expect_eq(nameless_rows("8badf00e"), 1);
	cr_expect_eq(nameless_rows(NULL), 1);
}

/* How many rows of the first object have a name that begins so; *both: with ticks on both sides. */
static size_t rows_named(const char *build_id, size_t *both)
{
	struct profile *old = sample_profile(), *new = sample_profile();
	struct error err = { 0 };
	struct diff diff;
	size_t i, nr = 0;

	free(old->functions[0].name);
	old->functions[0].name = strdup("count");
	free(new->functions[0].name);
	new->functions[0].name = strdup("count.constprop.0");
	free(new->objects[0].build_id);
	new->objects[0].build_id = strdup(build_id);
	cr_assert_eq(diff_build(old, new, &by_functions, &diff, &err), 0, "%s", err.text);
	for (i = 0, *both = 0; i < diff.nr; i++) {
		if (!diff.rows[i].name || strncmp(diff.rows[i].name, "count", 5) != 0)
			continue;
		nr++;
		*both += diff.rows[i].old.sum.ticks && diff.rows[i].new.sum.ticks &&
			 !strcmp(diff.rows[i].name, "count");
	}
	diff_free(&diff);
	profile_free(old);
	profile_free(new);
	return nr;
}

/* A compiler's copy of a function is that function in another build, and apart from it in one. */
Test(diff, suffixes_of_compilers)
{
	size_t both;

	cr_expect_eq(rows_named("8badf00e", &both), 1);
	cr_expect_eq(both, 1);
	cr_expect_eq(rows_named("00ff12ab", &both), 2);
	cr_expect_eq(both, 0);
}

/* --- objects of other names ------------------------------------------------------------------------- */

/*
 * The first object's path in the old and the new profile, and another object's path in the new one.
 */
struct names {
	const char *old, *new, *other;
};

static void rename_object(struct profile *profile, size_t i, const char *path)
{
	free(profile->objects[i].path);
	profile->objects[i].path = strdup(path);
	free(profile->objects[i].build_id);
	profile->objects[i].build_id = NULL;
	profile->objects[i].kind = PROFILE_FILE;
}

/* Rows of the first object with ticks on both sides. */
static size_t paired(const struct names *names, const struct diff_options *options, char *note)
{
	struct profile *old = sample_profile(), *new = sample_profile();
	struct error err = { 0 };
	struct diff diff;
	size_t i, nr = 0;

	rename_object(old, 0, names->old);
	rename_object(new, 0, names->new);
	if (names->other)
		rename_object(new, 2, names->other);
	cr_assert_eq(diff_build(old, new, options, &diff, &err), 0, "%s", err.text);
	for (i = 0; i < diff.nr; i++)
		nr += !strcmp(diff.rows[i].object, names->new) && diff.rows[i].old.sum.ticks &&
		      diff.rows[i].new.sum.ticks;
	snprintf(note, 128, "%s", diff.nr_notes ? diff.notes[0] : "");
	diff_free(&diff);
	profile_free(old);
	profile_free(new);
	return nr;
}

static void check_paired(const char *old, const char *new, bool wanted)
{
	char note[128], text[128];

	cr_expect_eq(paired(&(struct names){ old, new, NULL }, &by_functions, note) > 0, wanted,
		     "%s, %s", old, new);
	snprintf(text, sizeof(text),
		 wanted ? "%s of the old is compared as %s" :
			  "%s is only in the old, %s only in the new; if ",
		 strrchr(old, '/') + 1, strrchr(new, '/') + 1);
	cr_expect_eq(strncmp(note, text, strlen(text)), 0, "%s, not %s", note, text);
}

Test(diff, versions_are_not_names)
{
	check_paired("/usr/lib/libx.so.1.2.3", "/usr/lib/libx.so.1.3", true);
	check_paired("/usr/lib/libx-2.36.so", "/usr/lib/libx-2.37.so", true);
	check_paired("/usr/bin/python3.11", "/opt/bin/python3.12", true);
	check_paired("/opt/app-1.0.2", "/opt/app-1.1", true);
	check_paired("/opt/app", "/opt/app-2", true);
	check_paired("/usr/lib/libx.so.1", "/usr/lib/liby.so.1", false);
	check_paired("/usr/lib/libx.so.1", "/usr/bin/libx", false);
	check_paired("/usr/lib/cc1", "/usr/lib/cc1plus", false);
}

/* libx.so.1 in both profiles is the same object, whatever other objects there are. */
Test(diff, a_name_comes_before_a_version)
{
	char note[128];

	cr_expect_gt(paired(&(struct names){ "/lib/libx.so.1", "/lib/libx.so.1", "/lib/libx.so.2" },
			    &by_functions, note),
		     0);
	cr_expect_str_empty(note);
}

Test(diff, maps)
{
	const struct diff_map maps[] = { { "before", "/opt/after" } };
	struct diff_options options = { .maps = maps, .nr_maps = 1 };
	cleanup_profile struct profile *profile = sample_profile();
	struct error err = { 0 };
	struct diff diff;
	char note[128];

	cr_expect_gt(paired(&(struct names){ "/bin/before", "/opt/after", NULL }, &options, note),
		     0);
	cr_expect_str_empty(note);
	cr_assert_eq(diff_build(profile, profile, &options, &diff, &err), -EINVAL);
	cr_expect_str_eq(err.text, "--map: 'before': not in the old profile");
	diff_free(&diff);
}
