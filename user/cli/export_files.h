/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_EXPORT_FILES_H
#define BPFPROFIL_EXPORT_FILES_H

#include "export/export.h"

/*
 * Writes a format with a file for each object, into folder or, if it is NULL, the current one.
 * options->note must be set. Returns the exit status.
 */
int export_files(const struct export_format *format, const struct profile *profile,
		 const struct export_options *options, const char *folder);

#endif
