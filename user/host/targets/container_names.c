// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/targets/container_names.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cgroup_parts.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/util.h"
#include "host/targets/runtimes.h"
#include "host/targets/targets_impl.h"

/* Limit of entries to read of a folder; a host has some hundred pods. */
#define ENTRIES_MAX 20000

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789-."

/* Copies a name of that length; false: it is invalid, and *ret is "". */
static bool copy_name(const char *text, size_t length, char ret[KUBELET_NAME_MAX])
{
	ret[0] = '\0';
	if (!length || length >= KUBELET_NAME_MAX || strspn(text, NAME_LETTERS) < length)
		return false;
	snprintf(ret, KUBELET_NAME_MAX, "%.*s", (int)length, text);
	return true;
}

/* Calls visit() until it returns true. False: there is no such folder. */
static bool each_entry(const char *path, bool (*visit)(const char *name, void *context),
		       void *context)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	unsigned int left = ENTRIES_MAX;

	if (!folder)
		return errno != ENOENT;
	while (left-- && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && visit(entry->d_name, context))
			break;
	closedir(folder);
	return true;
}

struct search {
	const struct cgroup_parts *parts;
	struct kubelet_names *names;
	char folder[NAME_MAX + 1]; /* the pod's */
	char prefix[2 * KUBELET_NAME_MAX + 2]; /* of its containers' names */
	unsigned int nr; /* number of its containers' folders */
	bool named; /* the container has a log */
};

/* Parses NAMESPACE_POD_UID; neither name can contain an underscore. */
static bool visit_pod(const char *name, void *context)
{
	struct search *search = context;
	char end[POD_UID_LENGTH + 2];
	const char *pod;

	snprintf(end, sizeof(end), "_%s", search->parts->pod);
	pod = strchr(name, '_');
	if (!pod || !text_ends_in(name, end) || name + strlen(name) - strlen(end) <= pod)
		return false;
	pod++;
	if (!copy_name(name, (size_t)(pod - 1 - name), search->names->namespace) ||
	    !copy_name(pod, strlen(pod) - strlen(end), search->names->pod)) {
		search->names->namespace[0] = '\0';
		return false;
	}
	snprintf(search->folder, sizeof(search->folder), "%s", name);
	return true;
}

/* Parses POD_NAMESPACE_CONTAINER-ID.log. */
static bool visit_log(const char *name, void *context)
{
	struct search *search = context;
	char end[CONTAINER_ID_LENGTH + sizeof("-.log")];
	size_t prefix = strlen(search->prefix);

	if (strncmp(name, search->prefix, prefix) != 0)
		return false;
	snprintf(end, sizeof(end), "-%s.log", search->parts->container);
	search->named = text_ends_in(name, end) && strlen(name) > prefix + strlen(end) &&
			copy_name(name + prefix, strlen(name) - prefix - strlen(end),
				  search->names->container);
	return search->named;
}

static bool visit_container(const char *name, void *context)
{
	struct search *search = context;

	search->nr++;
	return !copy_name(name, strlen(name), search->names->container) || search->nr > 1;
}

/*
 * For a kubelet that makes no links to logs. With links, this would be wrong: a container's folder
 * exists before it begins, while only the pod's sandbox runs.
 */
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
	if (each_entry(path, visit_log, &search))
		return search.named;
	return find_only_container(logs, &search);
}

#define ANSWERS_MAX 8192
/* A runtime's command takes some 50 ms of CPU time, and a new container is not listed at once. */
static const unsigned int
	rest_ms[] = { [CONTAINERS_FOR_A_WHILE] = 2000, [CONTAINERS_FOR_GOOD] = 60000 };

/* Answers of runtimes: "ID NAME", and "NAME PATH" if only the process identifies the cgroup. */
struct answers {
	struct names ids;
	struct names places;
};

struct container_names {
	enum container_asking how;
	struct answers latest; /* the thread's, until all runtimes were asked; only for good */
	pthread_mutex_t lock; /* protects everything below */
	pthread_cond_t changed;
	struct answers answers;
	unsigned int asked, answered; /* numbers of requests */
	unsigned int nr_answers;
	bool closing; /* the thread frees it */
};

