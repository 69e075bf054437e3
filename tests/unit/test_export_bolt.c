// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "elf/elf_facts.h"
#include "export/export.h"
#include "sample.h"
#include "symbol/bolt_names.h"
#include "symbol/symbol.h"
#include "test_symbol_fixture.h"

TestSuite(export_bolt, .init = fixture_begin, .fini = fixture_end);

/*
 * Two files, each with a local function of the same name, and a third with local data of that name.
 */
static void build(const char *link)
{
	fixture_write("one.c", "static __attribute__((noinline)) int same(int x)\n"
			       "{ return x * 3; }\n"
			       "int one(int x) { return same(x) + same(x + 1); }\n");
	fixture_write("two.c", "static __attribute__((noinline)) int same(int x)\n"
			       "{ return x * 5; }\n"
			       "int two(int x) { return same(x) + same(x - 1); }\n"
			       "int alias(int x) __attribute__((alias(\"two\")));\n");
	fixture_write("three.c", "static int same[2] = { 1, 2 };\n"
				 "int one(int), two(int);\n"
				 "__asm__(\".text\\n.globl raw\\nraw: nop\\nnop\\n"
				 "within: nop\\nnop\\n.globl next\\nnext: ret\\n\");\n"
				 "int main(int c, char **v)\n"
				 "{ same[c & 1]++; return one(c) + two(c) + same[0] + !v; }\n");
	fixture_shell("gcc -O1 -Wl,--build-id -o program one.c two.c three.c %s", link);
}

static struct bolt_names load(void)
{
	struct bolt_names names;
	struct error err = { 0 };
	int fd = fixture_open("program");

	cr_assert_eq(bolt_names_load(fd, "program", &names, &err), 0, "%s", err.text);
	close(fd);
	return names;
}

static const struct bolt_name *named(const struct bolt_names *names, const char *name)
{
	size_t i;

	for (i = 0; i < names->nr; i++)
		if (!strcmp(names->all[i].name, name))
			return &names->all[i];
	return NULL;
}

/* A file may have any number of symbols without a size, so each must be looked at only once. */
Test(export_bolt, many_at_one_address, .timeout = 60)
{
	struct bolt_names names;

	fixture_shell(
		"perl -e 'print \".text\\n\"; print \"a$_:\\n\" for 1 .. 500000; "
		"print \"nop\\nb: ret\\n\"' >many.s && gcc -shared -nostdlib -o program many.s");
	names = load();
	cr_assert_eq(names.nr, 2);
	cr_assert_eq(names.all[0].size, 1);
	cr_assert_str_eq(names.all[1].name, "b/1");
	bolt_names_free(&names);
}

Test(export_bolt, names)
{
	const struct bolt_name *first, *second;
	struct bolt_names names;
	size_t i;

	build("-Wl,-q");
	names = load();
	cr_assert(names.relocations);
	first = named(&names, "same/1");
	second = named(&names, "same/2");
	cr_assert(first && second && first->offset < second->offset);
	/* The third one of the name is data, behind all text. */
	cr_assert_null(named(&names, "same/3"));
	cr_assert_null(named(&names, "same"));
	/* Of two names for one place only one is used. */
	cr_assert_neq(!named(&names, "two"), !named(&names, "alias"));
	for (i = 1; i < names.nr; i++)
		cr_assert_geq(names.all[i].offset, names.all[i - 1].offset + names.all[i - 1].size);
	cr_assert_eq(bolt_names_find(&names, first->offset), first);
	cr_assert_eq(bolt_names_find(&names, first->offset + first->size - 1), first);
	cr_assert_neq(bolt_names_find(&names, first->offset + first->size), first);
	cr_assert_null(bolt_names_find(&names, 0));
	bolt_names_free(&names);
}

/* Assembly gives no size, so a symbol reaches to the next one. */
Test(export_bolt, names_of_assembly)
{
	struct bolt_names names;

	build("");
	names = load();
	cr_assert_not(names.relocations);
	cr_assert_eq(named(&names, "raw")->size, 2);
	cr_assert_eq(named(&names, "within/1")->size, 2);
	bolt_names_free(&names);
}

