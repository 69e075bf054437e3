/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROGRAM_COST_H
#define BPFPROFIL_PROGRAM_COST_H

#include <stdint.h>

#include "base/error.h"

/* The kernel's run statistics of the programs that tick. */
struct program_cost {
	uint64_t runs;
	uint64_t ns;
};

/*
 * Switches these statistics on until the returned descriptor, which is the caller's, is closed.
 * While they are on, a clock is read before and after each run.
 */
int program_statistics(struct error *err);

/* Adds the statistics of a program by its descriptor; a negative fd is skipped. */
int program_add_cost(int fd, struct program_cost *sum, struct error *err);

#endif
