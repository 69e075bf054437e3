// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/report.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile_io.h"
#include "report/render.h"
#include "sample.h"

static struct profile *split_profile(void)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile_load("tests/golden/split.json", &profile, &err), 0, "%s", err.text);
	return profile;
}

static void check_notes(const struct profile *profile, uint64_t target, const char *first,
			const char *second)
{
	const char *const want[] = { first, second };
	struct cpu_time_notes notes;
	size_t i;

	cr_assert_eq(cpu_time_compare(profile, target, &notes), 0);
	cr_expect_eq(notes.nr, (first ? 1 : 0) + (second ? 1 : 0));
	for (i = 0; i < notes.nr && want[i]; i++)
		cr_expect_str_eq(notes.text[i], want[i]);
}

#define BURSTS "its bursts fall between ticks"
#define SCHEDULER "; SECONDS are the scheduler's"

Test(cpu_time, the_worst_process)
{
	cleanup_profile struct profile *profile = split_profile();

	check_notes(profile, REPORT_ALL_TARGETS,
		    "ticks saw 0.41 of the CPU time of redis-server (pid 200): " BURSTS SCHEDULER,
		    NULL);
	free(profile->splits[2].process);
	profile->splits[2].process = NULL;
	check_notes(profile, 0, "ticks saw 0.41 of the CPU time of pid 200: " BURSTS SCHEDULER,
		    NULL);
	profile->splits[2].pid = -1;
	profile->splits[2].cgroup = strdup("/redis.service");
	profile->histograms[1].cgroup = strdup("/redis.service");
	profile->histograms[3].cgroup = strdup("/redis.service");
	check_notes(profile, 0,
		    "ticks saw 0.41 of the CPU time of cgroup /redis.service: " BURSTS SCHEDULER,
		    NULL);
	profile->splits[2].cpu_ns = 300000000;
	check_notes(profile, 0,
		    "ticks saw 1.37 times the CPU time of cgroup /redis.service: they fall on its "
		    "bursts, or on time that a hypervisor took away" SCHEDULER,
		    NULL);
	/* The others are as expected, but their sum need not be. */
	profile->splits[2].cpu_ns = 410000000;
	check_notes(profile, 0, "ticks saw 0.61 of the CPU time of host: " BURSTS SCHEDULER, NULL);
	profile->sampling.duty_percent = 10;
	check_notes(profile, 0,
		    "ticks saw 0.61 of the CPU time of host: not all ticks were counted" SCHEDULER,
		    NULL);
	profile->sampling.duty_percent = 0;
	profile->targets[0].cpu_ns = 930000000;
	check_notes(profile, 0, NULL, NULL);
	profile->targets[0].cpu_known = false;
	profile->splits[2].cpu_ns = 1000000000;
	check_notes(profile, 0, NULL, NULL);
}

Test(cpu_time, without_a_tick)
{
	cleanup_profile struct profile *profile = split_profile();

	profile->splits[0].cpu_ns += 1000000000;
	profile->targets[0].cpu_ns += 1000000000;
	/* A sum of those that had no tick is not compared with the clock. */
	check_notes(profile, REPORT_ALL_TARGETS,
		    "ticks saw 0.41 of the CPU time of redis-server (pid 200): " BURSTS SCHEDULER,
		    "0.960 s were used by processes without a tick");
}

/* Bursts are not to blame for ticks that are in bins, but of which nobody knows the process. */
Test(cpu_time, ticks_of_nobody_knows_whom)
{
	cleanup_profile struct profile *profile = split_profile();
	uint64_t ticks = profile_histogram_ticks(&profile->histograms[0]);

	profile->splits[2].cpu_ns = 410000000;
	profile->targets[0].cpu_ns = 930000000;
	profile->splits[1].ticks -= ticks;
	check_notes(profile, 0,
		    "ticks saw 0.05 of the CPU time of steady (pid 100): " BURSTS SCHEDULER, NULL);
	profile->histograms[0].pid = -1;
	free(profile->histograms[0].process);
	profile->histograms[0].process = NULL;
	check_notes(profile, 0, NULL, NULL);
	/* It lacks more than all of them. */
	profile->splits[1].cpu_ns += 300000000;
	profile->targets[0].cpu_ns += 300000000;
	check_notes(profile, 0,
		    "ticks saw 0.14 of the CPU time of steady (pid 100): " BURSTS SCHEDULER, NULL);
}

