// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* More places than a backend takes: they become coarser, and nothing is lost. */
#include "export/samples.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup_parts.h"
#include "base/text.h"
#include "base/util.h"
#include "export/resource.h"
#include "pprof.pb-c.h"
#include "profile/profile_io.h"
#include "sample.h"

#define PLACES 100000

static struct samples build(const struct profile *profile, enum export_detail detail)
{
	const struct export_options options = { .target = EXPORT_ALL_TARGETS, .detail = detail };
	struct samples samples;
	struct error err;

	cr_assert_eq(samples_build(&samples, profile, &options, &err), 0, "%s", err.text);
	return samples;
}

static struct profile *with_callers(void)
{
	struct profile *profile = NULL;
	struct error err = { 0 };

	cr_assert_eq(profile_load("tests/golden/callers.json", &profile, &err), 0, "%s", err.text);
	return profile;
}

static const char *name_of(const struct samples *samples, const struct sample *sample)
{
	const struct sample_place *place = &samples->places[sample->place];
	const struct sample_line *line = &samples->lines[place->first + place->nr - 1];

	return samples->texts.all[samples->functions[line->function].name];
}

/* The number of a function of sample_profile_of_services(); PLACES: another name. */
static size_t number_of(const char *name)
{
	return strncmp(name, "function ", 9) ? PLACES : strtoul(name + 9, NULL, 10);
}

/* The ticks of each function, and behind them those of [unknown]. */
static uint64_t *by_function(const struct samples *samples)
{
	uint64_t *ticks = calloc(PLACES + 1, sizeof(*ticks));
	size_t i;

	for (i = 0; i < samples->nr; i++)
		ticks[number_of(name_of(samples, &samples->all[i]))] += samples->all[i].ticks;
	return ticks;
}

static void sum(const struct samples *samples, uint64_t *ret_ticks, uint64_t *ret_ns)
{
	size_t i;

	*ret_ticks = *ret_ns = 0;
	for (i = 0; i < samples->nr; i++) {
		*ret_ticks += samples->all[i].ticks;
		*ret_ns += samples->all[i].ns;
	}
}

static void assert_sums(const struct samples *samples, const struct profile *profile)
{
	uint64_t ticks, ns;

	sum(samples, &ticks, &ns);
	cr_assert_eq(ticks, profile->ticks.total);
	cr_assert_eq(ns, profile->targets[0].cpu_ns);
}

/* How many of the services' samples are places of their own, and the fewest ticks of one. */
static size_t find_fine(const struct samples *samples, uint64_t *ret_coldest)
{
	const struct sample_place *place;
	size_t i, nr = 0;

	*ret_coldest = UINT64_MAX;
	for (i = 0; i < samples->nr; i++) {
		place = &samples->places[samples->all[i].place];
		if (place->address == place->start)
			continue;
		nr++;
		if (samples->all[i].ticks < *ret_coldest)
			*ret_coldest = samples->all[i].ticks;
	}
	return nr;
}

static size_t samples_of(const struct samples *samples, const char *name)
{
	size_t i, nr = 0;

	for (i = 0; i < samples->nr; i++)
		nr += !strcmp(name_of(samples, &samples->all[i]), name);
	return nr;
}

Test(samples, coldest_places_become_their_function)
{
	cleanup_profile struct profile *profile = sample_profile_of_services(1, PLACES);
	struct samples whole = build(profile, EXPORT_ADDRESS);
	uint64_t *before = by_function(&whole), *after, coldest, warmer = 0;
	size_t i, fine;

	cr_assert_gt(whole.nr, PLACES);
	cr_assert_eq(samples_fold(&whole, SAMPLES_MOST, SAMPLES_BYTES), 0);
	assert_sums(&whole, profile);
	/* Not much less than may be: a function and its first place can be the same. */
	cr_assert_leq(whole.services[1].nr, SAMPLES_MOST);
	cr_assert_gt(whole.services[1].nr, SAMPLES_MOST * 3 / 4);
	fine = find_fine(&whole, &coldest);
	cr_assert_gt(fine, 1000);
	for (i = 0; i < PLACES; i++)
		warmer += 1 + i * (i + 7) % 1000 > coldest;
	cr_assert_leq(warmer, fine + PLACES / 100, "%zu fine, %lu warmer than %lu", fine, warmer,
		      coldest);
	after = by_function(&whole);
	cr_assert_eq(memcmp(before, after, PLACES * sizeof(*before)), 0);
	cr_assert_eq(samples_of(&whole, "[overflow]"), 1);
	cr_assert_eq(samples_of(&whole, "[lost: exit]"), 1);
	free(before);
	free(after);
	samples_free(&whole);
}

