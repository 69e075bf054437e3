// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/profile_io.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "sample.h"

#define GOLDEN "tests/golden/profile.json"
#define SPLIT "tests/golden/split.json"
#define CALLERS "tests/golden/callers.json"

static char *text_of(const struct profile *profile, size_t *size)
{
	char *text = NULL;
	struct error err;
	FILE *stream = open_memstream(&text, size);

	cr_assert_not_null(stream);
	cr_assert_eq(profile_write(profile, stream, &err), 0, "%s", err.text);
	cr_assert_eq(fclose(stream), 0);
	return text;
}

static int read_text(const char *text, size_t size, struct profile **result, struct error *err)
{
	int fd = memfd_create("profile", MFD_CLOEXEC);
	struct input *in;
	int ret;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, size), (ssize_t)size);
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	cr_assert_eq(input_open_fd(fd, "p", &in, err), 0);
	ret = profile_read(in, result, err);
	input_close(in);
	return ret;
}

static char *file_text(const char *path, size_t *size)
{
	char *text = NULL;
	FILE *file = fopen(path, "r");
	FILE *stream = open_memstream(&text, size);
	int c;

	cr_assert_not_null(file, "%s", path);
	while ((c = fgetc(file)) != EOF)
		fputc(c, stream);
	fclose(file);
	fclose(stream);
	return text;
}

Test(profile_io, sample_is_written_as_the_golden_file)
{
	cleanup_profile struct profile *profile = sample_profile();
	size_t size;
	size_t golden_size;
	cleanup_free char *text = text_of(profile, &size);
	cleanup_free char *golden = file_text(GOLDEN, &golden_size);

	cr_assert_str_eq(text, golden);
	cr_assert_eq(size, golden_size);
}

static void assert_round_trip(const char *text, size_t size)
{
	cleanup_profile struct profile *profile = NULL;
	struct error err;
	size_t again_size;
	cleanup_free char *again = NULL;

	cr_assert_eq(read_text(text, size, &profile, &err), 0, "%s", err.text);
	again = text_of(profile, &again_size);
	cr_assert_eq(again_size, size);
	cr_assert_eq(memcmp(again, text, size), 0);
}

Test(profile_io, cpu_time_round_trips)
{
	cleanup_profile struct profile *profile = NULL;
	struct error err;
	uint64_t cpu_ns;
	size_t size;
	cleanup_free char *text = file_text(SPLIT, &size);

	assert_round_trip(text, size);
	cr_assert_eq(read_text(text, size, &profile, &err), 0, "%s", err.text);
	cr_expect(profile->targets[0].cpu_known);
	cr_expect_eq(profile->targets[0].cpu_ns, 1515000000);
	cr_expect(profile->targets[0].kernel_known);
	cr_expect_eq(profile->targets[0].kernel_ticks, 65);
	cr_expect(profile_cpu_time(profile, &cpu_ns));
	cr_expect_eq(cpu_ns, 1515000000);
	cr_assert_eq(profile->nr_splits, 5);
	cr_expect_eq(profile->splits[0].pid, -1);
	cr_expect_str_eq(profile->splits[0].process, "sh", "a sum by name");
	cr_expect_eq(profile->splits[2].pid, 200);
	cr_expect_str_eq(profile->splits[2].process, "redis-server");
	cr_expect_null(profile->splits[2].cgroup);
	cr_expect_eq(profile->splits[2].ticks, 410);
	cr_expect_eq(profile->splits[2].cpu_ns, 1000000000);
}

Test(profile_io, callers_round_trip)
{
	cleanup_profile struct profile *profile = NULL;
	const struct profile_callers *callers;
	struct error err;
	size_t size;
	cleanup_free char *text = file_text(CALLERS, &size);

	assert_round_trip(text, size);
	cr_assert_eq(read_text(text, size, &profile, &err), 0, "%s", err.text);
	callers = profile->callers;
	cr_assert(callers);
	cr_assert_eq(callers->nr_sites, 10);
	cr_expect_eq(callers->sites[9].object, 4);
	cr_expect_eq(callers->sites[9].offset, 140000000002050);
	cr_assert_eq(callers->nr_roots, 7);
	cr_expect_eq(callers->roots[2].pid, 100);
	cr_expect_str_eq(callers->roots[2].process, "steady");
	cr_expect_null(callers->roots[2].cgroup);
	cr_expect_eq(callers->roots[2].end, END_FULL);
	cr_expect_eq(callers->roots[2].ticks, 15);
	cr_assert_eq(callers->nr_nodes, 20);
	cr_expect_eq(callers->nodes[3].parent, -5);
	cr_expect_eq(callers->nodes[3].site, 9);
	cr_expect_eq(callers->nodes[3].ticks, 110);
	cr_expect_eq(callers->nodes[16].parent, 12);
	cr_expect_eq(callers->nodes[16].site, PROFILE_SITE_KERNEL);
}

