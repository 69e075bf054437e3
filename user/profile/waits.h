/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_WAITS_H
#define BPFPROFIL_PROFILE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/callers.h"

/*
 * The wall time of threads, with --waits. In each account, wall = cpu + runnable + stolen +
 * unaccounted + the sum of its classes, exactly.
 *
 * The tree shows where the threads waited. It is a tree of callers whose ticks are nanoseconds, and
 * each root has a class:
 *
 *     root (target, split, class, how the walk ended)
 *       main+0x1b
 *         fetch+0x44     2 waits, 1,500,000 ns      the place where the thread entered the kernel
 *
 * Without --callers all nodes are children of roots. For each target and class the tree has the
 * sums of the accounts.
 */

/*
 * Runnable time is in the tree below roots of this class. It is in no list of an account's classes.
 */
#define PROFILE_WAITS_RUNNABLE "runnable"

/*
 * A system call, or another reason to wait. The kernel had marked the thread as waiting for I/O, or
 * not.
 */
struct profile_wait_class {
	char *name;
	bool io;
};

/* count: waits that began in the profile. A wait that began before it adds to ns alone. */
struct profile_wait_sum {
	uint32_t class;
	uint64_t ns;
	uint64_t count;
};

/* The account of a target, or of one of its splits, by the names of struct profile_split. */
struct profile_wait_account {
	uint32_t target;
	int64_t pid; /* -1: none, or several */
	char *process;
	char *cgroup;
	uint64_t wall_ns;
	uint64_t cpu_ns; /* by the scheduler */
	uint64_t runnable_ns; /* ready, but another thread had the CPU */
	uint64_t stolen_ns; /* on the CPU, which a hypervisor or interrupts used */
	uint64_t unaccounted_ns; /* no program saw what the thread did */
	struct profile_wait_sum *sums; /* by class, ascending */
	size_t nr_sums;
};

struct profile_waits {
	struct profile_wait_class *classes; /* each once */
	size_t nr_classes;
	struct profile_wait_account *accounts;
	size_t nr_accounts;
	struct profile_callers tree;
};

/* Compares two classes like strcmp(). */
int profile_wait_class_compare(const void *left, const void *right);

/* The index of the class of runnable time; nr_classes: there is none. */
uint32_t profile_waits_runnable(const struct profile_waits *waits);

/* Folds the waits of a profile, whose targets and objects have their new indices. 0 or -ENOMEM. */
int profile_waits_fold(struct profile_waits *waits);

/* Checks a profile's waits, which must exist. name is the file's. -EBADMSG or -ENOMEM. */
int profile_waits_check(const struct profile *profile, const char *name, struct error *err);

#endif
