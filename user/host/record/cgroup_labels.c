// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/cgroup_labels.h"

#include <string.h>

#include "base/util.h"
#include "host/targets/container_names.h"

#define LOGS "/var/log" /* where kubelet puts containers' logs */
#define PATIENCE_MS 1000

int cgroup_labels_begin(struct cgroup_labels *labels, const struct sampling_options *options,
			struct error *err)
{
	if (options->split != SPLIT_CGROUP)
		return 0;
	return container_names_open(CONTAINERS_FOR_A_WHILE, &labels->names, err);
}

void cgroup_labels_look(struct cgroup_labels *labels, const struct session *session)
{
	size_t seen = labels->names ? session_nr_splits(session) : 0;

	if (seen == labels->seen)
		return;
	labels->seen = seen;
	container_names_ask(labels->names);
}

static bool is_labelled(const struct profile *profile, const char *cgroup)
{
	size_t i;

	for (i = 0; i < profile->nr_labels; i++)
		if (!compare_text(profile->labels[i].cgroup, cgroup))
			return true;
	return false;
}

/* Returns the next cgroup without a label, from the split at *i on, or NULL. */
static const char *next_cgroup(const struct profile *profile, size_t *i)
{
	const char *cgroup;

	while (*i < profile->nr_splits) {
		cgroup = profile->splits[(*i)++].cgroup;
		if (cgroup && strcmp(cgroup, PROFILE_LEFT_OUT) != 0 &&
		    !is_labelled(profile, cgroup))
			return cgroup;
	}
	return NULL;
}

static int label(struct cgroup_labels *labels, struct profile *profile, const char *cgroup)
{
	char name[CONTAINER_NAME_MAX];
	struct kubelet_names names;
	struct cgroup_parts parts;
	int ret;

	cgroup_parts_find(cgroup, &parts);
	kubelet_names_find(LOGS, &parts, &names);
	if (names.pod[0]) {
		ret = profile_add_label(profile, cgroup, "k8s.namespace.name", names.namespace);
		if (!ret)
			ret = profile_add_label(profile, cgroup, "k8s.pod.name", names.pod);
		return ret ? ret :
			     profile_add_label(profile, cgroup, "k8s.container.name",
					       names.container);
	}
	if (!container_names_find(labels->names, cgroup, name))
		return 0;
	return profile_add_label(profile, cgroup, "container.name", name);
}

static int label_all(struct cgroup_labels *labels, struct profile *profile, bool *all)
{
	const char *cgroup;
	size_t i = 0;
	int ret = 0;

	*all = true;
	while (!ret && (cgroup = next_cgroup(profile, &i))) {
		ret = label(labels, profile, cgroup);
		*all = *all && is_labelled(profile, cgroup);
	}
	return ret;
}

int cgroup_labels_add(struct cgroup_labels *labels, struct profile *profile, bool last)
{
	bool all;
	int ret;

	if (!labels->names)
		return 0;
	ret = label_all(labels, profile, &all);
	if (ret || all || !last)
		return ret;
	container_names_wait(labels->names, PATIENCE_MS);
	return label_all(labels, profile, &all);
}

void cgroup_labels_end(struct cgroup_labels *labels)
{
	container_names_close(labels->names);
	labels->names = NULL;
}
