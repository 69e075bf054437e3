/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DEMANGLE_H
#define BPFPROFIL_DEMANGLE_H

/* The source name of a C++ or Rust symbol; the caller frees it. NULL: not mangled, or no memory. */
char *demangle(const char *name);

#endif
