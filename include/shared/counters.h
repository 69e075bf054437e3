/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COUNTERS_H
#define BPFPROFIL_COUNTERS_H

/*
 * Why a tick of a target is in no bin. This one list makes the BPF counters, the JSON keys and the
 * text of reports. Therefore none of them can miss a cause.
 *
 * X(ID, json_key, description)
 */
#define LOST_CAUSES(X)                                                                             \
	X(MAPPING_BUSY, "mapping_busy",                                                            \
	  "the address space was locked, and the process ended before the tick could be filed")    \
	X(NO_MEMORY, "no_memory", "the kernel's table of ticks was full")                          \
	X(EXEC, "exec", "an exec that failed after it had given up the old image")                 \
	X(EXIT, "exit", "a process was ending and its address space already gone")                 \
	X(THROTTLED, "throttled", "the kernel withheld ticks: the rate was above its limit")

#define LOST_ENUM(id, key, text) LOST_##id,
enum lost_cause { LOST_CAUSES(LOST_ENUM) LOST_CAUSE_COUNT };
#undef LOST_ENUM

/*
 * How the walk from a tick to its callers ended: at the first frame, by the rules of the files or
 * with the help of frame pointers; or before it. ABOVE_MAIN replaces other causes once functions
 * have names.
 *
 * X(ID, json_key, description)
 */
#define WALK_CUTS(X)                                                                               \
	X(LATE, "late", "the file's rules were not read, or not yet")                              \
	X(NO_RULE, "no rule", "no rule for this text, and no frame pointer")                       \
	X(UNREADABLE, "unreadable", "the stack could not be read, or leads to no text")            \
	X(DEEP, "deep", "more frames than are followed")                                           \
	X(FULL, "full", "no room for one more chain of callers, or for a file's rules")            \
	X(REGISTER, "register", "the caller is in a register that is not followed")                \
	X(EXEC, "exec", "the process was replacing its program, changing its mappings or ending")  \
	X(32BIT, "32-bit", "the program is a 32-bit one, whose frames are not followed")           \
	X(ABOVE_MAIN, "above main", "the chain reaches main, or a thread's first function")
#define WALK_ENDS(X)                                                                               \
	X(COMPLETE, "complete", "walked to the first frame by the files' rules")                   \
	X(GUESSED, "guessed", "walked to the first frame with frame pointers on the way")          \
	WALK_CUTS(X)

/* The most frames of a walk. A longer walk ends as DEEP. */
enum { WALK_FRAMES = 512 };

#define WALK_END_ENUM(id, key, text) END_##id,
enum walk_end { WALK_ENDS(WALK_END_ENUM) WALK_END_COUNT };
#undef WALK_END_ENUM

/* The end of a tick that was not walked: its root contains nothing about callers. */
enum { END_FLAT = WALK_END_COUNT };

#endif
