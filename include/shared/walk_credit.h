/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WALK_CREDIT_H
#define BPFPROFIL_WALK_CREDIT_H

/*
 * Limits the cost of walks to the callers of waits. Ticks come at a fixed rate, but a user can make
 * threads switch as often as the CPU allows, each time with another stack, and a walk takes
 * microseconds under the run queue's lock. Therefore walks need credit. Each CPU earns one percent
 * of the time, and each owner half a percent of the time of all CPUs, so that no user spends the
 * credit of others. Without credit a wait is counted at its place alone. If the last wait of a
 * thread was long, or it has not waited yet, it may borrow: such waits are few and make up most of
 * the time.
 */
#include "shared/callers_abi.h"

enum {
	CREDIT_PARTS = 100, /* a CPU earns 1/CREDIT_PARTS */
	CREDIT_OWNER_PARTS = 2 * CREDIT_PARTS, /* and an owner of all CPUs' time */
	CREDIT_MOST_NS = 10000000, /* the most that is saved, or borrowed */
	CREDIT_STEP_NS = 10000, /* it is earned in such steps, because each one is rounded down */
	LONG_WAIT_US = 1000,
};

/* Adds the credit since the last call: 1/parts of the time of this many CPUs. */
static inline void credit_earn(struct walk_credit *credit, __u64 now, __u32 cpus, __u32 parts)
{
	__u64 since = *(volatile __u64 *)&credit->since_ns, passed = now - since, earned;

	if ((__s64)passed < CREDIT_STEP_NS ||
	    __sync_val_compare_and_swap(&credit->since_ns, since, now) != since)
		return;
	/* In this time any debt is paid. */
	if (passed > (__u64)parts * CREDIT_MOST_NS * 2)
		passed = (__u64)parts * CREDIT_MOST_NS * 2;
	earned = passed * cpus / parts;
	if (credit->ns + (__s64)earned > CREDIT_MOST_NS)
		credit->ns = CREDIT_MOST_NS;
	else
		__sync_fetch_and_add(&credit->ns, earned);
}

/*
 * Whether a walk may begin now, for an owner whose thread's last wait took this long (0: it has not
 * waited).
 */
static inline __u32 credit_admits(struct walk_credit *cpu, struct walk_credit *owner, __u64 now,
				  __u32 cpus, __u32 waited_us)
{
	__s64 least = !waited_us || waited_us >= LONG_WAIT_US ? -CREDIT_MOST_NS : 0;

	credit_earn(cpu, now, 1, CREDIT_PARTS);
	credit_earn(owner, now, cpus, CREDIT_OWNER_PARTS);
	return cpu->ns > least && owner->ns > least;
}

static inline void credit_pay(struct walk_credit *cpu, struct walk_credit *owner, __u64 ns)
{
	__sync_fetch_and_add(&cpu->ns, -ns);
	__sync_fetch_and_add(&owner->ns, -ns);
}

#endif