Test(samples, then_functions_their_object)
{
	cleanup_profile struct profile *profile = sample_profile_of_services(2, PLACES / 10);
	struct samples whole = build(profile, EXPORT_ADDRESS);
	uint64_t *by_name, coldest;
	size_t i, kept = 0;

	cr_assert_eq(samples_fold(&whole, 300, SAMPLES_BYTES), 0);
	assert_sums(&whole, profile);
	cr_assert_eq(samples_of(&whole, "[other: large]"), 2, "one for each service");
	cr_assert_eq(find_fine(&whole, &coldest), 0);
	by_name = by_function(&whole);
	for (i = 0; i < PLACES; i++)
		kept += by_name[i] != 0;
	cr_assert_gt(kept, 200);
	for (i = 1; i < whole.nr_services; i++)
		cr_assert_leq(whole.services[i].nr, 300);
	free(by_name);
	samples_free(&whole);
}

/* --detail is as fine as it gets. */
Test(samples, functions_stay_functions)
{
	cleanup_profile struct profile *profile = sample_profile_of_services(1, PLACES / 10);
	struct samples whole = build(profile, EXPORT_FUNCTION);
	size_t nr = whole.nr;

	cr_assert_eq(samples_fold(&whole, SAMPLES_MOST, SAMPLES_BYTES), 0);
	cr_assert_eq(whole.nr, nr, "nothing to do");
	cr_assert_eq(samples_fold(&whole, 100, SAMPLES_BYTES), 0);
	cr_assert_leq(whole.services[1].nr, 100);
	assert_sums(&whole, profile);
	samples_free(&whole);
}

static size_t pprof_bytes(const struct samples *samples, size_t service)
{
	char *data = NULL;
	size_t size;
	FILE *stream = open_memstream(&data, &size);

	cr_assert_eq(samples_write_pprof(samples, &samples->services[service], stream), 0);
	fclose(stream);
	free(data);
	return size;
}

/* Whether any location of the only service is at the address. */
static bool tells(const struct samples *samples, uint64_t address)
{
	char *data = NULL;
	size_t size, i;
	FILE *stream = open_memstream(&data, &size);
	Pprof__Profile *pprof;
	bool told = false;

	cr_assert_eq(samples_write_pprof(samples, &samples->services[1], stream), 0);
	fclose(stream);
	pprof = pprof__profile__unpack(NULL, size, (const uint8_t *)data);
	cr_assert_not_null(pprof);
	for (i = 0; i < pprof->n_location; i++)
		told = told || pprof->location[i]->address == address;
	for (i = 0; i < pprof->n_mapping; i++)
		told = told || pprof->mapping[i]->memory_start == address;
	pprof__profile__free_unpacked(pprof, NULL);
	free(data);
	return told;
}

/* Whoever may read a profile need not know where the kernel is. */
Test(samples, kernel_addresses_are_hidden)
{
	cleanup_profile struct profile *profile = sample_profile_of_services(1, 100);
	struct samples whole = build(profile, EXPORT_ADDRESS);
	struct sample_place *place = &whole.places[whole.all[whole.services[1].first].place];
	uint64_t at = 0xffffffff81234560, text = 0xffffffff81000000;

	place->kind = PLACE_KERNEL;
	place->address = at;
	whole.mappings[place->mapping].text.address = text;
	cr_assert(tells(&whole, at) && tells(&whole, text));
	whole.hides_kernel = true;
	cr_assert_not(tells(&whole, at));
	samples_free(&whole);
}

