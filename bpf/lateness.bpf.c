// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Measures how late perf's CPU clocks are served: the time from when a timer was due until its
 * interrupt handled it. It runs for a moment on request, and never while profiling.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "map_kinds.bpf.h"
#include "shared/lateness.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The address of perf_swevent_hrtimer, which the timers of perf's clocks call. */
const volatile __u64 clock_function = 0;

MAPPED_ARRAY(served, u64, LATENESS_BINS);

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(lateness_served, struct hrtimer *timer)
{
	u64 now = bpf_ktime_get_ns(), due = timer->node.expires, *count;
	u32 bin;

	if ((u64)BPF_CORE_READ(timer, function) != clock_function)
		return 0;
	bin = now > due ? (now - due) / LATENESS_BIN_NS : 0;
	if (bin >= LATENESS_BINS)
		bin = LATENESS_BINS - 1;
	count = bpf_map_lookup_elem(&served, &bin);
	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}
