/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLERS_HINTS_H
#define BPFPROFIL_CALLERS_HINTS_H

#include "profile/profile.h"

struct object_opener;

/*
 * Adds notes on how to see more callers, with the number of ticks: functions without call-frame
 * information, JITs without frame pointers, deep recursion, 32-bit programs, and, even without
 * callers, scripts of an interpreter that alone is visible. Functions must have their names.
 * opener opens files, unless it is NULL. Returns 0 or -ENOMEM.
 */
int callers_hint(struct profile *profile, const struct object_opener *opener);

#endif
