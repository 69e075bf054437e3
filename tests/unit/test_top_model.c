// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/top/model.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "sample.h"
#include "profile/profile_merge.h"
#include "host/top/page.h"
#include "host/top/list.h"

static struct top_model model;
static struct top_list list;
static struct profile_merger sum; /* of all intervals, for pages */

static void setup(void)
{
	top_model_init(&model);
}

static void teardown(void)
{
	top_list_free(&list);
	top_model_free(&model);
	profile_merger_free(&sum);
}

TestSuite(top_model, .init = setup, .fini = teardown);

/* No row, and no folded row, may lose a tick: each table adds up to the ticks in bins. */
static void check_sums(void)
{
	const struct top_table *table;
	uint64_t ticks, total;
	size_t by, i;

	for (by = 0; by < TOP_BYS; by++) {
		table = &model.tables[by];
		ticks = table->others.ticks;
		total = table->others.total;
		for (i = 0; i < table->nr; i++) {
			ticks += table->rows[i]->ticks;
			total += table->rows[i]->total;
		}
		cr_assert_eq(ticks, model.interval.binned, "%s", top_by_words[by]);
		cr_assert_eq(total, model.overall.binned, "%s", top_by_words[by]);
		cr_assert(table->nr <= model.rows_max);
	}
	cr_assert(profile_account_exact(&model.interval));
	cr_assert(profile_account_exact(&model.overall));
}

static void add(struct profile *profile)
{
	struct error err = { 0 };

	cr_assert_eq(top_model_add(&model, profile), 0);
	cr_assert_eq(profile_merger_add(&sum, profile, "top", &err), 0, "%s", err.text);
	check_sums();
}

/* The list has these names, in this order, with these ticks of the interval and of all. */
struct want {
	const char *name;
	uint64_t ticks, total;
};

static void check_list(struct top_choice choice, size_t nr, const struct want *want)
{
	size_t i;

	cr_assert_eq(top_list_choose(&list, &model, &choice), 0);
	for (i = 0; i < list.nr && i < nr; i++) {
		cr_assert_str_eq(list.rows[i]->name, want[i].name, "row %zu: %s", i,
				 list.rows[i]->name);
		cr_assert_eq(list.rows[i]->ticks, want[i].ticks, "%s", want[i].name);
		cr_assert_eq(list.rows[i]->total, want[i].total, "%s", want[i].name);
	}
	cr_assert_eq(list.nr, nr, "%zu rows", list.nr);
}

#define LIST(choice, ...)                                                                          \
	check_list(choice, sizeof((struct want[]){ __VA_ARGS__ }) / sizeof(struct want),           \
		   (const struct want[]){ __VA_ARGS__ })

static struct top_choice by(enum top_by by)
{
	return (struct top_choice){ .by = by, .idle = true };
}

/* clang-format off */
static void two_intervals(void)
{
	add(INTERVAL(1, { "/bin/a", "main", 0x10, 7, "a", "/x", 60 },
			{ "/bin/a", "Other", 0x20, 7, "a", "/x", 30 },
			{ "/lib/b", "main", 0x10, 7, "a", "/x", 10 }));
	add(INTERVAL(2, { "/bin/a", "main", 0x10, 7, "a", "/x", 5 },
			{ "/lib/b", "main", 0x10, 8, "b", "/y", 50 },
			{ "/lib/b", "main", 0x10, 7, "a", "/x", 20 }));
}

Test(top_model, adds_up)
{
	two_intervals();
	LIST(by(TOP_FUNCTIONS), { "main", 70, 80 }, { "main", 5, 65 }, { "Other", 0, 30 });
	cr_assert_str_eq(list.rows[0]->object, "/lib/b");
	LIST(by(TOP_OBJECTS), { "/lib/b", 70, 80 }, { "/bin/a", 5, 95 });
	LIST(by(TOP_PROCESSES), { "b", 50, 50 }, { "a", 25, 125 });
	cr_assert_eq(list.rows[1]->pid, 7);
	LIST(by(TOP_CGROUPS), { "/y", 50, 50 }, { "/x", 25, 125 });
	LIST(by(TOP_COMMS), { "b", 50, 50 }, { "a", 25, 125 });
	cr_assert_eq(model.interval.total, 77);
	cr_assert_eq(model.overall.total, 178);
	cr_assert_eq(model.overall_ns, 2000000000);
	cr_assert_eq(profile_account_lost(&model.overall), 3);
	cr_assert_float_eq(top_busy_cpus(model.overall_cpu_ns, model.overall_ns), 0.089, 1e-9);
}

