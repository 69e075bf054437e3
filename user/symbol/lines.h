/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_LINES_H
#define BPFPROFIL_LINES_H

#include "symbol/line_job.h"

/*
 * The steps of source_lines_load: from places to units, from a unit's rows to lines, and from its
 * DIEs to functions.
 */

#endif
