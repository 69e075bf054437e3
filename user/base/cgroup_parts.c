// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/cgroup_parts.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define DIGITS "0123456789abcdef"
#define MONITOR "conmon"
#define SCOPE ".scope"

bool container_id_is_prefix(const char *text)
{
	size_t length = strlen(text);

	return length && length <= CONTAINER_ID_LENGTH && strspn(text, DIGITS) == length;
}

bool container_id_is_full(const char *id)
{
	return strlen(id) == CONTAINER_ID_LENGTH && container_id_is_prefix(id);
}

/* The length without ".scope". */
static size_t bare_length(const char *directory)
{
	return strlen(directory) - (text_ends_in(directory, SCOPE) ? strlen(SCOPE) : 0);
}

/* Whether this may come before an id: nothing, or words that end in - or : */
static bool may_precede(const char *directory, size_t length)
{
	size_t monitor = strlen(MONITOR);

	if (!length)
		return true;
	length--;
	if (!length || (directory[length] != '-' && directory[length] != ':'))
		return false;
	return length < monitor || strncmp(directory + length - monitor, MONITOR, monitor) != 0;
}

const char *container_id_in(const char *directory)
{
	size_t length = bare_length(directory), at = length - CONTAINER_ID_LENGTH;

	if (length < CONTAINER_ID_LENGTH || strspn(directory + at, DIGITS) < CONTAINER_ID_LENGTH)
		return NULL;
	return may_precede(directory, at) ? directory + at : NULL;
}

const char *container_name_in(const char *directory)
{
	static const char lxc[] = "lxc.payload.";

	return strncmp(directory, lxc, sizeof(lxc) - 1) ? NULL : directory + sizeof(lxc) - 1;
}

bool container_id_names(const char *id, const char *directory)
{
	size_t length = bare_length(directory), wanted = strlen(id);

	if (!wanted || length < wanted)
		return false;
	return !strncmp(directory + length - wanted, id, wanted) &&
	       may_precede(directory, length - wanted);
}

const char *container_name_bare(const char *typed)
{
	size_t runtime = strspn(typed, "abcdefghijklmnopqrstuvwxyz-");

	return runtime && !strncmp(typed + runtime, "://", 3) ? typed + runtime + 3 : typed;
}

bool container_name_is_valid(const char *name)
{
	static const char first[] =
		"0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char rest[] =
		"0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-";

	return *name && strchr(first, *name) && !name[strspn(name, rest)];
}

#define DIGITS "0123456789abcdef"
#define UID_DIGITS DIGITS "-_"
#define STATIC_UID_LENGTH 32 /* the uid is a hash of the pod's file */

/*
 * Returns the text after the word, if the word is at the beginning or after a dash, and one of
 * `ends` follows.
 */
static const char *find_word(const char *text, const char *word, const char *ends)
{
	const char *at = text;
	size_t length = strlen(word);

	for (; (at = strstr(at, word)); at += length)
		if ((at == text || at[-1] == '-') && (!at[length] || strchr(ends, at[length])))
			return at + length;
	return NULL;
}

/*
 * Matches kubepods, kubepods.slice, kubepods-burstable.slice, and kubelet-kubepods.slice in kind.
 * With cgroupfs under systemd the name includes the slice: kubepods-podUID.slice:cri-containerd:ID.
 */
static bool is_of_kubelet(const char *directory)
{
	return find_word(directory, "kubepods", "-.");
}

/* Finds "pod" and a uid, in which a systemd slice has _ instead of -. */
static void find_pod(const char *directory, char uid[POD_UID_LENGTH + 1])
{
	const char *at = find_word(directory, "pod", DIGITS);
	size_t length = at ? strspn(at, UID_DIGITS) : 0, i;

	if (length != POD_UID_LENGTH && length != STATIC_UID_LENGTH)
		return;
	if (at[length] && strncmp(at + length, ".slice", strlen(".slice")) != 0)
		return;
	snprintf(uid, POD_UID_LENGTH + 1, "%.*s", (int)length, at);
	for (i = 0; uid[i]; i++)
		if (uid[i] == '_')
			uid[i] = '-';
}

/* systemd delegates user@UID.service to that user, with everything below. */
static bool is_given_to_user(const char *directory)
{
	return !strncmp(directory, "user@", strlen("user@")) && strstr(directory, ".service");
}

static bool is_unit_directory(const char *directory)
{
	static const char *const suffixes[] = { ".service", ".scope", ".slice" };
	size_t i;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (text_ends_in(directory, suffixes[i]))
			return true;
	return false;
}

/* Owners of the directories seen so far. */
struct ancestry {
	bool of_kubelet;
	bool of_user;
};

static void look_at(const char *directory, struct ancestry *ancestry, struct cgroup_parts *result)
{
	const char *id = container_id_in(directory), *name = container_name_in(directory);

	ancestry->of_user = ancestry->of_user || is_given_to_user(directory);
	ancestry->of_kubelet = ancestry->of_kubelet || is_of_kubelet(directory);
	/* A user in a container cannot claim the id of another container. */
	if (id && (!ancestry->of_user || result->is_users || !result->container[0])) {
		snprintf(result->container, sizeof(result->container), "%.64s", id);
		result->is_users = ancestry->of_user;
	}
	/* Root in a container may give any name to a directory inside it. */
	if (name && !ancestry->of_user && !result->name[0] && !result->container[0])
		snprintf(result->name, sizeof(result->name), "%s", name);
	if (ancestry->of_kubelet && !ancestry->of_user && !result->pod[0])
		find_pod(directory, result->pod);
	if (is_unit_directory(directory))
		snprintf(result->unit, sizeof(result->unit), "%s", directory);
}

void cgroup_parts_find(const char *cgroup, struct cgroup_parts *result)
{
	char directory[256];
	struct ancestry ancestry = { false, false };
	const char *at;
	size_t length, nr = 0;

	*result = (struct cgroup_parts){ 0 };
	for (at = cgroup; at && *at; at += length) {
		at += strspn(at, "/");
		length = strcspn(at, "/");
		nr += length > 0;
		if (length >= sizeof(directory))
			continue;
		snprintf(directory, sizeof(directory), "%.*s", (int)length, at);
		look_at(directory, &ancestry, result);
	}
	if (nr >= CGROUP_PATH_PARTS || (size_t)(at - cgroup) >= CGROUP_PATH_BYTES) {
		result->is_users = result->container[0];
		result->pod[0] = '\0';
		result->name[0] = '\0';
	}
}
