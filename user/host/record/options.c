// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/record/options.h"

#include <stdlib.h>

#include "host/cost/cost.h"
#include "naming/functions.h"

#define DEFAULT_HZ 997

void sampling_options_init(struct sampling_options *options)
{
	*options = (struct sampling_options){
		.source = SOURCE_UNTOLD,
		.requested_hz = DEFAULT_HZ,
		.period_ns = (1000000000 + DEFAULT_HZ / 2) / DEFAULT_HZ,
		.mode = MODE_AT_USER_PC,
		.bytes_per_bin = 1,
		.memory = 64 << 20,
		.output = "bpfprofil.json",
	};
}

void sampling_options_free(struct sampling_options *options)
{
	size_t i;

	for (i = 0; i < options->nr_regions; i++) {
		free(options->regions[i].object);
		free(options->regions[i].symbol);
	}
	free(options->regions);
	options->regions = NULL;
	options->nr_regions = 0;
}

int sampling_check_cost(const struct sampling_options *options, struct error *err)
{
	/* With a budget, the user has allowed the cost, even above a fifth of a CPU. */
	if (options->source != SOURCE_CLOCK || options->force || options->budget_percent > 0)
		return 0;
	return calibrate_check(options->requested_hz, err);
}

struct session_options sampling_session_options(const struct sampling_options *options)
{
	return (struct session_options){
		.source = (enum tick_source)options->source,
		.period_ns = options->period_ns,
		.requested_hz = options->requested_hz,
		.duty_percent = options->duty_percent,
		.mode = (enum tick_mode)options->mode,
		.cpus = options->cpus,
		.split = (enum split)options->split,
		.callers = options->callers,
		.waits = options->waits,
		.bin_shift = (uint32_t)__builtin_ctz(options->bytes_per_bin),
		.memory = options->memory,
		.measure = options->budget_percent > 0,
		.choose = options->choose,
		.first_seen = options->first_seen,
		.choose_context = options->choose_context,
	};
}

int sampling_name_places(const struct sampling_options *options, const struct object_opener *opener,
			 struct profile *profile, struct error *err)
{
	int ret = regions_apply(profile, opener, options->regions, options->nr_regions, err);

	return ret ?: functions_resolve(profile, opener, err);
}
