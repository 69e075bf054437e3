/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_EMPTY_PROGRAM_H
#define BPFPROFIL_EMPTY_PROGRAM_H

#include <bpf/bpf.h>

/*
 * Loads a program that returns 0: to see whether one loads, or what an event takes without ours. A
 * descriptor for the caller to close, or a negative errno. name and opts may be NULL.
 */
int empty_program_load(enum bpf_prog_type type, const char *name,
		       const struct bpf_prog_load_opts *opts);

#endif
