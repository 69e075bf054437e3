// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/sampling.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "option/command.h"
#include "host/engine/sched_tick.h"

static const struct opt_group groups[] = { SAMPLING_GROUPS(0),
					   { .title = "Command", .opts = sampling_command_opts },
					   { 0 } };

static const struct command command = {
	.name = "run",
	.description = "",
	.groups = groups,
	.operands_end_options = true,
};

#define MAX_WORDS 20

struct sampled {
	struct sampling_options options;
	struct error err;
	int result;
};

static struct sampled parse(char *line)
{
	struct sampled sampled = { 0 };
	struct opts_parsed parsed = { 0 };
	char *argv[MAX_WORDS + 1] = { "run" }, *word;
	int argc = 1;

	for (word = strtok(line, " "); word && argc < MAX_WORDS; word = strtok(NULL, " "))
		argv[argc++] = word;
	sampling_options_init(&sampled.options);
	sampled.result = opts_parse(&command, argc, argv, &sampled.options, &parsed, &sampled.err);
	if (!sampled.result)
		sampled.result = sampling_options_check(&sampled.options, "run", &sampled.err);
	return sampled;
}

#define PARSE(line) parse((char[]){ line })

static void check_refused(char *line, const char *text)
{
	struct sampled sampled = parse(line);

	cr_assert_eq(sampled.result, -EINVAL, "%s", line);
	cr_assert_str_eq(sampled.err.text, text);
	sampling_options_free(&sampled.options);
}

#define REFUSED(line, text) check_refused((char[]){ line }, text)

/* A default that --help shows, if it is a value and not a description, is the one that holds. */
static void assert_shown(const struct opt *opt)
{
	struct sampled untouched, shown;
	char line[100];

	if (!opt->fallback || opt->set == opt_set_string || opt->value == VALUE_FILE)
		return;
	untouched = PARSE("");
	snprintf(line, sizeof(line), "--%s %s", opt->name, opt->fallback);
	shown = parse(line);
	if (!shown.result) {
		cr_expect_eq(shown.options.period_ns, untouched.options.period_ns, "%s", line);
		cr_expect_eq(shown.options.source, untouched.options.source, "%s", line);
		cr_expect_eq(shown.options.mode, untouched.options.mode, "%s", line);
		cr_expect_eq(shown.options.split, untouched.options.split, "%s", line);
		cr_expect_eq(shown.options.memory, untouched.options.memory, "%s", line);
		cr_expect_eq(shown.options.bytes_per_bin, untouched.options.bytes_per_bin, "%s",
			     line);
	}
	sampling_options_free(&shown.options);
}

Test(sampling, defaults_shown)
{
	const struct opt_group *group;
	const struct opt *opt;

	for (group = groups; group->title; group++)
		for (opt = group->opts; opt->name; opt++)
			assert_shown(opt);
}

Test(sampling, defaults)
{
	struct sampled sampled = PARSE("");

	cr_assert_eq(sampled.result, 0);
	cr_assert_eq(sampled.options.period_ns, 1003009);
	cr_assert_eq(sampled.options.requested_hz, 997);
	cr_assert_eq(sampled.options.mode, MODE_AT_USER_PC);
	cr_assert_eq(sampled.options.bytes_per_bin, 1);
	cr_assert_eq(sampled.options.memory, 64 << 20);
	cr_assert_str_eq(sampled.options.output, "bpfprofil.json");
	cr_assert_null(sampled.options.user);
	cr_assert_eq(sampled.options.verbosity, 0);
	cr_assert_not(sampled.options.force);
}

Test(sampling, everything)
{
	struct sampled sampled = PARSE("-F 100000 --mode split --scale 2 --memory 1M -o - -u me "
				       "-v --force");
	struct session_options session = sampling_session_options(&sampled.options);

	cr_assert_eq(sampled.result, 0, "%s", sampled.err.text);
	cr_assert_str_eq(sampled.options.output, "-");
	cr_assert_str_eq(sampled.options.user, "me");
	cr_assert_eq(sampled.options.verbosity, 1);
	cr_assert_eq(session.period_ns, 10000);
	cr_assert_eq(session.requested_hz, 100000);
	cr_assert_eq(session.mode, MODE_KERNEL_APART);
	cr_assert_eq(session.bin_shift, 16);
	cr_assert_eq(session.memory, 1 << 20);
	cr_assert(sampled.options.force);
}

