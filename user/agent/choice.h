/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CHOICE_H
#define BPFPROFIL_CHOICE_H

#include "agent/identity.h"
#include "host/engine/session.h"
#include "profile/profile.h"

/*
 * --include, --exclude, --label and --service: which ticks are wanted, and which service they
 * belong to.
 */
enum choice_kind {
	CHOICE_NAMESPACE,
	CHOICE_POD,
	CHOICE_CONTAINER, /* name, id or short id */
	CHOICE_UNIT, /* any unit that the cgroup is in */
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

/* Pyroscope accepts 30 labels, and we need the others ourselves. */
#define CHOICE_LABELS_MAX 12

struct agent_choice {
	const struct choice_rule *rules;
	size_t nr_rules;
	struct choice_label labels[CHOICE_LABELS_MAX];
	size_t nr_labels;
	const char *service; /* a template; NULL: the default names */
	struct identities *identities;
};

/* Returns 0, or -EINVAL with the reason in *ret_wrong. */
int choice_check_template(const char *text, const char **ret_wrong);

/* A session calls this for each new cgroup; context is a struct agent_choice. */
enum space_state choice_decide(void *context, const char *cgroup);

/*
 * Looks up the names of a new cgroup before it is gone, if no rule has done so. Returns whether
 * kubelet may publish more of them in a moment.
 */
bool choice_look_up(const struct agent_choice *choice, const char *cgroup);

/* Labels each cgroup of a profile, and the profile itself. Returns 0 or -ENOMEM. */
int choice_label(const struct agent_choice *choice, struct profile *profile);

#endif
