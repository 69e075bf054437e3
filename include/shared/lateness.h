/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_LATENESS_SHARED_H
#define BPFPROFIL_LATENESS_SHARED_H

/* Bins of half a microsecond, up to two milliseconds; the last bin has everything later. */
enum { LATENESS_BIN_NS = 500, LATENESS_BINS = 4096 };

#endif