static void answers_free(struct answers *answers)
{
	names_free(&answers->ids);
	names_free(&answers->places);
}

static void names_close(struct container_names *names)
{
	answers_free(&names->latest);
	answers_free(&names->answers);
	pthread_cond_destroy(&names->changed);
	pthread_mutex_destroy(&names->lock);
	free(names);
}

/* --- the thread --- */

static void wait_ms(struct container_names *names, unsigned int ms,
		    bool (*is_over)(const struct container_names *names))
{
	struct timespec until = timespec_of(monotonic_ns() + ms * UINT64_C(1000000));

	while (!is_over(names))
		if (pthread_cond_timedwait(&names->changed, &names->lock, &until))
			return;
}

static bool is_closing(const struct container_names *names)
{
	return names->closing;
}

static bool is_answered(const struct container_names *names)
{
	return names->asked == names->answered;
}

static void add_places(struct names *places, const struct cgroups *cgroups, const char *line)
{
	struct runtime_container container = { 0 };
	cleanup_places struct cgroup_places found = { 0 };
	char name[CONTAINER_NAME_MAX];
	size_t i;

	if (sscanf(line, "%255s %d", name, &container.pid) != 2 || container.pid <= 0 ||
	    !container_name_is_valid(name) || container_id_is_full(name))
		return;
	container.id = name;
	if (container_places_of(cgroups, &container, &found))
		return;
	for (i = 0; i < found.nr; i++) {
		cleanup_free char *text = format_text("%s %s", name, found.list[i].path);

		if (text)
			names_add(places, text, strlen(text));
	}
}

static void find_places(struct names *places, const struct names *lines)
{
	struct cgroups cgroups;
	size_t i;

	if (!lines->nr || cgroups_read(&cgroups, "/proc", NULL))
		return;
	for (i = 0; i < lines->nr; i++)
		add_places(places, &cgroups, lines->list[i]);
	cgroups_free(&cgroups);
}

/* Moves new names; the latest come last. */
static void move_names(struct names *to, struct names *from)
{
	size_t i, j;

	for (i = 0; i < from->nr && to->nr < ANSWERS_MAX; i++) {
		for (j = 0; j < to->nr && strcmp(to->list[j], from->list[i]) != 0;)
			j++;
		if (j == to->nr && names_add(to, from->list[i], strlen(from->list[i])))
			break;
	}
	names_free(from);
}

/*
 * Asks a runtime. After a failure its names are unknown; a later request may succeed. False: there
 * is no such runtime.
 */
static bool ask_runtime_names(struct container_names *names, size_t number)
{
	const bool for_good = names->how == CONTAINERS_FOR_GOOD;
	struct answers fresh = { 0 }, *to = for_good ? &names->latest : &names->answers;
	cleanup_names struct names processes = { 0 };
	bool ret = runtime_list(number, &fresh.ids, for_good ? NULL : &processes);

	find_places(&fresh.places, &processes);
	LOCK_SCOPE(&names->lock);
	move_names(&to->ids, &fresh.ids);
	move_names(&to->places, &fresh.places);
	return ret && !names->closing;
}

static void finish_answer(struct container_names *names, unsigned int question)
{
	if (names->how == CONTAINERS_FOR_GOOD) {
		answers_free(&names->answers);
		names->answers = names->latest;
		names->latest = (struct answers){ 0 };
	}
	names->answered = question;
	names->nr_answers++;
	pthread_cond_broadcast(&names->changed);
}

static void *ask(void *context)
{
	struct container_names *names = context;
	unsigned int question;
	size_t number;

	pthread_mutex_lock(&names->lock);
	while (!names->closing) {
		if (is_answered(names)) {
			pthread_cond_wait(&names->changed, &names->lock);
			continue;
		}
		question = names->asked;
		pthread_mutex_unlock(&names->lock);
		for (number = 0; ask_runtime_names(names, number);)
			number++;
		pthread_mutex_lock(&names->lock);
		finish_answer(names, question);
		wait_ms(names, rest_ms[names->how], is_closing);
	}
	pthread_mutex_unlock(&names->lock);
	names_close(names);
	return NULL;
}

