// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/samples.h"
#include "otlp.pb-c.h"
#include "profile/profile_io.h"
#include "sample.h"

static const struct export_options whole = { .target = EXPORT_ALL_TARGETS };

static Otlp__Request *otlp(const struct profile *profile, const struct export_options *options)
{
	size_t size;
	cleanup_free char *bytes = sample_export("otlp", profile, options, &size);
	Otlp__Request *read = otlp__request__unpack(NULL, size, (uint8_t *)bytes);

	cr_assert_not_null(read);
	return read;
}

static struct profile *load(const char *path)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile_load(path, &profile, &err), 0, "%s", err.text);
	return profile;
}

/*
 * Checks that all that is referred to exists, and nothing else: an index is marked when something
 * refers to it.
 */
struct seen {
	bool *texts, *attributes, *mappings, *functions, *places, *stacks;
};

static void see(bool *seen, int64_t index, size_t nr)
{
	cr_assert(index >= 0 && (size_t)index < nr);
	seen[index] = true;
}

static void assert_all_seen(bool *seen, size_t nr, const char *what)
{
	size_t i;

	for (i = 1; i < nr; i++)
		cr_assert(seen[i], "%s %zu of %zu", what, i, nr);
	free(seen);
}

static void see_type(struct seen *seen, const Otlp__Dictionary *tables, const Otlp__ValueType *type)
{
	cr_assert_not_null(type);
	see(seen->texts, type->type_strindex, tables->n_string_table);
	see(seen->texts, type->unit_strindex, tables->n_string_table);
}

static void see_profile(struct seen *seen, const Otlp__Dictionary *tables,
			const Otlp__Profile *profile)
{
	size_t i, j;

	cr_assert_eq(profile->profile_id.len, 16);
	cr_assert_gt(profile->n_samples, 0);
	see_type(seen, tables, profile->sample_type);
	see_type(seen, tables, profile->period_type);
	for (i = 0; i < profile->n_samples; i++) {
		const Otlp__Sample *sample = profile->samples[i];

		cr_assert_gt(sample->stack_index, 0);
		see(seen->stacks, sample->stack_index, tables->n_stack_table);
		cr_assert_eq(sample->n_values, 1);
		cr_assert_gt(sample->values[0], 0);
		cr_assert_eq(sample->n_timestamps_unix_nano, 1);
		cr_assert(sample->timestamps_unix_nano[0] - profile->time_unix_nano <
			  profile->duration_nano);
		for (j = 0; j < sample->n_attribute_indices; j++)
			see(seen->attributes, sample->attribute_indices[j],
			    tables->n_attribute_table);
	}
}

static void see_place(struct seen *seen, const Otlp__Dictionary *tables, size_t i)
{
	const Otlp__Location *location = tables->location_table[i];
	size_t j;

	see(seen->mappings, location->mapping_index, tables->n_mapping_table);
	cr_assert_gt(location->n_lines, 0);
	for (j = 0; j < location->n_lines; j++)
		see(seen->functions, location->lines[j]->function_index, tables->n_function_table);
	for (j = 0; j < location->n_attribute_indices; j++)
		see(seen->attributes, location->attribute_indices[j], tables->n_attribute_table);
}

static void see_tables(struct seen *seen, const Otlp__Dictionary *tables)
{
	size_t i, j;

	for (i = 1; i < tables->n_stack_table; i++) {
		const Otlp__Stack *stack = tables->stack_table[i];

		cr_assert_gt(stack->n_location_indices, 0);
		for (j = 0; j < stack->n_location_indices; j++)
			see(seen->places, stack->location_indices[j], tables->n_location_table);
	}
	for (i = 1; i < tables->n_location_table; i++)
		see_place(seen, tables, i);
	for (i = 1; i < tables->n_mapping_table; i++) {
		const Otlp__Mapping *mapping = tables->mapping_table[i];

		cr_assert_lt(mapping->memory_start, mapping->memory_limit);
		see(seen->texts, mapping->filename_strindex, tables->n_string_table);
		if (mapping->n_attribute_indices)
			see(seen->attributes, mapping->attribute_indices[0],
			    tables->n_attribute_table);
	}
	for (i = 1; i < tables->n_function_table; i++) {
		see(seen->texts, tables->function_table[i]->name_strindex, tables->n_string_table);
		cr_assert_eq(tables->function_table[i]->system_name_strindex, 0);
		see(seen->texts, tables->function_table[i]->filename_strindex,
		    tables->n_string_table);
	}
	for (i = 1; i < tables->n_attribute_table; i++) {
		see(seen->texts, tables->attribute_table[i]->key_strindex, tables->n_string_table);
		cr_assert_gt(strlen(tables->attribute_table[i]->value->string_value), 0);
	}
}

