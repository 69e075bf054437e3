/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_BIN_TEXT_H
#define BPFPROFIL_BIN_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "calls/region_table.h"

/* Prints the line of `bpfprofil bin` for a pc. table was compiled from call. */
void bin_text_print(FILE *out, const struct region_call *call, const struct region_table *table,
		    uint64_t pc);

#endif