Test(samples, bytes)
{
	cleanup_profile struct profile *profile = sample_profile_of_services(3, PLACES / 10);
	struct samples whole = build(profile, EXPORT_ADDRESS);
	size_t i, most = pprof_bytes(&whole, 1) / 3;

	cr_assert_eq(samples_fold(&whole, SAMPLES_MOST, most), 0);
	assert_sums(&whole, profile);
	for (i = 1; i <= 3; i++) {
		cr_assert_leq(pprof_bytes(&whole, i), most);
		cr_assert_gt(pprof_bytes(&whole, i), most / 2);
	}
	/* There is nothing coarser than one object. */
	cr_assert_eq(samples_fold(&whole, SAMPLES_MOST, 1), 0);
	assert_sums(&whole, profile);
	samples_free(&whole);
}

/* What was sent once is sent the same again. */
Test(samples, folds_the_same_way_each_time)
{
	cleanup_profile struct profile *profile = sample_profile_of_services(2, PLACES / 10);
	struct samples a = build(profile, EXPORT_ADDRESS), b = build(profile, EXPORT_ADDRESS);

	cr_assert_eq(samples_fold(&a, 2000, SAMPLES_BYTES), 0);
	cr_assert_eq(samples_fold(&b, 2000, SAMPLES_BYTES), 0);
	cr_assert_eq(a.nr, b.nr);
	cr_assert_eq(memcmp(a.all, b.all, a.nr * sizeof(*a.all)), 0);
	cr_assert_eq(memcmp(a.places, b.places, a.nr_places * sizeof(*a.places)), 0);
	samples_free(&a);
	samples_free(&b);
}

static uint64_t ticks_named(const struct samples *whole, const char *name)
{
	struct samples part;
	uint64_t ticks, ns;

	cr_assert_eq(samples_named(&part, whole, name), 0, "%s", name);
	cr_assert_eq(part.nr_services, whole->nr_services);
	sum(&part, &ticks, &ns);
	samples_free(&part);
	return ticks;
}

/* A unit with two cgroups is two services of one name. */
Test(samples, of_a_name_or_a_cgroup)
{
	struct profile *profile =
		INTERVAL(0, { "/bin/a", "f", 16, -1, NULL, "/system.slice/shop.service/a", 1 },
			 { "/bin/a", "f", 16, -1, NULL, "/system.slice/other.service", 10 },
			 { "/bin/a", "f", 16, -1, NULL, "/system.slice/shop.service/b", 100 },
			 { "/bin/b", "g", 32, -1, NULL, "/system.slice/shop.service/b", 1000 });
	struct samples whole = build(profile, EXPORT_FUNCTION), part;

	cr_expect_eq(ticks_named(&whole, "shop.service"), 1101);
	cr_expect_eq(ticks_named(&whole, "other.service"), 10);
	cr_expect_eq(ticks_named(&whole, "/system.slice/shop.service/b"), 1100);
	cr_expect_eq(samples_named(&part, &whole, "/system.slice"), -ENOENT);
	samples_free(&part);
	samples_free(&whole);
	profile_free(profile);
}

/* Whatever it is folded to, what has no object keeps its reason. */
Test(samples, of_one)
{
	static const char *const reasons[] = { "[overflow]", "[outside]", "[filtered]",
					       "[lost: exit]" };
	cleanup_profile struct profile *profile = sample_profile();
	struct samples whole = build(profile, EXPORT_ADDRESS);
	uint64_t ticks, ns;
	size_t i;

	cr_assert_eq(samples_fold(&whole, 1, 1), 0);
	sum(&whole, &ticks, &ns);
	cr_assert_eq(ticks, profile->ticks.total);
	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		cr_assert_geq(samples_of(&whole, reasons[i]), 1, "%s", reasons[i]);
	samples_free(&whole);
}

