// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/export.h"
#include "pprof.pb-c.h"
#include "profile/profile_io.h"
#include "sample.h"

static Pprof__Profile *pprof(const struct profile *profile, const struct export_options *options)
{
	size_t size;
	cleanup_free char *bytes = sample_export("pprof", profile, options, &size);
	Pprof__Profile *read = pprof__profile__unpack(NULL, size, (uint8_t *)bytes);

	cr_assert_not_null(read);
	return read;
}

static const char *text(const Pprof__Profile *read, int64_t number)
{
	cr_assert(number >= 0 && (size_t)number < read->n_string_table);
	return read->string_table[number];
}

/* Checks that all that is referred to exists once, numbered from 1. */
static void assert_sound(const Pprof__Profile *read)
{
	size_t i, j;

	cr_assert_str_eq(text(read, 0), "");
	for (i = 0; i < read->n_string_table; i++)
		cr_assert(sample_is_harmless(read->string_table[i]));
	for (i = 0; i < read->n_mapping; i++)
		cr_assert(read->mapping[i]->memory_limit > read->mapping[i]->memory_start ||
			  (!i && !strncmp(text(read, read->mapping[0]->filename), "all ", 4)));
	for (i = 0; i < read->n_function; i++) {
		cr_assert_eq(read->function[i]->id, i + 1);
		cr_assert_gt(strlen(text(read, read->function[i]->name)), 0);
		cr_assert(!read->function[i]->system_name ||
			  read->function[i]->system_name == read->function[i]->name);
	}
	for (i = 0; i < read->n_location; i++) {
		cr_assert_eq(read->location[i]->id, i + 1);
		cr_assert(read->location[i]->mapping_id - 1 < read->n_mapping ||
			  (!read->location[i]->mapping_id && !read->location[i]->address));
		for (j = 0; j < read->location[i]->n_line; j++)
			cr_assert(read->location[i]->line[j]->function_id - 1 < read->n_function);
	}
	for (i = 0; i < read->n_sample; i++) {
		cr_assert_geq(read->sample[i]->n_location_id, 1);
		for (j = 0; j < read->sample[i]->n_location_id; j++)
			cr_assert(read->sample[i]->location_id[j] - 1 < read->n_location);
		cr_assert_eq(read->sample[i]->n_value, read->n_sample_type);
	}
}

static const char *label(const Pprof__Profile *read, const Pprof__Sample *sample, const char *key)
{
	size_t i;

	for (i = 0; i < sample->n_label; i++)
		if (!strcmp(text(read, sample->label[i]->key), key))
			return text(read, sample->label[i]->str);
	return "";
}

/* The sample at an address that has so many ticks. */
static const Pprof__Sample *sample_at(const Pprof__Profile *read, uint64_t address, int64_t ticks)
{
	size_t i;

	for (i = 0; i < read->n_sample; i++)
		if (read->location[read->sample[i]->location_id[0] - 1]->address == address &&
		    read->sample[i]->value[0] == ticks)
			return read->sample[i];
	cr_assert(false, "%lx has no sample of %ld ticks", address, ticks);
	return NULL;
}

static void assert_sample(const Pprof__Profile *read, uint64_t address, int64_t ticks,
			  const char *function)
{
	const Pprof__Sample *sample = sample_at(read, address, ticks);
	const Pprof__Location *location = read->location[sample->location_id[0] - 1];
	const char *name = "";

	cr_assert_eq(sample->value[1], ticks * 1003009);
	if (location->n_line)
		name = text(read, read->function[location->line[0]->function_id - 1]->name);
	cr_assert_str_eq(name, function);
}

