/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SAMPLING_H
#define BPFPROFIL_SAMPLING_H

#include "base/error.h"
#include "option/opts.h"
#include "host/record/options.h"

/*
 * The groups for a command's table; offset is that of struct sampling_options. The command group is
 * for commands that start a COMMAND.
 */
extern const struct opt sampling_rate_opts[];
extern const struct opt sampling_histogram_opts[];
extern const struct opt sampling_callers_opts[];
extern const struct opt sampling_waits_opts[];
extern const struct opt sampling_output_opts[];
extern const struct opt sampling_command_opts[];

/* The options that `agent` has, with its own defaults. */
extern const struct opt sampling_agent_opts[];

#define SAMPLING_GROUPS(offset)                                                                    \
	{ .title = "Sampling", .opts = sampling_rate_opts, .base = (offset) },                     \
		{ .title = "Histograms", .opts = sampling_histogram_opts, .base = (offset) },      \
		{ .title = "Callers", .opts = sampling_callers_opts, .base = (offset) },           \
		{ .title = "Waits", .opts = sampling_waits_opts, .base = (offset) },               \
	{                                                                                          \
		.title = "Output", .opts = sampling_output_opts, .base = (offset)                  \
	}

/*
 * Call after parsing: checks for options that exclude each other, and the rate. command is the
 * command's name.
 */
int sampling_options_check(struct sampling_options *options, const char *command,
			   struct error *err);

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
