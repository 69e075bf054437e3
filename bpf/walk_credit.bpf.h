/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WALK_CREDIT_BPF_H
#define BPFPROFIL_WALK_CREDIT_BPF_H

/*
 * What walks to the callers of waits may cost. A tick comes at a fixed rate, but a user can make threads switch as often as
 * the CPU allows, with another stack each time, and a walk takes microseconds under the run queue's lock. Walks therefore
 * use up a credit: each CPU earns one percent of the time, and each owner half a percent of that of all CPUs, so that no
 * user takes the walks of others. Without credit a wait is counted at its place alone. A thread whose last wait was long, or
 * who has not waited yet, may borrow: such waits are few and have most of the time.
 */
#include "config.bpf.h"
#include "shared/callers_abi.h"

enum {
	CREDIT_PARTS = 100, /* a CPU earns one part in so many */
	CREDIT_OWNER_PARTS = 2 * CREDIT_PARTS, /* and an owner of all CPUs' time */
	CREDIT_MOST_NS = 10000000, /* to be saved, or to be borrowed */
	CREDIT_STEP_NS =
		10000, /* it is earned in such steps, so that little is lost by rounding down */
	LONG_WAIT_US = 1000,
};

static __always_inline void earn(struct walk_credit *credit, u64 now, u32 times, u32 parts)
{
	u64 since = *(volatile u64 *)&credit->since_ns, passed = now - since, earned;

	if ((s64)passed < CREDIT_STEP_NS ||
	    __sync_val_compare_and_swap(&credit->since_ns, since, now) != since)
		return;
	/* In this time any debt is paid. */
	if (passed > (u64)parts * CREDIT_MOST_NS * 2)
		passed = (u64)parts * CREDIT_MOST_NS * 2;
	earned = passed * times / parts;
	if (credit->ns + (s64)earned > CREDIT_MOST_NS)
		credit->ns = CREDIT_MOST_NS;
	else
		__sync_fetch_and_add(&credit->ns, earned);
}

/* Whether a walk may begin now, for an owner whose thread last waited so long. */
static __always_inline bool has_credit(struct walk_credit *cpu, struct walk_credit *owner, u64 now,
				       u32 waited_us)
{
	s64 least = !waited_us || waited_us >= LONG_WAIT_US ? -CREDIT_MOST_NS : 0;

	earn(cpu, now, 1, CREDIT_PARTS);
	earn(owner, now, exit_walks, CREDIT_OWNER_PARTS);
	return cpu->ns > least && owner->ns > least;
}

static __always_inline void pay(struct walk_credit *cpu, struct walk_credit *owner, u64 ns)
{
	__sync_fetch_and_add(&cpu->ns, -ns);
	__sync_fetch_and_add(&owner->ns, -ns);
}

#endif