static void assert_zero(const ProtobufCMessage *message)
{
	cr_assert_eq(protobuf_c_message_get_packed_size(message), 0);
}

static void assert_zeroes(const Otlp__Dictionary *tables)
{
	cr_assert_str_eq(tables->string_table[0], "");
	cr_assert_eq(tables->n_link_table, 1);
	assert_zero(&tables->link_table[0]->base);
	assert_zero(&tables->mapping_table[0]->base);
	assert_zero(&tables->location_table[0]->base);
	assert_zero(&tables->stack_table[0]->base);
	assert_zero(&tables->function_table[0]->base);
	assert_zero(&tables->attribute_table[0]->base);
}

static void assert_texts(const Otlp__Dictionary *tables)
{
	size_t i, j;

	for (i = 0; i < tables->n_string_table; i++) {
		cr_assert(sample_is_harmless(tables->string_table[i]));
		for (j = 0; j < i; j++)
			cr_assert_str_neq(tables->string_table[i], tables->string_table[j]);
	}
}

static void assert_resource(const Otlp__ResourceProfiles *of)
{
	size_t i;

	cr_assert_gt(of->resource->n_attributes, 0);
	cr_assert_str_eq(of->resource->attributes[0]->key, "service.name");
	for (i = 0; i < of->resource->n_attributes; i++) {
		cr_assert_gt(strlen(of->resource->attributes[i]->value->string_value), 0);
		cr_assert(sample_is_harmless(of->resource->attributes[i]->value->string_value));
	}
	cr_assert_eq(of->n_scope_profiles, 1);
	cr_assert_str_eq(of->scope_profiles[0]->scope->name, "bpfprofil");
}

static void assert_sound(const Otlp__Request *read)
{
	const Otlp__Dictionary *tables = read->dictionary;
	struct seen seen = {
		calloc(tables->n_string_table, 1),   calloc(tables->n_attribute_table, 1),
		calloc(tables->n_mapping_table, 1),  calloc(tables->n_function_table, 1),
		calloc(tables->n_location_table, 1), calloc(tables->n_stack_table, 1)
	};
	size_t i, j;

	assert_zeroes(tables);
	assert_texts(tables);
	for (i = 0; i < read->n_resource_profiles; i++) {
		assert_resource(read->resource_profiles[i]);
		for (j = 0; j < read->resource_profiles[i]->scope_profiles[0]->n_profiles; j++)
			see_profile(&seen, tables,
				    read->resource_profiles[i]->scope_profiles[0]->profiles[j]);
	}
	see_tables(&seen, tables);
	assert_all_seen(seen.texts, tables->n_string_table, "text");
	assert_all_seen(seen.attributes, tables->n_attribute_table, "attribute");
	assert_all_seen(seen.mappings, tables->n_mapping_table, "mapping");
	assert_all_seen(seen.functions, tables->n_function_table, "function");
	assert_all_seen(seen.places, tables->n_location_table, "place");
	assert_all_seen(seen.stacks, tables->n_stack_table, "stack");
}

static const char *type_of(const Otlp__Request *read, const Otlp__Profile *profile)
{
	return read->dictionary->string_table[profile->sample_type->type_strindex];
}

static const char *function_of(const Otlp__Request *read, const Otlp__Sample *sample)
{
	const Otlp__Dictionary *tables = read->dictionary;
	const Otlp__Stack *stack = tables->stack_table[sample->stack_index];
	const Otlp__Location *location = tables->location_table[stack->location_indices[0]];
	int32_t function = location->lines[location->n_lines - 1]->function_index;

	return tables->string_table[tables->function_table[function]->name_strindex];
}

/* The sum of a type over all services, for a function; NULL: for all. */
static int64_t sum_of(const Otlp__Request *read, const char *type, const char *function)
{
	int64_t sum = 0;
	size_t i, j, k;

	for (i = 0; i < read->n_resource_profiles; i++) {
		const Otlp__ScopeProfiles *in = read->resource_profiles[i]->scope_profiles[0];

		for (j = 0; j < in->n_profiles; j++) {
			const Otlp__Profile *profile = in->profiles[j];

			if (strcmp(type_of(read, profile), type) != 0)
				continue;
			for (k = 0; k < profile->n_samples; k++)
				if (!function ||
				    !strcmp(function_of(read, profile->samples[k]), function))
					sum += profile->samples[k]->values[0];
		}
	}
	return sum;
}

