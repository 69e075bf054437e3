/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TYPES_H
#define BPFPROFIL_TYPES_H

/* Fixed-width types for headers that BPF, user space and tests compile alike. */
#ifdef __bpf__
#include "vmlinux.h"
#else
#include <linux/types.h>
#endif

#endif