/* The last of so many bytes that are written as four each tells two cgroups apart. */
static void resource_of_control_bytes(char last, struct resource *resource)
{
	cleanup_profile struct profile *profile = sample_profile();
	struct samples samples = build(profile, EXPORT_FUNCTION);
	char path[CGROUP_PATH_BYTES];
	const struct sample_service service = { .target = 1, .cgroup = path };

	memset(path, '\1', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 2] = last;
	path[sizeof(path) - 1] = '\0';
	cr_assert_eq(resource_of(resource, &samples, &service), 0);
	samples_free(&samples);
}

/* What is escaped gets longer, and what is cut stays different: two services are never one. */
Test(samples, labels_of_hostile_names)
{
	struct resource one, other;
	size_t i;

	resource_of_control_bytes('a', &one);
	resource_of_control_bytes('b', &other);
	for (i = 0; i < one.nr; i++)
		cr_expect_lt(strlen(one.texts.all[one.all[i].value]), TEXT_LABEL, "%s",
			     one.all[i].key);
	cr_expect_str_neq(one.texts.all[one.all[0].value], other.texts.all[other.all[0].value]);
	resource_free(&one);
	resource_free(&other);
}

static const struct sample_place *place_at(const struct samples *samples, uint64_t address)
{
	size_t i;

	for (i = 1; i < samples->nr_places; i++)
		if (samples->places[i].address == address && samples->places[i].mapping)
			return &samples->places[i];
	cr_assert(false, "no place at %lx", address);
	return NULL;
}

/* A file may have callers at both ends of all addresses, of text that has no segments. */
Test(samples, callers_at_both_ends)
{
	struct profile *profile = with_callers();
	struct profile_site *sites = profile->callers->sites;
	const struct sample_place *place;
	struct samples samples;

	cr_assert_eq(profile->objects[sites[8].object].nr_text, 0);
	cr_assert_eq(sites[9].object, sites[8].object);
	sites[8].offset = 0;
	sites[9].offset = UINT64_MAX;
	profile->callers->nodes[13].site = 9; /* is called by the one at the other end */
	samples = build(profile, EXPORT_ADDRESS);
	place_at(&samples, 0);
	place = place_at(&samples, UINT64_MAX);
	cr_expect_eq(samples.mappings[place->mapping].text.size, UINT64_MAX);
	samples_free(&samples);
	profile_free(profile);
}

/* "outermost;...;innermost program", by function. */
static const char *stack_of(const struct samples *samples, const struct sample *sample)
{
	const struct chain_context *callers = samples->callers.all;
	const char *program = samples->values.all[samples->processes[sample->process].name];
	static char text[512], rest[512];
	uint32_t at;

	snprintf(text, sizeof(text), "%s %s", name_of(samples, sample), program);
	for (at = sample->callers; at; at = callers[at].parent) {
		const struct sample frame = { .place = callers[at].frame };

		snprintf(rest, sizeof(rest), "%s", text);
		snprintf(text, sizeof(text), "%.99s;%.400s", name_of(samples, &frame), rest);
	}
	return text;
}

static uint64_t ticks_of_stack(const struct samples *samples, const char *stack)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < samples->nr; i++)
		if (!strcmp(stack_of(samples, &samples->all[i]), stack))
			ticks += samples->all[i].ticks;
	return ticks;
}

static void assert_golden_stacks(const struct samples *samples)
{
	cr_expect_eq(ticks_of_stack(samples, "__libc_start_call_main;main;spin steady"), 410);
	cr_expect_eq(ticks_of_stack(samples, "__libc_start_call_main;main;write steady"), 60);
	cr_expect_eq(ticks_of_stack(samples, "[cut: late];write steady"), 20);
	cr_expect_eq(ticks_of_stack(samples, "__libc_start_call_main;node::Start(int, char**);"
					     "fib;fib;fib node"),
		     170);
	cr_expect_eq(ticks_of_stack(samples, "__libc_start_call_main;main;eval sh"), 2);
	cr_expect_eq(ticks_of_stack(samples, "[lost: exit] "), 0);
	cr_expect_eq(ticks_of_stack(samples, "[in no bin] steady"), 15);
}

