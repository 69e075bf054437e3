// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/identity.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/util.h"
#include "base/output.h"
#include "host/targets/container_names.h"

#define CGROUPS_MAX 8192
#define PROFILES_KEPT 10 /* forget a cgroup after so many profiles without it, */
#define PROFILES_KEPT_FULL 1 /* or after so many if there is no room */
/*
 * Kubelet creates a pod's folder before its containers, and the link to a log shortly after one has
 * begun.
 */
#define PATIENCE_NS (10 * UINT64_C(1000000000))
#define TRIES_MAX 2 /* runtimes' answers without a name, after which a container has none */

struct entry {
	char *cgroup;
	struct cgroup_identity identity;
	uint64_t since; /* when it was first looked up */
	unsigned int interval; /* the last interval that needed it */
	uint64_t again_ns; /* when to look it up again, even without a profile; 0: never */
	bool asked; /* runtimes were asked for its name, */
	unsigned int answers; /* and their number of answers at that time */
};

struct identities {
	char *logs;
	struct entry **list; /* ascending by cgroup */
	size_t nr;
	size_t room;
	unsigned int interval;
	uint64_t patience_ns;
	int again_fd; /* a timer: the first entry with again_ns is due, */
	uint64_t again_ns; /* at this time; 0: none */
	struct container_names *containers;
	struct cgroup_identity spare; /* for a cgroup that found no room */
	atomic_bool lacks_logs;
	bool said_full;
};

static bool find_name(struct identities *identities, const char *cgroup,
		      struct cgroup_identity *identity)
{
	char name[CONTAINER_NAME_MAX];
	size_t length;

	if (!container_names_find(identities->containers, cgroup, name))
		return false;
	length = strlen(name);
	if (length >= KUBELET_NAME_MAX)
		return false;
	memcpy(identity->names.container, name, length + 1);
	return true;
}

/* Returns true if asking again would be useless. */
static bool find_runtimes_name(struct identities *identities, struct entry *entry)
{
	unsigned int answers = container_names_answers(identities->containers);

	if (!entry->asked)
		entry->answers = answers;
	entry->asked = true;
	if (find_name(identities, entry->cgroup, &entry->identity) ||
	    answers - entry->answers >= TRIES_MAX)
		return true;
	container_names_ask(identities->containers);
	return false;
}

/* Finds names that another cgroup of the pod got while the pod's folder existed; NULL: none. */
static const struct kubelet_names *find_pod(const struct identities *identities, const char *uid)
{
	size_t i;

	for (i = 0; i < identities->nr; i++)
		if (identities->list[i]->identity.names.pod[0] &&
		    !strcmp(identities->list[i]->identity.parts.pod, uid))
			return &identities->list[i]->identity.names;
	return NULL;
}

/*
 * A pod's sandbox never has a name, nor does a pod whose folder is not on this host. A pod that
 * ends loses its folder, but keeps the names that were found.
 */
static void find_kubelets_names(struct identities *identities, struct entry *entry)
{
	struct cgroup_identity *identity = &entry->identity;
	const struct kubelet_names *of_pod;
	struct kubelet_names found;

	identity->complete = kubelet_names_find(identities->logs, &identity->parts, &found) ||
			     monotonic_ns() - entry->since >= identities->patience_ns;
	if (found.pod[0]) {
		identity->names = found;
	} else if (!identity->names.pod[0]) {
		of_pod = find_pod(identities, identity->parts.pod);
		if (of_pod) {
			identity->names = *of_pod;
			identity->names.container[0] = '\0';
		}
	}
	identity->pod_known = identity->complete || identity->names.pod[0];
}

static void look(struct identities *identities, struct entry *entry)
{
	struct cgroup_identity *identity = &entry->identity;

	if (identity->complete)
		return;
	if (identity->parts.pod[0]) {
		find_kubelets_names(identities, entry);
		return;
	}
	identity->pod_known = true;
	identity->complete = !identity->parts.name[0] &&
			     (!identity->parts.container[0] || identity->parts.is_users);
	if (!identity->complete)
		identity->complete = find_runtimes_name(identities, entry);
}

static size_t place_of(const struct identities *identities, const char *cgroup)
{
	return BISECT(i, identities->nr, strcmp(identities->list[i]->cgroup, cgroup) < 0);
}

static struct entry *entry_new(const char *cgroup)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->cgroup = strdup(cgroup);
	if (!entry->cgroup) {
		free(entry);
		return NULL;
	}
	entry->since = monotonic_ns();
	cgroup_parts_find(cgroup, &entry->identity.parts);
	return entry;
}

static void entry_free(struct entry *entry)
{
	free(entry->cgroup);
	free(entry);
}

static void forget(struct identities *identities, unsigned int profiles_kept)
{
	size_t from, to = 0;

	for (from = 0; from < identities->nr; from++) {
		if (identities->interval - identities->list[from]->interval > profiles_kept)
			entry_free(identities->list[from]);
		else
			identities->list[to++] = identities->list[from];
	}
	identities->nr = to;
}

