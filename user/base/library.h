/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_LIBRARY_H
#define BPFPROFIL_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

/*
 * Loads libraries that few commands need: if we linked with them, those of the agent and the thirty
 * that they need would cost every command 7 ms and 7 MiB, and capstone, whose tables of instructions
 * are full of pointers, 3 MiB. A header lists the calls of one library, from which are made a struct of
 * pointers, and the names in the same order.
 */
#define LIBRARY_POINTER(call) typeof(call) *call;
#define LIBRARY_NAME(call) #call,

/*
 * Fills in nr pointers; does nothing if they are set already. package is what the user must
 * install. If file is NULL, a library that came with another has the calls. Returns 0 or -ENOENT.
 *
 * The static file loads nothing, but has some of the libraries: static/library.c.
 */
int library_load(const char *file, const char *package, const char *const *names, size_t nr,
		 void *calls, struct error *err);

#endif
