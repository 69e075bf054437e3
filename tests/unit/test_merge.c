// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_merge.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "profile/profile_head.h"
#include "profile/profile_io.h"
#include "profile/profile_notes.h"
#include "sample.h"

#define PARTS 4

static void replace(char **text, const char *with)
{
	free(*text);
	*text = strdup(with);
	cr_assert(*text);
}

/* The sample, each time with something else changed. */
static struct profile *unwritten_part(int i)
{
	static const char *const started[PARTS] = { "2026-01-31T23:59:59.5+01:00",
						    "2026-01-31T22:59:59.50Z",
						    "2026-01-31T22:59:59.499999999Z",
						    "2026-02-01T00:00:00+01:00" };
	struct profile *profile = sample_profile();

	replace(&profile->started, started[i]);
	if (i == 1) {
		profile->sampling.period_ns = 250000;
		profile->sampling.requested_hz = 4000;
		profile->targets[0].period_ns = 500000;
		replace(&profile->objects[0].path, "/usr/local/bin/work");
		replace(&profile->ticks.lost[0].cause, "a later cause");
	} else if (i == 2) {
		replace(&profile->host.name, "other");
		replace(&profile->objects[2].build_id, "8badf00e");
		profile->command[1][0] = 'x';
		profile->histograms[1].bins[0].index = 7;
		profile->complete = false;
	} else if (i == 3) {
		replace(&profile->notes[0], "another note");
		profile->objects[2].text[0].offset += 4096;
		profile->histograms[2].bytes_per_bin = 8192;
		profile->histograms[2].bins[0].index = 1;
		profile->sampling.measured_hz = 0;
	}
	return profile;
}

static struct profile *sum_of(struct profile *a, struct profile *b)
{
	struct profile_merger merger = { 0 };
	struct error err = { 0 };
	struct profile *sum = NULL;

	cr_assert_eq(profile_merger_add(&merger, a, "a", &err), 0, "%s", err.text);
	if (b)
		cr_assert_eq(profile_merger_add(&merger, b, "b", &err), 0, "%s", err.text);
	cr_assert_eq(profile_merger_finish(&merger, &sum, &err), 0, "%s", err.text);
	cr_assert_eq(profile_check(sum, "sum", &err), 0, "%s", err.text);
	return sum;
}

/* Also frees it. */
static char *text_of(struct profile *profile)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert_eq(profile_write(profile, out, NULL), 0);
	fclose(out);
	profile_free(profile);
	return text;
}

/* A sum of sums only has what was written. */
static struct profile *read_back(struct profile *profile)
{
	char *text = text_of(profile);
	struct profile *read = NULL;
	struct error err = { 0 };
	FILE *file = tmpfile();
	struct input *in;

	fputs(text, file);
	rewind(file);
	cr_assert_eq(input_open_fd(dup(fileno(file)), "sum", &in, &err), 0, "%s", err.text);
	cr_assert_eq(profile_read(in, &read, &err), 0, "%s", err.text);
	input_close(in);
	fclose(file);
	free(text);
	return read;
}

/* Read from a file, as all parts are, because bytes that are not UTF-8 change in one. */
static struct profile *part(int i)
{
	return read_back(unwritten_part(i));
}

static char *left_to_right(const int *order)
{
	struct profile *sum = part(order[0]);
	int i;

	for (i = 1; i < PARTS; i++)
		sum = read_back(sum_of(sum, part(order[i])));
	return text_of(sum);
}

Test(merge, order_and_grouping_do_not_matter)
{
	static const int orders[][PARTS] = { { 0, 1, 2, 3 },
					     { 3, 2, 1, 0 },
					     { 2, 0, 3, 1 },
					     { 1, 3, 0, 2 } };
	char *want = left_to_right(orders[0]), *text;
	size_t i;

	for (i = 1; i < sizeof(orders) / sizeof(orders[0]); i++) {
		text = left_to_right(orders[i]);
		cr_expect_str_eq(text, want);
		free(text);
	}
	text = text_of(
		sum_of(read_back(sum_of(part(3), part(0))), read_back(sum_of(part(1), part(2)))));
	cr_expect_str_eq(text, want);
	free(text);
	free(want);
}

static struct profile *delivered_part(const char *host, size_t nr, uint64_t first)
{
	struct profile *profile = sample_profile();
	size_t i;

