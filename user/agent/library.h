/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_LIBRARY_H
#define BPFPROFIL_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

/*
 * Libraries that only the agent wants: linked, they and the thirty that come with them would take 7 ms
 * and 7 MiB of every command. A header has the calls of one as a list, of which a struct of pointers
 * is made, and the names in the same order.
 */
#define LIBRARY_POINTER(call) typeof(call) *call;
#define LIBRARY_NAME(call) #call,

/* Fills in nr pointers; once they are there, nothing. package is what to install. 0 or -ENOENT. */
int library_load(const char *file, const char *package, const char *const *names, size_t nr,
		 void *calls, struct error *err);

#endif
