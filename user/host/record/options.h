/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OPTIONS_H
#define BPFPROFIL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "host/engine/session.h"
#include "naming/regions.h"

/* No source was given: the clock is used, unless a budget chooses another. */
#define SOURCE_UNTOLD (SOURCE_TICK + 1)

/* The options of run, attach and top. */
struct sampling_options {
	unsigned int source; /* enum tick_source, or SOURCE_UNTOLD until the options are checked */
	double budget_percent; /* of one busy CPU; 0: no budget */
	double duty_percent; /* share of ticks that count; 0: all */
	bool adapt_duty; /* duty_percent is only the start; later the budget decides */
	double interrupt_ns; /* cost of an interrupt; with a budget, once the rate is chosen */
	uint64_t period_ns;
	double requested_hz;
	unsigned int mode; /* enum tick_mode */
	const char *cpus; /* sampled CPUs, like 0,2-3; NULL: all */
	unsigned int split; /* enum split */
	bool callers; /* count chains of callers, too */
	bool waits; /* count wall time, too */
	uint32_t bytes_per_bin; /* a power of two from 1 to 65536 */
	uint64_t memory; /* bytes of kernel memory for histograms */
	const char *output; /* as given; -, %p %t %h and .gz are not yet interpreted */
	uint64_t interval_ns; /* how often to write a new FILE; 0: only one, at the end */
	uint64_t keep; /* number of newest files to keep; 0: all */
	struct region *regions;
	size_t nr_regions;
	const char *user; /* NULL: our own user */
	int verbosity; /* -1: -q; 0; 1 and more: -v */
	bool force;
	/* See struct session_options. */
	enum space_state (*choose)(void *context, const char *cgroup);
	void (*first_seen)(void *context, const char *cgroup);
	void *choose_context;
	/* Given options, for settings with two options. */
	bool has_frequency, has_period, has_bytes_per_bin, has_scale, has_duty;
};

/* The times at which run and attach sample. */
struct phase_options {
	uint64_t delay_ns; /* before sampling begins */
	uint64_t duration_ns; /* total, without pauses; 0: until the end */
	bool paused; /* wait for a command or signal to start */
	const char *control; /* FIFO[,ANSWERS] for commands; NULL: signals only */
};

/* Sets the defaults: 997 Hz, charged, one byte per bin, 64 MiB, bpfprofil.json. */
void sampling_options_init(struct sampling_options *options);
void sampling_options_free(struct sampling_options *options);

/*
 * Applies --region to a profile, and finds its functions. This reads the objects' files. Therefore
 * the opener must still be able to open them.
 */
int sampling_name_places(const struct sampling_options *options, const struct object_opener *opener,
			 struct profile *profile, struct error *err);

/*
 * Call it before opening a session: refuses a rate that costs too much here, unless it is forced.
 */
int sampling_check_cost(const struct sampling_options *options, struct error *err);

/* The options for the engine. */
struct session_options sampling_session_options(const struct sampling_options *options);

#endif