Test(sampling, rates)
{
	cr_assert_eq(PARSE("-F 1").options.period_ns, 1000000000);
	cr_assert_eq(PARSE("-F 3").options.period_ns, 333333333);
	cr_assert_eq(PARSE("--period 10000").options.requested_hz, 100000);
	REFUSED("-F 0", "run: --frequency '0': must be a whole number from 1 to 100000");
	REFUSED("-F 1e9", "run: --frequency '1e9': must be a whole number from 1 to 100000");
	REFUSED("-F 100001", "run: --frequency '100001': must be a whole number from 1 to 100000");
	REFUSED("-F -1", "run: --frequency '-1': must be a whole number from 1 to 100000");
	REFUSED("--period 9999",
		"run: --period '9999': must be a whole number from 10000 to 1000000000");
	REFUSED("-F 9 --period 1000000", "run: --frequency and --period: both say the rate");
}

#define NO_CPUS "must be CPUs like 3, or 0,2-5"

Test(sampling, cpus)
{
	cr_assert_null(PARSE("").options.cpus);
	cr_assert_str_eq(PARSE("--cpu 3").options.cpus, "3");
	cr_assert_str_eq(PARSE("--cpu 0,2-5,7-7").options.cpus, "0,2-5,7-7");
	REFUSED("--cpu 0,", "run: --cpu '0,': " NO_CPUS);
	REFUSED("--cpu ,1", "run: --cpu ',1': " NO_CPUS);
	REFUSED("--cpu 3-1", "run: --cpu '3-1': " NO_CPUS);
	REFUSED("--cpu 1-", "run: --cpu '1-': " NO_CPUS);
	REFUSED("--cpu -1", "run: --cpu '-1': " NO_CPUS);
	REFUSED("--cpu 0-99999999999", "run: --cpu '0-99999999999': " NO_CPUS);
	REFUSED("--cpu all", "run: --cpu 'all': " NO_CPUS);
}

#define NO_BYTES "must be a power of two from 1 to 65536"
#define NO_SCALE                                                                                   \
	"must be a power of two from 2 to 131072, so that a bin is 131072 / scale bytes, a power " \
	"of two from 1 to 65536"

Test(sampling, budgets)
{
	cr_expect_eq(PARSE("--budget 0.5").options.budget_percent, 0.5);
	cr_expect_eq(PARSE("--budget 1").options.source, SOURCE_UNTOLD);
	cr_expect_eq(PARSE("--budget 1 --source clock").options.source, SOURCE_CLOCK);
	cr_expect_eq(PARSE("--budget 1 --source tick").options.source, SOURCE_TICK);
	REFUSED("--budget 1 -F 100", "run: --budget and --frequency: both say the rate");
	REFUSED("--budget 1 --period 1000000", "run: --budget and --period: both say the rate");
#define BUDGET_RULE ": must be a share of a CPU in per cent, above 0 and at most 50, like 1 or 0.5"
	REFUSED("--budget 0", "run: --budget '0'" BUDGET_RULE);
	REFUSED("--budget 51", "run: --budget '51'" BUDGET_RULE);
	REFUSED("--budget -1", "run: --budget '-1'" BUDGET_RULE);
	REFUSED("--budget nan", "run: --budget 'nan'" BUDGET_RULE);
	REFUSED("--budget 1%", "run: --budget '1%'" BUDGET_RULE);
}

Test(sampling, bins)
{
	cr_assert_eq(PARSE("--bytes-per-bin 65536").options.bytes_per_bin, 65536);
	cr_assert_eq(PARSE("--scale 131072").options.bytes_per_bin, 1);
	cr_assert_eq(PARSE("--scale 65536").options.bytes_per_bin, 2);
	REFUSED("--bytes-per-bin 3", "run: --bytes-per-bin '3': " NO_BYTES);
	REFUSED("--bytes-per-bin 0", "run: --bytes-per-bin '0': " NO_BYTES);
	REFUSED("--bytes-per-bin 131072", "run: --bytes-per-bin '131072': " NO_BYTES);
	REFUSED("--scale 0", "run: --scale '0': " NO_SCALE);
	REFUSED("--scale 1", "run: --scale '1': " NO_SCALE);
	REFUSED("--scale 262144", "run: --scale '262144': " NO_SCALE);
	REFUSED("--scale 2 --bytes-per-bin 65536",
		"run: --bytes-per-bin and --scale: both say the bin size");
}

Test(sampling, modes_and_sources)
{
	char text[128];

	cr_assert_eq(PARSE("--source clock --mode user").options.mode, MODE_USER_ONLY);
	cr_assert_eq(PARSE("--source tick").options.source, SOURCE_TICK);
	cr_assert_eq(PARSE("--source tick").options.period_ns, sched_tick_period_ns());
	cr_assert_eq(PARSE("--source tick --source clock").options.requested_hz, 997);
	cr_assert_eq(PARSE("-F 99 --source tick --source clock").options.requested_hz, 99);
	snprintf(text, sizeof(text),
		 "run: --source tick: the scheduler's tick has a rate of its own, %.6g Hz here",
		 1e9 / (double)sched_tick_period_ns());
	REFUSED("--source tick -F 99", text);
	REFUSED("--period 4000000 --source tick", text);
	REFUSED("--source sun", "run: --source 'sun': must be one of clock, tick");
	REFUSED("--mode kernel", "run: --mode 'kernel': must be one of charged, user, split");
}

