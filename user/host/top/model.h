/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_MODEL_H
#define BPFPROFIL_TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * The data of a live view: the sum of the profiles of its intervals, as rows of each kind. It does
 * not know where the profiles come from.
 */
enum top_by { TOP_FUNCTIONS, TOP_OBJECTS, TOP_PROCESSES, TOP_CGROUPS, TOP_COMMS, TOP_BYS };

/* A view that the user can name: the processes, split into threads. */
enum { TOP_THREADS = TOP_BYS };

/* Rows of cgroups, and of processes by name alone, have only a name. */
static inline bool top_has_place(enum top_by by)
{
	return by != TOP_CGROUPS && by != TOP_COMMS;
}

/* The words of enum top_by and TOP_THREADS, terminated by NULL. */
extern const char *const top_by_words[];

struct top_row {
	char *name; /* for an object or cgroup: its path */
	char *called; /* for a cgroup: its container's name, once it is known; else NULL */
	char *object; /* for a function: its object's path, else NULL */
	const char *kind; /* for an object: the word for its kind, else NULL */
	int64_t pid; /* for a process; -1: no single one */
	uint64_t offset; /* for a function: its offset in the object; 0 for code without names */
	uint64_t build; /* identifies the file; several may have the same path */
	uint64_t ticks; /* in the last interval */
	uint64_t total; /* in all intervals */
	double ns; /* CPU time of these ticks in the last interval */
	double total_ns; /* in all intervals */
	double inclusive_ns; /* of functions and objects: including called functions */
	double total_inclusive_ns;
};

/*
 * There are at most TOP_ROWS_MAX rows. Beyond that, the smallest rows without a tick in the last
 * interval are removed, and `others` gets their ticks. A row that comes back starts at zero.
 */
enum { TOP_ROWS_MAX = 8192 };

struct top_table {
	struct top_row **rows; /* in no order */
	size_t nr;
	size_t capacity;
	void *tree; /* the same rows, by identity */
	struct top_row others; /* the sum of removed rows */
	uint64_t nr_others;
};

struct top_model {
	struct top_table tables[TOP_BYS];
	struct profile_account interval;
	struct profile_account overall;
	uint64_t interval_ns; /* length of the last interval */
	uint64_t overall_ns;
	double interval_cpu_ns; /* CPU time in it, from the scheduler */
	double overall_cpu_ns;
	uint32_t cpus;
	uint64_t intervals;
	char *note; /* of the last interval: a sentence, or NULL */
	size_t rows_max;
};

void top_model_init(struct top_model *model);
void top_model_free(struct top_model *model);

/*
 * Adds an interval. The profile's functions are resolved; the caller keeps the profile. After
 * -ENOMEM the model cannot be used any more.
 */
int top_model_add(struct top_model *model, const struct profile *profile);

/* A number that distinguishes files with the same path. */
uint64_t top_build(const struct profile_object *object);

/* Where a function begins. 0: it is all code of an object without names, which is one row. */
uint64_t top_offset(const struct profile_object *object, const struct profile_function *function);

/* How many CPUs this CPU time kept busy within ns, for instance 1.5. */
double top_busy_cpus(double cpu_ns, uint64_t ns);

#endif
