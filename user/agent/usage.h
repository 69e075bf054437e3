/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_USAGE_H
#define BPFPROFIL_USAGE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/choice.h"
#include "host/targets/cgroups.h"
#include "profile/profile.h"

/*
 * What each cgroup has spent since it was made, by its cpu.stat: the kernel keeps that account while no
 * agent runs. Only version 2 has it, and a cgroup that has ended does not: what it spent since is then in
 * the cgroup above.
 */
#define USAGES_MAX 20000

struct usage {
	char *path; /* as in /proc/PID/cgroup */
	uint64_t id; /* another cgroup may have had the path before */
	uint64_t ns; /* with all cgroups below it */
};

struct usages {
	struct usage *list; /* ascending by path */
	size_t nr;
	size_t room;
};

/*
 * Replaces what was read before. Where there is no version 2 there are none, and none if one of them could
 * not be read: later it would look like a new one, with all that it has ever spent.
 */
void usages_read(struct usages *usages, const struct cgroups *cgroups);

/*
 * Replaces the CPU times in a profile, as session_times() makes it, by what cgroups spent between two
 * readings and is not in that profile. Cgroups that the choice leaves out are one. Returns 0 or -ENOMEM.
 */
int usages_spent(const struct usages *before, const struct usages *now,
		 const struct agent_choice *choice, struct profile *times);

void usages_free(struct usages *usages);

#endif
