/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CONFIG_BPF_H
#define BPFPROFIL_CONFIG_BPF_H

#include "shared/abi.h"

/* Set between open and load; the verifier deletes what they rule out. */

/* enum tick_mode. */
const volatile __u32 mode = MODE_CHARGED;

/* enum split. Without it windows are of a target, and nothing is asked of the task. */
const volatile __u32 split = SPLIT_NONE;

/*
 * Whose ticks, of processes that nobody follows: those in the cgroups of cgroup_targets, and of the
 * rest the system's, if it is a target.
 */
const volatile bool cgroup_wanted = false;
const volatile __u32 system_target = NO_TARGET;

/* The version 1 hierarchy that cgroups are looked up in, by a controller; less than 0: version 2. */
const volatile __s32 cgroup_controller = -1;

/* log2 of the bytes of text in a bin. */
const volatile __u32 bin_shift = 0;

/*
 * The bytes from a CPU's timers (hrtimer_bases) to the timer of its scheduler tick, and from there to
 * the pointer to the registers that an interrupt saved (__irq_regs). They are variables of each CPU, so
 * BTF tells how far apart they are; where they are, only CONFIG_KALLSYMS_ALL would tell.
 */
const volatile __s64 tick_distance = 0;
const volatile __s64 regs_distance = 0;

/* How old the scheduler's account of a thread that runs may be: two of its ticks. */
const volatile __u64 runtime_lag = 0;

/* Each sample is a tick: to measure the clock itself. */
const volatile bool unweighted = false;

/*
 * The CPUs that stop their tick while one task runs (nohz_full): the clock samples them, whether they
 * have stopped it just now or not.
 */
const volatile bool some_tickless = false;
const volatile __u64 tickless[TICKLESS_CPUS / 64] = {};

/* Directories in the map made at load: what follows comes from chunks. */
const volatile __u32 base_windows = CHUNK_WINDOWS;

#endif