/* A process in bursts has a third of the ticks, and half of the time. */
static struct profile *bursts(void)
{
	struct profile *profile = INTERVAL(0, { "/bin/a", "main", 0x10, 7, "steady", NULL, 400 },
					      { "/bin/b", "serve", 0x10, 8, "bursts", NULL, 200 });

	profile->targets[0].cpu_known = true;
	profile->targets[0].cpu_ns = 900000000;
	profile->targets[0].ticks.total = 600;
	profile->nr_splits = 2;
	profile->splits = calloc(2, sizeof(*profile->splits));
	profile->splits[0] = (struct profile_split){ .pid = 7, .ticks = 400, .cpu_ns = 400000000 };
	profile->splits[1] = (struct profile_split){ .pid = 8, .ticks = 200, .cpu_ns = 500000000 };
	return profile;
}

Test(top_model, time_is_the_schedulers)
{
	struct top_choice now[] = { by(TOP_FUNCTIONS), by(TOP_OBJECTS), by(TOP_PROCESSES) };
	size_t i;

	add(bursts());
	add(bursts());
	LIST(now[0], { "serve", 200, 400 }, { "main", 400, 800 });
	LIST(now[1], { "/bin/b", 200, 400 }, { "/bin/a", 400, 800 });
	LIST(now[2], { "bursts", 200, 400 }, { "steady", 400, 800 });
	for (i = 0; i < 3; i++) {
		cr_assert_eq(top_list_choose(&list, &model, &now[i]), 0);
		cr_expect_float_eq(list.rows[0]->ns, 500e6, 1);
		cr_expect_float_eq(list.rows[0]->total_ns, 1000e6, 1);
		cr_expect_float_eq(list.rows[1]->ns, 400e6, 1);
	}
	cr_expect_float_eq(model.interval_cpu_ns, 900e6, 1);
	cr_expect_float_eq(model.overall_cpu_ns, 1800e6, 1);
	cr_expect_float_eq(top_busy_cpus(model.overall_cpu_ns, model.overall_ns), 0.9, 1e-9);
	add(interval_profile(NULL, 0, 0));
	cr_assert_eq(top_list_choose(&list, &model, &now[0]), 0);
	cr_expect_eq(list.rows[0]->ns, 0);
	cr_expect_float_eq(list.rows[0]->total_ns, 1000e6, 1);
}

/* A process that had no tick is told by its time. */
Test(top_model, time_without_a_tick)
{
	struct profile *profile = bursts();
	struct top_choice now = by(TOP_PROCESSES);

	profile->targets[0].cpu_ns += 1000000;
	profile->nr_splits = 3;
	profile->splits = reallocarray(profile->splits, 3, sizeof(*profile->splits));
	profile->splits[2] = (struct profile_split){ .pid = 9, .cpu_ns = 1000000 };
	add(profile);
	LIST(now, { "bursts", 200, 200 }, { "steady", 400, 400 }, { "-", 0, 0 });
	cr_expect_float_eq(list.rows[2]->ns, 1e6, 1);
	now.idle = false;
	LIST(now, { "bursts", 200, 200 }, { "steady", 400, 400 });
}

static struct profile *without_names(uint64_t start)
{
	struct profile *profile = INTERVAL(0, { "[node:7]", "[node:7]", start, 7, "node", NULL, 10 });

	profile->objects[0].kind = PROFILE_JIT;
	return profile;
}

/* Each interval has another first tick in code without names. */
Test(top_model, code_without_names)
{
	add(without_names(0x7f0000001000));
	add(without_names(0x7f0000000800));
	add(without_names(0x7f0000002000));
	LIST(by(TOP_FUNCTIONS), { "[node:7]", 10, 30 });
}

Test(top_model, nothing_runs)
{
	two_intervals();
	add(interval_profile(NULL, 0, 0));
	LIST(by(TOP_PROCESSES), { "a", 0, 125 }, { "b", 0, 50 });
	check_list((struct top_choice){ .by = TOP_PROCESSES }, 0, NULL);
}

/* Rows that only have the same name are different. */
Test(top_model, identities)
{
	add(INTERVAL(0, { "/bin/a", "f", 0x10, 1, "a", "/x", 4 },
			{ "/bin/a", "f", 0x20, 1, "b", "/x", 3 },
			{ "/bin/a2", "f", 0x10, 2, "a", "/x", 2 },
			{ "/bin/a", "g", 0x10, 1, "a", "/x", 1 }));
	LIST(by(TOP_FUNCTIONS), { "f", 4, 4 }, { "f", 3, 3 }, { "f", 2, 2 }, { "g", 1, 1 });
	LIST(by(TOP_PROCESSES), { "a", 5, 5 }, { "b", 3, 3 }, { "a", 2, 2 });
	LIST(by(TOP_COMMS), { "a", 7, 7 }, { "b", 3, 3 });
}