/* Of no target, process or tick, and of the most that numbers can be. */
Test(profile_io, callers_at_the_edges)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct profile_callers *callers = profile->callers = calloc(1, sizeof(*callers));
	cleanup_free char *text = NULL, *edge = NULL;
	size_t size;

	text = text_of(profile, &size);
	cr_expect(strstr(text, "\"callers\": {\"sites\": [],\n\"roots\": [],\n\"nodes\": []},"));
	callers->nodes = calloc(1, sizeof(*callers->nodes));
	callers->nr_nodes = 1;
	callers->nodes[0] = (struct profile_node){ INT32_MIN, 4294967294, UINT64_MAX, 0 };
	edge = text_of(profile, &size);
	cr_expect(strstr(edge, "\n[-2147483648,4294967294,18446744073709551615]\n]},"));
}

/* The sum is known if every target that counts knows its time. */
Test(profile_io, cpu_time_of_all)
{
	cleanup_profile struct profile *profile = sample_profile();
	uint64_t cpu_ns;

	cr_expect_not(profile_cpu_time(profile, &cpu_ns));
	profile->targets[1].cpu_known = true;
	profile->targets[1].cpu_ns = 7;
	cr_expect_not(profile_cpu_time(profile, &cpu_ns));
	profile->targets[0].cpu_known = true;
	profile->targets[0].cpu_ns = UINT64_MAX;
	cr_expect(profile_cpu_time(profile, &cpu_ns));
	cr_expect_eq(cpu_ns, UINT64_MAX);
	/* A call beside it does not matter. */
	profile->targets[0].cpu_known = false;
	free(profile->targets[0].kind);
	profile->targets[0].kind = strdup("call");
	cr_expect(profile_cpu_time(profile, &cpu_ns));
	cr_expect_eq(cpu_ns, 7);
}

/* What only some runs have. */
Test(profile_io, rates_and_costs_round_trip)
{
	struct profile *profile = sample_profile(), *read = NULL;
	struct profile_sampling *sampling = &profile->sampling;
	struct profile_segment segments[] = { { 0, 1000000000, 1003009 },
					      { 1000000007, 60000001, UINT64_MAX } };
	uint64_t delivered[] = { 70, 0, UINT64_MAX };
	struct error err;
	size_t size;
	cleanup_free char *text = NULL;

	sampling->delivered = delivered;
	sampling->nr_delivered = 3;
	sampling->segments = segments;
	sampling->nr_segments = 2;
	sampling->cost = (struct profile_cost){ 1.5, 1.25, 12345.5, 250.75, 0.5 };
	sampling->duty_percent = 12.5;
	sampling->sampled_ns = 250000001;
	sampling->unsampled_ns = 12500000003;
	text = text_of(profile, &size);
	sampling->delivered = NULL;
	sampling->segments = NULL;
	profile_free(profile);
	assert_round_trip(text, size);
	cr_assert_eq(read_text(text, size, &read, &err), 0, "%s", err.text);
	sampling = &read->sampling;
	cr_assert_eq(sampling->nr_delivered, 3);
	cr_assert_arr_eq(sampling->delivered, delivered, sizeof(delivered));
	cr_assert_eq(sampling->nr_segments, 2);
	cr_assert_arr_eq(sampling->segments, segments, sizeof(segments));
	cr_assert_eq(sampling->cost.budget_percent, 1.5);
	cr_assert_eq(sampling->cost.percent, 1.25);
	cr_assert_eq(sampling->cost.interrupt_ns, 12345.5);
	cr_assert_eq(sampling->cost.handler_ns, 250.75);
	cr_assert_eq(sampling->cost.fixed_percent, 0.5);
	cr_assert_eq(sampling->duty_percent, 12.5);
	cr_assert_eq(sampling->sampled_ns, 250000001);
	cr_assert_eq(sampling->unsampled_ns, 12500000003);
	profile_free(read);
}

Test(profile_io, round_trip)
{
	cleanup_profile struct profile *profile = sample_profile_of_bins(100000);
	size_t size;
	char *text = file_text(GOLDEN, &size);

	assert_round_trip(text, size);
	free(text);
	text = text_of(profile, &size);
	assert_round_trip(text, size);
	free(text);
}

Test(profile_io, everything_is_read)
{
	cleanup_profile struct profile *p = NULL;
	struct error err;

	cr_assert_eq(profile_load(GOLDEN, &p, &err), 0, "%s", err.text);
	cr_assert_str_eq(p->tool, "0.1.0");
	cr_assert_eq(p->duration_ns, 1060000001);
	cr_assert(p->complete);
	cr_assert_eq(p->host.cpus, 2);
	cr_assert_str_eq(p->host.name, "host");
	cr_assert_str_eq(p->command[1], "tab\there \"and\" \\ there \x7f");
	cr_assert_null(p->command[2]);
	cr_assert_eq(p->sampling.measured_hz, 996.1);
	cr_assert_eq(p->nr_targets, 2);
	cr_assert_eq(p->targets[0].ticks.filtered, 25);
	cr_assert_eq(profile_account_lost(&p->targets[0].ticks), 5);
	cr_assert_eq(p->nr_objects, 4);
	cr_assert_eq(p->objects[2].kind, PROFILE_KERNEL);
	cr_assert_eq(p->objects[2].text[0].address, 0xffffffff81000000);
	cr_assert_null(p->objects[1].build_id);
	cr_assert_str_eq(p->objects[3].path, "not utf-8: \xef\xbf\xbd\xef\xbf\xbd(");
	cr_assert_eq(p->nr_histograms, 5);
	cr_assert_eq(p->histograms[0].pid, -1);
	cr_assert_null(p->histograms[0].cgroup);
	cr_assert_eq(p->histograms[0].bins[2].index, 0x7fff);
	cr_assert_str_eq(p->histograms[1].cgroup, "/caf\xc3\xa9");
	cr_assert_eq(p->histograms[2].pid, 77);
	cr_assert_str_eq(p->histograms[2].stopped, "no_memory");
	cr_assert(p->histograms[4].overflow);
	cr_assert_eq(p->nr_functions, 3);
	cr_assert_str_eq(p->functions[0].name, "operator,(A, B)");
	cr_assert_eq(p->functions[0].ticks, 540);
	cr_assert_eq(p->nr_notes, 1);
}