Test(export_bolt, stripped)
{
	struct bolt_names names;
	struct error err;
	int fd;

	build("-s");
	fd = fixture_open("program");
	cr_assert_eq(bolt_names_load(fd, "program", &names, &err), -ENODATA);
	cr_assert_str_eq(err.text, "program: no symbol table");
	close(fd);
}

/* A profile of the program, whose only histogram has these bins. */
static struct profile *profile_of(struct profile_bin *bins, size_t nr, uint64_t bytes_per_bin)
{
	struct profile *profile = profile_new();
	struct profile_histogram *histogram = calloc(1, sizeof(*histogram));
	int fd = fixture_open("program");
	struct elf_facts facts;

	cr_assert_eq(elf_facts_read(fd, &facts, NULL), 0);
	close(fd);
	profile->targets = calloc(1, sizeof(*profile->targets));
	profile->targets[0].kind = strdup("command");
	profile->nr_targets = 1;
	profile->sampling.period_ns = 1000;
	profile->objects = calloc(1, sizeof(*profile->objects));
	profile->objects[0] = (struct profile_object){ .kind = PROFILE_FILE,
						       .path = strdup(fixture_path("program")),
						       .build_id = facts.build_id,
						       .text = facts.text,
						       .nr_text = facts.nr_text };
	profile->nr_objects = 1;
	*histogram = (struct profile_histogram){ .pid = -1,
						 .width = 4,
						 .bytes_per_bin = bytes_per_bin,
						 .bins = calloc(nr, sizeof(*bins)),
						 .nr_bins = nr };
	memcpy(histogram->bins, bins, nr * sizeof(*bins));
	profile->histograms = histogram;
	profile->nr_histograms = 1;
	return profile;
}

static int export(const struct profile *profile, char *note, char **text, struct error *err)
{
	const struct export_options options = { .target = EXPORT_ALL_TARGETS, .note = note };
	size_t size;
	FILE *stream = open_memstream(text, &size);
	int ret = export_write(export_find("bolt"), profile, &options, stream, err);

	fclose(stream);
	return ret;
}

Test(export_bolt, ticks)
{
	char note[EXPORT_NOTE_BYTES] = "", *text;
	struct bolt_names names;
	struct profile *profile;
	struct error err = { 0 };

	build("-Wl,-q");
	names = load();
	struct profile_bin bins[] = { { 0, 7 },
				      { named(&names, "same/1")->offset, 3 },
				      { named(&names, "same/2")->offset + 2, 70000 } };
	profile = profile_of(bins, 3, 1);
	cr_assert_eq(export(profile, note, &text, &err), 0, "%s", err.text);
	cr_assert_str_eq(text, "no_lbr cycles\n1 same/1 0 3\n1 same/2 2 70000\n");
	cr_assert_not_null(strstr(note, "70003 ticks of "));
	cr_assert_not_null(strstr(note, "; 7 in no function or too wide a bin"));
	cr_assert_null(strstr(note, "--emit-relocs"));
	free(text);
	profile_free(profile);
	bolt_names_free(&names);
}

Test(export_bolt, wide_bins)
{
	struct profile_bin bins[] = { { 0x100, 7 } };
	cleanup_profile struct profile *profile = NULL;
	struct error err = { 0 };
	cleanup_free char *text = NULL;

	build("");
	profile = profile_of(bins, 1, 16);
	cr_assert_eq(export(profile, NULL, &text, &err), -ENODATA);
	cr_assert_not_null(strstr(err.text, "/program: 7 ticks in bins wider than a byte"));
	cr_assert_str_eq(err.hint, "sample with --bytes-per-bin 1, or more --memory");
}

Test(export_bolt, another_build)
{
	struct profile_bin bins[] = { { 0x1000, 7 } };
	cleanup_profile struct profile *profile = NULL;
	struct error err = { 0 };
	cleanup_free char *text = NULL;

	build("");
	profile = profile_of(bins, 1, 1);
	fixture_shell("gcc -O2 -Wl,--build-id -o program one.c two.c three.c");
	cr_assert_eq(export(profile, NULL, &text, &err), -ESTALE);
	cr_assert_not_null(strstr(err.text, "/program: not the file that was profiled"));
}