	replace(&profile->host.name, host);
	if (!nr)
		return profile;
	profile->sampling.delivered = calloc(nr, sizeof(uint64_t));
	cr_assert(profile->sampling.delivered);
	profile->sampling.nr_delivered = nr;
	for (i = 0; i < nr; i++)
		profile->sampling.delivered[i] = first + i;
	return profile;
}

/*
 * CPU numbers are those of one host; with several hosts, or if one part has none, the sum has none.
 */
Test(merge, what_cpus_delivered)
{
	struct profile *sum = sum_of(delivered_part("a", 1, 5), delivered_part("a", 3, 100));

	sum = sum_of(sum, delivered_part("a", 2, 1000));
	cr_assert_eq(sum->sampling.nr_delivered, 3);
	cr_expect_eq(sum->sampling.delivered[0], 1105);
	cr_expect_eq(sum->sampling.delivered[1], 1102);
	cr_expect_eq(sum->sampling.delivered[2], 102);
	sum = sum_of(delivered_part("b", 1, 5), sum);
	cr_expect_eq(sum->sampling.nr_delivered, 0);
	sum = sum_of(sum, delivered_part("b", 1, 5));
	cr_expect_eq(sum->sampling.nr_delivered, 0);
	profile_free(sum);
	sum = sum_of(delivered_part("a", 2, 5), delivered_part("a", 0, 0));
	cr_expect_eq(sum->sampling.nr_delivered, 0);
	profile_free(sum);
}

static struct profile *part_of_cpus(const char *cpus)
{
	struct profile *profile = sample_profile();

	profile->sampling.cpus = cpus ? strdup(cpus) : NULL;
	return read_back(profile);
}

/* A sum says which CPUs were sampled if this is the same in all parts. */
Test(merge, some_cpus)
{
	struct profile *sum = sum_of(part_of_cpus("0,2-3"), part_of_cpus("0,2-3"));

	cr_expect_str_eq(sum->sampling.cpus, "0,2-3");
	sum = sum_of(sum, part_of_cpus("1"));
	cr_expect_null(sum->sampling.cpus);
	profile_free(sum);
	sum = sum_of(part_of_cpus(NULL), part_of_cpus("1"));
	cr_expect_null(sum->sampling.cpus);
	profile_free(sum);
}

static struct profile *part_with(const char *note)
{
	struct profile *profile = sample_profile();

	replace(&profile->notes[0], note);
	return profile;
}

/* Of three parts with these notes the sum has one note, whatever their order. */
static void check_note(const char *a, const char *b, const char *c, const char *wanted)
{
	const char *orders[][3] = { { a, b, c }, { c, a, b }, { b, c, a }, { c, b, a } };
	struct profile *sum;
	size_t i;

	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		sum = sum_of(part_with(orders[i][0]), part_with(orders[i][1]));
		sum = sum_of(sum, part_with(orders[i][2]));
		cr_assert_eq(sum->nr_notes, 1, "%zu notes: %s, %s", sum->nr_notes, sum->notes[0],
			     sum->notes[1]);
		cr_expect_str_eq(sum->notes[0], wanted);
		profile_free(sum);
	}
}