/* What a later writer of this version may add. */
Test(profile_io, unknown_keys_are_skipped)
{
	static const char *const added[][2] = {
		{ "{\"format\"", "{\"later\": {\"a\": [1, {}, [null]]}, \"format\"" },
		{ "\"exit\": 5", "\"later\": 0, \"exit\": 5" },
		{ "{\"kernel\"", "{\"later\": \"x\", \"kernel\"" },
		{ "\"stopped\": \"no_memory\"", "\"stopped\": \"no_memory\", \"dialect\": \"v7\"" },
		{ "[{\"offset\"", "[{\"later\": -1.5e3, \"offset\"" },
	};
	size_t size;
	cleanup_free char *golden = file_text(GOLDEN, &size);
	char text[8192];
	size_t i;

	for (i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		const char *at = strstr(golden, added[i][0]);
		struct profile *profile = NULL;
		struct error err;

		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - golden), golden, added[i][1],
			 at + strlen(added[i][0]));
		cr_assert_eq(read_text(text, strlen(text), &profile, &err), 0, "%s: %s",
			     added[i][1], err.text);
		profile_free(profile);
	}
}

struct refusal {
	const char *from; /* text in the golden file that is replaced once */
	const char *to;
	int code;
	const char *message;
};

static const struct refusal refusals[] = {
	{ "\"bpfprofil\"", "\"pprof\"", -EBADMSG, "p: not a bpfprofil profile" },
	{ "\"bpfprofil\"", "7", -EBADMSG, "p: not a bpfprofil profile" },
	{ "\"format\"", "\"Format\"", -EBADMSG, "p: not a bpfprofil profile" },
	{ "\"version\": 1", "\"version\": 2", -EPROTONOSUPPORT,
	  "p: version 2 is newer than this bpfprofil reads (1)" },
	{ "\"version\": 1", "\"version\": 0", -EBADMSG, "p: line 1: version 0" },
	{ "\"version\": 1", "\"version\": 1.5", -EBADMSG,
	  "p: line 1: '.' where ',' or '}' should be" },
	{ "\"version\": 1, ", "", -EBADMSG, "p: line 31: \"version\" is missing" },
	{ "\"functions\"", "\"Functions\"", -EBADMSG, "p: line 31: \"functions\" is missing" },
	{ "\"tool\": ", "\"version\": 1, \"tool\": ", -EBADMSG,
	  "p: line 1: \"version\" stands there twice" },
	{ "\"tool\": \"0.1.0\"", "\"tool\": null", -EBADMSG,
	  "p: line 1: 'n' where a string should be" },
	{ "2026-01", "26-01", -EBADMSG, "p: \"started\" is not a time as in RFC 3339" },
	{ "\"complete\": true", "\"complete\": 1", -EBADMSG,
	  "p: line 2: '1' where true or false should be" },
	{ "\"cpus\": 2", "\"cpus\": 4294967296", -EBADMSG,
	  "p: line 3: a number is above 2^32 - 1" },
	{ "\"cpus\": 2", "\"cpus\": -2", -EBADMSG,
	  "p: line 3: '-' where a whole number that is not negative should be" },
	{ "\"host\": {", "\"host\": [", -EBADMSG, "p: line 3: '[' where an object should be" },
	{ "[\"./work\"", "[7", -EBADMSG, "p: line 4: '7' where a string should be" },
	{ "\"./work\",", "\"a\\u0000b\",", -EBADMSG, "p: line 4: a NUL in a string" },
	{ "\"./work\",", "\"\xff\",", -EBADMSG, "p: line 4: a string is not UTF-8" },
	{ "\"clock\"", "\"sundial\"", -EBADMSG, "p: unknown sampling source" },
	{ "\"charged\"", "\"free\"", -EBADMSG, "p: unknown sampling mode" },
	{ "\"mode\"", "\"split\": \"thread\", \"cpus\": \"0,2-13\", \"mode\"", 0, "" },
	{ "\"mode\"", "\"split\": \"banana\", \"mode\"", -EBADMSG, "p: unknown split" },
	{ "\"mode\"", "\"cpus\": \"x\", \"mode\"", -EBADMSG,
	  "p: \"cpus\" is not a list like 0,2-3" },
	{ "\"mode\"", "\"cpus\": \"0,\", \"mode\"", -EBADMSG,
	  "p: \"cpus\" is not a list like 0,2-3" },
	{ "\"mode\"", "\"cpus\": \"1-2-3\", \"mode\"", -EBADMSG,
	  "p: \"cpus\" is not a list like 0,2-3" },
	{ "\"v2\"", "\"v1:cpu\"", 0, "" },
	{ "\"v2\"", "\"v1:\"", -EBADMSG, "p: unknown hierarchy of control groups" },
	{ "\"mode\"", "\"duty_percent\": 500, \"mode\"", -EBADMSG,
	  "p: more than 100 % of the ticks count" },
	{ "996.1", "-996.1", -EBADMSG, "p: line 5: a rate is negative" },
	{ "996.1", "1e999", -EBADMSG, "p: line 5: a number is too large" },
	{ "\"total\": 1060", "\"total\": 1061", -EBADMSG,
	  "p: the ticks do not add up to their total" },
	{ "\"total\": 1000", "\"total\": 999", -EBADMSG,
	  "p: target 0: its ticks do not add up to their total" },
	{ "\"exec\": 0, \"exit\"", "\"exit\": 0, \"exit\"", -EBADMSG,
	  "p: line 6: a cause stands there twice" },
	{ "\"id\": 1, \"kind\": \"cgroup\"", "\"id\": 0, \"kind\": \"cgroup\"", -EBADMSG,
	  "p: line 9: ids do not count up from 0" },
	{ "\"id\": 3, \"kind\": \"memory\"", "\"id\": 7, \"kind\": \"memory\"", -EBADMSG,
	  "p: line 15: ids do not count up from 0" },
	{ "\"cgroup\", \"name\"", "\"clique\", \"name\"", -EBADMSG, "p: target 1: unknown kind" },
	{ "\"kind\": \"jit\"", "\"kind\": \"jot\"", -EBADMSG,
	  "p: line 13: an object of an unknown kind" },
	{ "\"00ff12ab\"", "\"00FF12AB\"", -EBADMSG,
	  "p: object 0: its build id is not lower-case hexadecimal" },
	{ "\"size\": 16777216}]", "\"size\": 18446744073709551615}]", -EBADMSG,
	  "p: object 2: its text ends above 2^64" },
	{ "{\"target\": 1,", "{\"target\": 2,", -EBADMSG,
	  "p: histogram 1: its target does not exist" },
	{ "\"object\": 3, \"pid\"", "\"object\": 4, \"pid\"", -EBADMSG,
	  "p: histogram 4: its object does not exist" },
	{ "\"pid\": 77", "\"pid\": 2147483648", -EBADMSG, "p: line 20: a pid is above 2^31 - 1" },
	{ "\"pid\": 77", "\"pid\": null", 0, "" },
	{ "\"jit, ", "7, \"", -EBADMSG, "p: line 20: '7' where a string should be" },
	{ "\"width\": 4", "\"width\": 5", -EBADMSG,
	  "p: histogram 0: counters are 2, 4 or 8 bytes wide" },
	{ "\"bytes_per_bin\": 1,", "\"bytes_per_bin\": 0,", -EBADMSG,
	  "p: histogram 0: bins of no bytes" },
	{ "[3,300]", "[4,300]", -EBADMSG, "p: histogram 2: a bin lies beyond its size" },
	{ "[16,500]", "[0,500]", -EBADMSG, "p: line 18: bins do not ascend" },
	{ "[16,500]", "[32768,500]", -EBADMSG, "p: line 18: bins do not ascend" },
	{ "[1,40]", "[1,0]", -EBADMSG, "p: histogram 3: a bin without a tick" },
	{ "[1,40]", "[1,41]", -EBADMSG, "p: target 0: its bins do not add up to its binned ticks" },
	{ "[1,40]", "[1]", -EBADMSG, "p: line 21: a bin is [index, ticks]" },
	{ "[1,40]", "[]", -EBADMSG, "p: line 21: a bin is [index, ticks]" },
	{ "[1,40]", "[1,40,0]", -EBADMSG, "p: line 21: a bin is [index, ticks]" },
	{ "[1,40]", "1,40", -EBADMSG, "p: line 21: '1' where an array should be" },
	{ "[1,40]", "[1,40.0]", -EBADMSG, "p: line 21: '.' where ',' or ']' should be" },
	{ "[1,40]", "[1,-40]", -EBADMSG,
	  "p: line 21: '-' where a whole number that is not negative should be" },
	{ "[1,40]", "[1,99999999999999999999]", -EBADMSG,
	  "p: line 21: a number is above 2^64 - 1" },
	{ "\"bins\": [[1,40]]", "\"bins\": null", -EBADMSG,
	  "p: line 21: 'n' where an array should be" },
	{ "[0,10]", "[0,11]", -EBADMSG, "p: target 0: more ticks in overflow bins than it has" },
	{ "{\"object\": 1, \"name\"", "{\"object\": 9, \"name\"", -EBADMSG,
	  "p: function 1: its object does not exist" },
	{ "\"ticks\": 21}", "\"ticks\": 0}", -EBADMSG, "p: function 2: it has no tick" },
	{ "]}\n", "]} x\n", -EBADMSG, "p: line 31: 'x' where the end should be" },
};

