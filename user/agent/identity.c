// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/identity.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "target/names.h"
#include "target/runtimes.h"

#define CGROUPS_MAX 8192
#define PROFILES_KEPT 10 /* a cgroup that none of so many had is forgotten */
/* The runtimes are asked seldom, because each of their commands takes some 50 ms of CPU time. */
#define REST_SECONDS 60
#define TRIES_MAX 2 /* a container that they did not name so often has no name */

struct entry {
	char *cgroup;
	struct cgroup_identity identity;
	unsigned int turn; /* the turn in which it was last looked up */
	bool asked; /* the runtimes were asked for its name, */
	unsigned int answers; /* and had answered so often before that */
};

struct identities {
	char *logs;
	struct entry **list; /* ascending by cgroup */
	size_t nr;
	size_t room;
	unsigned int turn;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* protects what follows */
	pthread_cond_t more;
	struct names answer; /* the last one of the runtimes: "ID NAME" */
	unsigned int answers; /* how many there were */
	bool wanted;
	bool closing;
};

/* --- the thread that asks --- */

static void rest(struct identities *identities)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += REST_SECONDS;
	while (!identities->closing)
		if (pthread_cond_timedwait(&identities->more, &identities->lock, &until))
			return;
}

static void *ask(void *context)
{
	struct identities *identities = context;
	struct names answer, old;
	struct error ignored;

	pthread_mutex_lock(&identities->lock);
	while (!identities->closing) {
		if (!identities->wanted) {
			pthread_cond_wait(&identities->more, &identities->lock);
			continue;
		}
		identities->wanted = false;
		pthread_mutex_unlock(&identities->lock);
		answer = (struct names){ 0 };
		runtimes_identify(&answer, &ignored);
		pthread_mutex_lock(&identities->lock);
		old = identities->answer;
		identities->answer = answer;
		identities->answers++;
		names_free(&old);
		rest(identities);
	}
	pthread_mutex_unlock(&identities->lock);
	return NULL;
}

static const char *name_in(const struct names *answer, const char *id)
{
	size_t i;

	for (i = 0; i < answer->nr; i++)
		if (!strncmp(answer->list[i], id, CONTAINER_ID_LENGTH) &&
		    answer->list[i][CONTAINER_ID_LENGTH] == ' ')
			return answer->list[i] + CONTAINER_ID_LENGTH + 1;
	return NULL;
}

/*
 * A name is only taken if a runtime would have accepted it, because the output is that of another
 * program. Returns whether asking again would be useless.
 */
static bool take_name(struct identities *identities, struct entry *entry)
{
	char *to = entry->identity.names.container;
	const char *name;
	bool known = true;

	pthread_mutex_lock(&identities->lock);
	name = name_in(&identities->answer, entry->identity.parts.container);
	if (!entry->asked)
		entry->answers = identities->answers;
	entry->asked = true;
	if (name && strlen(name) < KUBELET_NAME_MAX && container_name_is_valid(name)) {
		snprintf(to, KUBELET_NAME_MAX, "%s", name);
	} else if (identities->answers - entry->answers < TRIES_MAX) {
		known = false;
		identities->wanted = true;
		pthread_cond_signal(&identities->more);
	}
	pthread_mutex_unlock(&identities->lock);
	return known;
}

/* --- what is known --- */

static void look(struct identities *identities, struct entry *entry)
{
	struct cgroup_identity *identity = &entry->identity;

	if (identity->complete)
		return;
	if (identity->parts.pod[0])
		identity->complete =
			kubelet_names_find(identities->logs, &identity->parts, &identity->names);
	else
		identity->complete = !identity->parts.container[0] || take_name(identities, entry);
}

static size_t place_of(const struct identities *identities, const char *cgroup)
{
	size_t low = 0, high = identities->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (strcmp(identities->list[middle]->cgroup, cgroup) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
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
	cgroup_parts_find(cgroup, &entry->identity.parts);
	return entry;
}

static void entry_free(struct entry *entry)
{
	free(entry->cgroup);
	free(entry);
}

static int add(struct identities *identities, size_t at, const char *cgroup)
{
	struct entry *entry;

	if (identities->nr >= CGROUPS_MAX ||
	    grow((void **)&identities->list, &identities->room, identities->nr + 1, sizeof(entry)))
		return -ENOMEM;
	entry = entry_new(cgroup);
	if (!entry)
		return -ENOMEM;
	memmove(&identities->list[at + 1], &identities->list[at],
		(identities->nr - at) * sizeof(entry));
	identities->list[at] = entry;
	identities->nr++;
	return 0;
}

const struct cgroup_identity *identities_find(struct identities *identities, const char *cgroup)
{
	size_t at = place_of(identities, cgroup);

	if ((at == identities->nr || strcmp(identities->list[at]->cgroup, cgroup) != 0) &&
	    add(identities, at, cgroup))
		return NULL;
	identities->list[at]->turn = identities->turn;
	look(identities, identities->list[at]);
	return &identities->list[at]->identity;
}

void identities_turn(struct identities *identities)
{
	size_t from, to = 0;

	identities->turn++;
	for (from = 0; from < identities->nr; from++) {
		if (identities->turn - identities->list[from]->turn > PROFILES_KEPT)
			entry_free(identities->list[from]);
		else
			identities->list[to++] = identities->list[from];
	}
	identities->nr = to;
}

/* --- its life --- */

int identities_open(const char *logs, struct identities **result, struct error *err)
{
	struct identities *identities = *result = calloc(1, sizeof(*identities));
	pthread_condattr_t attributes;
	sigset_t all, before;
	int ret;

	if (!identities)
		return error_errno(err, -ENOMEM, "agent");
	pthread_mutex_init(&identities->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&identities->more, &attributes);
	pthread_condattr_destroy(&attributes);
	identities->logs = strdup(logs);
	if (!identities->logs)
		return error_errno(err, -ENOMEM, "agent");
	/* Signals must reach the thread that samples, so this one blocks them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&identities->thread, NULL, ask, identities);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	identities->has_thread = !ret;
	return ret ? error_errno(err, -ret, "agent: thread") : 0;
}

void identities_close(struct identities *identities)
{
	size_t i;

	if (!identities)
		return;
	pthread_mutex_lock(&identities->lock);
	identities->closing = true;
	pthread_cond_signal(&identities->more);
	pthread_mutex_unlock(&identities->lock);
	if (identities->has_thread)
		pthread_join(identities->thread, NULL);
	for (i = 0; i < identities->nr; i++)
		entry_free(identities->list[i]);
	free(identities->list);
	free(identities->logs);
	names_free(&identities->answer);
	free(identities);
}