/* A series has the same notes in each file, of other figures and objects. */
Test(merge, notes_add_up)
{
	check_note("7 ticks of code fell", "12 ticks of code fell", "1 ticks of code fell",
		   "20 ticks of code fell");
	check_note("the kernel withheld 3 ticks, see", "the kernel withheld 4 ticks, see",
		   "the kernel withheld 18446744073709551615 ticks, see",
		   "the kernel withheld 18446744073709551615 ticks, see");
	check_note(NOTE_NAMELESS_CODE "[node:7] and 1 other" NOTE_AFTER_CODE ": help",
		   NOTE_NAMELESS_CODE "[vm:8] and 4 others" NOTE_AFTER_CODE ": other help",
		   NOTE_NAMELESS_CODE "[node:9]" NOTE_AFTER_CODE ": help",
		   NOTE_NAMELESS_CODE "[node:7] and 4 others" NOTE_AFTER_CODE ": help");
	check_note(NOTE_NAMELESS_FUNCTIONS "/bin/b" NOTE_AFTER_FUNCTIONS "b",
		   NOTE_NAMELESS_FUNCTIONS "/bin/a and b" NOTE_AFTER_FUNCTIONS "y",
		   NOTE_NAMELESS_FUNCTIONS "/bin/a and b" NOTE_AFTER_FUNCTIONS "x",
		   NOTE_NAMELESS_FUNCTIONS "/bin/a and b and 1 other" NOTE_AFTER_FUNCTIONS "x");
	/* Which part of the sum's ticks it is, no part knows. */
	check_note(NOTE_NAMELESS_FUNCTIONS "/bin/b" NOTE_SHARE "7.0% of" NOTE_AFTER_FUNCTIONS "x",
		   NOTE_NAMELESS_FUNCTIONS "/bin/a and 2 others" NOTE_SHARE
					   "9.0% of" NOTE_AFTER_FUNCTIONS "y",
		   NOTE_NAMELESS_FUNCTIONS "/bin/b" NOTE_SHARE "8.0% of" NOTE_AFTER_FUNCTIONS "x",
		   NOTE_NAMELESS_FUNCTIONS "/bin/a and 2 others" NOTE_AFTER_FUNCTIONS "y");
	check_note(NOTE_NAMELESS_FUNCTIONS "/bin/b" NOTE_AFTER_FUNCTIONS "x",
		   NOTE_NAMELESS_FUNCTIONS "/bin/b" NOTE_AFTER_FUNCTIONS "x",
		   NOTE_NAMELESS_FUNCTIONS "/bin/b" NOTE_AFTER_FUNCTIONS "x",
		   NOTE_NAMELESS_FUNCTIONS "/bin/b" NOTE_AFTER_FUNCTIONS "x");
}

/* "only CPU 1 was sampled" is wrong of a sum with a part of all of them. */
Test(merge, notes_on_cpus)
{
	struct profile *some = sample_profile(), *others = sample_profile(), *sum;

	while (some->nr_notes)
		free(some->notes[--some->nr_notes]);
	cr_assert_eq(profile_fill_cpus(some, "1"), 0);
	cr_assert_eq(profile_fill_cpus(others, "0,2"), 0);
	sum = sum_of(read_back(some), sample_profile());
	cr_assert_eq(sum->nr_notes, 2);
	cr_expect_eq(strncmp(sum->notes[1], "parts of the sum are of some CPUs only;", 39), 0, "%s",
		     sum->notes[1]);
	sum = sum_of(sum, others);
	cr_expect_eq(sum->nr_notes, 2);
	profile_free(sum);
}

static struct profile *part_of_time(double duty_percent, uint64_t sampled_ns)
{
	struct profile *profile = sample_profile();

	profile->duration_ns = 1000;
	profile->sampling.duty_percent = duty_percent;
	profile->sampling.sampled_ns = sampled_ns;
	return read_back(profile);
}

/* What no agent saw before either. */
Test(merge, times_without_an_agent)
{
	struct profile *a = part_of_time(0, 0), *b = part_of_time(0, 0), *sum;

	a->sampling.unsampled_ns = 5;
	b->sampling.unsampled_ns = 7;
	sum = sum_of(a, b);
	cr_expect_eq(sum->sampling.unsampled_ns, 12);
	cr_expect_eq(sum->duration_ns, 2000);
	profile_free(sum);
}

/* A part that was sampled all the time has sampled all its duration. */
Test(merge, duties)
{
	struct profile *sum = sum_of(part_of_time(10, 99), part_of_time(10, 0));

	cr_expect_eq(sum->sampling.duty_percent, 10);
	cr_expect_eq(sum->sampling.sampled_ns, 99);
	sum = sum_of(sum, part_of_time(20, 201));
	cr_expect_eq(sum->sampling.duty_percent, 0);
	cr_expect_eq(sum->sampling.sampled_ns, 300);
	profile_free(sum);
	sum = sum_of(part_of_time(0, 0), part_of_time(10, 0));
	cr_expect_eq(sum->sampling.duty_percent, 0);
	cr_expect_eq(sum->sampling.sampled_ns, 1000);
	sum = sum_of(sum, part_of_time(0, 0));
	cr_expect_eq(sum->sampling.sampled_ns, 2000);
	profile_free(sum);
	sum = sum_of(part_of_time(0, 0), part_of_time(0, 0));
	cr_expect_eq(sum->sampling.sampled_ns, 0);
	profile_free(sum);
}