/* Parts of samples have the stacks of the whole, and tables of their own. */
Test(samples, stacks)
{
	struct profile *profile = with_callers();
	struct samples whole = build(profile, EXPORT_FUNCTION), part;

	assert_sums(&whole, profile);
	assert_golden_stacks(&whole);
	cr_assert_eq(samples_cut(&part, &whole, 0, whole.nr), 0);
	assert_sums(&part, profile);
	assert_golden_stacks(&part);
	cr_expect_eq(part.nr_places, whole.nr_places);
	cr_expect_eq(part.nr, whole.nr);
	samples_free(&part);
	samples_free(&whole);
	profile_free(profile);
}

/* Only what the chosen ticks came by is in the tables. */
Test(samples, stacks_of_one_object)
{
	const struct export_options libc = { .target = EXPORT_ALL_TARGETS,
					     .detail = EXPORT_FUNCTION,
					     .object = "libc.so.6" };
	struct profile *profile = with_callers();
	struct samples samples;
	struct error err;
	size_t i;

	cr_assert_eq(samples_build(&samples, profile, &libc, &err), 0, "%s", err.text);
	cr_expect_eq(ticks_of_stack(&samples, "__libc_start_call_main;main;write steady"), 60);
	for (i = 1; i < samples.nr_functions; i++) {
		const char *name = samples.texts.all[samples.functions[i].name];

		cr_expect(strcmp(name, "spin") && strcmp(name, "eval") &&
				  strcmp(name, "[cut: no rule]"),
			  "%s", name);
	}
	samples_free(&samples);
	profile_free(profile);
}

/* A profile that is not split by process has the programs of its chains. */
Test(samples, programs)
{
	struct profile *profile = with_callers();
	struct samples samples;
	size_t i;

	for (i = 0; i < profile->nr_histograms; i++) {
		free(profile->histograms[i].process);
		profile->histograms[i].process = NULL;
		profile->histograms[i].pid = -1;
	}
	for (i = 0; i < profile->callers->nr_roots; i++) {
		free(profile->callers->roots[i].process);
		profile->callers->roots[i].process = NULL;
		profile->callers->roots[i].pid = -1;
	}
	samples = build(profile, EXPORT_FUNCTION);
	cr_expect_eq(ticks_of_stack(&samples, "__libc_start_call_main;main;spin steady"), 410);
	cr_expect_eq(ticks_of_stack(&samples,
				    "__libc_start_call_main;node::Start(int, char**) node"),
		     30);
	/* Only a JIT's text is known of this one. */
	cr_expect_eq(ticks_of_stack(&samples, "[cut: no rule];late "), 110);
	samples_free(&samples);
	profile_free(profile);
}

/* The ticks of all stacks of a service that begin with the frames that a hash is of. */
struct prefix {
	uint64_t hash;
	uint64_t ticks;
};

static uint64_t hash_frame(const struct samples *samples, uint64_t hash, uint32_t place)
{
	const struct sample frame = { .place = place };
	const char *name = name_of(samples, &frame);

	return hash_bytes(hash, name, strlen(name) + 1);
}

static uint64_t hash_callers(const struct samples *samples, uint32_t service, uint32_t callers)
{
	const struct chain_context *context = &samples->callers.all[callers];

	return callers ? hash_frame(samples, hash_callers(samples, service, context->parent),
				    context->frame) :
			 HASH_BEGIN + service;
}

static int compare_prefixes(const void *left, const void *right)
{
	const struct prefix *a = left, *b = right;

	return compare_u64(a->hash, b->hash);
}

/* Returns how many there are. */
static size_t find_prefixes(const struct samples *samples, struct prefix **result)
{
	struct prefix *all = NULL;
	size_t i, nr = 0, room = 0, kept = 0;
	uint32_t at;

	for (i = 0; i < samples->nr; i++) {
		const struct sample *sample = &samples->all[i];

		cr_assert_eq(GROW(all, room, nr + PROFILE_CHAIN_DEPTH), 0);
		all[nr++] = (struct prefix){
			hash_frame(samples, hash_callers(samples, sample->service, sample->callers),
				   sample->place),
			sample->ticks
		};
		for (at = sample->callers; at; at = samples->callers.all[at].parent)
			all[nr++] = (struct prefix){ hash_callers(samples, sample->service, at),
						     sample->ticks };
	}
	SORT(all, nr, compare_prefixes);
	for (i = 1; i < nr; i++) {
		if (all[i].hash == all[kept].hash)
			all[kept].ticks += all[i].ticks;
		else
			all[++kept] = all[i];
	}
	*result = all;
	return kept + 1;
}

