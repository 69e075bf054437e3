/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_HOST_H
#define TEST_HOST_H

/* What a hypervisor does to the clocks of its guest. */

/* CPU time of all but idle, and steal, which nobody used here. */
double host_busy_seconds(void);

/* From here on. */
void host_clock_begin(void);

/*
 * The part that it took since then of what a CPU had to do, at worst: all from one of them. It is in
 * nobody's CPU time, but clocks go on in it: with 4 % stolen there are 4 % more ticks.
 */
double host_stolen_part(void);

#endif
