/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COUNTED_H
#define BPFPROFIL_COUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "host/engine/pool.h"
#include "shared/abi.h"

/*
 * Reads the counters of the programs in place and, if asked, takes the counts out. Each counter is
 * exchanged with 0 in one step, so that a tick that falls meanwhile is in this reading or in the
 * next one, never in both or in neither.
 */

/* How often a counter wrapped, and how many of these wraps have been taken. */
struct carry {
	uint64_t key;
	uint64_t times;
	uint64_t taken;
};

struct carries {
	struct carry *list;
	size_t nr;
	size_t capacity;
};

/* What became of one target's ticks. */
struct tally {
	uint64_t binned;
	uint64_t outside;
	uint64_t filtered;
	uint64_t left_out; /* of these, ticks that had been counted in bins */
	uint64_t lost[LOST_CAUSE_COUNT];
	uint64_t withheld; /* by the kernel's throttling, and no later sample stands for them */
	double due; /* by the CPU time; what `lost` and the others have may be more or less */
	uint64_t coarse; /* part of binned: in bins wider than asked, for want of memory */
	uint64_t widest; /* part of coarse: in the widest bins that there are */
	uint64_t unknown; /* part of binned: whose they are should be told, and is not known */
	uint64_t forks_missed; /* children, not ticks */
	uint64_t cpu_ns; /* runtime in ns, of its tasks that are in no split */
	uint64_t excess; /* of samples that stand for several ticks: see struct target_account */
	uint64_t kernel; /* of all these ticks, those in the kernel */
};

/* Everything here belongs to the session. */
struct counted {
	const struct pool *pool;
	const struct xlat_set *xlat;
	size_t nr_sets;
	const struct cpu_account *cpus;
	size_t nr_cpus;
	struct target_account *targets;
	size_t nr_targets;
	int windows_fd;
	int carries_fd;
	struct carries *carries;
	bool take; /* take counts out; otherwise only read them */
	struct tally *tallies; /* for each target: what was read since this was set up */
};

/* Call before reading counters. What wraps later is found by the next reading. */
int counted_read_carries(const struct counted *counted, struct error *err);

/* The page behind an entry of a directory, and its number; NULL if there is none. */
struct counter_page *counted_page(const struct counted *counted, uint32_t dir, uint32_t entry,
				  uint32_t *ret_number);

/* Adds a page's counters to sums and to the target's tally. Returns their sum. */
uint64_t counted_add(const struct counted *counted, uint32_t target, struct counter_page *page,
		     uint32_t number, uint64_t sums[PAGE_COUNTERS]);

/* Reads what was counted outside of the bins. */
void counted_account(const struct counted *counted, uint32_t target);

/*
 * Counts ticks that were put off and are not filed yet. At the end they are lost, and taking them
 * says so in the account, because no program is left to file them.
 */
void counted_pending(const struct counted *counted, uint32_t target);

/* All ticks of a target since the start: those that cache entries still hold, and the rest. */
uint64_t counted_ticks(const struct counted *counted, uint32_t target);

/*
 * All ticks of a CPU for any target. While sampling runs the result may be slightly less than the
 * last.
 */
uint64_t counted_delivered(const struct counted *counted, uint32_t cpu);

/* The sum of all ticks in a tally. */
uint64_t tally_ticks(const struct tally *tally);

void tally_add(struct tally *sum, const struct tally *part);

#endif
