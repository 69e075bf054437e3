// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/save.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "profile/profile_io.h"

int save_profile(const struct profile *profile, const char *path, unsigned int flags,
		 struct error *err)
{
	struct output *out;
	int ret;

	if (profile_is_confidential(profile))
		flags |= OUTPUT_CONFIDENTIAL;
	ret = output_open_as(path, flags, &out, err);
	if (ret)
		return ret;
	ret = profile_write(profile, output_stream(out), err);
	return output_finish(out, ret, err);
}

static void keep_elsewhere(const struct profile *profile, const char *path, int failed,
			   struct error *err)
{
	const char *folders[] = { getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm" };
	const char *suffix = output_is_compressed(path) ? ".gz" : "";
	struct error why = *err, ignored;
	char kept[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		if (!folders[i])
			continue;
		snprintf(kept, sizeof(kept), "%s/bpfprofil-%d.json%s", folders[i], getpid(),
			 suffix);
		if (save_profile(profile, kept, 0, &ignored))
			continue;
		error_set(err, failed, "%.200s; the profile is kept as %.200s", why.text, kept);
		return;
	}
}

/* Writes FILE; one that is written repeatedly gets another name each time. */
int save_last_profile(const struct profile *profile, const char *path, struct error *err)
{
	int ret = save_profile(profile, path, OUTPUT_KEEP_OLD, err);

	if (ret && ret != -EPIPE && strcmp(path, "-") != 0)
		keep_elsewhere(profile, path, ret, err);
	return ret;
}