Test(export_pprof, samples)
{
	cleanup_profile struct profile *profile = sample_profile();
	Pprof__Profile *read = pprof(profile, NULL);

	assert_sound(read);
	cr_assert_eq(read->n_sample, 7);
	assert_sample(read, 0x401000, 1, "main");
	assert_sample(read, 0x401008, 20, "main");
	assert_sample(read, 0x401010, 500, "operator,(A, B)");
	assert_sample(read, 0x401011, 40, "operator,(A, B)");
	assert_sample(read, 0x408fff, 99, "");
	assert_sample(read, 0x7f0000003000, 300, "late");
	assert_sample(read, 0xffffffff81000001, 40, "");
	cr_assert_str_eq(label(read, sample_at(read, 0x401000, 1), "target"),
			 "./work \"quoted\", twice");
	cr_assert_str_eq(label(read, sample_at(read, 0x401000, 1), "pid"), "");
	cr_assert_str_eq(label(read, sample_at(read, 0x401008, 20), "cgroup"), "/caf\xc3\xa9");
	cr_assert_str_eq(label(read, sample_at(read, 0x7f0000003000, 300), "pid"), "77");
	cr_assert_str_eq(label(read, sample_at(read, 0x7f0000003000, 300), "process"),
			 "jit, \"one\"");
	pprof__profile__free_unpacked(read, NULL);
}

static bool is_cut_by_pprof(const char *name)
{
	cleanup_profile struct profile *profile = sample_profile_of_names(name);
	Pprof__Profile *read = pprof(profile, NULL);
	bool cut;

	assert_sound(read);
	cut = read->function[0]->system_name;
	pprof__profile__free_unpacked(read, NULL);
	return cut;
}

/* pprof shortens a name that is also the system's, as far as it can without losing what it is. */
Test(export_pprof, long_names)
{
	cr_expect(
		is_cut_by_pprof("std::vector<int, std::allocator<int> >::at(unsigned long) const"));
	cr_expect_not(is_cut_by_pprof("main"));
	cr_expect_not(is_cut_by_pprof("<u64 as core::cmp::PartialOrd>::lt"));
	cr_expect_not(is_cut_by_pprof("(anonymous namespace)::f(int)"));
	cr_expect_not(is_cut_by_pprof("std::less<int>::operator()(int, int) const"));
}

/*
 * COMMAND, though a library has more ticks; what it is a link to; else what has the most; but the
 * profile of a host is not called by any of its programs, and the host as its label calls it.
 */
Test(export_pprof, first_mapping)
{
	static char *commands[] = { "/opt/spin", "python3", "sh", "sh", "sh" };
	static const char *const first[] = { "/opt/spin", "/usr/bin/python3.11", "/lib/libc.so.6",
					     "all processes of vm1", "all processes of node-1" };
	size_t i;

	for (i = 0; i < 5; i++) {
		cleanup_profile struct profile *profile = INTERVAL(
			0, { .object = "/lib/libc.so.6", .function = "f", .pid = 5, .ticks = 300 },
			{ .object = "/opt/spin", .function = "g", .pid = 5, .ticks = 200 },
			{ .object = "/usr/bin/python3.11", .function = "h", .pid = 5, .ticks = 9 });
		Pprof__Profile *read;

		profile->command = calloc(2, sizeof(*profile->command));
		profile->command[0] = strdup(commands[i]);
		free(profile->targets[0].kind);
		profile->targets[0].kind = strdup(i < 3 ? "command" : "system");
		free(profile->host.name);
		profile->host.name = strdup("vm1");
		if (i == 4)
			cr_assert_eq(profile_add_label(profile, NULL, "host.name", "node-1"), 0);
		read = pprof(profile, NULL);
		cr_expect_str_eq(text(read, read->mapping[0]->filename), first[i]);
		pprof__profile__free_unpacked(read, NULL);
	}
}

