/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_HOST_H
#define TEST_HOST_H

/* What a hypervisor does to the clocks of its guest. */

/* CPU time of everything except idle and steal; the latter was used by nobody here. */
double host_busy_seconds(void);

/* Starts the measurement. */
void host_clock_begin(void);

/*
 * The largest part of a CPU's time since then that the hypervisor took, if it took all from one
 * CPU. It is in nobody's CPU time, but clocks go on in it: with 4 % stolen there are 4 % more
 * ticks.
 */
double host_stolen_part(void);

#endif
