/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CONFIG_BPF_H
#define BPFPROFIL_CONFIG_BPF_H

#include "shared/abi.h"

/*
 * Knobs that are set between open and load. The verifier deletes the code that they rule out. Ticks
 * read the first ones, which share a cache line.
 */

/* enum tick_mode. */
const volatile __u32 mode = MODE_AT_USER_PC;

/* enum split. With SPLIT_NONE roots belong to a target. */
const volatile __u32 split = SPLIT_NONE;

/*
 * The targets of processes that are not followed themselves: cgroup_targets for tasks in these
 * cgroups, and system_target, if there is one, for all others.
 */
const volatile __u32 system_target = NO_TARGET;
const volatile bool cgroup_wanted = false;

/* With SPLIT_CGROUP, user space decides for each cgroup whether its ticks are left out. */
const volatile bool filter_cgroups = false;

/* Ticks are counted with their callers: see callers.bpf.h. */
const volatile bool with_callers = false;

/* Waits are counted too: see waits.bpf.h. */
const volatile bool waits = false;

/* Counts each sample as one tick, to measure the clock itself. */
const volatile bool unweighted = false;

/*
 * The CPUs that stop their tick while a single task runs (nohz_full), in `tickless`. perf's clock
 * samples these CPUs always, whether their tick is stopped at the moment or not.
 */
const volatile bool some_tickless = false;

/* Never set: see keep_stack(). */
const volatile bool never = false;

/* log2 of the bytes of text in a bin. */
const volatile __u32 bin_shift = 0;

/* How many nodes of each half are in the map made at load. */
const volatile __u32 base_nodes = NODES_OF_LINE;

/* The largest age of the scheduler's account of a running thread: two scheduler ticks. */
const volatile __u64 runtime_lag = 0;

/* log2 of the bytes in a page of the kernel, which vm_pgoff counts. */
const volatile __u32 page_shift = 12;

/* The bits of an address of code. The bits above them may sign a return address. */
const volatile __u64 code_mask = ~0ULL;

/*
 * The distance in bytes from a CPU's timers (hrtimer_bases) to the timer of its scheduler tick, and
 * from there to the pointer to the registers that an interrupt saved (__irq_regs). Both are per-CPU
 * variables, whose distance BTF shows. Their addresses are known only with CONFIG_KALLSYMS_ALL.
 */
const volatile __s64 tick_distance = 0;
const volatile __s64 regs_distance = 0;

/* The controller whose version 1 hierarchy cgroups are looked up in; negative: version 2. */
const volatile __s32 cgroup_controller = -1;

const volatile __u32 exit_walks = 0; /* index in `walks` of the first walk for exits */
const volatile __u32 wait_walks = 0; /* index of the first one for waits, */
const volatile __u32 wait_copies = 0; /* and how much further those of moved waits begin */
const volatile __u64 tickless[TICKLESS_CPUS / 64] = {};

#endif