/* In the file with splits. */
static const struct refusal split_refusals[] = {
	{ "\"cpu_ns\": 1515000000,\n", "\"cpu_ns\": 1515000001,\n", -EBADMSG,
	  "p: \"cpu_ns\" is not the sum of the targets'" },
	{ "}}, \"cpu_ns\": 1515000000, ", "}}, ", -EBADMSG,
	  "p: \"cpu_ns\" is not the sum of the targets'" },
	{ "\"cpu_ns\": 505000000", "\"cpu_ns\": -5", -EBADMSG,
	  "p: line 13: '-' where a whole number that is not negative should be" },
	{ ", \"ticks\": 505, \"cpu_ns\": 505000000", ", \"ticks\": 505", -EBADMSG,
	  "p: line 13: \"cpu_ns\" is missing" },
	{ "{\"target\": 0, \"pid\": 100", "{\"target\": 1, \"pid\": 100", -EBADMSG,
	  "p: split 1: its target does not exist" },
	{ "\"pid\": 100, \"process\": \"steady\", \"cgroup\": null, \"ticks\"",
	  "\"pid\": null, \"process\": \"steady\", \"cgroup\": null, \"ticks\"", 0, "" },
	/* As earlier versions wrote it. */
	{ "\"process\": \"sh\", \"cgroup\": null, \"ticks\": 0", "\"cgroup\": null, \"ticks\": 0",
	  0, "" },
	{ "\"process\": \"sh\", \"cgroup\": null, \"ticks\": 0", "\"cgroup\": null, \"ticks\": 1",
	  -EBADMSG, "p: split 0: ticks, and neither process nor cgroup" },
	{ "\"ticks\": 505,", "\"ticks\": 515,", 0, "" },
	{ "\"ticks\": 505,", "\"ticks\": 516,", -EBADMSG,
	  "p: split 4: more ticks than its target has" },
	{ "\"ticks\": 505,", "\"ticks\": 18446744073709551615,", -EBADMSG,
	  "p: split 1: more ticks than its target has" },
	{ "\"cgroup\": null, \"ticks\": 505", "\"cgroup\": \"/a\", \"ticks\": 505", -EBADMSG,
	  "p: split 1: both a process and a cgroup" },
	{ "\"pid\": 301, \"process\": \"sh\"", "\"pid\": 300, \"process\": \"sh\"", -EBADMSG,
	  "p: split 4: it stands there twice" },
	/* Two splits with one pid. */
	{ "\"pid\": 301, \"process\": \"sh\"", "\"pid\": 300, \"process\": \"ls\"", 0, "" },
};