/* What is left has the same inclusive ticks as before. */
static void assert_inclusive(const struct samples *before, const struct samples *after)
{
	struct prefix *all, *left;
	size_t nr = find_prefixes(before, &all), nr_left = find_prefixes(after, &left), i;

	cr_assert_lt(nr_left, nr);
	for (i = 0; i < nr_left; i++) {
		const struct prefix *same =
			bsearch(&left[i], all, nr, sizeof(*all), compare_prefixes);

		cr_assert_not_null(same);
		cr_assert_eq(left[i].ticks, same->ticks);
	}
	free(all);
	free(left);
}

Test(samples, coldest_leaves_become_their_callers)
{
	static const size_t limits[] = { 500, 90, 7, 1 };
	cleanup_profile struct profile *profile = sample_profile_of_chains(2, PLACES / 2);
	struct samples before = build(profile, EXPORT_FUNCTION), after, again;
	size_t i, j;

	cr_assert_gt(before.services[1].nr, 2000);
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		after = build(profile, EXPORT_FUNCTION);
		again = build(profile, EXPORT_FUNCTION);
		cr_assert_eq(samples_fold(&after, limits[i], SIZE_MAX), 0);
		cr_assert_eq(samples_fold(&again, limits[i], SIZE_MAX), 0);
		assert_sums(&after, profile);
		for (j = 1; j <= 2; j++) {
			cr_expect_leq(after.services[j].nr, limits[i]);
			cr_expect_gt(after.services[j].nr, limits[i] * 9 / 10);
		}
		assert_inclusive(&before, &after);
		cr_expect_eq(samples_of(&after, "[lost: exit]"), 1);
		cr_expect_eq(after.nr, again.nr);
		cr_expect_eq(memcmp(after.all, again.all, after.nr * sizeof(*after.all)), 0);
		samples_free(&after);
		samples_free(&again);
	}
	samples_free(&before);
}

/* What is folded is colder than what is left. */
Test(samples, hot_leaves_stay)
{
	cleanup_profile struct profile *profile = sample_profile_of_chains(1, PLACES / 2);
	struct samples samples = build(profile, EXPORT_FUNCTION);
	struct sample *hottest = samples.all, *sample;
	struct prefix *left, hot;
	size_t nr;

	for (sample = samples.all; sample < samples.all + samples.nr; sample++)
		if (sample->ticks > hottest->ticks)
			hottest = sample;
	cr_assert_neq(hottest->callers, 0);
	hot.hash = hash_frame(&samples, hash_callers(&samples, hottest->service, hottest->callers),
			      hottest->place);
	cr_assert_eq(samples_fold(&samples, 500, SIZE_MAX), 0);
	nr = find_prefixes(&samples, &left);
	cr_assert_not_null(bsearch(&hot, left, nr, sizeof(*left), compare_prefixes));
	free(left);
	samples_free(&samples);
}

Test(samples, bytes_of_stacks)
{
	cleanup_profile struct profile *profile = sample_profile_of_chains(2, PLACES / 2);
	struct samples before = build(profile, EXPORT_FUNCTION);
	struct samples after = build(profile, EXPORT_FUNCTION);
	size_t i, most = pprof_bytes(&before, 1) / 3;

	cr_assert_eq(samples_fold(&after, SAMPLES_MOST, most), 0);
	assert_sums(&after, profile);
	assert_inclusive(&before, &after);
	for (i = 1; i <= 2; i++) {
		cr_assert_leq(pprof_bytes(&after, i), most);
		cr_assert_gt(pprof_bytes(&after, i), most / 2);
	}
	samples_free(&before);
	samples_free(&after);
}
