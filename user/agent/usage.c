// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

/* A cgroup and those below it are not read at the same moment. */
#define NOISE_NS 1000000

/* Returns 1; 0: the cgroup has ended, or has no usage; or a negative errno: reading failed. */
static int read_usage(const struct cgroup_place *place, uint64_t *ns)
{
	cleanup_free char *directory = cgroup_directory(place->mount, place->path);
	char path[PATH_MAX], text[256] = "";
	uint64_t us;
	cleanup_fd int fd = -1;

	if (!directory)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/cpu.stat", directory);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return -errno;
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 ||
	    sscanf(text, "usage_usec %" SCNu64, &us) != 1)
		return 0;
	*ns = us * 1000;
	return 1;
}

DEFINE_COMPARE_AS(compare_usages, struct usage, strcmp(a->path, b->path))

void usages_read(struct usages *usages, const struct cgroups *cgroups)
{
	/* Version 2 comes first in the list. */
	const struct cgroups version2 = { .list = cgroups->list,
					  .nr = cgroups->nr && cgroup_mount_is_v2(cgroups->list) };
	struct cgroup_places places = { 0 };
	struct error ignored;
	uint64_t ns;
	size_t i;
	int code;

	usages_free(usages);
	code = cgroup_places_find(&places, &version2, NULL, NULL, &ignored);
	for (i = 0; i < places.nr && code >= 0; i++) {
		code = read_usage(&places.list[i], &ns);
		if (code <= 0)
			continue;
		if (usages->nr == USAGES_MAX ||
		    PUSH(usages->list, usages->room, usages->nr,
			 (struct usage){ places.list[i].path, places.list[i].id, ns }))
			code = -ENOMEM;
		else
			places.list[i].path = NULL;
	}
	cgroup_places_free(&places);
	if (code < 0)
		usages_free(usages);
	SORT(usages->list, usages->nr, compare_usages);
}

static const struct usage *find(const struct usages *usages, const char *path)
{
	const struct usage wanted = { .path = (char *)path };

	return usages->nr ?
		       bsearch(&wanted, usages->list, usages->nr, sizeof(wanted), compare_usages) :
		       NULL;
}

/* Finds the parent; NULL: it is not listed. */
static const struct usage *find_above(const struct usages *usages, const char *path)
{
	cleanup_free char *above = strdup(path);
	char *slash = above ? strrchr(above, '/') : NULL;

	if (!slash || !slash[1])
		return NULL;
	slash[slash == above] = '\0';
	return find(usages, above);
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* CPU time of each cgroup itself; *spent is in the order of `now`. */
static int find_spent(const struct usages *before, const struct usages *now, int64_t *spent)
{
	size_t i;

	for (i = 0; i < now->nr; i++) {
		const struct usage *usage = &now->list[i], *above, *was = find(before, usage->path);
		uint64_t ns = was && was->id == usage->id ? minus(usage->ns, was->ns) : usage->ns;

		if (ns > INT64_MAX / USAGES_MAX)
			return -EINVAL;
		spent[i] += (int64_t)ns;
		above = find_above(now, usage->path);
		if (above)
			spent[above - now->list] -= (int64_t)ns;
	}
	return 0;
}

static void subtract_times(const struct usages *now, const struct profile *times, int64_t *spent)
{
	const struct usage *usage;
	size_t i;

	for (i = 0; i < times->nr_splits; i++) {
		usage = times->splits[i].cgroup ? find(now, times->splits[i].cgroup) : NULL;
		if (usage)
			spent[usage - now->list] -= (int64_t)times->splits[i].cpu_ns;
	}
}

static int put_split(const struct agent_choice *choice, const char *path, uint64_t ns,
		     struct profile *times)
{
	bool left_out = choice->nr_rules && choice_decide((void *)choice, path) == SPACE_FILTERED;
	struct profile_split *split = &times->splits[times->nr_splits++];

	*split = (struct profile_split){ .pid = -1, .cpu_ns = ns };
	split->cgroup = strdup(left_out ? PROFILE_LEFT_OUT : path);
	times->targets[0].cpu_ns += ns;
	return split->cgroup ? 0 : -ENOMEM;
}

int usages_spent(const struct usages *before, const struct usages *now,
		 const struct agent_choice *choice, struct profile *times)
{
	cleanup_free int64_t *spent = calloc(now->nr + 1, sizeof(*spent));
	struct profile_split *splits = calloc(now->nr + 1, sizeof(*splits));
	size_t i;
	int ret = spent && splits ? find_spent(before, now, spent) : -ENOMEM;

	if (ret) {
		free(splits);
		return ret;
	}
	subtract_times(now, times, spent);
	for (i = 0; i < times->nr_splits; i++)
		profile_split_free(&times->splits[i]);
	free(times->splits);
	times->splits = splits;
	times->nr_splits = 0;
	times->targets[0].cpu_ns = 0;
	for (i = 0; !ret && i < now->nr; i++)
		if (spent[i] > NOISE_NS)
			ret = put_split(choice, now->list[i].path, (uint64_t)spent[i], times);
	return ret;
}

void usages_free(struct usages *usages)
{
	size_t i;

	for (i = 0; i < usages->nr; i++)
		free(usages->list[i].path);
	free(usages->list);
	*usages = (struct usages){ 0 };
}
