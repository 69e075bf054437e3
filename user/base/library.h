/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_LIBRARY_H
#define BPFPROFIL_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

/*
 * Loads libraries that few commands need. Linking them would cost each command 7 ms and 7 MiB for
 * the agent's libraries with thirty dependencies, and 3 MiB for capstone, whose instruction tables
 * are full of pointers. For each library a header lists the calls. These macros turn the list into
 * a struct of pointers, and into names in the same order.
 */
#define LIBRARY_POINTER(call) typeof(call) *call;
#define LIBRARY_NAME(call) #call,

/*
 * Fills in nr pointers, unless they are set already. The user must install `package`. file is NULL
 * if another library has brought the calls. Returns 0 or -ENOENT.
 *
 * The static file loads nothing, but contains some of the libraries: static/library.c.
 */
int library_load(const char *file, const char *package, const char *const *names, size_t nr,
		 void *calls, struct error *err);

#endif
