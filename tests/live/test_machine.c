// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* The machine changes meanwhile: CPUs go and come, the kernel lowers its limit of rates. */
#include <stdio.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "live.h"
#include "need.h"

#define CPU "/sys/devices/system/cpu/cpu1/online"

TestSuite(live_machine, .timeout = 120);

/* Takes CPU 1 away, waits, and gives it back, whatever happens. */
#define AWAY_AND_BACK                                                                              \
	"trap 'echo 1 > " CPU "' EXIT; sleep 0.5; echo 0 > " CPU "; sleep 0.7; echo 1 > " CPU

static bool have_hotplug(void)
{
	struct child_end end;
	bool good;

	if (access(CPU, W_OK))
		return false;
	child_run(&end, NULL,
		  ARGS("sh", "-c", "grep -qx 1 " CPU " && echo 0 > " CPU " && echo 1 > " CPU));
	good = end.status == 0;
	child_end_free(&end);
	return good;
}

/* Two threads that burn all the while have ticks on whatever CPUs there are. */
Test(live_machine, cpu_goes_and_comes)
{
	struct child_end end;
	struct child script;
	struct live live;

	NEED_ROOT();
	NEED(have_hotplug(), "CPU 1 cannot be taken offline");
	live_begin(&live);
	child_start(&script, NULL, ARGS("sh", "-c", AWAY_AND_BACK));
	live_run(&live, ARGS(FAST), ARGS(WORKLOAD("threads"), "4", "40000"));
	child_finish(&script, &end);
	cr_assert_eq(end.status, 0, "%s", end.err);
	child_end_free(&end);
	doc_assert_shares(live.doc, SHARES({ "alpha", 5 }, { "beta", 3 }, { "delta", 2 }), 0.97);
	live_assert_time(&live, 40);
	live_end(&live);
}

/* It was away when sampling began, and is not left out when it comes. */
Test(live_machine, cpu_comes)
{
	struct child_end end;
	struct live live;

	NEED_ROOT();
	NEED(have_hotplug(), "CPU 1 cannot be taken offline");
	live_begin(&live);
	child_run(&end, NULL, ARGS("sh", "-c", "echo 0 > " CPU));
	cr_assert_eq(end.status, 0);
	child_end_free(&end);
	live_try(&live, ARGS(FAST),
		 ARGS("sh", "-c", "echo 1 > " CPU "; exec \"$0\" 4 25000", WORKLOAD("threads")));
	child_run(&end, NULL, ARGS("sh", "-c", "echo 1 > " CPU));
	child_end_free(&end);
	cr_assert_eq(live.end.status, 0, "%s", live.end.err);
	doc_assert_sound(live.doc);
	live_assert_time(&live, 40);
	live_end(&live);
}

/* A rate that would cost more than a fifth of a CPU wants --force. */
Test(live_machine, rate_that_costs_too_much)
{
	struct child_end end;

	NEED_ROOT();
	child_run(&end, NULL,
		  ARGS(BPFPROFIL_BIN, "run", "-F", "99999", "-o", "/dev/null", "--", "echo",
		       "ran"));
	cr_expect_eq(end.status, 1, "exit %d: %s", end.status, end.err);
	cr_expect_eq(strncmp(end.err, "bpfprofil: -F 99999: ", 21), 0, "%s", end.err);
	cr_expect_not_null(strstr(end.err, "--force"), "%s", end.err);
	cr_expect_eq(end.out_len, 0, "COMMAND ran");
	child_end_free(&end);
}

#define LIMIT "/proc/sys/kernel/perf_event_max_sample_rate"

/* Runs the rest of the script with the kernel's limit at 1,000 a second, then restores it. */
#define LOWERED                                                                                    \
	"was=$(cat " LIMIT "); trap 'echo $was > " LIMIT "' EXIT; echo 1000 > " LIMIT " || exit 77;"

/* A rate that the kernel would not deliver is refused, before COMMAND starts. */
Test(live_machine, rate_above_the_limit)
{
	struct child_end end;

	NEED_ROOT();
	NEED(!access(LIMIT, W_OK), "the kernel's limit cannot be set");
	child_run(&end, NULL,
		  ARGS("sh", "-c", LOWERED "\"$0\" run -F 4999 -o /dev/null -- echo it ran",
		       BPFPROFIL_BIN));
	if (end.status == 77) {
		skip_say("the kernel's limit cannot be set");
	} else {
		cr_expect_eq(end.status, 1, "exit %d: %s", end.status, end.err);
		cr_expect_eq(strncmp(end.err, "bpfprofil: -F 4999: ", 20), 0, "%s", end.err);
		cr_expect_eq(end.out_len, 0, "COMMAND ran");
	}
	child_end_free(&end);
}

/*
 * When the limit falls later, the kernel withholds ticks. Those are lost, and counted as that;
 * how many they are the kernel lets us only estimate.
 */
Test(live_machine, throttled)
{
	struct child_end end;
	struct child script;
	struct live live;

	NEED_ROOT();
	NEED(!access(LIMIT, W_OK), "the kernel's limit cannot be set");
	live_begin(&live);
	child_start(&script, NULL, ARGS("sh", "-c", "sleep 1;" LOWERED "sleep 1"));
	live_run(&live, ARGS(FAST), ARGS(WORKLOAD("three"), "25000"));
	child_finish(&script, &end);
	if (end.status == 77)
		skip_say("the kernel's limit cannot be set");
	else
		cr_expect_gt(doc_lost(live.doc, "throttled"), 0, "%s",
			     json_object_to_json_string(doc_get(live.doc, "ticks")));
	child_end_free(&end);
	live_end(&live);
}
