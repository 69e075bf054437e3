/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_CALLERS_H
#define BPFPROFIL_PROFILE_CALLERS_H

#include <stddef.h>
#include <stdint.h>

#include "shared/counters.h"

/*
 * Who sent the ticks where they fell: a tree of calling contexts, with each chain of callers once.
 *
 *     root (target, split, how the walk ended)
 *       main+0x1b                 a call in main
 *         find+0x44               a call in find
 *           strcmp+0x10   12      12 ticks in strcmp, called from there
 *
 * In each target complete + guessed + cut (by cause) = total - filtered - lost: each tick that is in a
 * bin or outside of the text that counts is in the tree once, with as much of its chain as could be
 * walked. The chain of a walk that was cut hangs below a root that says so, so it never looks
 * complete.
 */

/* A place in text: of a tick, or of a call, where it is the call's last byte. */
struct profile_site {
	uint32_t object;
	uint64_t offset; /* in the object's offsets; an address for jit and kernel */
};

/*
 * Whose chains, by the same members as a histogram's, and how their walks ended. A chain that was cut
 * begins with the outermost frame that was reached.
 */
struct profile_root {
	uint32_t target;
	int64_t pid; /* -1: not a single process */
	char *process; /* NULL: unknown */
	char *cgroup; /* NULL: not a single cgroup */
	enum walk_end end;
	uint64_t ticks; /* with no frame at all, as all of END_FULL and END_EXEC */
};

/*
 * A frame that was reached by the frames above it. Parents come before their children, and two
 * children of one parent have different sites.
 */
struct profile_node {
	int32_t parent; /* index of a node, or -1 - index of a root */
	uint32_t site; /* index, or PROFILE_SITE_KERNEL */
	uint64_t ticks; /* that fell here and not in anything called from here */
};

/*
 * In mode charged: the kernel, at work for the frame above. Shares and flat tables count its ticks
 * for that frame, as the histogram does.
 */
#define PROFILE_SITE_KERNEL UINT32_MAX

struct profile;

struct profile_callers {
	struct profile_site *sites; /* by object and offset, each once */
	size_t nr_sites;
	struct profile_root *roots;
	size_t nr_roots;
	struct profile_node *nodes;
	size_t nr_nodes;
};

/* The word of an end in JSON and in "[cut: late]". */
extern const char *const walk_end_words[WALK_END_COUNT];

/* Whether a walk did not reach the first frame. */
static inline int walk_end_is_cut(enum walk_end end)
{
	return end != END_COMPLETE && end != END_GUESSED;
}

/* NULL is fine. */
void profile_callers_free(struct profile_callers *callers);

/* Which of two roots comes first, as strcmp(): 0 if both are of the same target, split and end. */
int profile_root_compare(const struct profile_root *a, const struct profile_root *b);

/* The root that each node is below, by index; the caller frees the array. NULL: out of memory. */
uint32_t *profile_callers_roots(const struct profile_callers *callers);

struct callers_account {
	uint64_t ticks[WALK_END_COUNT]; /* with a frame or without */
};

/* How the walks of a target's ticks ended; of none in a profile without callers. 0 or -ENOMEM. */
int profile_callers_account(const struct profile *profile, uint64_t target,
			    struct callers_account *account);

/*
 * Gives chains that were cut, but reach main or the first function of a thread, roots with END_ABOVE_MAIN. The
 * functions have their names by now. 0 or -ENOMEM.
 */
int profile_cut_above_main(struct profile *profile);

/* Folds equal sites, roots and nodes; these may come in any order, parents before children. 0 or -ENOMEM. */
int profile_callers_fold(struct profile_callers *callers);

#endif