/* In the file with callers. */
static const struct refusal caller_refusals[] = {
	{ "\"callers\": {", "\"callers\": [", -EBADMSG,
	  "p: line 34: '[' where an object should be" },
	{ "\"roots\": [", "\"Roots\": [", -EBADMSG, "p: line 49: \"roots\" is missing" },
	{ "[0,4260]", "[0,4260,1]", -EBADMSG, "p: line 35: a site is [object, offset]" },
	{ "[0,4260]", "[0]", -EBADMSG, "p: line 35: a site is [object, offset]" },
	{ "[0,4260]", "[4294967296,4260]", -EBADMSG, "p: line 35: a number is above 2^32 - 1" },
	{ "[0,4260]", "[-1,4260]", -EBADMSG,
	  "p: line 35: '-' where a whole number that is not negative should be" },
	{ "[0,4260]", "[0,4200]", -EBADMSG, "p: site 2: sites do not ascend" },
	{ "[0,4260]", "[1,9000]", -EBADMSG, "p: site 3: sites do not ascend" },
	{ "[0,4260]", "[2,1]", -EBADMSG, "p: site 3: sites do not ascend" },
	{ "[4,140000000002050]", "[5,140000000002050]", -EBADMSG,
	  "p: site 9: its object does not exist" },
	{ "\"end\": \"late\"", "\"end\": \"never\"", -EBADMSG,
	  "p: line 39: an unknown end of a walk" },
	{ "\"end\": \"late\"", "\"end\": \"complete\"", -EBADMSG,
	  "p: root 1: it stands there twice" },
	{ "\"cgroup\": null, \"end\": \"late\"", "\"cgroup\": \"/a\", \"end\": \"complete\"", 0,
	  "" },
	{ "{\"target\": 0, \"pid\": 301, \"process\": \"sh\", \"cgroup\": null, \"end\"",
	  "{\"target\": 1, \"pid\": 301, \"process\": \"sh\", \"cgroup\": null, \"end\"", -EBADMSG,
	  "p: root 6: its target does not exist" },
	{ "[8,8,0]", "[8,8]", -EBADMSG, "p: line 47: a node is [parent, site, ticks]" },
	{ "[8,8,0]", "[8,8,0,0]", -EBADMSG, "p: line 47: a node is [parent, site, ticks]" },
	{ "[8,8,0]", "[]", -EBADMSG, "p: line 47: a node is [parent, site, ticks]" },
	{ "[8,8,0]", "8,8,0", -EBADMSG, "p: line 47: '8' where an array should be" },
	{ "[8,8,0]", "[13,8,0]", -EBADMSG, "p: node 13: its parent does not come before it" },
	{ "[8,8,0]", "[19,8,0]", -EBADMSG, "p: node 13: its parent does not come before it" },
	{ "[8,8,0]", "[2147483647,8,0]", -EBADMSG,
	  "p: node 13: its parent does not come before it" },
	{ "[8,8,0]", "[2147483648,8,0]", -EBADMSG, "p: line 47: a parent is beyond 2^31" },
	{ "[8,8,0]", "[-2147483649,8,0]", -EBADMSG, "p: line 47: a parent is beyond 2^31" },
	{ "[8,8,0]", "[-2147483648,8,0]", -EBADMSG, "p: node 13: its root does not exist" },
	{ "[8,8,0]", "[-8,8,0]", -EBADMSG, "p: node 13: its root does not exist" },
	{ "[8,8,0]", "[8,10,0]", -EBADMSG, "p: node 13: its site does not exist" },
	{ "[8,8,0]", "[8,-2,0]", -EBADMSG, "p: line 47: a site is neither -1 nor an index" },
	{ "[8,8,0]", "[8,4294967295,0]", -EBADMSG,
	  "p: line 47: a site is neither -1 nor an index" },
	{ "[8,8,0]", "[8,8,-1]", -EBADMSG,
	  "p: line 47: '-' where a whole number that is not negative should be" },
	{ "[8,8,0]", "[8,-1,0]", 0, "" },
	{ "[8,8,0]", "[-0,8,0]", 0, "" },
	{ "[0,2,0]", "[0,1,0]", -EBADMSG, "p: two nodes of one parent have one site" },
	{ "[17,4,20]", "[13,8,20]", -EBADMSG, "p: two nodes of one parent have one site" },
	{ "[17,4,20]", "[17,9,20]", 0, "" },
	{ "[17,4,20]", "[17,4,21]", -EBADMSG,
	  "p: target 0: the ticks with callers are not its total without filtered and lost" },
	{ "[17,4,20]", "[17,4,18446744073709551615]", -EBADMSG,
	  "p: node 18: its target's ticks do not fit 64 bits" },
	{ "\"end\": \"no rule\", \"ticks\": 0",
	  "\"end\": \"no rule\", \"ticks\": 18446744073709551615", -EBADMSG,
	  "p: root 4: its target's ticks do not fit 64 bits" },
	{ "\"end\": \"late\", \"ticks\": 0", "\"end\": \"late\", \"ticks\": 1", -EBADMSG,
	  "p: target 0: the ticks with callers are not its total without filtered and lost" },
	/* Functions without a tick are those that call. */
	{ "\"callers\"", "\"Callers\"", -EBADMSG, "p: function 7: it has no tick" },
};

