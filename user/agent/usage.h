/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_USAGE_H
#define BPFPROFIL_USAGE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/choice.h"
#include "host/targets/cgroups.h"
#include "profile/profile.h"

/*
 * CPU time of each cgroup since it was created, from its cpu.stat. The kernel counts it while no
 * agent runs. Only version 2 has this file. If a cgroup has ended, its time is still in the cgroup
 * above.
 */
#define USAGES_MAX 20000

struct usage {
	char *path; /* as in /proc/PID/cgroup */
	uint64_t id; /* a later cgroup may reuse the path */
	uint64_t ns; /* including all cgroups below it */
};

struct usages {
	struct usage *list; /* ascending by path */
	size_t nr;
	size_t room;
};

/*
 * Replaces the list. It is empty without version 2. It is also empty if any cgroup could not be
 * read, because that one would later look new, with all CPU time that it ever used.
 */
void usages_read(struct usages *usages, const struct cgroups *cgroups);

/*
 * Replaces the CPU times of a profile from session_times() by those that cgroups used between two
 * readings, less what the profile already has. Cgroups that the choice excludes count as one.
 * Returns 0 or -ENOMEM.
 */
int usages_spent(const struct usages *before, const struct usages *now,
		 const struct agent_choice *choice, struct profile *times);

void usages_free(struct usages *usages);

#endif
