/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CHANCE_H
#define BPFPROFIL_CHANCE_H

#include <stdint.h>

/* A time below most, by chance: hosts that do the same do it at other moments. */
uint64_t chance_below(uint64_t most_ns);

#endif
