/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_MODEL_H
#define BPFPROFIL_TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * What a live view knows: the profiles of its intervals added up, in rows of each kind. It does not
 * know where they come from.
 */
enum top_by { TOP_FUNCTIONS, TOP_OBJECTS, TOP_PROCESSES, TOP_CGROUPS, TOP_BYS };

/* The words of enum top_by, ended by NULL. */
extern const char *const top_by_words[];

/* Ticks at one place of a function. */
struct top_bin {
	uint64_t offset; /* in the object */
	uint64_t size;
	uint64_t ticks;
};

struct top_row {
	char *name; /* of the function, process or cgroup; an object's path */
	char *object; /* a function's object: its path, else NULL */
	const char *kind; /* an object's: its word, else NULL */
	int64_t pid; /* a process's; -1: of no single one */
	uint64_t offset; /* a function's, in its object */
	uint64_t size; /* likewise */
	uint64_t build; /* tells files apart that had one path */
	uint64_t ticks; /* in the last interval */
	uint64_t total; /* in all */
	double ns; /* of CPU time that they stand for, in the last interval */
	double total_ns; /* in all */
	struct top_bin *bins; /* a function's, in all: by size, then offset */
	size_t nr_bins;
	size_t bins_capacity;
};

/*
 * There are no more rows than TOP_ROWS_MAX. Beyond it those without a tick in the last interval go,
 * the smallest first, and their ticks are the others'; who comes again begins anew.
 */
enum { TOP_ROWS_MAX = 8192 };

/* Nor are there more bins of functions: ticks at further places are in none. */
enum { TOP_BINS_MAX = 1 << 20 };

struct top_table {
	struct top_row **rows; /* in no order */
	size_t nr;
	size_t capacity;
	void *tree; /* the same, by what they are */
	struct top_row others; /* the sum of those that went */
	uint64_t nr_others;
};

struct top_model {
	struct top_table tables[TOP_BYS];
	struct profile_account interval;
	struct profile_account overall;
	uint64_t interval_ns; /* how long it was */
	uint64_t overall_ns;
	double interval_cpu_ns; /* CPU time in it, as the scheduler gave it */
	double overall_cpu_ns;
	uint32_t cpus;
	uint64_t intervals;
	char *note; /* of the last interval: a sentence, or NULL */
	size_t rows_max;
	size_t nr_bins; /* of all functions */
	size_t bins_max;
};

void top_model_init(struct top_model *model);
void top_model_free(struct top_model *model);

/*
 * One more interval. The profile's functions are resolved; it stays the caller's. -ENOMEM: the
 * model is of no more use.
 */
int top_model_add(struct top_model *model, const struct profile *profile);

/* What tells files of one path apart. */
uint64_t top_build(const struct profile_object *object);

/* CPUs that so much CPU time within ns kept busy, as a number like 1.5. */
double top_busy_cpus(double cpu_ns, uint64_t ns);

#endif