static const char *attribute_of(const Otlp__Request *read, size_t i, const char *key)
{
	const Otlp__Resource *resource = read->resource_profiles[i]->resource;
	size_t j;

	for (j = 0; j < resource->n_attributes; j++)
		if (!strcmp(resource->attributes[j]->key, key))
			return resource->attributes[j]->value->string_value;
	return "";
}

Test(export_otlp, sum_is_the_total)
{
	cleanup_profile struct profile *profile = sample_profile();
	Otlp__Request *read = otlp(profile, NULL);

	assert_sound(read);
	cr_assert_eq(read->n_resource_profiles, 2);
	cr_assert_eq(sum_of(read, "samples", NULL), (int64_t)profile->ticks.total);
	cr_assert_eq(sum_of(read, "samples", "main"), 21);
	cr_assert_eq(sum_of(read, "samples", "[overflow]"), 10);
	cr_assert_eq(sum_of(read, "samples", "[outside]"), 20);
	cr_assert_eq(sum_of(read, "samples", "[filtered]"), 25);
	cr_assert_eq(sum_of(read, "samples", "[lost: exit]"), 5);
	/* The scheduler's time is unknown, so the period says everything. */
	cr_assert_eq(sum_of(read, "cpu", NULL), 0);
	cr_assert_str_eq(attribute_of(read, 0, "service.name"), "work");
	cr_assert_str_eq(attribute_of(read, 1, "service.name"), "/caf\xc3\xa9");
	cr_assert_str_eq(attribute_of(read, 1, "host.arch"), "amd64");
	otlp__request__free_unpacked(read, NULL);
}

Test(export_otlp, head)
{
	cleanup_profile struct profile *profile = sample_profile();
	Otlp__Request *read = otlp(profile, NULL), *again = otlp(profile, NULL);
	const Otlp__Profile *first = read->resource_profiles[0]->scope_profiles[0]->profiles[0];
	const Otlp__Profile *same = again->resource_profiles[0]->scope_profiles[0]->profiles[0];
	const Otlp__Profile *other = read->resource_profiles[1]->scope_profiles[0]->profiles[0];

	cr_assert_eq(first->time_unix_nano, 1769900399000000001);
	cr_assert_eq(first->duration_nano, 1060000001);
	cr_assert_eq(first->period, 1003009);
	cr_assert_eq(memcmp(first->profile_id.data, same->profile_id.data, 16), 0);
	cr_assert_neq(memcmp(first->profile_id.data, other->profile_id.data, 16), 0);
	otlp__request__free_unpacked(read, NULL);
	otlp__request__free_unpacked(again, NULL);
}

/* Each target has its own period. */
Test(export_otlp, periods)
{
	cleanup_profile struct profile *profile = sample_profile();
	Otlp__Request *read;

	profile->targets[1].period_ns = 7;
	read = otlp(profile, NULL);
	cr_assert_eq(read->resource_profiles[0]->scope_profiles[0]->profiles[0]->period, 1003009);
	cr_assert_eq(read->resource_profiles[1]->scope_profiles[0]->profiles[0]->period, 7);
	otlp__request__free_unpacked(read, NULL);
}

/* The scheduler's time, exact to the nanosecond; of several reasons a split's is unknown. */
Test(export_otlp, cpu_time)
{
	cleanup_profile struct profile *profile = load("tests/golden/split.json");
	Otlp__Request *read = otlp(profile, NULL);

	assert_sound(read);
	cr_assert_eq(sum_of(read, "samples", NULL), 930);
	cr_assert_eq(sum_of(read, "cpu", NULL), 1515000000);
	cr_assert_eq(sum_of(read, "samples", "[in no bin]"), 15);
	otlp__request__free_unpacked(read, NULL);
	profile->targets[0].ticks.lost[3].ticks = 15;
	profile->targets[0].ticks.outside = 0;
	read = otlp(profile, NULL);
	cr_assert_eq(sum_of(read, "samples", "[in no bin]"), 0);
	cr_assert_eq(sum_of(read, "samples", "[lost: exit]"), 15);
	otlp__request__free_unpacked(read, NULL);
}

