/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COST_PROGRAM_H
#define BPFPROFIL_COST_PROGRAM_H

#include <stdint.h>

#include "engine/program_cost.h"
#include "engine/sampler.h"

/* Of those that tick. */
int program_cost(const struct sampler_programs *programs, struct program_cost *ret,
		 struct error *err);

/* Programs that do nothing, in the place of others: what remains is the tick itself. */
struct empty_programs {
	struct sampler_programs programs;
	struct sampler sampler;
};

/* like: which of them there are to be, and on which CPUs; it must outlive them. */
int empty_open(struct empty_programs *empty, const struct sampler_programs *like,
	       uint64_t period_ns, struct error *err);

void empty_close(struct empty_programs *empty); /* all zero is fine */

/* Kernel memory of the maps and programs that this process has open. */
uint64_t program_memory(void);

#endif