/* The path may be another file by now. */
Test(top_model, rebuilt_file)
{
	struct profile *profile = INTERVAL(0, { "/bin/a", "f", 0x10, 1, "a", NULL, 4 },
					      { "/bin/a", "f", 0x10, 1, "a", NULL, 3 });

	profile->objects[1].build_id = strdup("ab12");
	add(profile);
	LIST(by(TOP_FUNCTIONS), { "f", 4, 4 }, { "f", 3, 3 });
	LIST(by(TOP_OBJECTS), { "/bin/a", 4, 4 }, { "/bin/a", 3, 3 });
}

Test(top_model, not_told_apart)
{
	add(INTERVAL(0, { "/bin/a", "f", 0x10, 1, NULL, NULL, 4 },
			{ "/bin/b", "f", 0x10, 2, NULL, NULL, 3 }));
	LIST(by(TOP_PROCESSES), { "-", 7, 7 });
	cr_assert_eq(list.rows[0]->pid, -1);
	LIST(by(TOP_CGROUPS), { "-", 7, 7 });
}

Test(top_model, sorts)
{
	struct top_choice choice = by(TOP_FUNCTIONS);

	two_intervals();
	choice.sort = TOP_SORT_ALL;
	LIST(choice, { "main", 70, 80 }, { "main", 5, 65 }, { "Other", 0, 30 });
	choice.sort = TOP_SORT_NAME;
	LIST(choice, { "main", 70, 80 }, { "main", 5, 65 }, { "Other", 0, 30 });
	choice.sort = TOP_SORT_PLACE;
	LIST(choice, { "main", 5, 65 }, { "Other", 0, 30 }, { "main", 70, 80 });
	choice.by = TOP_PROCESSES;
	LIST(choice, { "a", 25, 125 }, { "b", 50, 50 });
	choice.sort = TOP_SORT_ALL;
	LIST(choice, { "a", 25, 125 }, { "b", 50, 50 });
}

Test(top_model, filters)
{
	struct top_choice choice = by(TOP_FUNCTIONS);

	two_intervals();
	choice.filter = "MAI";
	LIST(choice, { "main", 70, 80 }, { "main", 5, 65 });
	choice.filter = "bin/";
	LIST(choice, { "main", 5, 65 }, { "Other", 0, 30 });
	choice.filter = "nobody";
	check_list(choice, 0, NULL);
	choice.by = TOP_PROCESSES;
	choice.filter = "8";
	LIST(choice, { "b", 50, 50 });
	choice.filter = "";
	LIST(choice, { "b", 50, 50 }, { "a", 25, 125 });
}
/* clang-format on */

static void add_numbered(uint64_t first, size_t nr, uint64_t ticks)
{
	cleanup_free struct interval_count *counted = calloc(nr, sizeof(*counted));
	char name[32];
	size_t i;

	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "f%05" PRIu64, first + i);
		counted[i] = (struct interval_count){ .object = strdup(name),
						      .function = strdup(name),
						      .pid = (int64_t)(first + i),
						      .process = strdup(name),
						      .cgroup = strdup(name),
						      .ticks = ticks + i };
	}
	add(interval_profile(counted, nr, 0));
	for (i = 0; i < nr; i++) {
		free((char *)counted[i].object);
		free((char *)counted[i].function);
		free((char *)counted[i].process);
		free((char *)counted[i].cgroup);
	}
}

/* Of the rows that are gone the smallest are removed, and all ticks stay. */
Test(top_model, folds)
{
	model.rows_max = 8;
	add_numbered(0, 8, 100);
	cr_assert_eq(model.tables[TOP_FUNCTIONS].nr, 8);
	add_numbered(100, 2, 1);
	cr_assert_eq(model.tables[TOP_FUNCTIONS].nr, 6);
	cr_assert_eq(model.tables[TOP_FUNCTIONS].nr_others, 4);
	cr_assert_eq(model.tables[TOP_FUNCTIONS].others.total, 100 + 101 + 102 + 103);
	cr_assert_eq(model.tables[TOP_FUNCTIONS].others.ticks, 0);
	check_list(by(TOP_CGROUPS), 6,
		   (const struct want[]){ { "f00101", 2, 2 },
					  { "f00100", 1, 1 },
					  { "f00007", 0, 107 },
					  { "f00006", 0, 106 },
					  { "f00005", 0, 105 },
					  { "f00004", 0, 104 } });
}

