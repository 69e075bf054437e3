/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_EXPORT_FILES_H
#define BPFPROFIL_EXPORT_FILES_H

#include "export/export.h"

/*
 * A format that has a file for each object: writes them into a folder, NULL for the one we are in.
 * options->note must be there. Returns the exit status.
 */
int export_files(const struct export_format *format, const struct profile *profile,
		 const struct export_options *options, const char *folder);

#endif
