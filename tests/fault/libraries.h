/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef FAULT_LIBRARIES_H
#define FAULT_LIBRARIES_H

#include <stdbool.h>

/* What libraries do wrong when a call fails, by the shim's report and what is on stderr. */

/*
 * Libraries that end the process when out of memory, by an assertion or a NULL pointer. We cannot
 * correct them, but nothing of ours may be left behind even then.
 */
bool library_gave_up(const char *report, const char *err);

/* libdw leaks, too; all that it did not allocate itself is our leak. */
bool only_libdw_leaks(const char *report, const char *err);

#endif