/* The nanoseconds of a service with a control group, all of which are named so. */
static int64_t time_of(const Otlp__Request *read, const char *service, const char *function)
{
	int64_t sum = 0;
	size_t i, j, k;

	for (i = 0; i < read->n_resource_profiles; i++) {
		const Otlp__ScopeProfiles *in = read->resource_profiles[i]->scope_profiles[0];

		if (strcmp(attribute_of(read, i, "service.name"), service) != 0)
			continue;
		for (j = 0; j < in->n_profiles; j++) {
			for (k = 0; k < in->profiles[j]->n_samples; k++) {
				cr_assert_str_eq(type_of(read, in->profiles[j]), "cpu");
				cr_assert_str_eq(function_of(read, in->profiles[j]->samples[k]),
						 function);
				sum += in->profiles[j]->samples[k]->values[0];
			}
		}
	}
	return sum;
}

/* As of a container that lived between two windows, whether or not others lost ticks. */
Test(export_otlp, time_without_a_tick)
{
	cleanup_profile struct profile *profile = load("tests/golden/split.json");
	const uint64_t ticks[] = { profile->splits[1].ticks, 500, 600 };
	Otlp__Request *read;
	size_t i;

	free(profile->splits[0].process);
	profile->splits[0].process = NULL;
	profile->splits[0].cgroup = strdup("/short");
	for (i = 0; i < 3; i++) {
		profile->splits[1].ticks = ticks[i];
		read = otlp(profile, NULL);
		assert_sound(read);
		cr_assert_eq(time_of(read, "/short", "[not sampled]"), 6000000);
		cr_assert_eq(sum_of(read, "cpu", NULL), 1515000000);
		cr_assert_eq(sum_of(read, "samples", NULL), 930);
		otlp__request__free_unpacked(read, NULL);
	}
}

static void assert_different(void *const *messages, size_t nr)
{
	uint8_t *packed = malloc(nr << 12);
	size_t i, j, *sizes = calloc(nr, sizeof(*sizes));

	for (i = 0; i < nr; i++) {
		cr_assert_leq(protobuf_c_message_get_packed_size(messages[i]), 4096);
		sizes[i] = protobuf_c_message_pack(messages[i], packed + (i << 12));
		for (j = 0; j < i; j++)
			cr_assert(sizes[i] != sizes[j] ||
				  memcmp(packed + (i << 12), packed + (j << 12), sizes[i]) != 0);
	}
	free(packed);
	free(sizes);
}

static Otlp__Request *otlp_of_samples(struct samples *samples)
{
	char *bytes = NULL;
	size_t size;
	FILE *stream = open_memstream(&bytes, &size);
	Otlp__Request *read;

	cr_assert_eq(samples_write_otlp(samples, stream), 0);
	fclose(stream);
	read = otlp__request__unpack(NULL, size, (uint8_t *)bytes);
	cr_assert_not_null(read);
	free(bytes);
	assert_sound(read);
	assert_different((void **)read->dictionary->location_table,
			 read->dictionary->n_location_table);
	assert_different((void **)read->dictionary->function_table,
			 read->dictionary->n_function_table);
	assert_different((void **)read->dictionary->stack_table, read->dictionary->n_stack_table);
	return read;
}

/* However it is folded and cut, the parts add up, and have no more in their tables than they use. */
static void fold_and_cut(const struct profile *profile, size_t most, size_t parts)
{
	int64_t ticks = 0, ns = 0, all_ns;
	struct samples samples, part;
	Otlp__Request *read;
	struct error err;
	size_t i, first;

	cr_assert_eq(samples_build(&samples, profile, &whole, &err), 0);
	cr_assert_eq(samples_fold(&samples, most, SIZE_MAX), 0);
	read = otlp_of_samples(&samples);
	cr_assert_eq(sum_of(read, "samples", NULL), (int64_t)profile->ticks.total);
	all_ns = sum_of(read, "cpu", NULL);
	otlp__request__free_unpacked(read, NULL);
	for (i = 0; i < parts; i++) {
		first = samples.nr * i / parts;
		cr_assert_eq(samples_cut(&part, &samples, first,
					 samples.nr * (i + 1) / parts - first),
			     0);
		read = otlp_of_samples(&part);
		ticks += sum_of(read, "samples", NULL);
		ns += sum_of(read, "cpu", NULL);
		otlp__request__free_unpacked(read, NULL);
		samples_free(&part);
	}
	cr_assert_eq(ticks, (int64_t)profile->ticks.total);
	cr_assert_eq(ns, all_ns);
	samples_free(&samples);
}