static void check_refusals(const char *path, const struct refusal *all, size_t nr)
{
	size_t size;
	cleanup_free char *golden = file_text(path, &size);
	char text[8192];
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct refusal *r = &all[i];
		const char *at = strstr(golden, r->from);
		struct profile *profile = NULL;
		struct error err;

		if (r->from[0] == ']')
			at = golden + size - 3;
		cr_assert_not_null(at, "%s", r->from);
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - golden), golden, r->to,
			 at + strlen(r->from));
		cr_expect_eq(read_text(text, strlen(text), &profile, &err), r->code, "%s", r->to);
		cr_expect_str_eq(err.text, r->message);
		cr_expect_eq(!profile, r->code != 0);
		profile_free(profile);
	}
}

Test(profile_io, refusals)
{
	check_refusals(GOLDEN, refusals, sizeof(refusals) / sizeof(refusals[0]));
	check_refusals(SPLIT, split_refusals, sizeof(split_refusals) / sizeof(split_refusals[0]));
	check_refusals(CALLERS, caller_refusals,
		       sizeof(caller_refusals) / sizeof(caller_refusals[0]));
}

Test(profile_io, foreign_and_empty)
{
	static const char *const foreign[] = { "hello",
					       "[]",
					       "7",
					       "{}",
					       "\x7f"
					       "ELF",
					       "{\"format\": \"x\"}",
					       "{\"targets\": 7}",
					       "<?xml version=\"1.0\"?>" };
	static const char *const empty[] = { "", "\n", " \n\t " };
	struct profile *profile = NULL;
	struct error err;
	size_t i;

	for (i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		cr_expect_eq(read_text(foreign[i], strlen(foreign[i]), &profile, &err), -EBADMSG);
		cr_expect_str_eq(err.text, "p: not a bpfprofil profile", "%s: %s", foreign[i],
				 err.text);
	}
	for (i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
		cr_expect_eq(read_text(empty[i], strlen(empty[i]), &profile, &err), -ENODATA);
		cr_expect_str_eq(err.text, "p: empty");
	}
	cr_expect_eq(profile_load("/usr/bin/env", &profile, &err), -EBADMSG);
	cr_expect_str_eq(err.text, "/usr/bin/env: not a bpfprofil profile");
	cr_expect_eq(profile_load("/nonexistent", &profile, &err), -ENOENT);
	cr_expect_eq(profile_load("/", &profile, &err), -EISDIR);
}

