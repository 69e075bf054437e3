/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COUNTED_H
#define BPFPROFIL_COUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"
#include "shared/abi.h"

/* Reads the counters beside the table of ticks: see counted.c. */

/* How often the count of a node wrapped, and how many of these wraps are in the store. */
struct carry {
	uint64_t key;
	uint64_t times;
	uint64_t added;
};

struct carries {
	struct carry *list;
	size_t nr;
	size_t capacity;
};

/* Reads how often counts wrapped, from the programs' map of them. */
int carries_read(struct carries *carries, int map_fd, struct error *err);

/* The wraps of a half are in the store. */
void carries_mark_added(struct carries *carries, uint32_t half);

/* What became of one target's ticks. */
struct tally {
	uint64_t binned;
	uint64_t outside;
	uint64_t filtered;
	uint64_t left_out; /* of these, ticks that had been counted in bins */
	uint64_t lost[LOST_CAUSE_COUNT];
	uint64_t withheld; /* throttled by the kernel; no later sample stands for them */
	double due; /* by the CPU time; the counters may differ */
	uint64_t coarse; /* part of binned: in bins wider than asked, for want of memory */
	uint64_t widest; /* part of coarse: in the widest bins that there are */
	uint64_t unknown; /* part of binned: their process or cgroup is unknown, despite a split */
	uint64_t no_text; /* part of binned, and not of unknown: only their text is unknown */
	uint64_t forks_missed; /* children, not ticks */
	uint64_t cpu_ns; /* runtime in ns, of its tasks that are in no split */
	uint64_t excess; /* of samples that stand for several ticks: see struct target_account */
	uint64_t kernel; /* of all these ticks, those in the kernel */
};

/* Everything here belongs to the session, except the tallies. */
struct counted {
	const struct text_range *ranges; /* RANGES for each CPU */
	const struct cpu_account *cpus;
	size_t nr_cpus;
	struct target_account *targets;
	size_t nr_targets;
	bool callers; /* the table of ticks includes ticks outside of all text */
	bool take; /* clear the counters; otherwise only read them */
	struct tally *tallies; /* for each target: what was read since this was set up */
};

/* Reads the counters of a target. */
void counted_account(const struct counted *counted, uint32_t target);

/*
 * Counts delayed ticks that were never filed as lost. Call it at the end, when no program can file
 * them.
 */
void counted_pending(const struct counted *counted, uint32_t target);

/* All ticks of a target since the start, including those still in ranges. */
uint64_t counted_ticks(const struct counted *counted, uint32_t target);

/* All ticks of a CPU. While sampling runs, the result may be slightly less than the last. */
uint64_t counted_delivered(const struct counted *counted, uint32_t cpu);

uint64_t tally_ticks(const struct tally *tally);

void tally_add(struct tally *sum, const struct tally *part);

/* Removes the ticks of the table, which stay there. */
void tally_drop_table(struct tally *tally, bool callers);

/* Makes a target's account from its tally; total is its independent count. */
int tally_account(const struct tally *tally, uint64_t total,
		  struct profile_account *result); /* -ENOMEM */

#endif
