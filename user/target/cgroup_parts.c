// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "target/cgroup_parts.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define UID_DIGITS "0123456789abcdef-_"
#define STATIC_UID_LENGTH 32 /* the uid is a hash of the pod's file */

/* "pod" and a uid, whose - a systemd slice writes as _. */
static void find_pod(const char *directory, char uid[POD_UID_LENGTH + 1])
{
	const char *at = directory;
	size_t length, i;

	while ((at = strstr(at, "pod"))) {
		at += strlen("pod");
		length = strspn(at, UID_DIGITS);
		if (length != POD_UID_LENGTH && length != STATIC_UID_LENGTH)
			continue;
		snprintf(uid, POD_UID_LENGTH + 1, "%.*s", (int)length, at);
		for (i = 0; uid[i]; i++)
			if (uid[i] == '_')
				uid[i] = '-';
	}
}

static bool is_unit_directory(const char *directory)
{
	static const char *const suffixes[] = { ".service", ".scope", ".slice" };
	size_t length = strlen(directory), i, of;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		of = strlen(suffixes[i]);
		if (length > of && !strcmp(directory + length - of, suffixes[i]))
			return true;
	}
	return false;
}

void cgroup_parts_find(const char *cgroup, struct cgroup_parts *result)
{
	char directory[256];
	const char *at, *id;
	size_t length;

	*result = (struct cgroup_parts){ "", "", "" };
	for (at = cgroup; at && *at; at += length) {
		at += strspn(at, "/");
		length = strcspn(at, "/");
		if (length >= sizeof(directory))
			continue;
		snprintf(directory, sizeof(directory), "%.*s", (int)length, at);
		id = container_id_in(directory);
		if (id)
			snprintf(result->container, sizeof(result->container), "%.64s", id);
		if (!result->pod[0])
			find_pod(directory, result->pod);
		if (is_unit_directory(directory))
			snprintf(result->unit, sizeof(result->unit), "%s", directory);
	}
}