Test(export_pprof, head_and_mappings)
{
	cleanup_profile struct profile *profile = sample_profile();
	Pprof__Profile *read = pprof(profile, NULL);

	cr_assert_eq(read->n_sample_type, 2);
	cr_assert_str_eq(text(read, read->sample_type[0]->type), "samples");
	cr_assert_str_eq(text(read, read->sample_type[1]->unit), "nanoseconds");
	cr_assert_str_eq(text(read, read->default_sample_type), "cpu");
	cr_assert_str_eq(text(read, read->period_type->type), "cpu");
	cr_assert_eq(read->period, 1003009);
	/* 2026-01-31T23:59:59.000000001+01:00 */
	cr_assert_eq(read->time_nanos, 1769900399000000001);
	cr_assert_eq(read->duration_nanos, 1060000001);
	cr_assert_eq(read->n_comment, 2);
	cr_assert_eq(read->n_mapping, 3);
	cr_assert_str_eq(text(read, read->mapping[0]->filename), "/usr/bin/work");
	cr_assert_str_eq(text(read, read->mapping[0]->build_id), "00ff12ab");
	cr_assert_eq(read->mapping[0]->memory_start, 0x401000);
	cr_assert_eq(read->mapping[0]->memory_limit, 0x409000);
	cr_assert_eq(read->mapping[0]->file_offset, 0x1000);
	/* There is no such file here, so the reader may look for it. */
	cr_assert(!read->mapping[0]->has_line_numbers);
	cr_assert_eq(read->mapping[1]->memory_start, 0x7f0000000000);
	cr_assert_eq(read->mapping[2]->memory_start, 0xffffffff81000000);
	pprof__profile__free_unpacked(read, NULL);
}

Test(export_pprof, times)
{
	static const struct {
		const char *started;
		int64_t ns;
	} times[] = {
		{ "1970-01-01T00:00:01Z", 1000000000 },
		{ "1970-01-01T00:00:01.25Z", 1250000000 },
		{ "1970-01-01T00:00:00.1234567891+00:00", 123456789 },
		{ "1970-01-01T00:00:00-01:30", 5400000000000 },
		{ "1969-12-31T23:59:59Z", 0 },
		{ "9999-12-31T23:59:59Z", 0 },
	};
	cleanup_profile struct profile *profile = sample_profile();
	Pprof__Profile *read;
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		free(profile->started);
		profile->started = strdup(times[i].started);
		read = pprof(profile, NULL);
		cr_assert_eq(read->time_nanos, times[i].ns, "%s", times[i].started);
		pprof__profile__free_unpacked(read, NULL);
	}
}

/* Two histograms at one place are two samples of one location. */
Test(export_pprof, one_location_for_a_place)
{
	cleanup_profile struct profile *profile = sample_profile();
	Pprof__Profile *read;

	profile->histograms[1].bins[0].index = 0;
	profile->targets[1].period_ns = 7;
	read = pprof(profile, NULL);
	assert_sound(read);
	cr_assert_eq(read->n_sample, 7);
	cr_assert_eq(read->n_location, 6);
	cr_assert_eq(sample_at(read, 0x401000, 1)->location_id[0],
		     sample_at(read, 0x401000, 20)->location_id[0]);
	cr_assert_eq(sample_at(read, 0x401000, 1)->value[1], 1003009);
	/* Each target has its own clock. */
	cr_assert_eq(sample_at(read, 0x401000, 20)->value[1], 20 * 7);
	pprof__profile__free_unpacked(read, NULL);
}

static struct profile *split_profile(void)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile_load("tests/golden/split.json", &profile, &err), 0, "%s", err.text);
	return profile;
}

static int64_t sum_of(const Pprof__Profile *read, size_t value)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < read->n_sample; i++)
		sum += read->sample[i]->value[value];
	return sum;
}

/* The scheduler's time, exact to the nanosecond if each tick has a place; counts are ticks. */
Test(export_pprof, cpu_time)
{
	cleanup_profile struct profile *profile = split_profile();
	Pprof__Profile *read = pprof(profile, NULL);

	assert_sound(read);
	cr_assert_eq(sum_of(read, 0), 915);
	/* Without the part of the 5 ticks outside; the 10 lost ones are in no process. */
	cr_assert_eq(sum_of(read, 1), 1510000000);
	pprof__profile__free_unpacked(read, NULL);
	profile->splits[1].ticks = 500;
	profile->targets[0].ticks.total = 915;
	read = pprof(profile, NULL);
	cr_assert_eq(sum_of(read, 1), 1515000000);
	pprof__profile__free_unpacked(read, NULL);
	profile->nr_splits = 0;
	profile->targets[0].cpu_ns = 1515000001;
	read = pprof(profile, NULL);
	cr_assert_eq(sum_of(read, 0), 915);
	cr_assert_eq(sum_of(read, 1), 1515000001);
	pprof__profile__free_unpacked(read, NULL);
	profile->nr_splits = 5;
}

