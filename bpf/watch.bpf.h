/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WATCH_BPF_H
#define BPFPROFIL_WATCH_BPF_H

/*
 * The programs' own cost, by their own clock. The kernel's statistics of programs need
 * CAP_SYS_ADMIN, which the agent's service lacks. Therefore the programs that take most of the time
 * measure themselves.
 */
#include "maps.bpf.h"

static __always_inline u64 watch_begin(void)
{
	return cpu_time.watched ? bpf_ktime_get_ns() : 0;
}

static __noinline int watch_end(u64 begun, bool ticking)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct cpu_account *account;
	u64 ns;

	if (!begun)
		return 0;
	account = bpf_map_lookup_elem(&cpu_accounts, &cpu);
	if (!account)
		return 0;
	ns = bpf_ktime_get_ns() - begun;
	__sync_fetch_and_add(ticking ? &account->ticking_ns : &account->following_ns, ns);
	if (ticking)
		__sync_fetch_and_add(&account->watched_ticks, 1);
	return 0;
}

/* Runs one of the programs that follow processes. */
#define WATCHED(call)                                                                              \
	({                                                                                         \
		u64 begun = watch_begin();                                                         \
                                                                                                   \
		call;                                                                              \
		watch_end(begun, false);                                                           \
	})

#endif