/* --- the owner --- */

static int start_thread(struct container_names *names)
{
	sigset_t all, before;
	pthread_t thread;
	int ret;

	/* Signals are for the thread that samples. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&thread, NULL, ask, names);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!ret)
		pthread_detach(thread);
	return -ret;
}

int container_names_open(enum container_asking how, struct container_names **result,
			 struct error *err)
{
	struct container_names *names = calloc(1, sizeof(*names));
	int ret;

	*result = NULL;
	if (!names)
		return error_no_memory(err, "containers");
	pthread_mutex_init(&names->lock, NULL);
	cond_init_monotonic(&names->changed);
	names->how = how;
	names->asked = how == CONTAINERS_FOR_A_WHILE;
	ret = start_thread(names);
	if (ret) {
		names_close(names);
		return error_errno(err, ret, "containers: thread");
	}
	*result = names;
	return 0;
}

void container_names_ask(struct container_names *names)
{
	LOCK_SCOPE(&names->lock);
	names->asked++;
	pthread_cond_broadcast(&names->changed);
}

unsigned int container_names_answers(struct container_names *names)
{
	LOCK_SCOPE(&names->lock);

	return names->nr_answers;
}

void container_names_wait(struct container_names *names, unsigned int ms)
{
	LOCK_SCOPE(&names->lock);
	wait_ms(names, ms, is_answered);
}

static const char *find_id(const struct names *ids, const char *id)
{
	size_t i;

	for (i = ids->nr; i-- > 0;)
		if (!strncmp(ids->list[i], id, CONTAINER_ID_LENGTH) &&
		    ids->list[i][CONTAINER_ID_LENGTH] == ' ' &&
		    container_name_is_valid(ids->list[i] + CONTAINER_ID_LENGTH + 1))
			return ids->list[i] + CONTAINER_ID_LENGTH + 1;
	return NULL;
}

/*
 * Finds the innermost container, which has the longest path; *length receives the length of its
 * name.
 */
static const char *find_place(const struct names *places, const char *cgroup, size_t *length)
{
	const char *found = NULL, *path;
	size_t i, longest = 0, of;

	for (i = 0; i < places->nr; i++) {
		path = strchr(places->list[i], ' ') + 1;
		of = strlen(path);
		if (of <= longest || strncmp(cgroup, path, of) != 0 ||
		    (cgroup[of] && cgroup[of] != '/'))
			continue;
		longest = of;
		found = places->list[i];
		*length = (size_t)(path - 1 - found);
	}
	return found;
}

bool container_names_find(struct container_names *names, const char *cgroup,
			  char result[CONTAINER_NAME_MAX])
{
	struct cgroup_parts parts;
	const char *name = NULL;
	size_t length = 0;
	bool has_id;

	cgroup_parts_find(cgroup, &parts);
	/*
	 * A user may choose an id that equals any container's. Root's runtimes have no such
	 * containers.
	 */
	has_id = parts.container[0] && !(parts.is_users && !geteuid());
	if (!has_id && container_name_is_valid(parts.name)) {
		snprintf(result, CONTAINER_NAME_MAX, "%s", parts.name);
		return true;
	}
	pthread_mutex_lock(&names->lock);
	if (has_id)
		name = find_id(&names->answers.ids, parts.container);
	if (name)
		length = strlen(name);
	else
		name = find_place(&names->answers.places, cgroup, &length);
	if (length >= CONTAINER_NAME_MAX)
		name = NULL;
	if (name)
		snprintf(result, CONTAINER_NAME_MAX, "%.*s", (int)length, name);
	pthread_mutex_unlock(&names->lock);
	/*
	 * docker's names of a pod's containers are composed of names that kubelet's folders have.
	 */
	return name ||
	       (has_id && !parts.pod[0] && container_files_find("", parts.container, result));
}

void container_names_close(struct container_names *names)
{
	if (!names)
		return;
	LOCK_SCOPE(&names->lock);
	names->closing = true;
	pthread_cond_broadcast(&names->changed);
}