static void check_prefixes(const char *path)
{
	cleanup_profile struct profile *profile = NULL;
	struct error err;
	size_t size;
	cleanup_free char *golden = file_text(path, &size);
	size_t i;

	/* The last byte is a newline, without which nothing is missing. */
	for (i = 1; i < size - 1; i++) {
		cr_assert_eq(read_text(golden, i, &profile, &err), -ENODATA, "%zu: %s", i,
			     err.text);
		cr_assert_str_eq(err.text, "p: truncated");
	}
	cr_assert_eq(read_text(golden, size - 1, &profile, &err), 0, "%s", err.text);
}

Test(profile_io, every_prefix_is_truncated)
{
	check_prefixes(GOLDEN);
	check_prefixes(CALLERS);
}

Test(profile_io, compressed)
{
	char path[] = "/tmp/bpfprofil-test-XXXXXX";
	struct profile *profile = NULL;
	char command[256];
	struct error err;
	size_t size;
	size_t i;
	int fd = mkstemp(path);
	cleanup_free char *text = NULL;

	cr_assert_geq(fd, 0);
	snprintf(command, sizeof(command), "gzip -c %s >%s", GOLDEN, path);
	cr_assert_eq(system(command), 0);
	cr_assert_eq(profile_load(path, &profile, &err), 0, "%s", err.text);
	profile_free(profile);
	profile = NULL;
	text = file_text(path, &size);
	unlink(path);
	close(fd);
	/* Shorter ones do not even have gzip's magic bytes. */
	for (i = 2; i < size; i++) {
		cr_assert_eq(read_text(text, i, &profile, &err), -ENODATA, "%zu: %s", i, err.text);
		cr_assert_str_eq(err.text, "p: truncated");
	}
	text[size - 1] ^= 0x55;
	cr_assert_eq(read_text(text, size, &profile, &err), -EIO, "%s", err.text);
	cr_assert_str_eq(err.text, "p: damaged gzip data");
}

Test(profile_io, writing_to_a_full_device_fails)
{
	struct profile *profile = sample_profile();
	FILE *full = fopen("/dev/full", "w");
	struct error err;

	cr_assert_eq(profile_write(profile, full, &err), -ENOSPC);
	cr_assert_str_eq(err.text, "writing the profile: No space left on device");
	fclose(full);
	profile_free(profile);
	profile = sample_profile_of_bins(100000);
	full = fopen("/dev/full", "w");
	cr_assert_eq(profile_write(profile, full, &err), -ENOSPC);
	fclose(full);
	profile_free(profile);
}

/* A profile without any strings is written so that others can read it. */
Test(profile_io, strings_that_are_null)
{
	cleanup_profile struct profile *profile = profile_new();
	size_t size;
	cleanup_free char *text = text_of(profile, &size);

	cr_assert_not_null(strstr(text, "\"tool\": \"\","));
	cr_assert_not_null(strstr(text, "\"command\": [],"));
}

/*
 * Returns 0: valid, 3: invalid, by Debian's validator with the schema that the build put into the
 * program.
 */
