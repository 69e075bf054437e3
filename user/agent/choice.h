/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CHOICE_H
#define BPFPROFIL_CHOICE_H

#include "agent/identity.h"
#include "host/engine/session.h"
#include "profile/profile.h"

/*
 * Decides whose ticks are wanted and what they are called: --include, --exclude, --label, --service.
 */
enum choice_kind {
	CHOICE_NAMESPACE,
	CHOICE_POD,
	CHOICE_CONTAINER, /* its name, its id or its short id */
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

/* Pyroscope takes 30 labels, and we need the others for names of our own. */
#define CHOICE_LABELS_MAX 12

struct agent_choice {
	const struct choice_rule *rules;
	size_t nr_rules;
	struct choice_label labels[CHOICE_LABELS_MAX];
	size_t nr_labels;
	const char *service; /* a template; NULL: the default names */
	struct identities *identities;
};

/* Returns 0, or -EINVAL and says in *ret_wrong what is wrong. */
int choice_check_template(const char *text, const char **ret_wrong);

/* A session calls this for each new cgroup; context is a struct agent_choice. */
enum told choice_judge(void *context, const char *cgroup);

/*
 * The same where no rule asks for names: finds those of a cgroup before it is gone. Returns whether kubelet
 * may tell more of it in a moment.
 */
bool choice_meet(const struct agent_choice *choice, const char *cgroup);

/* Labels each cgroup of a profile, and the profile itself. Returns 0 or -ENOMEM. */
int choice_label(const struct agent_choice *choice, struct profile *profile);

#endif
