// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "elf/elf_image.h"
#include "naming/functions.h"
#include "symbol/symbol_cache.h"
#include "symbol/symbol_table.h"

/* A table of a few places names them as the whole one does. */

enum { ROUNDS = 3000, SYMBOLS_MOST = 40, TEXT = 400, RANGES = 3 };

static uint32_t seed;

static uint32_t random_below(uint32_t most)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % most;
}

struct made {
	struct symbol_spec specs[SYMBOLS_MOST];
	char names[SYMBOLS_MOST][16];
	size_t nr;
};

/* Sized ones, nested ones, labels, aliases, and those that only end others. */
static void make_symbols(struct made *made)
{
	size_t i;

	made->nr = 1 + random_below(SYMBOLS_MOST);
	for (i = 0; i < made->nr; i++) {
		struct symbol_spec *spec = &made->specs[i];

		snprintf(made->names[i], sizeof(made->names[i]), "%.*sf%zu", (int)random_below(3),
			 "__", i);
		*spec = (struct symbol_spec){ .offset = random_below(TEXT),
					      .size = random_below(2) ? random_below(60) : 0,
					      .limit = TEXT,
					      .rank = random_below(4),
					      .loose = random_below(2) };
		if (!random_below(8))
			continue;
		spec->name = made->names[i];
		spec->name_length = strlen(spec->name);
	}
}

static void add_made(struct symbol_table *table, const struct made *made)
{
	size_t i;

	for (i = 0; i < made->nr; i++)
		cr_assert_eq(symbol_table_add(table, &made->specs[i]), 0);
}

static struct symbol_table *make_wanted(const struct made *made, const struct symbol_wanted *wanted)
{
	struct symbol_table *table = symbol_table_new(SYMBOL_INNERMOST);

	cr_assert(table);
	if (wanted) {
		cr_assert_eq(symbol_table_survey(table, wanted), 0);
		add_made(table, made);
		symbol_table_select(table);
	}
	add_made(table, made);
	cr_assert_eq(symbol_table_finish(table), 0);
	return table;
}

static void check_same(const struct symbol_table *all, const struct symbol_table *few,
		       const struct symbol_wanted *wanted)
{
	const struct symbol *a, *b;
	uint64_t at;
	size_t i;

	for (i = 0; i < wanted->nr; i++)
		for (at = wanted->ranges[i].start; at < wanted->ranges[i].end; at++) {
			a = symbol_table_find(all, at);
			b = symbol_table_find(few, at);
			cr_assert_eq(!a, !b, "%lu: %s or %s", at, a ? a->name : "-",
				     b ? b->name : "-");
			cr_assert(!a || (a->offset == b->offset && a->size == b->size &&
					 !strcmp(a->name, b->name)),
				  "%lu", at);
		}
}

Test(symbol_wanted, named_as_by_the_whole)
{
	struct symbol_range ranges[RANGES];
	struct symbol_wanted wanted = { .ranges = ranges };
	struct symbol_table *all, *few;
	struct made made;
	size_t round, whole = 0;

	for (round = 0; round < ROUNDS; round++) {
		seed = (uint32_t)round;
		make_symbols(&made);
		for (wanted.nr = 0; wanted.nr < RANGES; wanted.nr++) {
			ranges[wanted.nr].start = 100 * wanted.nr + random_below(60);
			ranges[wanted.nr].end = ranges[wanted.nr].start + 1 + random_below(30);
		}
		wanted.room = random_below(4) ? 0 : SIZE_MAX;
		all = make_wanted(&made, NULL);
		few = make_wanted(&made, &wanted);
		cr_assert(symbol_table_is_whole(all));
		cr_assert_eq(symbol_table_is_whole(few), wanted.room != 0);
		whole += symbol_table_is_whole(few);
		check_same(all, few, &wanted);
		symbol_table_free(all);
		symbol_table_free(few);
	}
	cr_assert(whole > 0 && whole < ROUNDS);
}

enum { STARTS = 2000, ADDRESS = 0x10000 };

/* Functions that ascend, some of which end before the next one. */
struct sorted {
	uint64_t starts[STARTS + 1];
	size_t looked_at;
};

static uint64_t sorted_start(const struct symbol_source *source, size_t i)
{
	return ((const struct sorted *)source->from)->starts[i];
}

static int sorted_add(struct symbol_table *table, const struct symbol_source *source, size_t i)
{
	struct sorted *from = (struct sorted *)(uintptr_t)source->from;
	const uint64_t room = from->starts[i + 1] - from->starts[i];
	struct symbol_spec spec = { .name = "f", .name_length = 1 };

	from->looked_at++;
	if (!room)
		return 0;
	spec.size = i % 3 ? room : room - room / 2;
	spec.offset = from->starts[i] - ADDRESS;
	return symbol_table_add(table, &spec);
}

static struct symbol_table *make_sorted(const struct symbol_source *source,
					const struct symbol_wanted *wanted)
{
	struct symbol_table *table = symbol_table_new(SYMBOL_INNERMOST);

	cr_assert(table);
	if (wanted) {
		cr_assert_eq(symbol_table_survey(table, wanted), 0);
		cr_assert_eq(symbol_table_add_sorted(table, source), 0);
		symbol_table_select(table);
	}
	cr_assert_eq(symbol_table_add_sorted(table, source), 0);
	cr_assert_eq(symbol_table_finish(table), 0);
	return table;
}

