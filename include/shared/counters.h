/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COUNTERS_H
#define BPFPROFIL_COUNTERS_H

/*
 * Why a tick of a target is in no bin. This one list makes the BPF counters, the JSON keys and the
 * text of reports, so that none of them can miss a cause.
 *
 * X(ID, json_key, description)
 */
#define LOST_CAUSES(X)                                                                             \
	X(MAPPING_BUSY, "mapping_busy",                                                            \
	  "the address space was locked, and the process ended before the tick could be filed")    \
	X(NO_MEMORY, "no_memory", "no room in the kernel for one more object")                     \
	X(EXEC, "exec", "an exec that failed after it had given up the old image")                 \
	X(EXIT, "exit", "a process was ending and its address space already gone")                 \
	X(THROTTLED, "throttled", "the kernel withheld ticks: the rate was above its limit")

#define LOST_ENUM(id, key, text) LOST_##id,
enum lost_cause { LOST_CAUSES(LOST_ENUM) LOST_CAUSE_COUNT };
#undef LOST_ENUM

#endif
