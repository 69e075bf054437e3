/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SCHED_TICK_H
#define BPFPROFIL_SCHED_TICK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * The scheduler's own tick as what ticks: the kernel takes this interrupt HZ times a second on each
 * CPU that is busy, with us or without.
 */

uint64_t sched_tick_period_ns(void);

/* What bpf/config.bpf.h has of the same names. */
struct sched_tick {
	int64_t tick_distance;
	int64_t regs_distance;
};

/* -EOPNOTSUPP: this kernel's tick is no timer of high resolution, or not to be found. */
int sched_tick_find(struct sched_tick *ret, struct error *err);

/* The CPUs that have none while one task runs (nohz_full=), as sysfs lists them; "": all have one. */
void sched_tick_without(char *list, size_t size);

#endif