/* Of a source that ascends only the neighbours are looked at, and count for how large the table would be. */
Test(symbol_wanted, neighbours_of_sorted)
{
	struct sorted from = { .starts[0] = ADDRESS };
	struct symbol_range ranges[RANGES];
	struct symbol_wanted wanted = { .ranges = ranges, .nr = RANGES };
	struct profile_text text = { .address = ADDRESS };
	const struct elf_image image = { .text = &text, .nr_text = 1 };
	const struct symbol_source source = { .image = &image,
					      .from = &from,
					      .nr = STARTS,
					      .start = sorted_start,
					      .add = sorted_add };
	struct symbol_table *all, *few;
	size_t i, round;

	for (i = 0; i < STARTS; i++)
		from.starts[i + 1] = from.starts[i] + random_below(40);
	text.size = from.starts[STARTS] - ADDRESS;
	all = make_sorted(&source, NULL);
	for (round = 0; round < ROUNDS; round++) {
		seed = (uint32_t)round;
		for (i = 0; i < RANGES; i++) {
			ranges[i].start = (uint32_t)text.size / RANGES * i +
					  random_below((uint32_t)text.size / RANGES);
			ranges[i].end = ranges[i].start + 1 + random_below(60);
			if (i && ranges[i].start <= ranges[i - 1].end)
				ranges[i].start = ranges[i].end = ranges[i - 1].end + 1 + i;
		}
		wanted.room = round % 4 ? 0 : STARTS * sizeof(struct symbol);
		from.looked_at = 0;
		few = make_sorted(&source, &wanted);
		cr_assert_not(symbol_table_is_whole(few));
		cr_assert(from.looked_at < STARTS / 2, "%zu", from.looked_at);
		check_same(all, few, &wanted);
		symbol_table_free(few);
	}
	symbol_table_free(all);
}

/* The limits are those of a table that keeps everything. */
Test(symbol_wanted, too_many)
{
	const struct symbol_wanted nothing = { 0 };
	const struct symbol_spec spec = { .name = "f", .name_length = 1 };
	struct symbol_table *table = symbol_table_new(SYMBOL_INNERMOST);
	size_t nr = 0;

	cr_assert(table);
	cr_assert_eq(symbol_table_survey(table, &nothing), 0);
	while (!symbol_table_add(table, &spec))
		nr++;
	cr_assert_eq(nr, 4 << 20);
	symbol_table_free(table);
}

/* --- a file --- */

static char *libc_path(void)
{
	char line[4096], *path = NULL;
	FILE *maps = fopen("/proc/self/maps", "re");

	cr_assert(maps);
	while (!path && fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = '\0';
		if (strstr(line, "/libc.so") || strstr(line, "/libc-"))
			path = strdup(strchr(line, '/'));
	}
	fclose(maps);
	cr_assert(path);
	return path;
}

static int open_file(void *ctx, uint32_t object, char *root, size_t root_size)
{
	(void)object;
	(void)root_size;
	root[0] = '\0';
	return open(ctx, O_RDONLY | O_CLOEXEC);
}

static void resolve(struct profile *profile, char *path, struct symbol_cache *cache)
{
	const struct object_opener opener = { .open = open_file, .ctx = path, .cache = cache };
	struct error err = { 0 };

	profile->functions = NULL;
	profile->nr_functions = 0;
	cr_assert_eq(functions_resolve(profile, &opener, &err), 0, "%s", err.text);
}

static void free_named(struct profile_function *functions, size_t nr)
{
	while (nr)
		free(functions[--nr].name);
	free(functions);
}

static void check_functions(const struct profile *few, const struct profile *all)
{
	const struct profile_function *a = few->functions, *b = all->functions;
	size_t i;

	cr_assert_eq(few->nr_functions, all->nr_functions);
	for (i = 0; i < few->nr_functions; i++)
		cr_assert(a[i].offset == b[i].offset && a[i].size == b[i].size &&
				  a[i].ticks == b[i].ticks && !strcmp(a[i].name, b[i].name),
			  "%s or %s", a[i].name, b[i].name);
}

enum { BINS = 40, SHIFTS = 3 };

/* Without a cache, and with one that has no room, for other places each time. */
Test(symbol_wanted, functions_of_a_library)
{
	static const uint64_t widths[SHIFTS] = { 1, 64, 8192 };
	char *path = libc_path();
	struct symbol_cache *cache = symbol_cache_new(SYMBOL_CACHE_BYTES);
	struct symbol_cache *small = symbol_cache_new(1 << 16);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct profile_bin bins[BINS];
	struct elf_facts facts;
	uint64_t at;
	size_t i, round;

	cr_assert(cache && small && fd >= 0);
	cr_assert_eq(elf_facts_read(fd, &facts, NULL), 0);
	close(fd);
	for (round = 0; round < 30; round++) {
		struct profile_object object = { .kind = PROFILE_FILE,
						 .path = path,
						 .build_id = facts.build_id,
						 .text = facts.text,
						 .nr_text = facts.nr_text };
		struct profile_histogram histogram = { .offset = facts.text[0].offset,
						       .size = facts.text[0].size,
						       .bytes_per_bin = widths[round % SHIFTS],
						       .bins = bins,
						       .nr_bins = BINS };
		struct profile few = { .objects = &object,
				       .nr_objects = 1,
				       .histograms = &histogram,
				       .nr_histograms = 1 };
		struct profile all = few, again = few;

		seed = (uint32_t)round;
		for (i = 0, at = 0; i < BINS; i++) {
			at += 1 + random_below((uint32_t)(histogram.size / BINS /
							  histogram.bytes_per_bin));
			bins[i] = (struct profile_bin){ .index = at, .count = 1 + i };
		}
		resolve(&few, path, NULL);
		resolve(&all, path, cache);
		resolve(&again, path, small);
		check_functions(&few, &all);
		check_functions(&again, &all);
		free_named(few.functions, few.nr_functions);
		free_named(all.functions, all.nr_functions);
		free_named(again.functions, again.nr_functions);
	}
	symbol_cache_free(cache);
	symbol_cache_free(small);
	elf_facts_free(&facts);
	free(path);
}
