// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/sampling.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/util.h"
#include "host/engine/sched_tick.h"

#define HZ_MAX 100000 /* the highest default of kernel.perf_event_max_sample_rate */
#define PERIOD_MIN (1000000000 / HZ_MAX)
#define PERIOD_MAX 1000000000
#define BYTES_PER_BIN_MAX 65536
#define SCALE_BYTES 131072 /* profil()'s 16-bit counters at scale 1: 2 << 16 bytes each */
#define MEMORY_MIN (256 << 10)
#define BUDGET_MAX 50
#define DUTY_MIN 0.1
#define CPUS_MAX 65536
#define CALLERS_HZ 99
#define CALLERS_MEMORY_MIN (1 << 20)
#define INTERVAL_MIN UINT64_C(1000000000) /* the names of FILEs have seconds */

static int set_frequency(const struct opt *opt, const char *value, void *field, struct error *err)
{
	struct sampling_options *options = field;
	uint64_t hz;
	int ret = opt_set_u64(opt, value, &hz, err);

	if (ret)
		return ret;
	options->requested_hz = (double)hz;
	options->period_ns = (1000000000 + hz / 2) / hz;
	options->has_frequency = true;
	return 0;
}

static int set_period(const struct opt *opt, const char *value, void *field, struct error *err)
{
	struct sampling_options *options = field;
	int ret = opt_set_u64(opt, value, &options->period_ns, err);

	if (ret)
		return ret;
	options->requested_hz = 1e9 / (double)options->period_ns;
	options->has_period = true;
	return 0;
}

static int set_budget(const struct opt *opt, const char *value, void *field, struct error *err)
{
	double *budget = field;

	if (parse_double(value, budget) || !(*budget > 0) || *budget > BUDGET_MAX)
		return opt_bad(opt, value, err,
			       "must be a share of a CPU in per cent, above 0 and at most %d, "
			       "like 1 or 0.5",
			       BUDGET_MAX);
	return 0;
}

/* All of them are as without it. */
static int set_duty(const struct opt *opt, const char *value, void *field, struct error *err)
{
	struct sampling_options *options = field;
	double *duty = &options->duty_percent;

	if (parse_double(value, duty) || !(*duty >= DUTY_MIN) || *duty > 100)
		return opt_bad(
			opt, value, err,
			"must be a share of the ticks in per cent, from %.1f to 100, like 10",
			DUTY_MIN);
	if (*duty == 100)
		*duty = 0;
	options->has_duty = true;
	return 0;
}

static bool power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static int set_bytes_per_bin(const struct opt *opt, const char *value, void *field,
			     struct error *err)
{
	struct sampling_options *options = field;
	uint64_t bytes;

	if (parse_u64(value, &bytes) || !power_of_two(bytes) || bytes > BYTES_PER_BIN_MAX)
		return opt_bad(opt, value, err, "must be a power of two from 1 to %d",
			       BYTES_PER_BIN_MAX);
	options->bytes_per_bin = (uint32_t)bytes;
	options->has_bytes_per_bin = true;
	return 0;
}

static int set_scale(const struct opt *opt, const char *value, void *field, struct error *err)
{
	struct sampling_options *options = field;
	uint64_t scale;

	if (parse_u64(value, &scale) || !power_of_two(scale) || scale < 2 || scale > SCALE_BYTES)
		return opt_bad(opt, value, err,
			       "must be a power of two from 2 to %d, so that a bin is %d / scale "
			       "bytes, a power of two from 1 to %d",
			       SCALE_BYTES, SCALE_BYTES, BYTES_PER_BIN_MAX);
	options->bytes_per_bin = (uint32_t)(SCALE_BYTES / scale);
	options->has_scale = true;
	return 0;
}

/*
 * The first ':' ends OBJECT, because symbols often contain more of them (std::sort) and paths
 * hardly ever do.
 */
