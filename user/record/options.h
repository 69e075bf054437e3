/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OPTIONS_H
#define BPFPROFIL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/session.h"
#include "symbol/regions.h"

/* Not typed: the clock, unless a budget chooses. */
#define SOURCE_UNTOLD (SOURCE_TICK + 1)

/* What run, attach and top let the user choose. */
struct sampling_options {
	unsigned int source; /* enum tick_source, or SOURCE_UNTOLD until the options are checked */
	double budget_percent; /* of a busy CPU; 0: none */
	double interrupt_ns; /* with a budget, once its rate is chosen: what an interrupt takes */
	uint64_t period_ns;
	double requested_hz;
	unsigned int mode; /* enum tick_mode */
	unsigned int split; /* enum split */
	uint32_t bytes_per_bin; /* a power of two from 1 to 65536 */
	uint64_t memory; /* bytes of kernel memory for histograms */
	const char *output; /* as typed: -, %p %t %h and .gz are not yet looked at */
	uint64_t interval_ns; /* a new FILE this often; 0: one at the end */
	uint64_t keep; /* the newest of these that stay; 0: all */
	struct region *regions;
	size_t nr_regions;
	const char *user; /* NULL: stay who we are */
	int verbosity; /* -1: -q; 0; 1 and more: -v */
	bool force;
	/* What was typed, for the options that say the same thing in two ways. */
	bool has_frequency, has_period, has_bytes_per_bin, has_scale;
};

/* When run and attach sample. */
struct phase_options {
	uint64_t delay_ns; /* before it begins */
	uint64_t duration_ns; /* of it, without pauses; 0: until the end */
	bool paused; /* it begins when it is told to */
	const char *control; /* FIFO[,ANSWERS], by which it is told; NULL: by signals alone */
};

/* The defaults: 997 Hz, charged, one byte per bin, 64 MiB, bpfprofil.json. */
void sampling_options_init(struct sampling_options *options);
void sampling_options_free(struct sampling_options *options);

/*
 * Cuts the regions asked for out of a profile, and finds its functions. Files are read while both
 * last.
 */
int sampling_name_places(const struct sampling_options *options, const struct object_opener *opener,
			 struct profile *profile, struct error *err);

/* Before a session is opened: refuses a rate that costs too much here, unless it is forced. */
int sampling_check_cost(const struct sampling_options *options, struct error *err);

/* The part of the options that the engine is to know. */
struct session_options sampling_session_options(const struct sampling_options *options);

#endif
