/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CPU_TIME_H
#define BPFPROFIL_CPU_TIME_H

#include "report/report.h"

/*
 * Ticks beside the CPU time that the scheduler gave. By chance they differ by a few roots of their
 * number; a program whose bursts lock to the clock has far too few or too many of them.
 */
enum { CPU_TIME_NOTES = 2, CPU_TIME_NOTE_BYTES = 512 };

struct cpu_time_notes {
	char text[CPU_TIME_NOTES][CPU_TIME_NOTE_BYTES]; /* sentences, maybe with a process's bytes */
	size_t nr;
};

/*
 * Where the two differ most and by more than chance, and what time no tick saw; of all targets or
 * one. -ENOMEM.
 */
int cpu_time_judge(const struct profile *profile, uint64_t target, struct cpu_time_notes *ret);

/* Whether so much CPU time without a single tick is no chance. */
bool cpu_time_is_missed(double ns, uint64_t period_ns);

#endif
