// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/choice.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define SERVICE_MAX 512

const char *const choice_words[NR_CHOICES] = { [CHOICE_NAMESPACE] = "namespace",
					       [CHOICE_POD] = "pod",
					       [CHOICE_CONTAINER] = "container",
					       [CHOICE_UNIT] = "unit",
					       [CHOICE_CGROUP] = "cgroup" };

/* --- which ticks are wanted --- */

static bool is_like(const char *glob, const char *text)
{
	return *text && !fnmatch(glob, text, 0);
}

/* Treat a directory whose name has a dot as a unit: no other directories have one. */
static bool in_unit(const char *glob, const char *cgroup)
{
	char directory[256];
	size_t length;

	for (; *cgroup; cgroup += length) {
		cgroup += strspn(cgroup, "/");
		length = strcspn(cgroup, "/");
		snprintf(directory, sizeof(directory), "%.*s", (int)(length < 256 ? length : 255),
			 cgroup);
		if (strchr(directory, '.') && is_like(glob, directory))
			return true;
	}
	return false;
}

static bool matches(const struct choice_rule *rule, const char *cgroup,
		    const struct cgroup_identity *who)
{
	char id[CONTAINER_ID_SHORT + 1];

	switch (rule->kind) {
	case CHOICE_NAMESPACE:
		return is_like(rule->glob, who->names.namespace);
	case CHOICE_POD:
		return is_like(rule->glob, who->names.pod) || is_like(rule->glob, who->parts.pod);
	case CHOICE_CONTAINER:
		snprintf(id, sizeof(id), "%.*s", CONTAINER_ID_SHORT, who->parts.container);
		return is_like(rule->glob, who->names.container) || is_like(rule->glob, id) ||
		       is_like(rule->glob, who->parts.container);
	case CHOICE_UNIT:
		return in_unit(rule->glob, cgroup);
	default:
		return is_like(rule->glob, *cgroup ? cgroup : "/");
	}
}

enum answer { NO, NOT_YET, YES };

/*
 * A rule waits only for its own kind of name. A sandbox, for example, never gets a container's
 * name.
 */
static enum answer apply_rule(const struct choice_rule *rule, const char *cgroup,
			      const struct cgroup_identity *who)
{
	if (matches(rule, cgroup, who))
		return YES;
	switch (rule->kind) {
	case CHOICE_NAMESPACE:
	case CHOICE_POD:
		return who->pod_known ? NO : NOT_YET;
	case CHOICE_CONTAINER:
		return who->complete || !who->parts.container[0] ? NO : NOT_YET;
	default:
		return NO;
	}
}

/*
 * --exclude overrides --include: it keeps a sidecar out of a chosen namespace. While a name that
 * matters is unknown, ticks are counted, because they can be dropped later but not recovered.
 */
enum space_state choice_decide(void *context, const char *cgroup)
{
	const struct agent_choice *choice = context;
	const struct cgroup_identity *who = identities_find(choice->identities, cgroup);
	const struct choice_rule *rule = choice->rules, *end = rule + choice->nr_rules;
	enum answer included = NO, excluded = NO, answer;
	bool some = false;

	for (; rule < end; rule++) {
		answer = apply_rule(rule, cgroup, who);
		some = some || !rule->exclude;
		if (rule->exclude && answer > excluded)
			excluded = answer;
		else if (!rule->exclude && answer > included)
			included = answer;
	}
	if (excluded == YES || (some && included == NO))
		return SPACE_FILTERED;
	if (excluded == NOT_YET || included == NOT_YET)
		return SPACE_ANNOUNCED;
	return SPACE_WANTED;
}

bool choice_look_up(const struct agent_choice *choice, const char *cgroup)
{
	const struct cgroup_identity *who = identities_find(choice->identities, cgroup);

	return who->parts.pod[0] && !who->complete;
}

/* --- service names --- */

/* The values for a template: of a cgroup, or of the host alone. */
struct of {
	const char *cgroup;
	const char *host;
	const struct cgroup_identity *who;
};

static const struct cgroup_identity nobody;