/* If more rows have ticks than there may be, the smallest of these are removed. */
Test(top_model, folds_the_living)
{
	model.rows_max = 8;
	add_numbered(0, 20, 100);
	cr_assert_eq(model.tables[TOP_PROCESSES].nr, 6);
	cr_assert_eq(model.tables[TOP_PROCESSES].nr_others, 14);
	cr_assert_gt(model.tables[TOP_PROCESSES].others.ticks, 0);
	add_numbered(0, 20, 100);
}

Test(top_model, folds_for_long)
{
	uint64_t i;

	model.rows_max = 64;
	for (i = 0; i < 100; i++)
		add_numbered(i * 7, 10, i);
}

/* The numbers of objects that a page opened, in the last profile. */
static uint32_t opened[4];
static size_t nr_opened;

static int open_object(void *ctx, uint32_t object, char *root, size_t root_size)
{
	(void)ctx;
	(void)root;
	(void)root_size;
	opened[nr_opened++ % 4] = object;
	return -ENOENT;
}

/* Returns both texts of a row's page, or why there is none. */
static char *annotate_row(const struct top_row *row, const struct profile *last)
{
	const struct object_opener opener = { .open = open_object };
	const struct top_annotate_options options = { .last = last,
						      .opener = &opener,
						      .width = 80 };
	struct error err = { 0 };
	struct profile *all;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	nr_opened = 0;
	cr_assert_eq(profile_merger_finish(&sum, &all, &err), 0, "%s", err.text);
	if (top_annotate(all, row, &options, out, &err))
		fputs(err.text, out);
	fclose(out);
	cr_assert_eq(profile_merger_add(&sum, all, "top", &err), 0, "%s", err.text);
	return text;
}

static char *annotate(const char *function, const struct profile *last)
{
	const struct top_table *table = &model.tables[TOP_FUNCTIONS];
	size_t i = 0;

	while (strcmp(table->rows[i]->name, function) != 0)
		i++;
	return annotate_row(table->rows[i], last);
}

static struct profile *third_interval(void)
{
	return INTERVAL(0, { "/lib/b", "main", 0x10, 7, "a", "/x", 1 },
			{ "/bin/a", "Other", 0x20, 7, "a", "/x", 4 });
}

/* All ticks so far of the function in that object; the file is that of the last interval. */
Test(top_model, annotates)
{
	struct profile *last = third_interval();
	char *text;

	two_intervals();
	add(third_interval());
	text = annotate("Other", last);
	cr_assert(strstr(text, "function  Other\nobject    /bin/a\n"), "%s", text);
	cr_assert(strstr(text, "ticks     34 of 183, 18.58% of the time;"), "%s", text);
	cr_assert(strstr(text, "100.00%        34 "), "%s", text);
	cr_assert(strstr(text + strlen(text) + 1, "function  Other\n"));
	cr_assert_eq(nr_opened, 1);
	cr_assert_eq(opened[0], 1);
	free(text);
	profile_free(last);
	last = INTERVAL(0, { "/lib/b", "main", 0x10, 7, "a", "/x", 4 });
	text = annotate("Other", last);
	cr_assert_str_eq(text, "a: had no tick in the last interval, wait until it has");
	free(text);
	profile_free(last);
}

static void set_target(struct profile_target *target, uint64_t ticks)
{
	*target = (struct profile_target){ .kind = strdup("pid"),
					   .name = strdup("7"),
					   .cpu_known = true,
					   .cpu_ns = ticks * 2000000,
					   .ticks = { .total = ticks, .binned = ticks } };
}

static struct profile *two_targets(void)
{
	struct profile *profile = INTERVAL(0, { "/bin/a", "f", 0x10, 7, "a", "/x", 75 },
					   { "/bin/a", "g", 0x20, 8, "a", "/x", 25 });

	free(profile->targets[0].kind);
	free(profile->targets[0].name);
	profile_account_free(&profile->targets[0].ticks);
	free(profile->targets);
	profile->targets = calloc(2, sizeof(*profile->targets));
	cr_assert(profile->targets);
	profile->nr_targets = 2;
	set_target(&profile->targets[0], 75);
	set_target(&profile->targets[1], 25);
	profile->histograms[1].target = 1;
	return profile;
}

/* The time is that of all targets and intervals, whatever those of the last interval used. */
Test(top_model, annotates_targets)
{
	struct profile *last = two_targets();
	char *text;

	add(two_targets());
	add(two_targets());
	text = annotate("g", last);
	cr_expect(strstr(text, "ticks     50 of 200, 25.00% of the time;"), "%s", text);
	free(text);
	profile_free(last);
}

