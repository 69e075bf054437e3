/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_LIBRARY_H
#define BPFPROFIL_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

/*
 * Loads libraries that few commands need. Linking them would cost each command 7 ms and 7 MiB for
 * the agent's libraries with thirty dependencies, and 3 MiB for capstone, whose instruction tables
 * are full of pointers. A list of the calls has each as call(NAME). LIBRARY() defines
 * load_library(), and a struct of pointers: after that, lib.NAME() is the call.
 */
#define LIBRARY_POINTER(call) typeof(call) *call;
#define LIBRARY_NAME(call) #call,
#define LIBRARY(list, file, package)                                                               \
	static struct {                                                                            \
		list(LIBRARY_POINTER)                                                              \
	} lib;                                                                                     \
                                                                                                   \
	static int load_library(struct error *err)                                                 \
	{                                                                                          \
		static const char *const names[] = { list(LIBRARY_NAME) };                         \
                                                                                                   \
		return library_load(file, package, names, sizeof(names) / sizeof(names[0]), &lib,  \
				    err);                                                          \
	}

/*
 * Fills in nr pointers, unless they are set already. The user must install `package`. file is NULL
 * if another library has brought the calls. Returns 0 or -ENOENT.
 *
 * The static file loads nothing, but contains some of the libraries: static/library.c.
 */
int library_load(const char *file, const char *package, const char *const *names, size_t nr,
		 void *calls, struct error *err);

#endif
