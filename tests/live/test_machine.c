// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * The machine changes during the run: CPUs go away and come back, the kernel lowers its maximum
 * rate.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "attach.h"
#include "host.h"
#include "live.h"
#include "need.h"

#define CPU "/sys/devices/system/cpu/cpu1/online"
#define LIMIT "/proc/sys/kernel/perf_event_max_sample_rate"

/* A CPU that is not sampled takes a quarter of these workloads' ticks with it. */
#define NEARLY 0.05

/* A limit that nobody else would set: if it is found at the start, a killed test has left it. */
#define LOWERED "1009"
#define KERNELS_DEFAULT "100000\n"

static char limit_was[32];

static bool write_to(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return false;
	fputs(text, file);
	return !fclose(file);
}

static void remember(void)
{
	FILE *file;

	need_root();
	file = fopen(LIMIT, "re");
	if (!file)
		return;
	if (!fgets(limit_was, sizeof(limit_was), file))
		limit_was[0] = '\0';
	fclose(file);
	if (!strcmp(limit_was, LOWERED "\n"))
		strcpy(limit_was, KERNELS_DEFAULT);
}

/* Called after a failure too: restores the machine. */
static void give_back(void)
{
	if (!access(CPU, W_OK))
		write_to(CPU, "1\n");
	if (limit_was[0] && !access(LIMIT, W_OK))
		write_to(LIMIT, limit_was);
}

TestSuite(live_machine, .timeout = 120, .init = remember, .fini = give_back);

static bool have_hotplug(void)
{
	struct child_end end;
	bool good;

	if (access(CPU, W_OK))
		return false;
	child_run(&end, NULL, ARGS("grep", "-qx", "1", CPU));
	good = end.status == 0 && write_to(CPU, "0\n") && write_to(CPU, "1\n");
	child_end_free(&end);
	return good;
}

/* Two threads that burn all the time have ticks on whatever CPUs there are. */
LIVE_TEST(live_machine, cpu_goes_and_comes)
{
	struct child_end end;
	struct child script;

	NEED(have_hotplug(), "CPU 1 cannot be taken offline");
	child_start(&script, NULL,
		    ARGS("sh", "-c", "sleep 0.5; echo 0 > " CPU "; sleep 0.7; echo 1 > " CPU));
	live_run(live, ARGS(FAST), ARGS(WORKLOAD("threads"), "4", "40000"));
	child_finish(&script, &end);
	cr_assert_eq(end.status, 0, "%s", end.err);
	child_end_free(&end);
	doc_assert_shares(live->doc, SHARES({ "alpha", 5 }, { "beta", 3 }, { "delta", 2 }), 0.97);
	cr_expect_float_eq(live_time_ratio(live), 1, NEARLY, "%f", live_time_ratio(live));
}

/* The CPU was away when sampling began, and is sampled when it comes. */
LIVE_TEST(live_machine, cpu_comes)
{
	NEED(have_hotplug(), "CPU 1 cannot be taken offline");
	cr_assert(write_to(CPU, "0\n"));
	live_run(live, ARGS(FAST),
		 ARGS("sh", "-c", "echo 1 > " CPU "; exec \"$0\" 4 25000", WORKLOAD("threads")));
	cr_expect_float_eq(live_time_ratio(live), 1, NEARLY, "%f", live_time_ratio(live));
}

/*
 * A rate that would cost more than a fifth of a CPU needs --force. If a tick takes less than 2 us,
 * as on metal, no rate does.
 */
Test(live_machine, rate_that_costs_too_much)
{
	struct child_end end;

	child_run(&end, NULL,
		  ARGS(BPFPROFIL_BIN, "run", "-F", "99999", "-o", "/dev/null", "--", "echo",
		       "ran"));
	if (end.status) {
		cr_expect_eq(end.status, 1, "exit %d: %s", end.status, end.err);
		cr_expect_eq(strncmp(end.err, "bpfprofil: run: -F 99999: ", 26), 0, "%s", end.err);
		cr_expect_not_null(strstr(end.err, "--force"), "%s", end.err);
		cr_expect_eq(end.out_len, 0, "COMMAND ran");
	} else {
		cr_expect_str_eq(end.out, "ran\n");
		cr_expect_null(strstr(end.err, "--force"), "%s", end.err);
	}
	child_end_free(&end);
}

/* A rate that the kernel would not deliver is refused before COMMAND starts. */
Test(live_machine, rate_above_the_limit)
{
	struct child_end end;

	NEED(limit_was[0] && write_to(LIMIT, LOWERED "\n"), "the kernel's limit cannot be set");
	child_run(&end, NULL,
		  ARGS(BPFPROFIL_BIN, "run", "-F", "4999", "-o", "/dev/null", "--", "echo", "ran"));
	cr_expect_eq(end.status, 1, "exit %d: %s", end.status, end.err);
	cr_expect_eq(strncmp(end.err, "bpfprofil: run: -F 4999: ", 25), 0, "%s", end.err);
	cr_expect_eq(end.out_len, 0, "COMMAND ran");
	child_end_free(&end);
}