/* They belong to one run. */
Test(merge, segments_and_cost_are_no_sums)
{
	struct profile *one = sample_profile(), *sum;

	one->sampling.segments = calloc(1, sizeof(*one->sampling.segments));
	cr_assert(one->sampling.segments);
	one->sampling.nr_segments = 1;
	one->sampling.cost.budget_percent = 1;
	sum = sum_of(one, sample_profile());
	cr_expect_eq(sum->sampling.nr_segments, 0);
	cr_expect_eq(sum->sampling.cost.budget_percent, 0);
	profile_free(sum);
}

Test(merge, a_sum_of_one_part_is_its_own_sum)
{
	cleanup_free char *once = text_of(sum_of(part(1), NULL));
	cleanup_free char *twice = text_of(sum_of(read_back(sum_of(part(1), NULL)), NULL));

	cr_expect_str_eq(once, twice);
}

Test(merge, counts_add)
{
	cleanup_profile struct profile *sum = sum_of(part(0), part(0));

	cr_expect_eq(sum->nr_targets, 2);
	cr_expect_eq(sum->nr_objects, 4);
	cr_expect_eq(sum->nr_histograms, 5);
	cr_expect_eq(sum->nr_functions, 3);
	cr_expect_eq(sum->ticks.total, 2120);
	cr_expect_eq(profile_account_lost(&sum->ticks), 10);
	cr_expect_eq(sum->functions[0].ticks, 1080);
	cr_expect_eq(sum->duration_ns, 2120000002);
}

/* Half a second before midnight there is before midnight here; 1 and 2 begin later and earlier. */
Test(merge, heads)
{
	cleanup_profile struct profile *sum = sum_of(part(0), part(2));

	cr_expect_str_eq(sum->started, "2026-01-31T22:59:59.499999999Z");
	cr_expect_not(sum->complete);
	cr_expect_null(sum->command);
	cr_expect_eq(sum->nr_hosts, 2);
	cr_expect_str_eq(sum->host.name, "");
	cr_expect_str_eq(sum->host.arch, "x86_64");
	cr_expect_eq(sum->nr_targets, 4);
	cr_expect_str_eq(sum->targets[0].host, "host");
}

/* A file is known by its build id; the sum has the finest period, and other targets say theirs. */
Test(merge, periods_and_paths)
{
	cleanup_profile struct profile *sum = sum_of(part(0), part(1));

	cr_expect_eq(sum->sampling.period_ns, 250000);
	cr_expect_eq(sum->nr_targets, 4);
	cr_expect_eq(sum->targets[0].period_ns, 0);
	cr_expect_eq(sum->targets[1].period_ns, 1003009);
	cr_expect_eq(sum->targets[2].period_ns, 500000);
	cr_expect_eq(sum->nr_objects, 4);
	cr_expect_str_eq(sum->objects[0].path, "/usr/bin/work");
}

/* Containers of one image have one file at one path each: that is one object, and a function one row. */
Test(merge, copies_of_a_file)
{
	cleanup_profile struct profile *profile = part(0), *same = part(0);
	struct profile *other = part(0);
	const size_t objects = profile->nr_objects;
	uint64_t binned = 0;
	size_t i, j, files = 0;

	cr_assert_eq(profile_join_copies(same), 0);
	cr_expect_eq(same->nr_objects, objects, "each is there once");
	for (i = 0; i < objects; i++)
		files += profile->objects[i].kind == PROFILE_FILE && profile->objects[i].build_id;
	cr_assert_gt(files, 0);
	/* All targets are those of the first, as if each object had been counted twice. */
	cr_assert_eq(profile_append(profile, other), 0);
	profile_free(other);
	for (i = profile->nr_histograms / 2; i < profile->nr_histograms; i++)
		profile->histograms[i].target -= (uint32_t)profile->nr_targets / 2;
	cr_assert_eq(profile_join_copies(profile), 0);
	cr_expect_eq(profile->nr_objects, 2 * objects - files);
	for (i = 0; i < profile->nr_objects; i++)
		for (j = 0; j < i; j++)
			cr_expect(profile->objects[i].kind != PROFILE_FILE ||
				  compare_text(profile->objects[i].path, profile->objects[j].path));
	for (i = 0; i < profile->nr_histograms; i++) {
		cr_assert_lt(profile->histograms[i].object, profile->nr_objects);
		for (j = 0; j < profile->histograms[i].nr_bins; j++)
			binned += profile->histograms[i].bins[j].count;
	}
	for (i = 0; i < same->nr_histograms; i++)
		for (j = 0; j < same->histograms[i].nr_bins; j++)
			binned -= 2 * same->histograms[i].bins[j].count;
	cr_expect_eq(binned, 0);
	cr_expect_lt(profile->nr_histograms, 2 * same->nr_histograms);
	cr_expect_lt(profile->nr_functions, 2 * same->nr_functions);
	for (i = 1; i < profile->nr_functions; i++)
		cr_expect_geq(profile->functions[i - 1].ticks, profile->functions[i].ticks);
}

