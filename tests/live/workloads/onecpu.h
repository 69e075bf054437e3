/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef ONECPU_H
#define ONECPU_H

#include <sched.h>

/*
 * For processes of unequal work side by side. If two CPUs are threads of one core, or emulated in
 * turn, each is slower while the other is busy, and work done alone takes less time.
 */
static inline int stay_on_one_cpu(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	return sched_setaffinity(0, sizeof(here), &here);
}

#endif