static int validate(const char *document)
{
	static const char script[] =
		"/usr/bin/python3 -c '\n"
		"import json, sys, jsonschema\n"
		"schema = json.load(open(sys.argv[1]))\n"
		"jsonschema.Draft202012Validator.check_schema(schema)\n"
		"validator = jsonschema.Draft202012Validator(schema)\n"
		"sys.exit(0 if validator.is_valid(json.load(open(sys.argv[2]))) else 3)\n"
		"' %s %s";
	char schema[] = "/tmp/bpfprofil-schema-XXXXXX";
	char command[1024];
	FILE *file = fdopen(mkstemp(schema), "w");
	int status;

	cr_assert_not_null(file);
	fputs(profile_schema, file);
	cr_assert_eq(fclose(file), 0);
	snprintf(command, sizeof(command), script, schema, document);
	status = system(command);
	unlink(schema);
	cr_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

Test(profile_io, schema_takes_what_is_written)
{
	char path[] = "/tmp/bpfprofil-test-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	cleanup_profile struct profile *profile = sample_profile();
	struct error err;

	cr_assert_eq(validate(GOLDEN), 0);
	cr_assert_eq(validate(CALLERS), 0);
	cr_assert_eq(profile_add_label(profile, NULL, "team", "a\"b"), 0);
	cr_assert_eq(profile_add_label(profile, "/x", "service.name", "y"), 0);
	cr_assert_eq(profile_write(profile, file, &err), 0);
	fclose(file);
	cr_expect_eq(validate(path), 0);
	unlink(path);
}

static void check_schema_refuses(const char *golden, const char *const *edits)
{
	char path[] = "/tmp/bpfprofil-test-XXXXXX";
	char command[256];
	int fd = mkstemp(path);

	for (; *edits; edits++) {
		snprintf(command, sizeof(command), "sed '%s' %s >%s", *edits, golden, path);
		cr_assert_eq(system(command), 0);
		cr_expect_eq(validate(path), 3, "%s", *edits);
	}
	unlink(path);
	close(fd);
}

Test(profile_io, schema_refuses_what_is_broken)
{
	static const char *const edits[] = {
		"s/\"version\": 1/\"version\": 2/",
		"s/\"total\": 1060/\"total\": -1/",
		"s/\"kind\": \"jit\"/\"kind\": \"jot\"/",
		"s/\\[1,40\\]/[1,0]/",
		"s/\\[1,40\\]/[1]/",
		"s/00ff12ab/00FF12AB/",
		"s/\"measured_hz\"/\"Measured_hz\"/",
		"s/\"width\": 4/\"width\": 5/",
		"s/\"process\": .*, \"cgroup/\"process\": 7, \"cgroup/",
		"s/\"ticks\": 21}/\"ticks\": 0}/",
		NULL,
	};
	static const char *const caller_edits[] = {
		"s/\"end\": \"late\"/\"end\": \"never\"/",
		"s/\"end\": \"late\", //",
		"s/\\[8,8,0\\]/[8,8]/",
		"s/\\[8,8,0\\]/[8,8,0,0]/",
		"s/\\[8,8,0\\]/[8,-2,0]/",
		"s/\\[8,8,0\\]/[8,8,-1]/",
		"s/\\[0,4260\\]/[-1,4260]/",
		"s/\"roots\"/\"Roots\"/",
		"s/\"callers\"/\"Callers\"/",
		NULL,
	};

	check_schema_refuses(GOLDEN, edits);
	check_schema_refuses(CALLERS, caller_edits);
}

/*
 * Writes the sample with so many causes of its lost ticks, besides four of ours, and so many segments of its first
 * object, and reads it.
 */
static int read_with(size_t causes, size_t segments, struct error *err)
{
	cleanup_free struct profile_lost *lost = calloc(causes, sizeof(*lost));
	cleanup_free struct profile_text *text = calloc(segments, sizeof(*text));
	cleanup_profile struct profile *profile = sample_profile();
	struct profile_account *account = &profile->ticks, kept = *account;
	struct profile_object *object = &profile->objects[0], file = *object;
	struct profile *again = NULL;
	cleanup_free char *written = NULL;
	size_t i, size;
	int ret;

	for (i = 0; i < causes; i++)
		lost[i] = i < kept.nr_lost ? kept.lost[i] :
					     (struct profile_lost){ format_text("%zu", i), 0 };
	account->lost = lost;
	account->nr_lost = causes;
	object->text = text;
	object->nr_text = segments;
	written = text_of(profile, &size);
	ret = read_text(written, size, &again, err);
	profile_free(again);
	for (i = kept.nr_lost; i < causes; i++)
		free(lost[i].cause);
	*account = kept;
	*object = file;
	return ret;
}

/* Both lists are searched one by one. */
Test(profile_io, lists_that_are_too_long)
{
	struct error err;

	cr_expect_eq(read_with(252, 1170, &err), 0, "%s", err.text);
	cr_expect_eq(read_with(253, 1170, &err), -EBADMSG);
	cr_expect_str_eq(err.text, "p: line 6: more than 256 causes");
	cr_expect_eq(read_with(252, 1171, &err), -EBADMSG);
	cr_expect_str_eq(err.text, "p: object 0: more segments of text than a file may have");
}

#ifndef __SANITIZE_ADDRESS__ /* which reserves terabytes */

enum { MANY_TARGETS = 20000, MANY_CLASSES = 1 << 16 };

/* All pairs of a target and a class would take 20 GiB. Two pairs have time. */
Test(profile_io, waits_of_many_targets_and_classes)
{
	const struct rlimit limit = { 1UL << 30, 1UL << 30 };
	static struct profile_target targets[MANY_TARGETS];
	static struct profile_wait_class classes[MANY_CLASSES];
	static struct profile_wait_account accounts[MANY_TARGETS];
	static char names[MANY_CLASSES][12];
	struct profile_wait_sum sums[] = { { 7, 30, 1 }, { MANY_CLASSES - 1, 12, 1 } };
	struct profile_root roots[] = {
		{ .target = 3, .pid = -1, .class = 7, .ticks = 30 },
		{ .target = 3, .pid = -1, .class = MANY_CLASSES - 1, .ticks = 12 }
	};
	struct profile_waits waits = { .classes = classes,
				       .nr_classes = MANY_CLASSES,
				       .accounts = accounts,
				       .nr_accounts = MANY_TARGETS,
				       .tree = { .roots = roots, .nr_roots = 2 } };
	const struct profile profile = { .targets = targets,
					 .nr_targets = MANY_TARGETS,
					 .waits = &waits };
	struct error err;
	uint32_t i;

	roots[0].waits = roots[1].waits = 1;
	for (i = 0; i < MANY_CLASSES; i++) {
		snprintf(names[i], sizeof(names[i]), "%u", i);
		classes[i].name = names[i];
	}
	for (i = 0; i < MANY_TARGETS; i++)
		accounts[i].target = i;
	accounts[3].sums = sums;
	accounts[3].nr_sums = 2;
	accounts[3].wall_ns = 42;
	cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
	cr_expect_eq(profile_waits_check(&profile, "p", &err), 0, "%s", err.text);
	roots[1].target = 4;
	cr_expect_eq(profile_waits_check(&profile, "p", &err), -EBADMSG);
	cr_expect_str_eq(err.text, "p: root 1 of waits: more than the accounts have");
}

#endif
