// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "profile/profile.h"

void profile_label_free(struct profile_label *label)
{
	free(label->host);
	free(label->cgroup);
	free(label->key);
	free(label->value);
}

int profile_add_label(struct profile *profile, const char *cgroup, const char *key,
		      const char *value)
{
	struct profile_label label = { 0 }, *labels;

	if (!value || !*value)
		return 0;
	labels = reallocarray(profile->labels, profile->nr_labels + 1, sizeof(*labels));
	if (!labels)
		return -ENOMEM;
	profile->labels = labels;
	label.cgroup = cgroup ? strdup(cgroup) : NULL;
	label.key = strdup(key);
	label.value = strdup(value);
	if ((cgroup && !label.cgroup) || !label.key || !label.value) {
		profile_label_free(&label);
		return -ENOMEM;
	}
	profile->labels[profile->nr_labels++] = label;
	return 0;
}

int profile_labels_compare(const void *left, const void *right)
{
	const struct profile_label *a = left, *b = right;
	int order = compare_text(a->host, b->host);

	if (!order)
		order = compare_text(a->cgroup, b->cgroup);
	return order ? order : strcmp(a->key, b->key);
}

int profile_labels_combine(void *first, size_t nr)
{
	struct profile_label *labels = first, kept;

	while (--nr) {
		if (strcmp(labels[nr].value, labels->value) < 0) {
			kept = *labels;
			*labels = labels[nr];
			labels[nr] = kept;
		}
		profile_label_free(&labels[nr]);
		labels[nr] = (struct profile_label){ 0 };
	}
	return 0;
}
