/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_NOTES_H
#define BPFPROFIL_PROFILE_NOTES_H

#include <stddef.h>

#include "profile/profile.h"

/*
 * The notes of a sum. If notes of its parts only differ in figures or objects, they become one,
 * whatever the order of the parts.
 */

/* Notes that name an object, "NAME and N others": how they begin and end. */
#define NOTE_NAMELESS_FUNCTIONS "no names of some functions of "
#define NOTE_NAMELESS_CODE "no names of JIT code of "
#define NOTE_AFTER_FUNCTIONS ": " /* then advice for this object */
#define NOTE_AFTER_CODE ": " /* then how to write its names, for this object */
#define NOTE_SHARE ", with " /* N% of the ticks; not in a sum */

/* Beginnings of notes on the clock; a number of seconds follows. */
#define NOTE_CLOCK_BACK "the clock was set back by "
#define NOTE_CLOCK_FORWARD "the clock was set forward by "
#define NOTE_SUSPENDED "the host was suspended for "

/* Beginning of the note on sampled CPUs. */
#define NOTE_CPUS "only CPU"

/*
 * Call it before the fold: a sum of several parts does not name the sampled CPUs. Returns 0 or
 * -ENOMEM.
 */
int profile_notes_forget_cpus(struct profile *profile);

/* For qsort(), of char *: notes with the same meaning compare equal. */
int profile_notes_compare(const void *left, const void *right);

/* Adds an equal note to another one, and frees it. Returns 0 or -ENOMEM. */
int profile_notes_add(void *sum, void *part);

#endif
