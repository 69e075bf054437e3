/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SCHED_TICK_H
#define BPFPROFIL_SCHED_TICK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * The scheduler's own tick as a source of samples: the kernel takes this interrupt HZ times a
 * second on each busy CPU anyway.
 */

uint64_t sched_tick_period_ns(void);

/* The values for the knobs of the same names in bpf/config.bpf.h. */
struct sched_tick {
	int64_t tick_distance;
	int64_t regs_distance;
};

/* -EOPNOTSUPP: this kernel's tick is no high-resolution timer, or cannot be found. */
int sched_tick_find(struct sched_tick *result, struct error *err);

/* Lists the CPUs without a tick while one task runs (nohz_full=), as sysfs does; "": none. */
void sched_tick_list_tickless(char *list, size_t size);

#endif
