// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "naming/allowance.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/regular_file.h"
#include "base/util.h"
#include "reader/reader.h"

static struct allowance_owner *find_owner_of(const struct allowance *allowance, uid_t uid)
{
	size_t i;

	for (i = 0; i < allowance->nr; i++)
		if (allowance->owners[i].uid == uid)
			return &allowance->owners[i];
	return NULL;
}

int allowance_begin(const struct allowance *allowance, int fd, struct allowance_use *use,
		    struct error *why)
{
	const struct allowance_owner *owner;
	struct stat stat;
	uint64_t most;

	*use = (struct allowance_use){ 0 };
	if (!allowance || fd < 0 || !regular_file_stat(fd, &stat) || !stat.st_uid ||
	    is_our_user(stat.st_uid))
		return 0;
	most = allowance->seconds * 1000000000ULL;
	owner = find_owner_of(allowance, stat.st_uid);
	if ((owner && owner->spent_ns >= most) || allowance->spent_ns >= most * ALLOWANCE_OWNERS)
		return error_set(why, -E2BIG,
				 "files of user %u have had their %u seconds of CPU time",
				 stat.st_uid, allowance->seconds);
	*use = (struct allowance_use){ stat.st_uid, true, reader_cpu_ns() };
	return 0;
}

void allowance_end(struct allowance *allowance, const struct allowance_use *use)
{
	if (use->counts)
		allowance_spend(allowance, use->owner, reader_cpu_ns() - use->since_ns);
}

void allowance_spend(struct allowance *allowance, uid_t uid, uint64_t ns)
{
	struct allowance_owner *owner = find_owner_of(allowance, uid);

	allowance->spent_ns += ns;
	if (!owner) {
		/* Without memory for another owner, everybody's allowance ends here. */
		if (GROW(allowance->owners, allowance->room, allowance->nr + 1))
			return;
		owner = &allowance->owners[allowance->nr++];
		*owner = (struct allowance_owner){ .uid = uid };
	}
	owner->spent_ns += ns;
}

void allowance_free(struct allowance *allowance)
{
	free(allowance->owners);
	allowance->owners = NULL;
	allowance->nr = allowance->room = 0;
}
