/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_EXPORT_IMPL_H
#define BPFPROFIL_EXPORT_IMPL_H

#include "export/export.h"

/* One file per format; export.c lists them. */
int export_csv(const struct profile *profile, const struct export_options *options, FILE *stream,
	       struct error *err);
int export_json(const struct profile *profile, const struct export_options *options, FILE *stream,
		struct error *err);
int export_raw(const struct profile *profile, const struct export_options *options, FILE *stream,
	       struct error *err);

#endif