Test(export_otlp, folded_and_cut)
{
	struct profile *profiles[] = { sample_profile(), load("tests/golden/split.json"),
				       load("tests/golden/callers.json"),
				       sample_profile_of_services(4, 200),
				       sample_profile_of_chains(2, 100) };
	size_t i, most;

	for (i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		for (most = 1; most <= 400; most = most * 3 + 1)
			fold_and_cut(profiles[i], most, 1 + most % 5);
		profile_free(profiles[i]);
	}
}

static void rename_to(char **text, const char *name)
{
	free(*text);
	*text = strdup(name);
}

Test(export_otlp, containers)
{
	static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	cleanup_profile struct profile *profile = sample_profile();
	char cgroup[256];
	Otlp__Request *read;

	snprintf(cgroup, sizeof(cgroup),
		 "/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice/"
		 "cri-containerd-%s.scope/nested",
		 id);
	rename_to(&profile->targets[1].cgroup, cgroup);
	rename_to(&profile->histograms[1].cgroup, cgroup);
	read = otlp(profile, NULL);
	assert_sound(read);
	cr_assert_str_eq(attribute_of(read, 1, "container.id"), id);
	cr_assert_str_eq(attribute_of(read, 1, "service.name"), "0123456789ab");
	cr_assert_str_eq(attribute_of(read, 1, "k8s.pod.uid"),
			 "01234567-89ab-cdef-0123-456789abcdef");
	otlp__request__free_unpacked(read, NULL);
	rename_to(&profile->targets[1].cgroup, "/system.slice/web.service/worker");
	rename_to(&profile->histograms[1].cgroup, "/system.slice/web.service/worker");
	read = otlp(profile, NULL);
	cr_assert_str_eq(attribute_of(read, 1, "service.name"), "web.service");
	cr_assert_str_eq(attribute_of(read, 1, "container.id"), "");
	otlp__request__free_unpacked(read, NULL);
}

/* Coarser detail never loses ticks. */
Test(export_otlp, detail)
{
	const struct export_options coarse = { .target = EXPORT_ALL_TARGETS,
					       .detail = EXPORT_FUNCTION };
	cleanup_profile struct profile *profile = sample_profile_of_bins(5000);
	Otlp__Request *fine = otlp(profile, &whole), *folded = otlp(profile, &coarse);

	assert_sound(fine);
	assert_sound(folded);
	cr_assert_eq(fine->dictionary->n_location_table, 5001);
	cr_assert_eq(folded->dictionary->n_location_table, 2);
	cr_assert_eq(sum_of(fine, "samples", NULL), (int64_t)profile->ticks.total);
	cr_assert_eq(sum_of(folded, "samples", NULL), (int64_t)profile->ticks.total);
	otlp__request__free_unpacked(fine, NULL);
	otlp__request__free_unpacked(folded, NULL);
}

Test(export_otlp, hostile_names)
{
	struct profile *profile;
	Otlp__Request *read;
	size_t i;

	for (i = 0; sample_names[i]; i++) {
		profile = sample_profile_of_names(sample_names[i]);
		read = otlp(profile, NULL);
		assert_sound(read);
		cr_assert_eq(sum_of(read, "samples", NULL), (int64_t)profile->ticks.total);
		otlp__request__free_unpacked(read, NULL);
		profile_free(profile);
	}
}

Test(export_otlp, options)
{
	cleanup_profile struct profile *profile = sample_profile();
	const struct export_options second = { .target = 1 }, none = { .target = 2 };
	const struct export_options object = { .target = EXPORT_ALL_TARGETS, .object = "work" };
	struct error err;
	FILE *null = fopen("/dev/null", "w");
	Otlp__Request *read = otlp(profile, &second);

	assert_sound(read);
	cr_assert_eq(read->n_resource_profiles, 1);
	cr_assert_eq(sum_of(read, "samples", NULL), 60);
	otlp__request__free_unpacked(read, NULL);
	/* What is in no bin belongs to no object. */
	read = otlp(profile, &object);
	assert_sound(read);
	cr_assert_eq(sum_of(read, "samples", NULL), 660);
	otlp__request__free_unpacked(read, NULL);
	cr_assert_eq(export_write(export_find("otlp"), profile, &none, null, &err), -EINVAL);
	fclose(null);
}

/* A profile without a tick becomes a request without resources, and its tables are valid. */
Test(export_otlp, empty)
{
	cleanup_profile struct profile *profile = sample_profile_of_bins(0);
	Otlp__Request *read = otlp(profile, NULL);

	cr_assert_eq(read->n_resource_profiles, 0);
	assert_zeroes(read->dictionary);
	otlp__request__free_unpacked(read, NULL);
}
