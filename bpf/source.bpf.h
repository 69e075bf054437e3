/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SOURCE_BPF_H
#define BPFPROFIL_SOURCE_BPF_H

/*
 * The registers that a scheduler's tick interrupted. perf's clock passes them to its program. The
 * scheduler's tick does not, but every interrupt saves them in __irq_regs (lib/irq_regs.c), for
 * user and kernel mode alike.
 */
#include "arch.bpf.h"
#include "config.bpf.h"
#include "maps.bpf.h"

/* Whether an expiring timer is this CPU's scheduler tick. */
static __always_inline bool is_sched_tick(struct hrtimer *timer)
{
	return (s64)((u64)timer - (u64)timer->base->cpu_base) == tick_distance;
}

static __always_inline bool is_tickless(u32 cpu)
{
	return some_tickless && tickless[cpu / 64 % (TICKLESS_CPUS / 64)] >> cpu % 64 & 1;
}

/*
 * Whether this CPU skips a tick, because --duty counts only a part of them. The distance to the
 * next one that counts is random, between half a gap and one and a half. Therefore each tick is
 * equally likely to count, whatever the rhythm of the work is, and a thread that runs for two gaps
 * is seen.
 */
static __always_inline bool is_passed_over(void)
{
	u32 gap = cpu_time.gap, cpu = bpf_get_smp_processor_id();
	struct cpu_account *account;

	if (!gap)
		return false;
	account = bpf_map_lookup_elem(&cpu_accounts, &cpu);
	if (!account)
		return false;
	account->wait -= GAP_ONE;
	if (account->wait > 0)
		return true;
	account->wait += gap / 2 + ((u64)bpf_get_prandom_u32() * gap >> 32);
	return false;
}

/* NULL outside of interrupts. */
static __always_inline struct pt_regs___kernel *interrupted(struct hrtimer *tick)
{
	struct pt_regs___kernel *regs = NULL;

	bpf_probe_read_kernel(&regs, sizeof(regs), (char *)tick + regs_distance);
	return regs;
}

#endif