static int set_region(const struct opt *opt, const char *value, void *field, struct error *err)
{
	struct sampling_options *options = field;
	const char *colon = strchr(value, ':');
	struct region region = { 0 }, *grown;

	if (!*value || colon == value || (colon && !colon[1]))
		return opt_bad(opt, value, err, "must be OBJECT or OBJECT:SYMBOL");
	grown = reallocarray(options->regions, options->nr_regions + 1, sizeof(*grown));
	if (!grown)
		goto out_of_memory;
	options->regions = grown;
	region.object = colon ? strndup(value, (size_t)(colon - value)) : strdup(value);
	region.symbol = colon ? strdup(colon + 1) : NULL;
	if (!region.object || (colon && !region.symbol))
		goto free_region;
	options->regions[options->nr_regions++] = region;
	return 0;

free_region:
	free(region.object);
	free(region.symbol);
out_of_memory:
	return error_errno(err, -ENOMEM, "--%s", opt->name);
}

/* Parses one CPU of a list, or two with a dash; returns where it ends, or NULL if it is invalid. */
static const char *parse_cpus(const char *text)
{
	unsigned long first, last;
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	first = last = strtoul(text, &end, 10);
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		last = strtoul(end + 1, &end, 10);
	return first <= last && last < CPUS_MAX ? end : NULL;
}

static int set_cpus(const struct opt *opt, const char *value, void *field, struct error *err)
{
	const char **cpus = field, *at = parse_cpus(value);

	while (at && *at == ',')
		at = parse_cpus(at + 1);
	if (!at || *at)
		return opt_bad(opt, value, err, "must be CPUs like 3, or 0,2-5");
	*cpus = value;
	return 0;
}

static int set_quiet(const struct opt *opt, const char *value, void *field, struct error *err)
{
	int *verbosity = field;

	(void)opt;
	(void)value;
	(void)err;
	*verbosity = -1;
	return 0;
}

static int set_verbose(const struct opt *opt, const char *value, void *field, struct error *err)
{
	int *verbosity = field;

	(void)opt;
	(void)value;
	(void)err;
	*verbosity = *verbosity < 0 ? 1 : *verbosity + 1;
	return 0;
}

#define FIELD(member) offsetof(struct sampling_options, member)

const struct opt sampling_rate_opts[] = {
	OPT_SETTER("frequency", "HZ", set_frequency,
		   "samples per second on each CPU, at a fixed rate", .letter = 'F',
		   .fallback = "997", .min = 1, .max = HZ_MAX),
	OPT_SETTER("period", "NS", set_period,
		   "one sample in this many nanoseconds, in place of --frequency",
		   .min = PERIOD_MIN, .max = PERIOD_MAX),
	OPT_SETTER("budget", "PERCENT", set_budget,
		   "choose the highest rate that costs at most this percentage of a busy CPU",
		   .field = FIELD(budget_percent)),
	OPT_WORD("source", FIELD(source), "clock|tick", tick_source_words,
		 "the timer: perf's CPU clock, or the scheduler's own tick, which has a fixed rate "
		 "and needs no other interrupt",
		 .fallback = "clock"),
	OPT_WORD("mode", FIELD(mode), "charged|user|split", tick_mode_words,
		 "charged counts a kernel tick for the user text that it returns to, user leaves "
		 "kernel ticks out, and split shows the kernel as an object",
		 .fallback = "charged"),
	OPT_SETTER("cpu", "LIST", set_cpus,
		   "sample only these CPUs, like 0,2-3; SECONDS are then ticks times the period",
		   .fallback = "all", .field = FIELD(cpus)),
	OPT_FLAG("force", FIELD(force), "sample even at a rate that costs more than 20 % of a CPU"),
	{ 0 }
};

const struct opt sampling_histogram_opts[] = {
	OPT_SETTER("bytes-per-bin", "N", set_bytes_per_bin,
		   "text bytes per counter, a power of two from 1 to 65536", .fallback = "1"),
	OPT_SETTER("scale", "S", set_scale,
		   "the bin size as a scale of profil() with 16-bit counters: 131072 / bytes"),
	OPT_WORD("split", FIELD(split), "process|thread|cgroup|none", split_words,
		 "a histogram for each process, thread or cgroup, with its own CPU time",
		 .fallback = "none; for top, process"),
	OPT_SETTER("region", "OBJECT[:SYMBOL]", set_region, "only this text; repeatable",
		   .fallback = "all", .value = VALUE_FILE),
	OPT_SIZE("memory", FIELD(memory), MEMORY_MIN, "512K or 64M",
		 "limit the memory for ticks; beyond it cold ones lose callers, then places",
		 .fallback = "64M"),
	{ 0 }
};

