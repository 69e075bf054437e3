/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ACCOUNT_H
#define BPFPROFIL_ACCOUNT_H

#include "report/report.h"

/*
 * Compares ticks with the CPU time that the scheduler gave. By chance they differ by a few square
 * roots of their number; a program whose bursts are in step with the clock has far too few ticks,
 * or too many.
 */
enum { CPU_TIME_NOTES = 2, CPU_TIME_NOTE_BYTES = 512 };

struct cpu_time_notes {
	char text[CPU_TIME_NOTES][CPU_TIME_NOTE_BYTES]; /* sentences, maybe with a process's name */
	size_t nr;
};

/*
 * Finds where the two differ most and by more than chance, and time that no tick saw, for all
 * targets or one. Returns 0 or -ENOMEM.
 */
int cpu_time_judge(const struct profile *profile, uint64_t target, struct cpu_time_notes *result);

#endif