/* "": the value is unknown; NULL: there is no such field. */
static const char *value_of(const char *field, size_t length, const struct of *of)
{
	const char *const fields[][2] = {
		{ "unit", of->who->parts.unit }, { "container", of->who->names.container },
		{ "pod", of->who->names.pod },	 { "namespace", of->who->names.namespace },
		{ "cgroup", of->cgroup },	 { "host", of->host ?: "" },
	};
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strlen(fields[i][0]) == length && !strncmp(fields[i][0], field, length))
			return fields[i][1];
	return NULL;
}

int choice_check_template(const char *text, const char **ret_wrong)
{
	static const struct of nothing = { .cgroup = "", .who = &nobody };
	size_t length;

	if (!*text) {
		*ret_wrong = "must not be empty";
		return -EINVAL;
	}
	for (; (text = strchr(text, '{')); text += length) {
		text++;
		length = strcspn(text, "}");
		if (!text[length] || !value_of(text, length, &nothing)) {
			*ret_wrong = "may have {unit}, {container}, {pod}, {namespace}, {cgroup} "
				     "and {host}";
			return -EINVAL;
		}
	}
	return 0;
}

/* Returns false if a part is unknown, because half a name would name another service. */
static bool fill_in(const char *text, const struct of *of, char ret[SERVICE_MAX])
{
	size_t used = 0, length;
	const char *value;

	while (*text && used < SERVICE_MAX - 1) {
		if (*text != '{') {
			ret[used++] = *text++;
			continue;
		}
		length = strcspn(++text, "}");
		value = value_of(text, length, of);
		if (!*value)
			return false;
		text += length + 1;
		length = strnlen(value, SERVICE_MAX - 1 - used);
		memcpy(ret + used, value, length);
		used += length;
	}
	ret[used] = '\0';
	return used;
}

/* If no template can be filled in, there is no label, and readers of the profile use the path. */
static bool name_service(const struct agent_choice *choice, const struct of *of,
			 char ret[SERVICE_MAX])
{
	if (choice->service && fill_in(choice->service, of, ret))
		return true;
	return fill_in("{namespace}/{container}", of, ret) ||
	       fill_in("{namespace}/{pod}", of, ret) || fill_in("{container}", of, ret);
}

static int label_cgroup(const struct agent_choice *choice, struct profile *profile,
			const char *cgroup)
{
	const struct cgroup_identity *who = identities_find(choice->identities, cgroup);
	const struct of of = { .cgroup = cgroup, .host = profile->host.name, .who = who };
	char service[SERVICE_MAX];
	const bool of_pod = who->names.pod[0];

	if (name_service(choice, &of, service) &&
	    profile_add_label(profile, cgroup, "service.name", service))
		return -ENOMEM;
	if (profile_add_label(profile, cgroup, "k8s.namespace.name", who->names.namespace) ||
	    profile_add_label(profile, cgroup, "k8s.pod.name", who->names.pod) ||
	    profile_add_label(profile, cgroup, of_pod ? "k8s.container.name" : "container.name",
			      who->names.container))
		return -ENOMEM;
	return 0;
}

/* With a split for each process, those of one cgroup are neighbours. Label only the first. */
int choice_label(const struct agent_choice *choice, struct profile *profile)
{
	const struct of of_host = { .cgroup = "", .host = profile->host.name, .who = &nobody };
	const char *last = NULL, *cgroup;
	char service[SERVICE_MAX];
	size_t i;
	int ret = 0;

	if (name_service(choice, &of_host, service))
		ret = profile_add_label(profile, NULL, "service.name", service);
	for (i = 0; !ret && i < choice->nr_labels; i++)
		ret = profile_add_label(profile, NULL, choice->labels[i].key,
					choice->labels[i].value);
	for (i = 0; !ret && i < profile->nr_splits; i++) {
		cgroup = profile->splits[i].cgroup;
		if (!cgroup || !strcmp(cgroup, PROFILE_LEFT_OUT) || !compare_text(cgroup, last))
			continue;
		last = cgroup;
		ret = label_cgroup(choice, profile, cgroup);
	}
	return ret;
}
