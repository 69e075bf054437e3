// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "test_file_fixture.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static char folder[] = "/tmp/bpfprofil-test-XXXXXX";

void folder_enter(void)
{
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	umask(022);
	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(chdir(folder), 0);
}

void folder_remove(void)
{
	char command[64];

	cr_assert_eq(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}

int folder_entries(const char *path)
{
	DIR *dir = opendir(path);
	int nr = 0;

	cr_assert_not_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr - 2;
}

void folder_put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	fputs(text, file);
	cr_assert_eq(fclose(file), 0);
}

void folder_assert_holds(const char *path, const char *text)
{
	char buffer[256] = "";
	FILE *file = fopen(path, "r");

	cr_assert_not_null(file, "%s", path);
	buffer[fread(buffer, 1, sizeof(buffer) - 1, file)] = '\0';
	fclose(file);
	cr_assert_str_eq(buffer, text);
}

mode_t folder_mode_of(const char *path)
{
	struct stat st;

	cr_assert_eq(stat(path, &st), 0);
	return st.st_mode & 07777;
}

void folder_assert_owner(const char *path, uid_t uid, gid_t gid)
{
	struct stat st;

	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_uid, uid, "%s: uid %u", path, st.st_uid);
	cr_assert_eq(st.st_gid, gid, "%s: gid %u", path, st.st_gid);
}

int folder_write(const char *path, const char *text, struct error *err)
{
	struct output *out;
	int ret = output_open(path, 0, &out, err);

	if (ret)
		return ret;
	fputs(text, output_stream(out));
	return output_commit(out, err);
}
