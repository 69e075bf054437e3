/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALIBRATE_H
#define BPFPROFIL_CALIBRATE_H

#include "base/error.h"

/* The highest cost seen on any host, on a CPU whose neighbour takes ticks too. */
#define CALIBRATE_DEAREST_NS 33000.0

/*
 * Refuses a rate above the kernel's limit, and one that would take more than a fifth of a CPU on
 * this host. The cost is measured, because a timer interrupt takes some 1 us on metal and 12 us in
 * many a VM; it is not measured for rates that are fine on any host. The hint in err has a rate
 * that fits.
 */
int calibrate_check(double hz, struct error *err);

/*
 * Nanoseconds that one tick takes from the program it interrupts, as a median, while a CPU that
 * shares the core, or else the next CPU, takes ticks too: this is what a busy host pays. It reads
 * 33 us in a VM that reads 23 us for a single CPU. It takes 40 ms of two CPUs. 0: it could not be
 * measured.
 */
double calibrate_busy_tick_ns(void);

#endif
