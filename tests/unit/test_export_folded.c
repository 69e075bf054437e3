// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/export.h"
#include "profile/profile_io.h"
#include "sample.h"

static void assert_folded(const struct profile *profile, const struct export_options *options,
			  const char *expected)
{
	cleanup_free char *text = sample_export("folded", profile, options, NULL);

	cr_assert_str_eq(text, expected);
}

static void rename_to(char **text, const char *name)
{
	free(*text);
	*text = strdup(name);
}

Test(export_folded, one_target)
{
	cleanup_profile struct profile *profile = sample_profile();
	const struct export_options second = { .target = 1 };
	const struct export_options kernel = { .target = 0, .object = "[kernel]" };

	assert_folded(profile, &second,
		      "/caf\xc3\xa9;work;operator,(A, B) 40\n/caf\xc3\xa9;work;main 20\n");
	assert_folded(profile, &kernel, "[kernel];[unknown] 40\n");
}

Test(export_folded, processes)
{
	cleanup_profile struct profile *profile = sample_profile();
	const struct export_options only = { .target = 0, .object = "work" };

	profile->histograms[0].pid = 12;
	assert_folded(profile, &only,
		      "12;work;[unknown] 99\n12;work;operator,(A, B) 500\n12;work;main 1\n");
	profile->histograms[0].process = strdup("a;b");
	assert_folded(profile, &only,
		      "a:b-12;work;[unknown] 99\na:b-12;work;operator,(A, B) 500\n"
		      "a:b-12;work;main 1\n");
}

/* Its process is in the object's name, but which thread it was is not. */
Test(export_folded, threads_of_a_jit)
{
	cleanup_profile struct profile *profile = sample_profile();
	const struct export_options only = { .target = 0, .object = "[jit 77]\nsecond line" };

	assert_folded(profile, &only, "[jit 77]\\x0asecond line;late 300\n");
	profile->sampling.split = strdup("thread");
	assert_folded(profile, &only, "jit, \"one\"-77;[jit 77]\\x0asecond line;late 300\n");
}

/* A function in two histograms of one process is one line. */
Test(export_folded, adds_up)
{
	cleanup_profile struct profile *profile = sample_profile();
	const struct export_options only = { .target = 0, .object = "work" };

	profile->histograms[1].target = 0;
	rename_to(&profile->histograms[1].cgroup, "/c");
	profile->histograms[0].cgroup = strdup("/c");
	assert_folded(profile, &only,
		      "/c;work;[unknown] 99\n/c;work;operator,(A, B) 540\n/c;work;main 21\n");
}

/* flamegraph.pl would take the first of two numbers for the ticks. */
Test(export_folded, number_at_the_end_of_a_name)
{
	cleanup_profile struct profile *profile = sample_profile();
	const struct export_options second = { .target = 1 };

	rename_to(&profile->functions[0].name, "operator 12");
	rename_to(&profile->functions[2].name, "log2 .5");
	assert_folded(profile, &second,
		      "/caf\xc3\xa9;work;operator 12_ 40\n/caf\xc3\xa9;work;log2 .5_ 20\n");
	rename_to(&profile->functions[0].name, "log10");
	rename_to(&profile->functions[2].name, "12");
	assert_folded(profile, &second, "/caf\xc3\xa9;work;log10 40\n/caf\xc3\xa9;work;12 20\n");
}

static struct profile *with_callers(void)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile_load("tests/golden/callers.json", &profile, &err), 0, "%s", err.text);
	return profile;
}

/* The chains of two processes that looked alike would be one line, if they were not told apart. */
Test(export_folded, callers)
{
	cleanup_profile struct profile *profile = with_callers();
	const struct export_options every = { .target = EXPORT_ALL_TARGETS };
	const struct export_options libc = { .target = 0, .object = "libc.so.6" };

	assert_folded(profile, &every,
		      "steady-100;__libc_start_call_main;main;spin 400\n"
		      "steady-100;__libc_start_call_main;main;spin;[kernel] 10\n"
		      "steady-100;[cut: late];write 20\n"
		      "steady-100;__libc_start_call_main;main;write 50\n"
		      "steady-100;__libc_start_call_main;main;write;[kernel] 10\n"
		      "node-200;__libc_start_call_main;node::Start(int, char**);fib;fib;write 20\n"
		      "node-200;__libc_start_call_main;node::Start(int, char**) 30\n"
		      "node-200;__libc_start_call_main;node::Start(int, char**);fib;fib 80\n"
		      "node-200;__libc_start_call_main;node::Start(int, char**);fib;fib;fib 170\n"
		      "node-200;[cut: no rule];late 110\n"
		      "sh-300;__libc_start_call_main;main 3\n"
		      "sh-301;__libc_start_call_main;main;eval 2\n");
	/* What a walk found no frame for has its function, and text without one its object. */
	profile->histograms[0].bins[0].count += 15;
	rename_to(&profile->functions[3].name, "write;\n7");
	rename_to(&profile->functions[8].name, "");
	assert_folded(profile, &libc,
		      "steady-100;[cut: late];write:\\x0a7 20\n"
		      "steady-100;libc.so.6;main;write:\\x0a7 50\n"
		      "steady-100;libc.so.6;main;write:\\x0a7;[kernel] 10\n"
		      "node-200;libc.so.6;node::Start(int, char**);fib;fib;write:\\x0a7 20\n");
	profile_callers_free(profile->callers);
	profile->callers = NULL;
	assert_folded(profile, &libc,
		      "steady-100;libc.so.6;write:\\x0a7 80\nnode-200;libc.so.6;write:\\x0a7 20\n");
}

/* The ticks of calls are not the sampler's. */
Test(export_folded, calls)
{
	cleanup_profile struct profile *profile = sample_profile();
	const struct export_options every = { .target = EXPORT_ALL_TARGETS };
	const struct export_options call = { .target = 1 };
	struct error err;
	FILE *null = fopen("/dev/null", "w");
	char *text;

	profile->targets[1].period_ns = 10000000;
	cr_assert_eq(export_write(export_find("folded"), profile, &every, null, &err), -EINVAL);
	cr_assert_str_eq(err.text,
			 "folded: target 1 has a tick of 10000000 ns, others one of 1003009");
	cr_assert_str_eq(err.hint, "--target 1");
	rename_to(&profile->targets[1].kind, "call");
	text = sample_export("folded", profile, &every, NULL);
	cr_assert_null(strstr(text, "caf"));
	cr_assert_not_null(strstr(text, "work;main 1\n"));
	free(text);
	assert_folded(profile, &call,
		      "/caf\xc3\xa9;work;operator,(A, B) 40\n/caf\xc3\xa9;work;main 20\n");
	fclose(null);
}
