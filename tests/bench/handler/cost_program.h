/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COST_PROGRAM_H
#define BPFPROFIL_COST_PROGRAM_H

#include <bpf/bpf.h>
#include <stdint.h>

#include "host/engine/program_cost.h"
#include "host/engine/sampler.h"

/* Sums up the statistics of the programs that tick. */
int program_cost(const struct sampler_programs *programs, struct program_cost *result,
		 struct error *err);

/* Programs that do nothing, in place of the others, to measure the tick itself. */
struct empty_programs {
	struct sampler_programs programs;
	struct sampler sampler;
};

/* like says which programs there are to be and on which CPUs; it must outlive empty. */
int empty_open(struct empty_programs *empty, const struct sampler_programs *like,
	       uint64_t period_ns, struct error *err);

void empty_close(struct empty_programs *empty); /* all zero is fine */

/* The kernel memory of the maps and programs that this process has open. */
uint64_t program_memory(void);

#endif