/* One target with a clock of 1 kHz: which note is made for so many ticks and so much time. */
static void check_target(uint64_t ticks, double seconds, const char *note)
{
	struct profile_target target = { .kind = (char *)"pid",
					 .name = (char *)"77",
					 .cpu_known = true,
					 .cpu_ns = (uint64_t)(seconds * 1e9),
					 .ticks.total = ticks };
	struct profile profile = { .sampling.period_ns = 1000000,
				   .ticks.total = ticks,
				   .targets = &target,
				   .nr_targets = 1 };

	check_notes(&profile, 0, note, NULL);
}

Test(cpu_time, chance)
{
	/* 3 square roots of 10,000, which is more than 2 %, and 4 ms: 0.3 + 0.004 s. */
	check_target(10000, 10, NULL);
	check_target(10000, 9.7, NULL);
	check_target(10000, 10.3, NULL);
	check_target(10000, 10.31,
		     "ticks saw 0.97 of the CPU time of pid 77: its bursts fall between ticks, or "
		     "these came late" SCHEDULER);
	/* 2,000 programs of 4 ms with 1.05 of their ticks. */
	check_target(8400, 8,
		     "ticks saw 1.05 times the CPU time of pid 77: they fall on its bursts, or on "
		     "time that a hypervisor took away" SCHEDULER);
	/* Of 100,000 ticks 3 square roots are less than 2 %. */
	check_target(100000, 98.1, NULL);
	check_target(3, 0.0115, NULL);
	check_target(3, 0.013, "ticks saw 0.23 of the CPU time of pid 77: " BURSTS SCHEDULER);
	check_target(100, 0, "ticks saw 0.100 s of CPU time of pid 77, which had none");
}

/* One of two targets has no tick at all. */
Test(cpu_time, a_target_without_ticks)
{
	struct profile_target targets[] = { { .kind = (char *)"pid",
					      .name = (char *)"77",
					      .cpu_known = true,
					      .cpu_ns = 1000000000,
					      .ticks.total = 1000 },
					    { .kind = (char *)"pid",
					      .name = (char *)"78",
					      .host = (char *)"other",
					      .cpu_known = true,
					      .cpu_ns = 250000000 } };
	struct profile profile = { .sampling.period_ns = 1000000,
				   .ticks.total = 1000,
				   .targets = targets,
				   .nr_targets = 2 };

	check_notes(&profile, REPORT_ALL_TARGETS,
		    "ticks saw nothing of the 0.250 s of CPU time of pid 78 on other: " BURSTS,
		    "0.250 s were used by targets without a tick");
	check_notes(&profile, 0, NULL, NULL);
}

static bool is_measured(uint64_t ticks, double hz)
{
	const struct report_options options = { .target = REPORT_ALL_TARGETS };
	struct profile profile = {
		.sampling = { .period_ns = 1000000, .requested_hz = 1000, .measured_hz = hz },
		.ticks.total = ticks
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool found;

	render_ticks(&profile, &options, out);
	fclose(out);
	found = strstr(text, "(measured: ");
	free(text);
	return found;
}

/* A rate counts as different if so many ticks would not differ by chance. */
Test(cpu_time, measured_rate)
{
	cr_expect_not(is_measured(591, 1012));
	cr_expect_not(is_measured(100000, 1009));
	cr_expect(is_measured(100000, 1011));
	cr_expect(is_measured(900, 870));
	cr_expect_not(is_measured(0, 870));
	cr_expect_not(is_measured(900, 0));
}

static char *empty_text(double seconds, const char *source)
{
	const struct report_options options = { .target = REPORT_ALL_TARGETS };
	struct profile_target target = { .kind = (char *)"pid",
					 .name = (char *)"77",
					 .cpu_known = true,
					 .cpu_ns = (uint64_t)(seconds * 1e9) };
	struct profile profile = { .sampling = { .source = (char *)source, .period_ns = 1000000 },
				   .targets = &target,
				   .nr_targets = 1 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	render_empty(&profile, &options, out);
	fclose(out);
	return text;
}

/*
 * A higher frequency finds processes that hardly ran, but not those whose bursts fall between
 * ticks.
 */
Test(cpu_time, no_tick_at_all)
{
	char *text = empty_text(0.234, "clock");

	cr_expect_str_eq(text,
			 "No tick, for 0.234 s of CPU time: its bursts fall between ticks, of "
			 "which one stands for 1 ms.\n");
	free(text);
	text = empty_text(0.0003, "clock");
	cr_expect_str_eq(text,
			 "No tick: it hardly ran, for 0.000300 s, and one tick stands for 1 ms. "
			 "Try a higher --frequency or more work.\n");
	free(text);
	text = empty_text(0.0003, "tick");
	cr_expect_str_eq(text,
			 "No tick: it hardly ran, for 0.000300 s, and one tick stands for 1 ms. "
			 "Try --source clock or more work.\n");
	free(text);
}
