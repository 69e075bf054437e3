// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/targets/targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/targets/targets_impl.h"

/* The path relative to the mount. */
static const char *path_of(const struct cgroup_place *place)
{
	const char *root = place->mount->root;

	return place->path + (strcmp(root, "/") ? strlen(root) + 1 : 1);
}

static int cgroup_names(const struct cgroups *cgroups, struct names *names, struct error *err)
{
	return cgroup_places_names(cgroups, NULL, path_of, "cgroups", names, err);
}

static int of_cgroups(int (*find)(const struct cgroups *cgroups, struct names *names,
				  struct error *err),
		      struct names *names, struct error *err)
{
	struct targets targets = { 0 };
	const struct cgroups *cgroups;
	int ret = targets_cgroups(&targets, &cgroups, err);

	if (!ret)
		ret = find(cgroups, names, err);
	targets_free(&targets);
	return ret;
}

/* Compares numbers by value, because shells may keep the order of pids. */
DEFINE_COMPARE_AS(compare_proposals, typeof(char *), strverscmp(*a, *b))

static void free_proposal(void *same, const void *proposal)
{
	(void)same;
	free(*(char *const *)proposal);
}

int proposals_find(enum proposal kind, struct names *result, struct error *err)
{
	int ret = -EINVAL;

	*result = (struct names){ 0 };
	switch (kind) {
	case PROPOSE_CGROUPS:
		ret = of_cgroups(cgroup_names, result, err);
		break;
	case PROPOSE_CONTAINERS:
		ret = of_cgroups(container_names_all, result, err);
		break;
	case PROPOSE_UNITS:
		ret = of_cgroups(unit_names, result, err);
		break;
	case PROPOSE_NAMES:
		ret = process_names(false, result, err);
		break;
	case PROPOSE_PIDS:
		ret = process_names(true, result, err);
		break;
	}
	result->nr = COMBINE(result->list, result->nr, compare_proposals, free_proposal);
	if (ret)
		names_free(result);
	return ret;
}
