/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROGRAM_COST_H
#define BPFPROFIL_PROGRAM_COST_H

#include <stdint.h>

#include "base/error.h"

/* What the kernel's statistics have of the programs that tick. */
struct program_cost {
	uint64_t runs;
	uint64_t ns;
};

/*
 * Switches these statistics on until the descriptor is closed, which is the caller's. They read a
 * clock before and after each run.
 */
int program_statistics(struct error *err);

/* Adds one by its descriptor; less than 0 is none. */
int program_add_cost(int fd, struct program_cost *sum, struct error *err);

#endif