#define NO_INTERVAL "must be a time of at least 1s, like 10, 90s or 5m"

Test(sampling, intervals)
{
	struct sampled sampled = PARSE("-o p-%t --interval 2m --keep 3");

	cr_assert_eq(sampled.result, 0, "%s", sampled.err.text);
	cr_assert_eq(sampled.options.interval_ns, UINT64_C(120000000000));
	cr_assert_eq(sampled.options.keep, 3);
	cr_assert_eq(PARSE("-o %t --interval 1").options.interval_ns, 1000000000);
	cr_assert_eq(PARSE("-o %t --interval 1000ms").options.interval_ns, 1000000000);
	cr_assert_eq(PARSE("-o %t --interval 1.5s").options.interval_ns, 1500000000);
	REFUSED("-o %t --interval 999ms", "run: --interval '999ms': " NO_INTERVAL);
	REFUSED("-o %t --interval 0", "run: --interval '0': " NO_INTERVAL);
	REFUSED("-o %t --interval -5", "run: --interval '-5': " NO_INTERVAL);
	REFUSED("-o %t --interval 5x", "run: --interval '5x': " NO_INTERVAL);
	REFUSED("-o %t --interval 1e30", "run: --interval '1e30': " NO_INTERVAL);
	REFUSED("-o %t --interval 5 --keep 0",
		"run: --keep '0': must be a whole number from 1 to 4294967295");
	REFUSED("--keep 2", "run: --keep: there is one FILE only without --interval");
}

/*
 * Each file of a series needs its own name, by %t, and not by %%t, which is a percent sign and a t.
 */
Test(sampling, interval_needs_time_in_the_name)
{
	static char lines[][40] = { "--interval 5", "-o a%%t --interval 5", "-o a%p --interval 5",
				    "-o - --interval 5", "-o a% --interval 5" };
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct sampled sampled = parse(lines[i]);

		cr_expect_eq(sampled.result, -EINVAL, "%s", lines[i]);
		cr_expect_str_eq(sampled.err.text,
				 "run: --interval: FILEs of one name would replace each other");
		cr_expect_str_eq(sampled.err.hint, "-o 'bpfprofil-%t.json'");
	}
	cr_assert_eq(PARSE("-o %%%t --interval 5").result, 0);
	cr_assert_eq(PARSE("--interval 5 -o %p%t").result, 0);
}

Test(sampling, splits)
{
	struct sampled sampled = PARSE("--split process");

	cr_assert_eq(PARSE("").options.split, SPLIT_NONE);
	cr_assert_eq(sampling_session_options(&sampled.options).split, SPLIT_PROCESS);
	cr_assert_eq(PARSE("--split cgroup").options.split, SPLIT_CGROUP);
	cr_assert_eq(PARSE("--split none").options.split, SPLIT_NONE);
	cr_assert_eq(PARSE("--split threads").options.split, SPLIT_THREAD);
	REFUSED("--split file",
		"run: --split 'file': must be one of none, process, cgroup, thread");
}

Test(sampling, memory)
{
	cr_assert_eq(PARSE("--memory 262144").options.memory, 262144);
	cr_assert_eq(PARSE("--memory 2G").options.memory, UINT64_C(2) << 30);
	REFUSED("--memory 1",
		"run: --memory '1': must be a size of at least 256K, like 512K or 64M");
	REFUSED("--memory 16777216T", "run: --memory '16777216T': must be a size of at least 256K, "
				      "like 512K or 64M");
}

Test(sampling, regions)
{
	struct sampled sampled = PARSE("--region libz.so.1 --region /bin/app:ns::f");

	cr_assert_eq(sampled.options.nr_regions, 2);
	cr_assert_str_eq(sampled.options.regions[0].object, "libz.so.1");
	cr_assert_null(sampled.options.regions[0].symbol);
	cr_assert_str_eq(sampled.options.regions[1].object, "/bin/app");
	cr_assert_str_eq(sampled.options.regions[1].symbol, "ns::f");
	sampling_options_free(&sampled.options);
	sampling_options_free(&sampled.options);
	REFUSED("--region :f", "run: --region ':f': must be OBJECT or OBJECT:SYMBOL");
	REFUSED("--region f:", "run: --region 'f:': must be OBJECT or OBJECT:SYMBOL");
}

Test(sampling, verbosity)
{
	cr_assert_eq(PARSE("-q").options.verbosity, -1);
	cr_assert_eq(PARSE("-vv -v").options.verbosity, 3);
	cr_assert_eq(PARSE("-q -v").options.verbosity, 1);
}
