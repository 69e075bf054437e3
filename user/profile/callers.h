/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_CALLERS_H
#define BPFPROFIL_PROFILE_CALLERS_H

#include <stddef.h>
#include <stdint.h>

#include "shared/counters.h"

/*
 * The callers of ticks, or of waits: a tree of calling contexts, in which each chain of callers
 * exists once.
 *
 *     root (target, split, how the walk ended)
 *       main+0x1b                 a call in main
 *         find+0x44               a call in find
 *           strcmp+0x10   12      12 ticks in strcmp, called from there
 *
 * The ticks of waits are nanoseconds. Each has its place where the thread entered the kernel.
 *
 * In each target, complete + guessed + cut (by cause) = total - filtered - lost: each tick that is
 * in a bin or outside is in the tree once, with as much of its chain as could be walked. If a walk
 * was cut, its chain is below a root of that end. Therefore it never looks complete.
 */

/* A place in text: of a tick, or the last byte of a call. */
struct profile_site {
	uint32_t object;
	uint64_t offset; /* an address for JIT text and the kernel */
};

int profile_site_compare(const void *left, const void *right);

/*
 * The target and split of chains, as in a histogram, and how their walks ended. A cut chain begins
 * with the outermost frame that was reached.
 */
struct profile_root {
	uint32_t target;
	int64_t pid; /* -1: none, or several */
	char *process; /* NULL: unknown */
	char *cgroup; /* NULL: none, or several */
	uint32_t class; /* of waits; else 0 */
	enum walk_end end; /* WALK_END_COUNT: without callers, nothing was walked */
	uint64_t ticks; /* without any frame, like all of END_FULL and END_EXEC */
	uint64_t waits; /* without any frame: their number; else 0 */
};

/*
 * A frame that was called by the frames above it. Parents come before their children. Children of
 * one parent have different sites.
 */
struct profile_node {
	int32_t parent; /* index of a node; or -1 - index of a root */
	uint32_t site; /* index, or PROFILE_SITE_KERNEL */
	uint64_t ticks; /* exclusive */
	uint64_t waits; /* exclusive: their number; else 0 */
};

/*
 * In mode charged: the kernel, on behalf of the frame above. Shares and flat tables count its ticks
 * for that frame, as the histogram does.
 */
#define PROFILE_SITE_KERNEL UINT32_MAX

struct profile;

struct profile_callers {
	struct profile_site *sites; /* by object and offset, without duplicates */
	size_t nr_sites;
	struct profile_root *roots;
	size_t nr_roots;
	struct profile_node *nodes;
	size_t nr_nodes;
};

/* The word for an end, in JSON and in "[cut: late]". */
extern const char *const walk_end_words[WALK_END_COUNT];

/* Whether a walk did not reach the first frame. */
static inline int walk_end_is_cut(enum walk_end end)
{
	return end != END_COMPLETE && end != END_GUESSED;
}

/* NULL is fine. */
void profile_callers_free(struct profile_callers *callers);

/* Compares two roots like strcmp(); 0: they have the same target, split, class and end. */
int profile_root_compare(const void *left, const void *right);

/* The same for targets and splits only. */
int profile_root_compare_owners(const struct profile_root *a, const struct profile_root *b);

/* Returns the root of each node, by index; the caller frees the array. NULL: out of memory. */
uint32_t *profile_callers_roots(const struct profile_callers *callers);

/* Returns the ticks of each root and all nodes below it, likewise. */
uint64_t *profile_callers_sums(const struct profile_callers *callers);

/*
 * Returns what is wrong with an index in the tree, or with the order of its sites; NULL: nothing.
 * *what and *at: "site", "root" or "node", and its number.
 */
const char *profile_callers_fault(const struct profile *profile,
				  const struct profile_callers *callers, const char **what,
				  size_t *at);

struct callers_account {
	uint64_t ticks[WALK_END_COUNT]; /* with or without a frame */
};

/* Counts how the walks of a target's ticks ended; all 0 without callers. 0 or -ENOMEM. */
int profile_callers_account(const struct profile *profile, uint64_t target,
			    struct callers_account *account);

/*
 * Moves cut chains that reach main, or the first function of a thread, to roots with
 * END_ABOVE_MAIN. Functions must have their names. 0 or -ENOMEM.
 */
int profile_cut_above_main(struct profile *profile);

/*
 * Combines equal sites, roots and nodes, which may come in any order, parents before children. 0 or
 * -ENOMEM.
 */
int profile_callers_fold(struct profile_callers *callers);

#endif
