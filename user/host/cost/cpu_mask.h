/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CPU_MASK_H
#define BPFPROFIL_CPU_MASK_H

#include <sched.h>

/* As many CPUs as kernels support, because the kernel refuses a mask shorter than its own. */
#define CPU_MASK_CPUS 8192

typedef struct {
	cpu_set_t part[CPU_MASK_CPUS / CPU_SETSIZE];
} cpu_mask;

#endif