Test(export_pprof, hostile_names)
{
	struct profile *profile;
	Pprof__Profile *read;
	size_t i;

	for (i = 0; sample_names[i]; i++) {
		profile = sample_profile_of_names(sample_names[i]);
		read = pprof(profile, NULL);
		assert_sound(read);
		cr_assert_eq(read->n_sample, 7);
		pprof__profile__free_unpacked(read, NULL);
		profile_free(profile);
	}
}

Test(export_pprof, options)
{
	cleanup_profile struct profile *profile = sample_profile();
	const struct export_options second = { .target = 1 };
	const struct export_options none = { .target = 2 };
	struct error err;
	FILE *null = fopen("/dev/null", "w");
	Pprof__Profile *read = pprof(profile, &second);

	assert_sound(read);
	cr_assert_eq(read->n_sample, 2);
	cr_assert_eq(read->n_mapping, 1);
	pprof__profile__free_unpacked(read, NULL);
	cr_assert_eq(export_write(export_find("pprof"), profile, &none, null, &err), -EINVAL);
	fclose(null);
}

/* "write < main < start": the functions of a sample, innermost first. */
static void name_chain(const Pprof__Profile *read, const Pprof__Sample *sample, char *chain,
		       size_t room)
{
	const Pprof__Location *location;
	size_t i, used = 0;

	*chain = '\0';
	for (i = 0; i < sample->n_location_id; i++) {
		location = read->location[sample->location_id[i] - 1];
		cr_assert_eq(location->n_line, 1);
		used += (size_t)snprintf(
			chain + used, room - used, "%s%s", i ? " < " : "",
			text(read, read->function[location->line[0]->function_id - 1]->name));
	}
}

/* Ticks of the kernel at work are the frame's that it worked for, and all of them are as without callers. */
Test(export_pprof, callers)
{
	static const struct {
		int64_t ticks;
		const char *chain;
	} wanted[] = {
		{ 410, "spin < main < __libc_start_call_main" },
		{ 20, "write < [cut: late]" },
		{ 60, "write < main < __libc_start_call_main" },
		{ 20, "write < fib < fib < node::Start(int, char**) < __libc_start_call_main" },
		{ 30, "node::Start(int, char**) < __libc_start_call_main" },
		{ 170, "fib < fib < fib < node::Start(int, char**) < __libc_start_call_main" },
		{ 80, "fib < fib < node::Start(int, char**) < __libc_start_call_main" },
		{ 110, "late < [cut: no rule]" },
		{ 3, "main < __libc_start_call_main" },
		{ 2, "eval < main < __libc_start_call_main" },
	};
	const size_t nr = sizeof(wanted) / sizeof(*wanted);
	cleanup_profile struct profile *profile = NULL;
	int64_t ns = 0, flat_ns = 0;
	Pprof__Profile *read, *flat;
	struct error err = { 0 };
	char chain[256];
	size_t i, j;

	cr_assert_eq(profile_load("tests/golden/callers.json", &profile, &err), 0, "%s", err.text);
	read = pprof(profile, NULL);
	assert_sound(read);
	cr_assert_eq(read->n_sample, nr);
	for (i = 0; i < nr; i++) {
		name_chain(read, read->sample[i], chain, sizeof(chain));
		for (j = 0; j < nr && strcmp(chain, wanted[j].chain); j++)
			;
		cr_assert_lt(j, nr, "%s", chain);
		cr_expect_eq(read->sample[i]->value[0], wanted[j].ticks, "%s", chain);
		ns += read->sample[i]->value[1];
	}
	profile_callers_free(profile->callers);
	profile->callers = NULL;
	flat = pprof(profile, NULL);
	for (i = 0; i < flat->n_sample; i++) {
		cr_expect_eq(flat->sample[i]->n_location_id, 1);
		flat_ns += flat->sample[i]->value[1];
	}
	cr_expect_eq(ns, flat_ns);
	pprof__profile__free_unpacked(read, NULL);
	pprof__profile__free_unpacked(flat, NULL);
}
