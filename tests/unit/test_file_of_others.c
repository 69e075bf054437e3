// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Outputs in folders where others can write, and who may read them. */
#include "base/file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_file_fixture.h"

TestSuite(file_of_others, .init = folder_enter, .fini = folder_remove);

/* In /tmp a file may exist already, which its maker can read. */
Test(file_of_others, made_beforehand_by_another)
{
	struct error err;
	char text[8] = "";
	int fd;

	if (geteuid()) {
		cr_skip_test("needs root, to make files that are somebody else's");
		return;
	}
	folder_put("a", "bait");
	cr_assert_eq(chown("a", 12345, 23456) | chmod("a", 0666), 0);
	fd = open("a", O_RDONLY);
	cr_assert_eq(folder_write("a", "ours", &err), 0, "%s", err.text);
	folder_assert_owner("a", 0, getegid());
	cr_assert_eq(folder_mode_of("a"), 0644);
	cr_assert_eq(read(fd, text, sizeof(text)), 4);
	cr_assert_str_eq(text, "bait");
	close(fd);
	folder_put("b", "bait");
	cr_assert_eq(chown("b", 12345, 23456) | chmod("b", 0600), 0);
	cr_assert_eq(folder_write("b", "ours", &err), 0, "%s", err.text);
	folder_assert_owner("b", 0, getegid());
	cr_assert_eq(folder_mode_of("b"), 0600);
	cr_assert_eq(mkfifo("fifo", 0666) | chown("fifo", 12345, 23456), 0);
	cr_assert_eq(output_check("fifo", &err), -EPERM);
	cr_assert_eq(folder_write("fifo", "ours", &err), -EPERM);
	cr_assert_str_eq(err.text, "fifo: a fifo that another user made");
	cr_assert_eq(folder_entries("."), 3);
}

/* The rule for links applies to what is written directly, too. */
Test(file_of_others, foreign_link_to_a_device)
{
	struct error err;

	if (geteuid()) {
		cr_skip_test("needs root, to make a link that is somebody else's");
		return;
	}
	cr_assert_eq(chmod(".", 01777), 0);
	cr_assert_eq(symlink("/dev/null", "a"), 0);
	cr_assert_eq(lchown("a", 12345, 12345), 0);
	cr_assert_eq(folder_write("a", "text", &err), -EACCES);
	cr_assert_eq(output_check("a", &err), -EACCES);
}

static mode_t written_as(const char *path, unsigned int flags)
{
	struct output *out;
	struct error err;

	cr_assert_eq(output_open(path, flags, &out, &err), 0, "%s", err.text);
	cr_assert_eq(output_commit(out, &err), 0, "%s", err.text);
	return folder_mode_of(path);
}

Test(file_of_others, confidential)
{
	umask(0);
	cr_assert_eq(written_as("plain", 0), 0644);
	cr_assert_eq(written_as("secret", OUTPUT_CONFIDENTIAL), 0600);
	/* A file of ours keeps its mode. */
	cr_assert_eq(chmod("secret", 0640), 0);
	cr_assert_eq(written_as("secret", OUTPUT_CONFIDENTIAL), 0640);
}