/* --- CPU time ----------------------------------------------------------------------------------- */

static struct profile *split_part(void)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile_load("tests/golden/split.json", &profile, &err), 0, "%s", err.text);
	return profile;
}

/* The same run again, except for whose time it was. */
static struct profile *other_split_part(int i)
{
	struct profile *profile = split_part();

	cr_assert_eq(profile_add_label(profile, NULL, "team", i == 2 ? "b" : "a"), 0);
	cr_assert_eq(profile_add_label(profile, "/x", "k8s.pod.name", "web-0"), 0);
	if (i == 1) {
		replace(&profile->splits[2].process, "redis-cli");
		replace(&profile->histograms[1].process, "redis-cli");
		replace(&profile->histograms[3].process, "redis-cli");
		profile->targets[0].cpu_ns += 5;
	} else if (i == 2) {
		profile->splits[4].pid = profile->histograms[5].pid = 7;
		profile->splits[1].cpu_ns = UINT64_MAX - 9;
	} else if (i == 3) {
		replace(&profile->host.name, "other");
	}
	return read_back(profile);
}

Test(merge, cpu_time_adds_up)
{
	cleanup_profile struct profile *sum = sum_of(split_part(), split_part());

	cr_assert_eq(sum->nr_targets, 1);
	cr_expect(sum->targets[0].cpu_known);
	cr_expect_eq(sum->targets[0].cpu_ns, 2 * 1515000000UL);
	cr_expect(sum->targets[0].kernel_known);
	cr_expect_eq(sum->targets[0].kernel_ticks, 2 * 65);
	cr_assert_eq(sum->nr_splits, 5);
	cr_expect_eq(sum->splits[0].pid, -1);
	cr_expect_eq(sum->splits[0].cpu_ns, 12000000);
	cr_expect_str_eq(sum->splits[2].process, "redis-server");
	cr_expect_eq(sum->splits[2].ticks, 820);
	cr_expect_eq(sum->splits[2].cpu_ns, 2000000000);
}

Test(merge, cpu_time_in_any_order)
{
	static const int orders[][PARTS] = { { 3, 2, 1, 0 }, { 2, 0, 3, 1 }, { 1, 3, 0, 2 } };
	struct profile *sum = other_split_part(0);
	char *want, *text;
	size_t i;
	int j;

	for (j = 1; j < PARTS; j++)
		sum = read_back(sum_of(sum, other_split_part(j)));
	cr_expect_eq(sum->nr_targets, 2, "of two hosts");
	cr_expect_eq(sum->nr_splits, 12);
	cr_assert_eq(sum->nr_labels, 4);
	cr_expect_str_eq(sum->labels[0].host, "host");
	cr_expect_null(sum->labels[0].cgroup);
	cr_expect_str_eq(sum->labels[0].value, "a", "of two values the first");
	cr_expect_str_eq(sum->labels[1].cgroup, "/x");
	cr_expect_str_eq(sum->labels[2].host, "other");
	want = text_of(sum);
	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		sum = other_split_part(orders[i][0]);
		for (j = 1; j < PARTS; j++)
			sum = read_back(sum_of(sum, other_split_part(orders[i][j])));
		text = text_of(sum);
		cr_expect_str_eq(text, want);
		free(text);
	}
	free(want);
}

