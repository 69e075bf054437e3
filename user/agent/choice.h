/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CHOICE_H
#define BPFPROFIL_CHOICE_H

#include "agent/identity.h"
#include "engine/session.h"
#include "profile/profile.h"

/* Whose ticks are wanted, and what they are called by: --include, --exclude, --label, --service. */
enum choice_kind {
	CHOICE_NAMESPACE,
	CHOICE_POD,
	CHOICE_CONTAINER, /* by its name or id */
	CHOICE_UNIT, /* any that it is in */
	CHOICE_CGROUP,
	NR_CHOICES,
};

extern const char *const choice_words[NR_CHOICES];

struct choice_rule {
	enum choice_kind kind;
	const char *glob;
	bool exclude;
};

struct choice_label {
	const char *key;
	const char *value;
};

/* Backends take 30 labels, of which these are not ours. */
#define CHOICE_LABELS_MAX 12

struct agent_choice {
	const struct choice_rule *rules;
	size_t nr_rules;
	struct choice_label labels[CHOICE_LABELS_MAX];
	size_t nr_labels;
	const char *service; /* a template; NULL: by the default */
	struct identities *identities;
};

/* 0, or -EINVAL with what is wrong about a template. */
int choice_check_template(const char *text, const char **ret_wrong);

/* For a session: a struct agent_choice as context. */
enum told choice_judge(void *context, const char *cgroup);

/* Labels each cgroup of a profile, and all of it. -ENOMEM. */
int choice_label(const struct agent_choice *choice, struct profile *profile);

#endif
