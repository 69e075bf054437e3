// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/last_good.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/regular_file.h"
#include "base/util.h"

static int copy_stream(FILE *from, FILE *to)
{
	char text[4096];
	size_t nr;

	while ((nr = fread(text, 1, sizeof(text), from)))
		fwrite(text, 1, nr, to);
	return ferror(from) ? -EIO : 0;
}

int last_good_keep(const char *path, const struct stat *read_as, const char *copy,
		   struct error *err)
{
	cleanup_free char *folder = strdup(copy);
	const char *why;
	cleanup_file FILE *file = regular_file_stream(path, &why);
	struct output *out;
	struct stat now;
	int ret;

	if (!file || !folder)
		return 0;
	mkdir(dirname(folder), 0700);
	ret = output_open(copy, OUTPUT_CONFIDENTIAL, &out, err);
	if (ret)
		return ret;
	if (copy_stream(file, output_stream(out)) || stat(path, &now) ||
	    !regular_file_is_same(&now, read_as)) {
		output_abort(out);
		return 0;
	}
	return output_commit(out, err);
}

bool last_good_is_ours(const char *copy)
{
	struct stat st;

	return !lstat(copy, &st) && S_ISREG(st.st_mode) && !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	       regular_file_is_from(&st, geteuid());
}
