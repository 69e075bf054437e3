/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROGRAM_COST_H
#define BPFPROFIL_PROGRAM_COST_H

#include <bpf/bpf.h>
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

/*
 * Loads a program that returns 0, to see whether programs load, or to measure an event without our
 * handler. Returns a descriptor for the caller to close, or a negative errno. name and opts may be
 * NULL. libbpf 1.3 and later write to opts.
 */
int empty_program_load(enum bpf_prog_type type, const char *name, struct bpf_prog_load_opts *opts);

#endif
