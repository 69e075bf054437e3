/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_STORE_FIXTURE_H
#define TEST_STORE_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/engine/store_profile.h"
#include "shared/abi.h"

/*
 * A store with this test in place of the programs: a half of their table is filled by hand, with elements wherever
 * chance puts them, and added.
 */
enum { HALF_NODES = 1 << 12, HALF_ROOTS = 1 << 11, FILES = 16, TARGETS = 4 };

/* The number of a file's text; and of the text of process 77, of a process without a name, and of none. */
enum { TEXT_FILE = TEXT_FIRST, TEXT_JIT = TEXT_FILE + FILES, TEXT_STRANGE, TEXT_NONE, TEXTS };

struct store_fixture {
	struct store *store;
	struct table_node *nodes;
	struct kernel_root roots[HALF_ROOTS];
	size_t nr_roots;
	struct store_text texts[TEXTS];
	struct carries carries;
	struct closed_half half;
	/* What a profile is made with, and the profile. */
	struct spaces spaces;
	struct split_names splits;
	struct seen_names names;
	struct kernel_modules modules;
	struct tally tallies[TARGETS];
	struct profile *profile;
};

extern struct store_fixture fixture;

/* For a suite: a store with an empty half 0, the profile told apart by process. */
void store_begin(void);
void store_end(void);

/* The number of a root as a parent, which is made if it is new. */
uint32_t put_root(uint32_t target, uint64_t split, uint32_t end);
void put_root_ticks(uint32_t root, uint64_t ticks);

/* Puts an element somewhere. Returns it as a parent. */
uint32_t put_place(uint32_t parent, uint64_t site, uint32_t count);

/* So many more ticks as a wrap has. */
void put_wraps(uint32_t node, uint64_t times);

uint64_t site_at(uint32_t text, uint64_t offset);

/* The half is added, its wraps are noted, and an empty one begins: the other one. */
void add_half(void);

/* A process's or thread's split. */
uint64_t split_of(uint32_t pid);
void name_split(uint64_t split, const char *name, enum space_state state);

/* Makes the profile anew. */
void fill_profile(bool callers);

/* Ticks in a bin of the profile that begins at an offset; path: of its object; pid -1: of none. */
uint64_t bin_at(uint32_t target, int64_t pid, const char *path, uint64_t offset, uint64_t width);

/* All ticks in bins. */
uint64_t all_bins(uint32_t target);

/* Ticks of a root of the profile; of a chain below it, by offsets in file 0, or SITE_IN_KERNEL. -1: there is none. */
int64_t root_ticks(uint32_t target, int64_t pid, enum walk_end end);
int64_t chain_ticks(uint32_t target, int64_t pid, enum walk_end end, size_t nr,
		    const uint64_t *offsets);

#define CHAIN(target, pid, end, ...)                                                               \
	chain_ticks(target, pid, end, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t),      \
		    (const uint64_t[]){ __VA_ARGS__ })

/* All ticks of a target's callers. */
uint64_t all_chains(uint32_t target);

#endif
