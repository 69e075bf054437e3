/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLERS_HINTS_H
#define BPFPROFIL_CALLERS_HINTS_H

#include "profile/profile.h"

/*
 * Notes on what would show more of a profile's callers, and how many ticks it concerns: programs without
 * call-frame information, JITs without frame pointers, scripts of which only the interpreter is seen.
 * Returns 0 or -ENOMEM.
 */
int callers_hint(struct profile *profile);

#endif