static bool has_room(struct identities *identities)
{
	if (identities->nr >= CGROUPS_MAX)
		forget(identities, PROFILES_KEPT_FULL);
	if (identities->nr < CGROUPS_MAX)
		return true;
	if (!identities->said_full)
		print_message(
			NULL,
			"agent: more than %d cgroups: rules do not wait for the names of the others",
			CGROUPS_MAX);
	identities->said_full = true;
	return false;
}

/* Sets the timer, unless it is due earlier. */
static void expect(struct identities *identities, uint64_t due_ns)
{
	const struct itimerspec when = { .it_value = timespec_of(due_ns) };

	if (identities->again_ns && identities->again_ns <= due_ns)
		return;
	identities->again_ns = due_ns;
	timerfd_settime(identities->again_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* The link appears a second after the first look, or on a busy node after two, four or eight. */
static void expect_again(struct identities *identities, struct entry *entry, uint64_t wait_ns)
{
	entry->again_ns = wait_ns < PATIENCE_NS ? entry->since + wait_ns : 0;
	if (entry->again_ns)
		expect(identities, entry->again_ns);
}

/* A container may lack this folder if nobody mounted it. */
static void look_for_logs(struct identities *identities)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/pods", identities->logs);
	atomic_store(&identities->lacks_logs, access(path, F_OK) && errno == ENOENT);
}

static int add(struct identities *identities, const char *cgroup)
{
	struct entry *entry;
	size_t at;

	if (!has_room(identities) || GROW(identities->list, identities->room, identities->nr + 1))
		return -ENOMEM;
	entry = entry_new(cgroup);
	if (!entry)
		return -ENOMEM;
	at = place_of(identities, cgroup);
	memmove(&identities->list[at + 1], &identities->list[at],
		(identities->nr - at) * sizeof(entry));
	identities->list[at] = entry;
	identities->nr++;
	look(identities, entry);
	if (entry->identity.parts.pod[0])
		look_for_logs(identities);
	if (!entry->identity.complete && entry->identity.parts.pod[0])
		expect_again(identities, entry, IDENTITIES_AGAIN_NS);
	return 0;
}

static bool is_at(const struct identities *identities, size_t at, const char *cgroup)
{
	return at < identities->nr && !strcmp(identities->list[at]->cgroup, cgroup);
}

/* Rules apply to a cgroup without an entry too, with the names known at once. */
static const struct cgroup_identity *look_once(struct identities *identities, const char *cgroup)
{
	struct cgroup_identity *spare = &identities->spare;

	*spare = (struct cgroup_identity){ .pod_known = true, .complete = true };
	cgroup_parts_find(cgroup, &spare->parts);
	if (spare->parts.pod[0])
		kubelet_names_find(identities->logs, &spare->parts, &spare->names);
	else if (spare->parts.container[0] || spare->parts.name[0])
		find_name(identities, cgroup, spare);
	return spare;
}

const struct cgroup_identity *identities_find(struct identities *identities, const char *cgroup)
{
	size_t at = place_of(identities, cgroup);

	if (!is_at(identities, at, cgroup)) {
		if (add(identities, cgroup))
			return look_once(identities, cgroup);
		at = place_of(identities, cgroup);
	} else {
		look(identities, identities->list[at]);
	}
	identities->list[at]->interval = identities->interval;
	return &identities->list[at]->identity;
}

bool identities_lack_logs(const struct identities *identities)
{
	return atomic_load(&identities->lacks_logs);
}

int identities_fd(const struct identities *identities)
{
	return identities->again_fd;
}

void identities_look_again(struct identities *identities)
{
	uint64_t now = monotonic_ns(), expired;
	struct entry *entry;
	size_t i;

	if (read(identities->again_fd, &expired, sizeof(expired)) != sizeof(expired))
		return;
	identities->again_ns = 0;
	for (i = 0; i < identities->nr; i++) {
		entry = identities->list[i];
		if (!entry->again_ns)
			continue;
		if (now < entry->again_ns) {
			expect(identities, entry->again_ns);
			continue;
		}
		look(identities, entry);
		if (entry->identity.complete)
			entry->again_ns = 0;
		else
			expect_again(identities, entry, 2 * (entry->again_ns - entry->since));
	}
}

void identities_set_patience(struct identities *identities, uint64_t ns)
{
	identities->patience_ns = ns;
}

void identities_end_interval(struct identities *identities)
{
	identities->interval++;
	forget(identities, PROFILES_KEPT);
}

int identities_open(const char *logs, struct identities **result, struct error *err)
{
	struct identities *identities = *result = calloc(1, sizeof(*identities));

	if (!identities)
		return error_errno(err, -ENOMEM, "agent");
	identities->patience_ns = PATIENCE_NS;
	identities->again_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (identities->again_fd < 0)
		return error_errno(err, -errno, "agent: timer");
	identities->logs = strdup(logs);
	if (!identities->logs)
		return error_errno(err, -ENOMEM, "agent");
	return container_names_open(CONTAINERS_FOR_GOOD, &identities->containers, err);
}

void identities_close(struct identities *identities)
{
	size_t i;

	if (!identities)
		return;
	container_names_close(identities->containers);
	close_fd(&identities->again_fd);
	for (i = 0; i < identities->nr; i++)
		entry_free(identities->list[i]);
	free(identities->list);
	free(identities->logs);
	free(identities);
}
