// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/targets/targets_impl.h"

/* Counts the cgroups with processes in them, below the root. */
static size_t count_places(const struct cgroup_places *places, size_t hierarchy)
{
	size_t i, nr = 0;

	for (i = 0; i < places->nr; i++)
		if (places->list[i].mount->hierarchy == hierarchy)
			nr += cgroup_place_is_populated(&places->list[i]);
	return nr;
}

/*
 * Chooses version 2 if processes are in its cgroups, because a hybrid host may have it without
 * using it. Otherwise it chooses the hierarchy that has the most cgroups with processes.
 */
static const struct cgroup_mount *choose_hierarchy(const struct cgroups *cgroups,
						   const struct cgroup_places *places)
{
	const struct cgroup_mount *best = NULL;
	size_t i, nr, most = 0;

	for (i = 0; i < cgroups->nr; i++) {
		const struct cgroup_mount *mount = &cgroups->list[i];

		if (mount->hierarchy != i || (!cgroup_mount_is_v2(mount) && !mount->controller))
			continue;
		nr = count_places(places, i);
		if (nr && cgroup_mount_is_v2(mount))
			return mount;
		if (nr > most || (cgroup_mount_is_v2(mount) && !best)) {
			best = mount;
			most = nr;
		}
	}
	return best;
}

int targets_split_hierarchy(char **result, struct error *err)
{
	struct cgroup_places places = { 0 };
	const struct cgroup_mount *mount;
	struct cgroups cgroups;
	int ret;

	*result = NULL;
	ret = cgroups_read(&cgroups, "/proc", err);
	if (ret)
		return ret;
	ret = cgroup_places_find(&places, &cgroups, NULL, NULL, err);
	mount = ret ? NULL : choose_hierarchy(&cgroups, &places);
	if (!ret && !mount) {
		ret = error_set(err, -EOPNOTSUPP,
				"--split cgroup: processes here are all in one cgroup");
		error_hint(err, "--split process");
	} else if (mount && mount->controller) {
		*result = strdup(mount->controller);
		if (!*result)
			ret = error_errno(err, -ENOMEM, "--split cgroup");
	}
	cgroup_places_free(&places);
	cgroups_free(&cgroups);
	return ret;
}