/*
 * If the limit is lowered later, the kernel withholds ticks. These are lost, and counted as lost;
 * the kernel only lets us estimate how many they are.
 */
LIVE_TEST(live_machine, throttled)
{
	struct child_end end;
	struct child script;
	double ticks_ns, cpu_ns;

	NEED(limit_was[0] && write_to(LIMIT, limit_was), "the kernel's limit cannot be set");
	child_start(&script, NULL,
		    ARGS("sh", "-c",
			 "sleep 1; echo " LOWERED " > " LIMIT "; sleep 1; echo $0 > " LIMIT,
			 limit_was));
	live_run(live, ARGS(FAST), ARGS(WORKLOAD("three"), "25000"));
	child_finish(&script, &end);
	child_end_free(&end);
	/* 7.3 was seen to withhold none; then all are there. */
	ticks_ns =
		(double)(doc_number(live->doc, "ticks.total") - doc_lost(live->doc, "throttled")) *
		(double)doc_number(live->doc, "sampling.period_ns");
	cpu_ns = (double)doc_number(live->doc, "cpu_ns");
	cr_expect(doc_lost(live->doc, "throttled") || ticks_ns > 0.95 * cpu_ns,
		  "%.3f s of %.3f: %s", ticks_ns / 1e9, cpu_ns / 1e9,
		  json_object_to_json_string(doc_get(live->doc, "ticks")));
}

/* SECONDS of all rows of a target. */
static double row_seconds(struct live *live, const char *target)
{
	struct child_end end;
	struct json_object *report, *rows;
	double seconds = 0;
	size_t i;

	child_run(&end, NULL,
		  ARGS(BPFPROFIL_BIN, "report", "--by", "objects", "--format", "json", "--target",
		       target, live_path(live, "profile.json")));
	report = json_tokener_parse(end.out);
	cr_assert_not_null(report, "%s", end.err);
	rows = doc_get(report, "rows");
	for (i = 0; i < json_object_array_length(rows); i++)
		seconds += json_object_get_double(
			doc_get(json_object_array_get_idx(rows, i), "seconds"));
	json_object_put(report);
	child_end_free(&end);
	return seconds;
}

/* Its ticks are those that the scheduler's account has for it, and its rows have all its time. */
static void expect_own_ticks(struct live *live, const char *number, const struct burner *burner)
{
	struct json_object *target =
		json_object_array_get_idx(doc_get(live->doc, "targets"), (size_t)atoi(number));
	double period_ns = (double)doc_number(live->doc, "sampling.period_ns");
	double ticks = (double)doc_number(target, "ticks.total");
	double lost = (double)doc_number(target, "ticks.lost.throttled");
	double seconds = row_seconds(live, number);

	cr_expect_leq(fabs(ticks * period_ns - burner->cpu_ns),
		      (0.05 + host_stolen_part()) * burner->cpu_ns + 1e7,
		      "%s: %.0f ticks (%.0f throttled) for %.4f s", burner->name, ticks, lost,
		      burner->cpu_ns / 1e9);
	cr_expect_leq(fabs(seconds * 1e9 - burner->cpu_ns), 0.02 * burner->cpu_ns + 1e7,
		      "%s: rows of %.4f s of %.4f", burner->name, seconds, burner->cpu_ns / 1e9);
}

/*
 * What the kernel withholds is made up for by later samples of the same threads. It is not lost for each
 * target: before, a sleeper had the ticks that all CPUs lacked.
 */
LIVE_TEST(live_machine, throttled_for_two_targets)
{
	struct burner sleeper, busy;
	struct child attach;
	char pids[2][20];

	NEED(limit_was[0] && write_to(LIMIT, limit_was), "the kernel's limit cannot be set");
	burner_start(&sleeper, live, "sleeper", WORKLOAD("bursts"), 1, ARGS("100", "900", "1000"));
	burner_start(&busy, live, "busy", WORKLOAD("forever"), 1, ARGS(live_path(live, "pid")));
	snprintf(pids[0], sizeof(pids[0]), "%d", sleeper.child.pid);
	snprintf(pids[1], sizeof(pids[1]), "%d", busy.child.pid);
	attach_start(live, &attach, ARGS(FAST, "--pid", pids[0], "--pid", pids[1]));
	burner_let(&sleeper);
	burner_let(&busy);
	write_to(LIMIT, LOWERED);
	burner_wait(&busy, 1);
	write_to(LIMIT, limit_was);
	burner_wait(&busy, 2);
	burner_hold(&sleeper);
	burner_hold(&busy);
	attach_end(live, &attach, SIGINT);
	expect_own_ticks(live, "0", &sleeper);
	expect_own_ticks(live, "1", &busy);
	burner_end(&sleeper);
	burner_end(&busy);
}
