/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLERS_HINTS_H
#define BPFPROFIL_CALLERS_HINTS_H

#include "profile/profile.h"

struct object_opener;

/*
 * Notes on what would show more of who called, and how many ticks it concerns: functions without call-frame
 * information, JITs without frame pointers, recursion deeper than is followed, 32-bit programs, and, also
 * without callers, scripts of which only the interpreter is seen. The functions have their names by now.
 * Files are opened by opener, unless it is NULL. Returns 0 or -ENOMEM.
 */
int callers_hint(struct profile *profile, const struct object_opener *opener);

#endif