/* A part from before these were kept. */
Test(merge, figures_that_one_part_does_not_know)
{
	struct profile *old = split_part(), *sum;
	uint64_t cpu_ns;

	old->targets[0].cpu_known = false;
	old->targets[0].cpu_ns = 0;
	old->targets[0].kernel_known = false;
	old->targets[0].kernel_ticks = 0;
	sum = sum_of(old, split_part());
	cr_assert_eq(sum->nr_targets, 1);
	cr_expect_not(sum->targets[0].cpu_known);
	cr_expect_eq(sum->targets[0].cpu_ns, 0);
	cr_expect_not(sum->targets[0].kernel_known);
	cr_expect_eq(sum->targets[0].kernel_ticks, 0);
	cr_expect_not(profile_cpu_time(sum, &cpu_ns));
	profile_free(sum);
}

Test(merge, ticks_that_mean_something_else_are_refused)
{
	struct profile_merger merger = { 0 };
	struct profile *other = part(1);
	struct error err = { 0 };

	replace(&other->sampling.source, "tick");
	cr_assert_eq(profile_merger_add(&merger, part(0), "a", &err), 0);
	cr_expect_eq(profile_merger_add(&merger, other, "b", &err), -EINVAL);
	cr_expect_str_eq(err.text, "b: source tick, where the files before it have clock");
	profile_merger_free(&merger);
}

static void check_too_many(struct profile *parts[2])
{
	struct profile_merger merger = { 0 };
	struct profile *sum;
	struct error err = { 0 };
	int i;

	for (i = 0; i < 2; i++)
		cr_assert_eq(profile_merger_add(&merger, parts[i], "a", &err), 0);
	cr_expect_eq(profile_merger_finish(&merger, &sum, &err), -EOVERFLOW);
	cr_expect_str_eq(err.text, "merge: more than 2^64 ticks");
	profile_merger_free(&merger);
}

Test(merge, too_many_ticks)
{
	struct profile *parts[2] = { part(0), part(0) };
	int i;

	for (i = 0; i < 2; i++) {
		parts[i]->ticks.total += UINT64_MAX / 2;
		parts[i]->ticks.outside += UINT64_MAX / 2;
	}
	check_too_many(parts);
}

/* Sums stop at 2^64 - 1. If all are in one bin, they look exact, but the bin wraps. */
Test(merge, too_many_ticks_in_a_bin)
{
	const uint64_t more = UINT64_MAX / 2 + 100;
	struct profile *parts[2] = { part(0), part(0) };
	struct profile_histogram *bins;
	int i;

	for (i = 0; i < 2; i++) {
		bins = &parts[i]->histograms[1];
		cr_assert_eq(bins->target, 1);
		parts[i]->targets[1].ticks.total += more;
		parts[i]->targets[1].ticks.binned += more;
		bins->bins[0].count += more;
		profile_account_free(&parts[i]->ticks);
		parts[i]->ticks = (struct profile_account){ .total = more, .binned = more };
	}
	check_too_many(parts);
}

/* The sample as if it were of programs' own calls. */
static struct profile *part_of_calls(void)
{
	struct profile *profile = sample_profile();
	size_t i;

	for (i = 0; i < profile->nr_targets; i++)
		replace(&profile->targets[i].kind, "call");
	return read_back(profile);
}

/* As in a profile of both: a call's ticks would be the same time twice. */
Test(merge, calls_beside_samples_do_not_count)
{
	struct profile *sum = sum_of(part(0), part_of_calls());
	char *one, *other;

	cr_expect_eq(sum->ticks.total, 1060);
	cr_expect_eq(sum->ticks.binned, 1000);
	profile_free(sum);
	one = text_of(sum_of(read_back(sum_of(part(0), part_of_calls())), part(2)));
	other = text_of(sum_of(part_of_calls(), read_back(sum_of(part(2), part(0)))));
	cr_expect_str_eq(one, other);
	free(one);
	free(other);
	sum = sum_of(part_of_calls(), part_of_calls());
	cr_expect_eq(sum->ticks.total, 2 * 1060);
	profile_free(sum);
}

/* --- code without names ------------------------------------------------------------------------- */

