/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PHASE_OPTIONS_H
#define BPFPROFIL_PHASE_OPTIONS_H

#include "cli/opts.h"
#include "record/options.h"

extern const struct opt phase_opts[];

/* The group for a command's table; offset is that of struct phase_options. */
#define PHASE_GROUP(offset)                                                                        \
	{                                                                                          \
		.title = "Phases", .opts = phase_opts, .base = (offset)                            \
	}

/* Call after parsing: checks for options that exclude each other. command is the command's name. */
int phase_options_check(const struct phase_options *options, const char *command,
			struct error *err);

#endif