static struct profile *rebuilt(const char *build_id, uint64_t ticks)
{
	struct profile *profile = INTERVAL(0, { "/bin/a", "f", 0x10, 1, "a", NULL, ticks });

	profile->objects[0].build_id = strdup(build_id);
	return profile;
}

/* A page is of the row's own file, if the path was another file before. */
Test(top_model, annotates_rebuilt_file)
{
	struct top_choice choice = by(TOP_FUNCTIONS);
	struct profile *last = rebuilt("cd34", 3);
	char *text;

	add(rebuilt("ab12", 4));
	add(rebuilt("cd34", 3));
	cr_assert_eq(top_list_choose(&list, &model, &choice), 0);
	text = annotate_row(list.rows[0], last);
	cr_expect(strstr(text, "ticks     3 of 7, 42.86% of the time;"), "%s", text);
	free(text);
	profile_free(last);
}

/* The last profile has other bytes in its place, because it is a copy. */
Test(top_model, annotates_paths_that_are_not_utf8)
{
	struct profile *last = INTERVAL(0, { "/bin/a", "f", 0x10, 7, "a", "/x", 4 },
					{ "/bin/\ufffd", "g", 0x10, 7, "a", "/x", 3 });
	char *text;

	add(INTERVAL(0, { "/bin/\xe9", "g", 0x10, 7, "a", "/x", 3 },
		     { "/bin/a", "f", 0x10, 7, "a", "/x", 4 }));
	text = annotate("g", last);
	cr_expect(strstr(text, "object    /bin/\\xe9\n"), "%s", text);
	cr_expect(strstr(text, "ticks     3 of 7, 42.86% of the time;"), "%s", text);
	cr_expect_eq(opened[0], 1);
	free(text);
	profile_free(last);
}

/* The sum may begin later than the row. */
Test(top_model, annotates_what_is_kept)
{
	struct profile *last = INTERVAL(0, { "/bin/a", "Other", 0x20, 7, "a", "/x", 4 });
	char *text;

	two_intervals();
	profile_merger_free(&sum);
	add(INTERVAL(0, { "/bin/a", "Other", 0x20, 7, "a", "/x", 4 }));
	text = annotate("Other", last);
	cr_expect(strstr(text, "ticks     4 of 4, 100.00% of the time;"), "%s", text);
	free(text);
	text = annotate("main", last);
	cr_expect_str_eq(text, "main: had no tick since top discarded older intervals");
	free(text);
	profile_free(last);
}

/* The page has the bins of all intervals, which begin at other addresses. */
Test(top_model, annotates_code_without_names)
{
	struct profile *last = without_names(0x7f0000000800);
	char *text;

	add(without_names(0x7f0000001000));
	add(without_names(0x7f0000000800));
	text = annotate("[node:7]", last);
	cr_expect(strstr(text, "function  [node:7]\n"), "%s", text);
	cr_expect(strstr(text, "ticks     20 of 20, 100.00% of the time;"), "%s", text);
	cr_expect(strstr(text, "text of no file, whose code is gone\n"), "%s", text);
	cr_expect(strstr(text, " 7f0000000800"), "%s", text);
	cr_expect(strstr(text, " 7f0000001000"), "%s", text);
	free(text);
	profile_free(last);
}

/* An interval with 0.1 s in ticks, of a target that used this much. */
static struct profile *used(uint64_t cpu_ns)
{
	struct profile *profile = INTERVAL(0, { "/bin/a", "f", 1, 1, "a", NULL, 100 });

	profile->targets[0].ticks.total = profile->targets[0].ticks.binned = 100;
	profile->targets[0].cpu_known = true;
	profile->targets[0].cpu_ns = cpu_ns;
	return profile;
}

/* Each interval has its own note; what its profile says comes first. */
Test(top_model, note)
{
	static const char text[] = "ticks saw 0.20 of the CPU time of ";
	struct profile *profile = used(500000000);

	cr_assert_eq(top_model_add(&model, profile), 0);
	cr_assert_not_null(model.note);
	cr_expect_eq(strncmp(model.note, text, strlen(text)), 0, "%s", model.note);
	cr_assert_eq(profile_note(profile, "coarser bins"), 0);
	cr_assert_eq(top_model_add(&model, profile), 0);
	cr_expect_str_eq(model.note, "coarser bins");
	profile_free(profile);
	profile = used(100000000);
	cr_assert_eq(top_model_add(&model, profile), 0);
	cr_expect_null(model.note);
	profile_free(profile);
}
