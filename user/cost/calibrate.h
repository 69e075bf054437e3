/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALIBRATE_H
#define BPFPROFIL_CALIBRATE_H

#include "base/error.h"

/* Of all hosts seen, on a CPU whose neighbour takes ticks too. */
#define CALIBRATE_DEAREST_NS 33000.0

/*
 * Refuses a rate above the kernel's limit, and one that would cost more than a fifth of a CPU on this
 * host, by measurement: a timer interrupt takes some 1 us on metal and 12 us in many a VM. Rates that no host could fail at are
 * not measured. Fills err with a rate that fits as the hint.
 */
int calibrate_check(double hz, struct error *err);

/* Nanoseconds one tick takes from the program it interrupts; 0: could not be measured. */
double calibrate_tick_ns(void);

/*
 * The same while a CPU that shares its core takes ticks too, or the next one, as a median: what a host
 * pays when it is busy. 33 us in a VM that reads 23 for one alone. Takes 40 ms of two CPUs.
 */
double calibrate_busy_tick_ns(void);

#endif