/* A function with ticks in its first byte and in its last. */
static struct profile *part_of_extent(enum profile_object_kind kind, const char *object,
				      const char *function, uint64_t first, uint64_t last)
{
	struct profile *profile = INTERVAL(0, { object, function, first, -1, NULL, NULL, 7 });
	struct profile_histogram *histogram = &profile->histograms[0];

	profile->objects[0].kind = kind;
	profile->functions[0].size = histogram->size = last - first + 1;
	histogram->bins = reallocarray(histogram->bins, 2, sizeof(*histogram->bins));
	cr_assert(histogram->bins);
	histogram->nr_bins = 2;
	histogram->bins[0].count = 3;
	histogram->bins[1] = (struct profile_bin){ last - first, 4 };
	return read_back(profile);
}

static struct profile *part_of_vm(const uint64_t extent[2])
{
	return part_of_extent(PROFILE_JIT, "[vm:7]", "[vm:7]", extent[0], extent[1]);
}

static struct profile *sum_of_three(const uint64_t extents[3][2], const int order[3])
{
	struct profile *sum = sum_of(part_of_vm(extents[order[0]]), part_of_vm(extents[order[1]]));

	return read_back(sum_of(read_back(sum), part_of_vm(extents[order[2]])));
}

/* The sum has one function with all bins, from the first to the last. */
static void check_whole(const struct profile *sum, const char *name, uint64_t first, uint64_t last)
{
	struct profile_index *index = profile_index_new(sum);
	uint64_t ticks = 0;
	size_t i, j;

	cr_assert(index);
	cr_assert_eq(sum->nr_functions, 1);
	cr_expect_str_eq(sum->functions[0].name, name);
	cr_expect_eq(sum->functions[0].offset, first);
	cr_expect_eq(sum->functions[0].size, last - first + 1);
	cr_expect_eq(sum->functions[0].ticks, sum->ticks.binned);
	for (i = 0; i < sum->nr_histograms; i++)
		for (j = 0; j < sum->histograms[i].nr_bins; j++) {
			cr_expect_eq(profile_bin_function(index, &sum->histograms[i], j),
				     &sum->functions[0], "0x%" PRIx64,
				     profile_bin_start(&sum->histograms[i], j));
			ticks += sum->histograms[i].bins[j].count;
		}
	cr_expect_eq(ticks, sum->ticks.total);
	profile_index_free(index);
}

/* Each part has another first and last tick: they overlap, one is in another, or they do not meet. */
Test(merge, code_without_names_is_one_function)
{
	static const uint64_t extents[][3][2] = {
		{ { 0x1000, 0x3000 }, { 0x2000, 0x4000 }, { 0x2800, 0x4800 } },
		{ { 0x1000, 0x4800 }, { 0x2000, 0x3000 }, { 0x1000, 0x1010 } },
		{ { 0x1000, 0x1fff }, { 0x2000, 0x2fff }, { 0x4000, 0x4800 } },
	};
	static const int orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 } };
	struct profile *sum;
	char *want, *text;
	size_t i, j;

	for (i = 0; i < sizeof(extents) / sizeof(extents[0]); i++) {
		want = text_of(sum_of_three(extents[i], orders[0]));
		for (j = 0; j < sizeof(orders) / sizeof(orders[0]); j++) {
			sum = sum_of_three(extents[i], orders[j]);
			cr_expect_eq(sum->ticks.total, 3 * 7);
			check_whole(sum, "[vm:7]", 0x1000, 0x4800);
			text = text_of(sum);
			cr_expect_str_eq(text, want);
			free(text);
		}
		free(want);
	}
}

/* A file's function may have the file's name, and two functions of just-in-time code may have one. */
Test(merge, named_functions_stay_apart)
{
	static const char *const objects[] = { "/bin/f", "[vm:7]" };
	struct profile *sum;
	size_t i;

	for (i = 0; i < 2; i++) {
		sum = sum_of(part_of_extent((enum profile_object_kind)i, objects[i], "f", 16, 31),
			     part_of_extent((enum profile_object_kind)i, objects[i], "f", 48, 63));
		cr_assert_eq(sum->nr_objects, 1);
		cr_assert_eq(sum->nr_functions, 2);
		cr_expect_eq(sum->functions[0].size, 16);
		cr_expect_eq(sum->functions[1].size, 16);
		profile_free(sum);
	}
	sum = sum_of(part_of_extent(PROFILE_JIT, "[vm:7]", "[vm:7]", 16, 31),
		     part_of_extent(PROFILE_JIT, "[vm:8]", "[vm:8]", 48, 63));
	cr_expect_eq(sum->nr_functions, 2);
	profile_free(sum);
}
