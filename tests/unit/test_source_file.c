// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/source_file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_symbol_fixture.h"

#define STRANGER 65534

TestSuite(source_file, .init = fixture_begin, .fini = fixture_end);

static int read_for(const struct source_search *search, const char *path, const char *line)
{
	struct source_file file;
	int ret = source_file_read(path, search, &file);

	if (ret)
		return ret;
	cr_assert_str_eq(source_file_line(&file, 1), line);
	source_file_free(&file);
	return 0;
}

static int read_named(const struct source_search *search, const char *name, const char *line)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", fixture_path(name));
	return read_for(search, path, line);
}

/* For a stranger's program root only shows what the stranger could read. */
Test(source_file, of_a_stranger)
{
	const struct source_search search = { .root = "", .owner = STRANGER };
	const struct source_search own = { .root = "", .owner = 0 };

	if (geteuid()) {
		cr_skip_test("needs root, to be more than a stranger");
		return;
	}
	fixture_shell("chmod 755 . && mkdir open closed && chmod 700 closed");
	fixture_shell("for f in world root group theirs closed/world; do echo $f >$f; done");
	fixture_shell("chmod 644 world closed/world && chmod 600 root theirs && chmod 640 group && "
		      "chown %d theirs && ln -s $PWD/root link && mkfifo fifo",
		      STRANGER);
	cr_assert_eq(read_named(&search, "world", "world"), 0);
	cr_assert_eq(read_named(&search, "theirs", "theirs"), 0);
	cr_assert_eq(read_named(&search, "root", NULL), -EACCES);
	cr_assert_eq(read_named(&search, "group", NULL), -EACCES);
	cr_assert_eq(read_named(&search, "link", NULL), -EACCES);
	cr_assert_eq(read_named(&search, "closed/world", NULL), -EACCES);
	cr_assert_eq(read_named(&search, "fifo", NULL), -ENOEXEC);
	cr_assert_eq(read_named(&own, "root", "root"), 0);
	cr_assert_eq(read_named(&own, "closed/world", "closed/world"), 0);
}

/* A container's files are its own, and links stay inside. */
Test(source_file, of_a_container)
{
	struct source_search search = { .contained = true };
	char root[PATH_MAX], outside[PATH_MAX];

	fixture_shell("mkdir -p root/src && echo inside >root/src/a.c && echo outside >outside && "
		      "ln -s $PWD/outside root/src/link && ln -s /src/a.c root/src/own");
	snprintf(root, sizeof(root), "%s", fixture_path("root"));
	snprintf(outside, sizeof(outside), "%s", fixture_path("outside"));
	search.root = root;
	cr_assert_eq(read_for(&search, "/src/a.c", "inside"), 0);
	cr_assert_eq(read_for(&search, "/src/own", "inside"), 0);
	cr_assert_eq(read_for(&search, "/src/link", NULL), -ENOENT);
	cr_assert_eq(read_for(&search, outside, NULL), -ENOENT);
	cr_assert_eq(read_for(&search, "/../../outside", NULL), -ENOENT);
	search.contained = false;
	cr_assert_eq(read_for(&search, outside, "outside"), 0);
}

/* In the user's folder, but not beside it. */
Test(source_file, below_a_folder)
{
	struct source_search search = { .root = "" };
	char folder[PATH_MAX];

	fixture_shell("mkdir -p folder/src && echo a >folder/src/a.c && echo outside >outside");
	snprintf(folder, sizeof(folder), "%s", fixture_path("folder"));
	search.folder = folder;
	cr_assert_eq(read_for(&search, "/build/src/a.c", "a"), 0);
	cr_assert_eq(read_for(&search, "/build/src/../../outside", NULL), -ENOENT);
	cr_assert_eq(read_for(&search, "../outside", NULL), -ENOENT);
}
