/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RUNTIME_H
#define BPFPROFIL_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "shared/abi.h"
#include "shared/callers_abi.h"

/*
 * The CPU time of the processes, threads or cgroups that targets are split into. The programs add
 * it up in a map. The part of an entry that earlier profiles have is kept here, because an entry
 * cannot be read and cleared in one step. An entry whose threads have all ended is deleted once all
 * of it is in a profile.
 */
enum { SPLIT_NAME_BYTES = 16 };

struct runtime_split {
	struct spent_key key;
	uint64_t ns; /* since the last profile */
	uint64_t unbinned;
	uint64_t binned; /* while a profile is filled: its ticks in bins */
	uint64_t taken_ns; /* in all takes before */
	uint64_t taken_unbinned;
	uint32_t pass; /* the last pass that found a thread of it */
	bool gone; /* it is no longer in the map, because all its threads have ended */
	uint64_t gone_ns; /* its time when it was deleted there, which no profile has */
	uint64_t gone_unbinned;
	uint64_t sum; /* 0, or the id of the split that it is about to be added to */
	char name[SPLIT_NAME_BYTES]; /* of a process or thread */
};

struct runtime {
	struct runtime_split *list; /* ascending by target and split */
	size_t nr;
	size_t capacity;
	char (*sums)[SPLIT_NAME_BYTES]; /* by number: names by which some were added up */
	size_t nr_sums;
	size_t sum_capacity;
	uint32_t pass; /* the last pass over all threads: a split that it did not find has ended */
};

/* The map of accounts, and the counts of its elements: in all, and by owner. */
struct runtime_map {
	int fd;
	struct table_state *state;
	struct owner *owners;
};

/* Reads the map again. */
int runtime_read(struct runtime *runtime, int map_fd, struct error *err);

/*
 * Notes that a profile has what was read, and forgets entries that were idle in the pass with that
 * number.
 */
void runtime_mark_taken(struct runtime *runtime, const struct runtime_map *map, uint32_t pass);

/* Makes room in the map: moves entries that have ended to the list. */
void runtime_move_ended(struct runtime *runtime, const struct runtime_map *map);

/*
 * runtime_find_sums() chooses, for each entry that has ended, the split of its name that it is
 * added to. runtime_sum_of() returns that split, or 0 for those that stay. runtime_add_up() adds
 * them up, and returns how many it added.
 */
void runtime_find_sums(struct runtime *runtime);
uint64_t runtime_sum_of(const struct runtime *runtime, uint32_t target, uint64_t split);
size_t runtime_add_up(struct runtime *runtime);

/* NULL: the key has no entry. */
struct runtime_split *runtime_find(const struct runtime *runtime, const struct spent_key *key);

/* Whether any target has an account of the split. */
bool runtime_has_split(const struct runtime *runtime, uint32_t nr_targets, uint64_t id);

/* Whether the last pass found no thread of a split; false if it began after that pass. */
bool runtime_has_ended(const struct runtime *runtime, uint32_t nr_targets, uint64_t id);
bool runtime_split_ended(const struct runtime *runtime, const struct runtime_split *split);

void runtime_free(struct runtime *runtime);

#endif