const struct opt sampling_callers_opts[] = {
	OPT_FLAG("callers", FIELD(callers),
		 "record call stacks (no frame pointers needed); the default rate is then 99 Hz"),
	{ 0 }
};

const struct opt sampling_waits_opts[] = {
	OPT_FLAG("waits", FIELD(waits),
		 "count wall time too: where threads wait, in which system calls, and for how "
		 "long, exactly"),
	{ 0 }
};

const struct opt sampling_output_opts[] = {
	OPT_FILE("output", FIELD(output),
		 "write the profile to this file; - is stdout; %p %t %h are the pid, the time and the "
		 "host; .gz compresses",
		 .letter = 'o', .fallback = "bpfprofil.json"),
	OPT_TIME("interval", FIELD(interval_ns), "T", INTERVAL_MIN, "10, 90s or 5m",
		 "a new FILE every T, at least 1s; its name must have a %t"),
	OPT_NUMBER("keep", FIELD(keep), "N", 1, UINT32_MAX,
		   "keep only the newest N of these files, and delete older ones",
		   .fallback = "all"),
	OPT_SETTER("quiet", NULL, set_quiet, "no progress and no summary", .letter = 'q',
		   .field = FIELD(verbosity)),
	OPT_SETTER("verbose", NULL, set_verbose, "print more messages", .letter = 'v',
		   .field = FIELD(verbosity)),
	{ 0 }
};

const struct opt sampling_command_opts[] = {
	OPT_STRING("user", FIELD(user), "NAME",
		   "run COMMAND as this user; the sampler keeps its own privileges", .letter = 'u',
		   .value = VALUE_USER),
	{ 0 }
};

static int check_interval(const struct sampling_options *options, const char *command,
			  struct error *err)
{
	if (options->keep && !options->interval_ns)
		return error_with_hint(err, -EINVAL, "--interval 60",
				       "%s: --keep: there is one FILE only without --interval",
				       command);
	if (options->interval_ns && !output_has_time(options->output))
		return error_with_hint(err, -EINVAL, "-o 'bpfprofil-%t.json'",
				       "%s: --interval: FILEs of one name would replace each other",
				       command);
	return 0;
}

static int check_budget(const struct sampling_options *options, const char *command,
			struct error *err)
{
	if (!options->budget_percent || (!options->has_frequency && !options->has_period))
		return 0;
	return error_with_hint(err, -EINVAL, "leaving one of them out",
			       "%s: --budget and --%s: both say the rate", command,
			       options->has_frequency ? "frequency" : "period");
}

/* For the scheduler's tick the rate is the kernel's. */
static int settle_rate(struct sampling_options *options, const char *command, struct error *err)
{
	if (options->source == SOURCE_UNTOLD && !options->budget_percent)
		options->source = SOURCE_CLOCK;
	if (options->source != SOURCE_TICK)
		return 0;
	if (options->has_frequency || options->has_period) {
		error_set(err, -EINVAL,
			  "%s: --source tick: the scheduler's tick has a rate of its own, %.6g Hz "
			  "here",
			  command, 1e9 / (double)sched_tick_period_ns());
		error_hint(err, "leaving --%s out",
			   options->has_frequency ? "frequency" : "period");
		return -EINVAL;
	}
	options->period_ns = sched_tick_period_ns();
	options->requested_hz = round(1e9 / (double)options->period_ns);
	return 0;
}

/* A walk takes some ten times as long as a tick alone. Therefore ticks are ten times fewer. */
static int settle_callers(struct sampling_options *options, const char *command, struct error *err)
{
	if (!options->callers)
		return 0;
	if (options->nr_regions)
		return error_with_hint(err, -EINVAL, "leaving one of them out",
				       "%s: --callers and --region: callers are of all text",
				       command);
	if (options->memory < CALLERS_MEMORY_MIN)
		return error_with_hint(err, -EINVAL, "leaving --memory out, which is 64M then",
				       "%s: --callers: --memory must be at least 1M", command);
	if (options->has_frequency || options->has_period || options->budget_percent > 0)
		return 0;
	options->requested_hz = CALLERS_HZ;
	options->period_ns = (1000000000 + CALLERS_HZ / 2) / CALLERS_HZ;
	return 0;
}

