// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/targets/kubelet_names.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* How many entries of a folder are read; a host has some hundred pods. */
#define ENTRIES_MAX 20000

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789-."

/* Copies a name of that length; false: it is not one, and *ret is "". */
static bool take_name(const char *text, size_t length, char ret[KUBELET_NAME_MAX])
{
	ret[0] = '\0';
	if (!length || length >= KUBELET_NAME_MAX || strspn(text, NAME_LETTERS) < length)
		return false;
	snprintf(ret, KUBELET_NAME_MAX, "%.*s", (int)length, text);
	return true;
}

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), of = strlen(end);

	return length >= of && !strcmp(text + length - of, end);
}

/* Calls visit() until it says that it has found what it wants. */
static void each_entry(const char *path, bool (*visit)(const char *name, void *context),
		       void *context)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	unsigned int left = ENTRIES_MAX;

	if (!folder)
		return;
	while (left-- && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && visit(entry->d_name, context))
			break;
	closedir(folder);
}

struct search {
	const struct cgroup_parts *parts;
	struct kubelet_names *names;
	char folder[NAME_MAX + 1]; /* of the pod */
	char prefix[2 * KUBELET_NAME_MAX + 2]; /* of its containers' names */
	unsigned int nr; /* number of its containers that were found */
	bool named; /* the one that is searched for is among them */
};

/* NAMESPACE_POD_UID; neither name can contain an underscore. */
static bool visit_pod(const char *name, void *context)
{
	struct search *search = context;
	char end[POD_UID_LENGTH + 2];
	const char *pod;

	snprintf(end, sizeof(end), "_%s", search->parts->pod);
	pod = strchr(name, '_');
	if (!pod || !ends_in(name, end) || name + strlen(name) - strlen(end) <= pod)
		return false;
	pod++;
	if (!take_name(name, (size_t)(pod - 1 - name), search->names->namespace) ||
	    !take_name(pod, strlen(pod) - strlen(end), search->names->pod)) {
		search->names->namespace[0] = '\0';
		return false;
	}
	snprintf(search->folder, sizeof(search->folder), "%s", name);
	return true;
}

/* POD_NAMESPACE_CONTAINER-ID.log */
static bool visit_log(const char *name, void *context)
{
	struct search *search = context;
	char end[CONTAINER_ID_LENGTH + sizeof("-.log")];
	size_t prefix = strlen(search->prefix);

	if (strncmp(name, search->prefix, prefix) != 0)
		return false;
	search->nr++;
	snprintf(end, sizeof(end), "-%s.log", search->parts->container);
	search->named = ends_in(name, end) && strlen(name) > prefix + strlen(end) &&
			take_name(name + prefix, strlen(name) - prefix - strlen(end),
				  search->names->container);
	return search->named;
}

static bool visit_container(const char *name, void *context)
{
	struct search *search = context;

	search->nr++;
	return !take_name(name, strlen(name), search->names->container) || search->nr > 1;
}

/* If no log has the container's id, the pod's only folder must be its own. */
static bool find_only_container(const char *logs, struct search *search)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/pods/%s", logs, search->folder);
	each_entry(path, visit_container, search);
	if (search->nr != 1)
		search->names->container[0] = '\0';
	return search->names->container[0];
}

bool kubelet_names_find(const char *logs, const struct cgroup_parts *parts,
			struct kubelet_names *result)
{
	struct search search = { .parts = parts, .names = result };
	char path[PATH_MAX];

	*result = (struct kubelet_names){ "", "", "" };
	if (!parts->pod[0])
		return true;
	snprintf(path, sizeof(path), "%s/pods", logs);
	each_entry(path, visit_pod, &search);
	if (!result->pod[0])
		return false;
	if (!parts->container[0])
		return true;
	snprintf(search.prefix, sizeof(search.prefix), "%s_%s_", result->pod, result->namespace);
	snprintf(path, sizeof(path), "%s/containers", logs);
	each_entry(path, visit_log, &search);
	/* The pod's sandbox, which has a cgroup too, has no log. */
	return search.named || (!search.nr && find_only_container(logs, &search));
}
