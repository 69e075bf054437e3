// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/split_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile.h"
#include "base/cgroup_parts.h"

_Static_assert((int)CGROUP_PATH_BYTES == (int)PATH_BYTES &&
		       (int)CGROUP_PATH_PARTS == (int)PATH_PARTS,
	       "where the kernel's programs cut a cgroup's path");

int split_names_add(struct split_names *names, uint64_t id, char *name, struct error *err)
{
	struct split_name *slot;

	if (!name || GROW(names->list, names->capacity, names->nr + 1)) {
		free(name);
		return error_no_memory(err, "names");
	}
	slot = &names->list[names->nr++];
	*slot = (struct split_name){ .id = id,
				     .order = names->nr_added++,
				     .state = SPACE_ANNOUNCED,
				     .name = name };
	return 0;
}

DEFINE_COMPARE_2(compare_split_names, struct split_name, id, order)

void split_names_sort(struct split_names *names)
{
	size_t from, to = 0;

	if (names->sorted == names->nr)
		return;
	SORT(names->list, names->nr, compare_split_names);
	for (from = 0; from < names->nr; from++) {
		if (to && names->list[to - 1].id == names->list[from].id)
			free(names->list[--to].name);
		names->list[to++] = names->list[from];
	}
	names->nr = names->sorted = to;
}

struct split_name *split_names_find(const struct split_names *names, uint64_t id)
{
	size_t at = BISECT(i, names->sorted, names->list[i].id < id);

	return at < names->sorted && names->list[at].id == id ? &names->list[at] : NULL;
}

bool split_is_left_out(const struct split_names *names, uint64_t id)
{
	const struct split_name *found = split_names_find(names, id);

	return found && found->state == SPACE_FILTERED;
}

/* A cgroup's name, or a substitute if it was never announced; NULL: out of memory. */
static char *split_cgroup_name(const struct split_names *names, uint64_t id)
{
	const struct split_name *found = split_names_find(names, id);

	if (found)
		return utf8_copy(found->state == SPACE_FILTERED ? PROFILE_LEFT_OUT : found->name);
	return format_text("[cgroup %llu]", (unsigned long long)id);
}

int split_names_of(const struct split_names *names, enum split split, uint64_t id, int64_t *pid,
		   char **process, char **cgroup)
{
	const struct split_name *name = split_names_find(names, id);

	if (split == SPLIT_CGROUP) {
		*cgroup = split_cgroup_name(names, id);
		return *cgroup ? 0 : -ENOMEM;
	}
	*pid = split_pid(id);
	if (!name || !*name->name)
		return 0;
	*process = utf8_copy(name->name);
	return *process ? 0 : -ENOMEM;
}

struct space cgroup_space(uint64_t id)
{
	return (struct space){ .kind = SPACE_CGROUP, .a = id };
}

int64_t split_pid(uint64_t id)
{
	int64_t pid = (int64_t)(id & ((1U << SPLIT_PID_BITS) - 1));

	return pid ? pid : -1;
}

uint64_t split_sum_id(size_t name)
{
	return ((uint64_t)name + 1) << SPLIT_PID_BITS;
}

void split_names_clear(struct split_names *names)
{
	size_t i;

	for (i = 0; i < names->nr; i++)
		free(names->list[i].name);
	names->nr = names->sorted = 0;
}

void split_names_free(struct split_names *names)
{
	split_names_clear(names);
	free(names->list);
	memset(names, 0, sizeof(*names));
}
