// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cli/phase_options.h"

#include <errno.h>

#include "base/util.h"

static int set_time(const struct opt *opt, const char *value, void *field, struct error *err)
{
	uint64_t *time_ns = field, ns;

	if (parse_duration(value, &ns) || !ns || ns > INT64_MAX)
		return opt_bad(opt, value, err, "must be a time like 10, 90s or 5m");
	*time_ns = ns;
	return 0;
}

#define FIELD(member) offsetof(struct phase_options, member)

const struct opt phase_opts[] = {
	{ .name = "delay",
	  .arg = "T",
	  .help = "begin to sample after this time",
	  .set = set_time,
	  .field = FIELD(delay_ns) },
	{ .name = "duration",
	  .arg = "T",
	  .help = "sample for this time, pauses not counted, and stop",
	  .fallback = "until ^C, SIGTERM or the end of what is sampled",
	  .set = set_time,
	  .field = FIELD(duration_ns) },
	{ .name = "paused",
	  .help = "sample from the first SIGUSR1 on; SIGUSR2 pauses, also without this",
	  .set = opt_set_flag,
	  .field = FIELD(paused) },
	{ .name = "control",
	  .arg = "FIFO[,ANSWERS]",
	  .value = VALUE_FILE,
	  .help = "read start and stop from this FIFO, a line each, and write ok into the other "
		  "when it is done",
	  .set = opt_set_string,
	  .field = FIELD(control) },
	{ 0 }
};

int phase_options_check(const struct phase_options *options, const char *command, struct error *err)
{
	if (!options->paused || !options->delay_ns)
		return 0;
	error_set(err, -EINVAL, "%s: --paused and --delay: both say when it begins", command);
	error_hint(err, "leaving one of them out");
	return -EINVAL;
}
