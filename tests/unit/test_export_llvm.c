// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/util.h"
#include "export/export.h"
#include "export/sample_tree.h"
#include "sample.h"

static const struct source_scope outer = { "outer", 10 }, inner = { "_Z5inneri", 100 };

static struct source_line at(const struct source_scope *scope, uint32_t line,
			     uint32_t discriminator, const struct source_line *caller)
{
	return (struct source_line){ .file = "a.c",
				     .line = line,
				     .discriminator = discriminator,
				     .scope = scope,
				     .caller = caller };
}

static void add(struct sample_tree *tree, struct source_line line, uint64_t count, bool entry)
{
	int ret = 0;

	cr_assert(sample_tree_add(tree, &line, count, entry, &ret));
	cr_assert_eq(ret, 0);
}

static void check(struct sample_tree *tree, const char *want)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	cr_assert_eq(sample_tree_write(tree, stream), *want ? 0 : -ENODATA);
	fclose(stream);
	cr_assert_str_eq(text, want);
	free(text);
	sample_tree_free(tree);
}

/* The maximum over a line's instructions counts, in whatever order they come. */
Test(export_llvm, most_of_a_line)
{
	struct sample_tree *tree = sample_tree_new();

	add(tree, at(&outer, 12, 0, NULL), 5, true);
	add(tree, at(&outer, 11, 0, NULL), 9, false);
	add(tree, at(&outer, 12, 0, NULL), 7, false);
	add(tree, at(&outer, 12, 0, NULL), 6, false);
	add(tree, at(&outer, 13, 0, NULL), 0, false);
	check(tree, "outer:16:5\n 1: 9\n 2: 7\n");
}

/*
 * Discriminators as LLVM packs them: 0x2 is block 1 of the line, 0x4 block 2, 0x6c the long form of
 * block 54; a second component of 4 means a loop that was unrolled four times.
 */
Test(export_llvm, discriminators)
{
	struct sample_tree *tree = sample_tree_new();

	add(tree, at(&outer, 11, 0x2, NULL), 1, false);
	add(tree, at(&outer, 11, 0x4, NULL), 2, false);
	add(tree, at(&outer, 11, 0x0, NULL), 3, false);
	add(tree, at(&outer, 12, 0x1 | 0x8 << 1, NULL), 10, false);
	add(tree, at(&outer, 13, 0x6 | 0x8 << 7, NULL), 100, false);
	add(tree, at(&outer, 14, 0xec, NULL), 1000, false);
	check(tree, "outer:1446:0\n 1: 3\n 1.1: 1\n 1.2: 2\n 2: 40\n 3.3: 400\n 4.54: 1000\n");
}

/* Calls at one place are one, even if the compiler has copied it; the entry is the caller's. */
Test(export_llvm, inlined)
{
	struct sample_tree *tree = sample_tree_new();
	struct source_line call = at(&outer, 15, 0x2, NULL), copy = call;
	struct source_line again = at(&inner, 102, 0, &call);

	add(tree, at(&inner, 101, 0, &call), 5, true);
	add(tree, at(&inner, 101, 0, &copy), 8, false);
	add(tree, at(&inner, 101, 0, &again), 2, false);
	add(tree, at(&outer, 11, 0, NULL), 3, false);
	add(tree, at(&inner, 103, 0, NULL), 50, true);
	check(tree, "_Z5inneri:50:50\n 3: 50\n"
		    "outer:13:5\n 1: 3\n 5.1: _Z5inneri:10\n  1: 8\n  2: _Z5inneri:2\n   1: 2\n");
}

/* Other letters than English ones are names like any other. */
Test(export_llvm, letters)
{
	static const struct source_scope scope = { "caf\u00e9", 10 };
	struct sample_tree *tree = sample_tree_new();

	add(tree, at(&scope, 11, 0, NULL), 3, false);
	check(tree, "caf\u00e9:3:0\n 1: 3\n");
}

Test(export_llvm, lines_before_the_function)
{
	struct sample_tree *tree = sample_tree_new();

	add(tree, at(&outer, 8, 0, NULL), 4, false);
	check(tree, "outer:4:0\n 65534: 4\n");
}

/* What the format cannot hold, or DWARF does not say, anywhere in the chain, is left out. */
Test(export_llvm, left_out)
{
	static const char *const names[] = { "",	   "two words",	 "1st",	    "new\nline",
					     "tab\t",	   "#x",	 "!x",	    "[x",
					     "bi\u202edi", "c1\xc2\x85", "bad\xff", "cut\xe2\x80" };
	struct sample_tree *tree = sample_tree_new();
	struct source_scope scope = { NULL, 1 };
	struct source_line line, call = at(&outer, 0, 0, NULL);
	int ret = 0;
	size_t i;

	line = at(&scope, 2, 0, NULL);
	cr_assert_not(sample_tree_add(tree, &line, 1, true, &ret));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		scope.name = names[i];
		cr_assert_not(sample_tree_add(tree, &line, 1, true, &ret), "%s", names[i]);
	}
	line = at(&inner, 0, 0, NULL);
	cr_assert_not(sample_tree_add(tree, &line, 1, true, &ret));
	line = at(&inner, 101, 0, &call);
	cr_assert_not(sample_tree_add(tree, &line, 1, true, &ret));
	line = at(NULL, 101, 0, NULL);
	cr_assert_not(sample_tree_add(tree, &line, 1, true, &ret));
	check(tree, "");
}

/* The programs of that profile do not exist here. */
Test(export_llvm, no_programs)
{
	cleanup_profile struct profile *profile = sample_profile();
	cleanup_free char *text = NULL;
	size_t size;
	struct error err;
	FILE *stream = open_memstream(&text, &size);

	cr_assert_eq(export_write(export_find("llvm-sample"), profile, NULL, stream, &err),
		     -ENODATA);
	cr_assert_str_eq(err.text,
			 "llvm-sample: nothing of /usr/bin/work: No such file or directory");
	fclose(stream);
	cr_assert_str_eq(text, "");
}

/* Others may have programs that a reader has no memory for. */
Test(export_llvm, no_memory_for_a_program)
{
	const struct rlimit addresses = { 64UL << 30, 64UL << 30 };
	cleanup_profile struct profile *profile = sample_profile();
	char path[] = "/tmp/bpfprofil-test-XXXXXX", wanted[128];
	cleanup_file FILE *null = fopen("/dev/null", "w");
	cleanup_fd int fd = mkstemp(path);
	struct error err;
	int ret;

	cr_assert_eq(ftruncate(fd, 1LL << 40), 0);
	cr_assert_eq(setrlimit(RLIMIT_AS, &addresses), 0);
	free(profile->objects[0].path);
	profile->objects[0].path = strdup(path);
	ret = export_write(export_find("llvm-sample"), profile, NULL, null, &err);
	unlink(path);
	snprintf(wanted, sizeof(wanted), "llvm-sample: nothing of %s: out of memory", path);
	cr_assert_eq(ret, -ENODATA, "%s", err.text);
	cr_assert_str_eq(err.text, wanted);
}
