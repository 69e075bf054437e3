/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COUNTED_H
#define BPFPROFIL_COUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/pool.h"
#include "shared/abi.h"

/*
 * The counters of the programs, read in place and, where asked, taken out: each is exchanged with
 * 0 in one step, so that a tick that falls meanwhile is in this reading or in the next, never in
 * both or neither.
 */

/* How often a counter wrapped, and how many of these wraps were taken. */
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

/* What one target's ticks became. */
struct tally {
	uint64_t binned;
	uint64_t outside;
	uint64_t filtered;
	uint64_t lost[LOST_CAUSE_COUNT];
	uint64_t withheld; /* by the kernel's throttle */
	uint64_t coarse; /* of the binned */
	uint64_t merged; /* of these */
	uint64_t forks_missed; /* no ticks: children */
	uint64_t cpu_ns; /* nor these: runtime of its tasks that is in no split */
	uint64_t excess; /* of samples that stand for several ticks: see struct target_account */
};

/* All belongs to the session. */
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
	bool take; /* else only look */
	struct tally *tallies; /* of each target: what was read since this was set up */
};

/* Before counters are read. What wraps from here on is found by the next reading. */
int counted_read_carries(const struct counted *counted, struct error *err);

/* The page behind an entry of a directory, and its number; NULL: none. */
struct counter_page *counted_page(const struct counted *counted, uint32_t dir, uint32_t entry,
				  uint32_t *ret_number);

/* Adds a page's counters to sums and to the target's tally. Returns how many ticks these were. */
uint64_t counted_add(const struct counted *counted, uint32_t target, struct counter_page *page,
		     uint32_t number, uint64_t sums[PAGE_COUNTERS]);

/* What was counted beside the bins. */
void counted_account(const struct counted *counted, uint32_t target);

/*
 * Ticks put off and not filed yet. At the end they are lost; taking them says so to the account,
 * which has no program any more that would file them.
 */
void counted_pending(const struct counted *counted, uint32_t target);

/* Ticks of a target from the start: what entries still hold and what they gave up. */
uint64_t counted_ticks(const struct counted *counted, uint32_t target);

/* All ticks that a CPU brought to targets; while they fall, perhaps some fewer than before. */
uint64_t counted_delivered(const struct counted *counted, uint32_t cpu);

/* All ticks of a tally. */
uint64_t tally_ticks(const struct tally *tally);

void tally_add(struct tally *sum, const struct tally *part);

#endif
