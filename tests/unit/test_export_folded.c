// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* A profile of the whole host, not split, with so many ticks. */
static void put_head(FILE *file, unsigned int ticks)
{
	fprintf(file,
		"{\"format\": \"bpfprofil\", \"version\": 1, \"tool\": \"0.1.0\", "
		"\"started\": \"2026-02-01T12:00:00Z\", \"duration_ns\": 2000000000, \"complete\": true, "
		"\"host\": {\"kernel\": \"6.1\", \"arch\": \"x86_64\", \"cpus\": 2, \"name\": \"host\"}, "
		"\"command\": [], \"sampling\": {\"source\": \"clock\", \"mode\": \"charged\", "
		"\"period_ns\": 1000000, \"requested_hz\": 1000, \"measured_hz\": 1000}, "
		"\"ticks\": {\"total\": %u, \"binned\": %u, \"overflow\": 0, \"outside\": 0, "
		"\"filtered\": 0, \"lost\": {}}, \"targets\": [{\"id\": 0, \"kind\": \"system\", "
		"\"name\": \"host\", \"ticks\": {\"total\": %u, \"binned\": %u, \"overflow\": 0, "
		"\"outside\": 0, \"filtered\": 0, \"lost\": {}}, \"kernel_ticks\": 0}], ",
		ticks, ticks, ticks, ticks);
}

static void put_object(FILE *file, unsigned int id, const char *path)
{
	fprintf(file,
		"%s{\"id\": %u, \"kind\": \"file\", \"path\": \"%s\", \"build_id\": null, "
		"\"text\": [{\"offset\": 4096, \"address\": 4096, \"size\": 65536}]}",
		id ? ", " : "\"objects\": [", id, path);
}

static void put_function(FILE *file, unsigned int object, unsigned int number, unsigned int length)
{
	fprintf(file,
		"%s{\"object\": %u, \"name\": \"f%0*u\", \"offset\": %u, \"size\": 16, \"ticks\": 1}",
		number ? ", " : "\"functions\": [", object, (int)length - 1, number,
		4096 + 16 * number);
}

static struct profile *load_and_close(FILE *file, char *text)
{
	char path[] = "/tmp/bpfprofil-test-XXXXXX";
	struct profile *profile = NULL;
	struct error err = { 0 };
	FILE *copy;
	int fd;

	fclose(file);
	fd = mkstemp(path);
	copy = fdopen(fd, "w");
	cr_assert(copy && fputs(text, copy) >= 0 && !fclose(copy));
	cr_assert_eq(profile_load(path, &profile, &err), 0, "%s", err.text);
	unlink(path);
	free(text);
	return profile;
}

#define HISTOGRAM                                                                                    \
	"{\"target\": 0, \"object\": %u, \"pid\": null, \"process\": null, \"cgroup\": null, "       \
	"\"offset\": 4096, \"size\": 65536, \"width\": 4, \"scale\": 131072, \"bytes_per_bin\": 1, " \
	"\"overflow\": false, \"stopped\": null, \"bins\": ["

