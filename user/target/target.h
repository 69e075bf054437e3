/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TARGET_H
#define BPFPROFIL_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Whose ticks a session counts. A tick belongs to one target, so that targets add up: to that of
 * the process, where it is followed, else to the innermost cgroup's, else to the system.
 */
enum target_kind {
	TARGET_COMMAND, /* a child that is about to exec, from that exec on, and all descendants */
	TARGET_PID, /* a process with all its threads and descendants, those to come too */
	TARGET_CGROUP, /* whoever is in it or below at the tick */
	TARGET_SYSTEM, /* every process */
};

/* The strings are the caller's. */
struct target {
	enum target_kind kind;
	const char *name; /* in the profile: as the user knows it */
	pid_t pid; /* of TARGET_COMMAND and TARGET_PID */
	const pid_t *others; /* of TARGET_PID: more processes of the same target */
	size_t nr_others;
	bool no_children; /* of TARGET_PID: without its descendants */
	uint64_t cgroup; /* of TARGET_CGROUP: its id, which is its directory's inode number */
	const char *path; /* of TARGET_CGROUP: under its hierarchy's mount, from '/' on */
};

#endif
