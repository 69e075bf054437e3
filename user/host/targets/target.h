/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TARGET_H
#define BPFPROFIL_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Whose ticks a session counts. Each tick belongs to exactly one target, so that targets add up: to
 * the target of the process if it is followed, else to that of the innermost cgroup, else to the
 * system.
 */
enum target_kind {
	TARGET_COMMAND, /* a child before its exec: from then on, with its descendants */
	TARGET_PID, /* a process with all threads and descendants, including future ones */
	TARGET_CGROUP, /* processes in it or below it at the tick */
	TARGET_SYSTEM, /* all processes */
};

/* The caller owns the strings. */
struct target {
	enum target_kind kind;
	const char *name; /* shown in the profile */
	pid_t pid; /* for TARGET_COMMAND and TARGET_PID */
	const pid_t *others; /* for TARGET_PID: more processes of the target */
	size_t nr_others;
	bool no_children; /* for TARGET_PID: ignore descendants */
	uint64_t cgroup; /* for TARGET_CGROUP: inode number of its directory */
	const char *path; /* for TARGET_CGROUP: relative to the mount, beginning with '/' */
};

#endif