/* Functions of the same name in several programs are not one, which nobody split by process. */
Test(export_folded, programs)
{
	const struct export_options every = { .target = EXPORT_ALL_TARGETS };
	struct export_options one = { .target = 0, .object = "bash" };
	size_t size;
	char *text = NULL;
	FILE *file = open_memstream(&text, &size);
	cleanup_profile struct profile *profile = NULL;

	put_head(file, 18);
	put_object(file, 0, "/usr/lib/gcc/cc1");
	put_object(file, 1, "/bin/bash");
	put_object(file, 2, "/usr/lib/libc.so.6");
	fprintf(file, "], \"histograms\": [" HISTOGRAM "[0,5]]}, ", 0U);
	fprintf(file, HISTOGRAM "[0,6]]}, " HISTOGRAM "[256,7]]}], ", 1U, 2U);
	fprintf(file, "\"callers\": {\"sites\": [[0,4096],[1,4096],[2,4200],[2,4352]], \"roots\": ["
		      "{\"target\": 0, \"pid\": null, \"process\": null, \"cgroup\": null, "
		      "\"end\": \"complete\", \"ticks\": 0}], "
		      "\"nodes\": [[-1,2,0],[-1,3,2],[0,0,5],[0,1,6],[2,3,1],[3,3,4]]}, ");
	fprintf(file,
		"\"functions\": ["
		"{\"object\": 2, \"name\": \"write\", \"offset\": 4352, \"size\": 16, \"ticks\": 7}, "
		"{\"object\": 1, \"name\": \"main\", \"offset\": 4096, \"size\": 16, \"ticks\": 6}, "
		"{\"object\": 0, \"name\": \"main\", \"offset\": 4096, \"size\": 16, \"ticks\": 5}, "
		"{\"object\": 2, \"name\": \"start\", \"offset\": 4192, \"size\": 16, \"ticks\": 0}"
		"], \"notes\": []}");
	fflush(file);
	profile = load_and_close(file, text);
	assert_folded(profile, &every,
		      "cc1;start;main 5\nbash;start;main 6\n[unknown];write 2\n"
		      "cc1;start;main;write 1\nbash;start;main;write 4\n");
	/* Where there is only one, it would be the same in each line, so it must be asked for. */
	assert_folded(profile, &one, "start;main 6\n");
	one.programs = true;
	assert_folded(profile, &one, "bash;start;main 6\n");
}

enum { DEPTH = 250, NAME_BYTES = 3000, PROFILE_TICKS = DEPTH * (DEPTH + 1) / 2 };

/* DEPTH functions call each other, and each of them is called at the end of that too. */
static struct profile *long_and_deep(void)
{
	size_t size;
	char *text = NULL;
	FILE *file = open_memstream(&text, &size);
	unsigned int i;

	put_head(file, PROFILE_TICKS);
	put_object(file, 0, "/bin/program");
	fprintf(file, "], \"histograms\": [" HISTOGRAM, 0U);
	for (i = 0; i < DEPTH; i++)
		fprintf(file, "%s[%u,%u]", i ? "," : "", 16 * i, i + 1);
	fprintf(file, "]}], \"callers\": {\"sites\": [");
	for (i = 0; i < DEPTH; i++)
		fprintf(file, "%s[0,%u]", i ? "," : "", 4096 + 16 * i);
	fprintf(file, "], \"roots\": [{\"target\": 0, \"pid\": null, \"process\": null, "
		      "\"cgroup\": null, \"end\": \"complete\", \"ticks\": 0}], \"nodes\": [");
	for (i = 0; i < DEPTH; i++)
		fprintf(file, "%s[%d,%u,0]", i ? "," : "", (int)i - 1, i);
	for (i = 0; i < DEPTH; i++)
		fprintf(file, ",[%u,%u,%u]", DEPTH - 1U, i, i + 1);
	fprintf(file, "]}, ");
	for (i = 0; i < DEPTH; i++)
		put_function(file, 0, i, NAME_BYTES);
	fprintf(file, "], \"notes\": []}");
	fflush(file);
	return load_and_close(file, text);
}

/* In full it would be 187 MB: the coldest lose their callers, and no tick is lost. */
Test(export_folded, too_large, .timeout = 120)
{
	char note[EXPORT_NOTE_BYTES] = "";
	cleanup_profile struct profile *profile = long_and_deep();
	const struct export_options every = { .target = EXPORT_ALL_TARGETS, .note = note };
	cleanup_free char *text = sample_export("folded", profile, &every, NULL);
	uint64_t sum = 0, bare = 0, ticks, hottest = 0;
	char *line, *rest = NULL;

	cr_expect_lt(strlen(text), 129UL << 20);
	cr_expect_gt(strlen(text), 120UL << 20);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		ticks = strtoull(strrchr(line, ' '), NULL, 10);
		sum += ticks;
		if (strncmp(line, "[callers left out];f", 20))
			continue;
		bare += ticks;
		hottest = ticks > hottest ? ticks : hottest;
	}
	cr_expect_eq(sum, PROFILE_TICKS);
	cr_expect(bare > 0 && bare == hottest * (hottest + 1) / 2, "%lu ticks, up to %lu a stack",
		  (unsigned long)bare, (unsigned long)hottest);
	cr_expect(strstr(note, " ticks are without callers"), "%s", note);
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