/* The scheduler moves threads between all CPUs. */
static int check_waits(const struct sampling_options *options, const char *command,
		       struct error *err)
{
	if (!options->waits || (!options->cpus && !options->nr_regions))
		return 0;
	return error_with_hint(err, -EINVAL, "leaving one of them out",
			       "%s: --waits and --%s: waits are of all %s", command,
			       options->cpus ? "cpu" : "region", options->cpus ? "CPUs" : "text");
}

const struct opt sampling_agent_opts[] = {
	OPT_TIME("interval", FIELD(interval_ns), "T", INTERVAL_MIN, "10, 90s or 5m",
		 "make a profile this often; the first one after some 10 s", .fallback = "60"),
	OPT_WORD("source", FIELD(source), "clock|tick", tick_source_words,
		 "sample at perf's CPU clock, or at the scheduler's own tick", .fallback = "tick"),
	OPT_SETTER(
		"budget", "PERCENT", set_budget,
		"limit the cost of sampling, in % of a busy CPU: sets the clock's rate, or --duty",
		.fallback = "0.1", .field = FIELD(budget_percent)),
	OPT_SETTER("duty", "PERCENT", set_duty,
		   "count this percentage of the scheduler's ticks, chosen at random",
		   .fallback = "as many as --budget allows"),
	OPT_WORD("mode", FIELD(mode), "charged|user|split", tick_mode_words,
		 "charged: ticks in the kernel count for user text; user: only ticks in user "
		 "text; split: both, separately",
		 .fallback = "split"),
	OPT_WORD("split", FIELD(split), "process|thread|cgroup|none", split_words,
		 "a service for each cgroup, or one for the host", .fallback = "cgroup"),
	OPT_FLAG("callers", FIELD(callers), "record and send call stacks"),
	OPT_FLAG("waits", FIELD(waits), "count where threads wait, and for how long"),
	OPT_SIZE("memory", FIELD(memory), MEMORY_MIN, "512K or 64M", "limit the memory for ticks",
		 .fallback = "64M"),
	OPT_SETTER("quiet", NULL, set_quiet, "print only errors", .letter = 'q',
		   .field = FIELD(verbosity)),
	{ 0 }
};

int sampling_options_check(struct sampling_options *options, const char *command, struct error *err)
{
	if (options->has_frequency && options->has_period)
		return error_with_hint(err, -EINVAL, "leaving one of them out",
				       "%s: --frequency and --period: both say the rate", command);
	if (options->has_bytes_per_bin && options->has_scale)
		return error_with_hint(err, -EINVAL, "leaving one of them out",
				       "%s: --bytes-per-bin and --scale: both say the bin size",
				       command);
	if (check_budget(options, command, err) || settle_callers(options, command, err) ||
	    settle_rate(options, command, err) || check_waits(options, command, err))
		return -EINVAL;
	return check_interval(options, command, err);
}

/* --- phases ----------------------------------------------------------------------------------- */

#define PHASE_FIELD(member) offsetof(struct phase_options, member)

const struct opt phase_opts[] = {
	OPT_TIME("delay", PHASE_FIELD(delay_ns), "T", 0, "10, 90s or 5m",
		 "begin to sample after this time"),
	OPT_TIME("duration", PHASE_FIELD(duration_ns), "T", 0, "10, 90s or 5m",
		 "sample for this time, pauses not counted, and stop",
		 .fallback = "until ^C, SIGTERM or the end of the command or targets"),
	OPT_FLAG("paused", PHASE_FIELD(paused),
		 "start paused; SIGUSR1 resumes and SIGUSR2 pauses, even without this option"),
	OPT_STRING("control", PHASE_FIELD(control), "FIFO[,ANSWERS]",
		   "read lines \"start\" and \"stop\" from FIFO, and answer \"ok\" to ANSWERS",
		   .value = VALUE_FILE),
	{ 0 }
};

int phase_options_check(const struct phase_options *options, const char *command, struct error *err)
{
	if (!options->paused || !options->delay_ns)
		return 0;
	return error_with_hint(err, -EINVAL, "leaving one of them out",
			       "%s: --paused and --delay: both say when it begins", command);
}
