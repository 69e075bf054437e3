/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_NOTES_H
#define BPFPROFIL_PROFILE_NOTES_H

#include <stddef.h>

#include "profile/profile.h"

/*
 * The notes of a sum. Those of its parts that say the same of other figures or other objects become
 * one, whatever the order of the parts.
 */

/* How notes begin that name an object, "NAME and N others", and what follows that. */
#define NOTE_NAMELESS_FUNCTIONS "no names of some functions of "
#define NOTE_NAMELESS_CODE "no names of JIT code of "
#define NOTE_AFTER_FUNCTIONS ": " /* and what to do, for this object */
#define NOTE_AFTER_CODE ": " /* and who writes it down, for this object */
#define NOTE_SHARE ", with " /* N% of the ticks; a sum does not say it */

/* How those begin that say what became of the clock, before a number of seconds. */
#define NOTE_CLOCK_BACK "the clock was set back by "
#define NOTE_CLOCK_FORWARD "the clock was set forward by "
#define NOTE_SUSPENDED "the host was suspended for "

/* How one begins that says which CPUs were sampled. */
#define NOTE_CPUS "only CPU"

/* Before the fold: a sum of several does not say which CPUs were sampled. Returns 0 or -ENOMEM. */
int profile_notes_forget_cpus(struct profile *profile);

/* For qsort(), of char *: notes that say the same compare equal. */
int profile_notes_compare(const void *left, const void *right);

/* Folds nr notes that compare equal into the first. Returns 0 or -ENOMEM. */
int profile_notes_combine(void *first, size_t nr);

#endif
