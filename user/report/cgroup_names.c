// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define ID_LENGTH 64

struct cgroup_name {
	const char *cgroup; /* the profile's */
	const char *namespace, *pod, *container; /* the profile's */
	char *name;
};

struct cgroup_names {
	struct cgroup_name *list; /* ascending by cgroup */
	size_t nr;
};

DEFINE_COMPARE_AS(compare_cgroups, struct cgroup_name, strcmp(a->cgroup, b->cgroup))

static int compare_names(const void *left, const void *right)
{
	const struct cgroup_name *const *a = left, *const *b = right;

	return strcmp((*a)->name, (*b)->name);
}

static struct cgroup_name from_label(const struct profile_label *label)
{
	struct cgroup_name name = { .cgroup = label->cgroup };

	if (!label->cgroup)
		return name;
	if (!strcmp(label->key, "k8s.namespace.name"))
		name.namespace = label->value;
	else if (!strcmp(label->key, "k8s.pod.name"))
		name.pod = label->value;
	else if (!strcmp(label->key, "k8s.container.name") || !strcmp(label->key, "container.name"))
		name.container = label->value;
	return name;
}

/* Several hosts may have such a label. */
static void add_up(void *first, const void *equal)
{
	struct cgroup_name *sum = first;
	const struct cgroup_name *name = equal;

	sum->namespace = sum->namespace ?: name->namespace;
	sum->pod = sum->pod ?: name->pod;
	sum->container = sum->container ?: name->container;
}

static void collect(struct cgroup_names *names, const struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->nr_labels; i++) {
		const struct cgroup_name name = from_label(&profile->labels[i]);

		if (name.namespace || name.pod || name.container)
			names->list[names->nr++] = name;
	}
	names->nr = COMBINE(names->list, names->nr, compare_cgroups, add_up);
}

/* Runtimes name the directory after the id, or after the name if there is no other id. */
static bool is_of_container(const char *directory, const char *container)
{
	size_t length;

	if (strstr(directory, container))
		return true;
	for (; *directory; directory += length + 1) {
		length = strspn(directory, "0123456789abcdef");
		if (length == ID_LENGTH)
			return true;
		if (!directory[length])
			break;
	}
	return false;
}

/* The path below the container's directory, beginning with '/'. */
static const char *below_container(const struct cgroup_name *name)
{
	const char *at = name->cgroup, *rest = "";
	char directory[256];
	size_t length;

	for (; *at; at += length) {
		at += strspn(at, "/");
		length = strcspn(at, "/");
		if (!length || length >= sizeof(directory))
			continue;
		snprintf(directory, sizeof(directory), "%.*s", (int)length, at);
		if (is_of_container(directory, name->container))
			rest = at + length;
	}
	return rest;
}

static int put_together(struct cgroup_name *name)
{
	const char *pod = name->pod ?: "", *namespace = name->namespace ?: "";
	const char *container = name->container ?: "";

	name->name = format_text("%s%s%s%s%s%s", namespace, *namespace && *pod ? "/" : "", pod,
				 (*namespace || *pod) && *container ? "/" : "", container,
				 *container ? below_container(name) : "");
	return name->name ? 0 : -ENOMEM;
}

static int add_path(struct cgroup_name *name)
{
	char *whole = format_text("%s (%s)", name->name, name->cgroup);

	if (!whole)
		return -ENOMEM;
	free(name->name);
	name->name = whole;
	return 0;
}

/* If several containers had one name, one after the other, add their paths. */
static int add_paths(struct cgroup_names *names)
{
	cleanup_free struct cgroup_name **sorted = calloc(names->nr + 1, sizeof(*sorted));
	size_t i, j, end;
	int ret = sorted ? 0 : -ENOMEM;

	for (i = 0; !ret && i < names->nr; i++)
		sorted[i] = &names->list[i];
	if (!ret)
		SORT(sorted, names->nr, compare_names);
	for (i = 0; !ret && i < names->nr; i = end) {
		for (end = i + 1; end < names->nr; end++)
			if (strcmp(sorted[i]->name, sorted[end]->name) != 0)
				break;
		for (j = i; !ret && end > i + 1 && j < end; j++)
			ret = add_path(sorted[j]);
	}
	return ret;
}

struct cgroup_names *cgroup_names_new(const struct profile *profile)
{
	struct cgroup_names *names = calloc(1, sizeof(*names));
	int ret = 0;
	size_t i;

	if (!names)
		return NULL;
	names->list = calloc(profile->nr_labels + 1, sizeof(*names->list));
	if (names->list)
		collect(names, profile);
	else
		ret = -ENOMEM;
	for (i = 0; !ret && i < names->nr; i++)
		ret = put_together(&names->list[i]);
	if (!ret)
		ret = add_paths(names);
	if (!ret)
		return names;
	cgroup_names_free(names);
	return NULL;
}

void cgroup_names_free(struct cgroup_names *names)
{
	if (!names)
		return;
	while (names->nr)
		free(names->list[--names->nr].name);
	free(names->list);
	free(names);
}

const char *cgroup_names_find(const struct cgroup_names *names, const char *cgroup)
{
	const struct cgroup_name key = { .cgroup = cgroup }, *found;

	if (!cgroup)
		return NULL;
	found = bsearch(&key, names->list, names->nr, sizeof(*names->list), compare_cgroups);
	return found ? found->name : NULL;
}
