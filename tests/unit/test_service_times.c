// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "agent/service_times.h"
#include "sample.h"

/* What whoever takes rates sees: a counter only increases, and what a new one begins with is no increase. */
struct series {
	char name[512];
	uint64_t ns;
};

struct scrape {
	struct series list[3000];
	size_t nr;
};

static void show(struct scrape *scrape, const char *service, const char *function, uint64_t ns)
{
	struct series *series = &scrape->list[scrape->nr++];

	cr_assert_lt(scrape->nr, sizeof(scrape->list) / sizeof(scrape->list[0]));
	snprintf(series->name, sizeof(series->name), "%s/%s", service, function);
	series->ns = ns;
}

static void scrape_services(struct scrape *scrape, struct service_times *times, uint64_t last)
{
	size_t i;

	scrape->nr = 0;
	for (i = 0; i < times->nr; i++)
		show(scrape, times->list[i].labels, "",
		     service_times_value(&times->list[i].time, last));
	show(scrape, "[other]", "", times->other);
}

static void scrape_functions(struct scrape *scrape, struct service_times *times, uint64_t last)
{
	const struct service_time *service = times->list;
	size_t i, j;

	scrape->nr = 0;
	for (i = 0; i < times->nr; i++, service++) {
		cr_assert_leq(service->nr, times->most);
		for (j = 0; j < service->nr; j++)
			show(scrape, service->labels, service->list[j].name,
			     service_times_value(&service->list[j].time, last));
		show(scrape, service->labels, "[other]",
		     service_times_value(&service->other, last));
	}
	show(scrape, "[other]", "[other]", times->other_functions);
}

static uint64_t increase(const struct scrape *before, const struct scrape *after)
{
	uint64_t sum = 0;
	size_t i, j;

	for (i = 0; i < after->nr; i++) {
		for (j = 0; j < before->nr; j++)
			if (!strcmp(before->list[j].name, after->list[i].name))
				break;
		if (j == before->nr)
			continue;
		cr_assert_geq(after->list[i].ns, before->list[j].ns, "%s", after->list[i].name);
		sum += after->list[i].ns - before->list[j].ns;
	}
	return sum;
}

static struct profile *timed_profile(void)
{
	struct profile *profile = sample_profile();
	uint32_t i;

	for (i = 0; i < profile->nr_targets; i++) {
		profile->targets[i].cpu_known = true;
		profile->targets[i].cpu_ns = 1234567891 + i;
	}
	return profile;
}

static struct scrape services[2], functions[2];

static uint64_t hidden(const struct cpu_counter *counter, uint64_t last)
{
	return counter->ns - service_times_value(counter, last);
}

/* Of the time of services, and of their functions, what the scraper has not been shown yet. */
static void hidden_in(const struct service_times *times, uint64_t last, uint64_t *of_services,
		      uint64_t *of_functions)
{
	size_t i, j;

	*of_services = *of_functions = 0;
	for (i = 0; i < times->nr; i++) {
		const struct service_time *service = &times->list[i];

		*of_services += hidden(&service->time, last);
		*of_functions += hidden(&service->other, last);
		for (j = 0; j < service->nr; j++)
			*of_functions += hidden(&service->list[j].time, last);
	}
}

static uint64_t all_told; /* of the last scrape */

/*
 * Since the first call both have increased by as much as there was, and what is shown adds up to all CPU time
 * as it is shown. Returns how much is hidden.
 */
static uint64_t expect_increase(struct service_times *times, uint64_t ns)
{
	static uint64_t all, by_services, by_functions;
	uint64_t services_later, functions_later, last, before = all_told;

	last = service_times_scrape(times, "10.0.0.1");
	scrape_services(&services[1], times, last);
	scrape_functions(&functions[1], times, last);
	all += ns;
	by_services += increase(&services[0], &services[1]);
	by_functions += increase(&functions[0], &functions[1]);
	hidden_in(times, last, &services_later, &functions_later);
	all_told = service_times_sum(times, last);
	cr_expect_eq(by_services + services_later, all);
	cr_expect_eq(by_functions + functions_later, all);
	cr_expect_eq(all_told, all - services_later);
	cr_expect_geq(all_told, before);
	services[0] = services[1];
	functions[0] = functions[1];
	service_times_mark_scraped(times, last);
	return services_later;
}

/* Somebody has scraped before there was anything. */
static struct service_times new_times(size_t most)
{
	struct service_times times = { .wanted = true, .most = most };

	service_times_scrape(&times, "10.0.0.1");
	services[0].nr = functions[0].nr = 0;
	show(&services[0], "[other]", "", 0);
	show(&functions[0], "[other]", "[other]", 0);
	return times;
}

static uint64_t add(struct service_times *times, const struct profile *profile)
{
	uint64_t cpu_ns;

	cr_assert(profile_cpu_time(profile, &cpu_ns));
	service_times_add(times, profile, cpu_ns, true);
	service_times_end_interval(times);
	return cpu_ns;
}

Test(service_times, add_up_to_all_cpu_time)
{
	struct service_times times = new_times(2);
	cleanup_profile struct profile *profile = timed_profile();
	unsigned int i;

	for (i = 0; i < 3; i++)
		expect_increase(&times, add(&times, profile));
	cr_assert_eq(times.nr, 2);
	cr_expect_eq(times.other, 0);
	cr_expect_gt(times.list[0].other.ns + times.list[1].other.ns, 0);
	service_times_free(&times);
}

/* A service and a function that come begin at 0 for each of two that scrape, and lose nothing by it. */
Test(service_times, begin_at_0)
{
	struct service_times times = new_times(2);
	cleanup_profile struct profile *profile = timed_profile();
	uint64_t of_services, of_functions, ns = add(&times, profile), last;

	cr_expect_eq(expect_increase(&times, ns), ns);
	cr_expect_eq(expect_increase(&times, 0), 0);
	ns = add(&times, profile);
	cr_expect_eq(expect_increase(&times, ns), 0);
	/* One who comes later is shown all, because it has seen nothing that would be an increase. */
	last = service_times_scrape(&times, "10.0.0.2");
	hidden_in(&times, last, &of_services, &of_functions);
	cr_expect_eq(of_services + of_functions, 0);
	free(profile->functions[0].name);
	profile->functions[0].name = strdup("other name");
	add(&times, profile);
	hidden_in(&times, service_times_scrape(&times, "10.0.0.2"), &of_services, &of_functions);
	cr_expect_eq(of_services, 0);
	service_times_free(&times);
}

/* The table of scrapers is small: the one that has not come for longest is shown all again. */
Test(service_times, scrapers_are_limited)
{
	struct service_times times = new_times(0);
	char name[SCRAPER_BYTES];
	unsigned int i;

	for (i = 0; i < SCRAPERS_MAX; i++) {
		snprintf(name, sizeof(name), "10.0.1.%u", i);
		cr_expect_eq(service_times_scrape(&times, name), TIMES_ALL);
	}
	cr_expect_neq(service_times_scrape(&times, "10.0.1.1"), TIMES_ALL);
	cr_expect_eq(service_times_scrape(&times, "10.0.0.1"), TIMES_ALL);
}

/* A reading is at once in the counters of services, and its time is counted once: the part has it too. */
Test(service_times, readings_are_counted_once)
{
	struct service_times times = new_times(2);
	cleanup_profile struct profile *profile = timed_profile();
	uint64_t ns, all;
	size_t i;

	cr_assert(profile_cpu_time(profile, &all));
	service_times_add(&times, profile, 0, false);
	ns = service_times_sum(&times, TIMES_ALL);
	cr_expect_eq(ns, all);
	cr_expect_eq(times.list[0].nr, 0);
	for (i = 0; i < profile->nr_targets; i++)
		profile->targets[i].cpu_ns += 1000;
	service_times_add(&times, profile, 0, false);
	all += 1000 * profile->nr_targets;
	cr_expect_eq(service_times_sum(&times, TIMES_ALL), all);
	/* Functions have it from the part on, and then add up to the same. */
	expect_increase(&times, add(&times, profile));
	cr_expect_eq(service_times_sum(&times, TIMES_ALL), all);
	cr_expect_gt(times.list[0].nr, 0);
	service_times_free(&times);
}

/* Where a tick stands for more, its second is still one. */
Test(service_times, do_not_depend_on_the_period)
{
	struct service_times times = new_times(2);
	cleanup_profile struct profile *profile = timed_profile();

	add(&times, profile);
	scrape_functions(&functions[0], &times, TIMES_ALL);
	profile->sampling.period_ns *= 10;
	service_times_free(&times);
	times = (struct service_times){ .wanted = true, .most = 2 };
	add(&times, profile);
	scrape_functions(&functions[1], &times, TIMES_ALL);
	cr_expect_arr_eq(&functions[0], &functions[1], sizeof(functions[0]));
	service_times_free(&times);
}

/* What was the hottest function makes room for a hotter one, and its time is counted once. */
Test(service_times, cold_functions_make_room)
{
	struct service_times times = new_times(1);
	cleanup_profile struct profile *profile = timed_profile();
	unsigned int i, other = 0;

	for (i = 0; i < 4; i++) {
		if (i == 1) {
			free(profile->functions[0].name);
			profile->functions[0].name = strdup("other name");
		}
		expect_increase(&times, add(&times, profile));
	}
	for (i = 0; i < functions[0].nr; i++)
		other += strstr(functions[0].list[i].name, "other name") != NULL;
	cr_expect_gt(other, 0);
	service_times_free(&times);
}

/* Nothing is lost of one that nobody had been told of. */
Test(service_times, idle_services_are_forgotten)
{
	struct service_times times = new_times(1);
	cleanup_profile struct profile *profile = timed_profile(), *idle = timed_profile();
	uint64_t ns;
	size_t i;

	for (i = 0; i < idle->nr_histograms; i++)
		if (idle->histograms[i].target) {
			free(idle->histograms[i].cgroup);
			idle->histograms[i].cgroup = strdup("/another");
		}
	expect_increase(&times, add(&times, profile) + add(&times, idle));
	ns = add(&times, profile);
	for (i = 0; i < 61; i++)
		ns += add(&times, idle);
	cr_expect_gt(times.other, 0);
	expect_increase(&times, ns);
	service_times_free(&times);
}

/* Those that have ended make room; beyond that all are others. */
Test(service_times, at_most_a_thousand)
{
	struct service_times times = new_times(1);
	cleanup_profile struct profile *many = sample_profile_of_services(SERVICES_MAX + 3, 2);
	cleanup_profile struct profile *two = timed_profile();

	many->targets[0].cpu_known = true;
	many->targets[0].cpu_ns = 12345678901;
	expect_increase(&times, add(&times, many));
	cr_expect_eq(times.nr, SERVICES_MAX);
	cr_expect_gt(times.other, 0);
	expect_increase(&times, add(&times, two));
	cr_expect_eq(times.nr, SERVICES_MAX);
	expect_increase(&times, add(&times, many));
	service_times_free(&times);
}

/* As after SIGHUP, with other options. */
Test(service_times, go_on_with_other_options)
{
	static const struct {
		bool wanted;
		size_t most;
	} options[] = { { true, 1 }, { true, 3 }, { true, 0 }, { false, 0 }, { true, 2 } };
	struct service_times times = new_times(2);
	cleanup_profile struct profile *profile = timed_profile();
	size_t i;

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		uint64_t ns = add(&times, profile);

		service_times_choose(&times, options[i].wanted, options[i].most);
		expect_increase(&times, ns + add(&times, profile));
		cr_expect_eq(times.nr, 2);
	}
	service_times_free(&times);
}

/* Each pod is told apart, by the names that cadvisor has; one of no pod has none of them. */
Test(service_times, have_pods)
{
	static const char *const wanted[] = {
		"service=\"shop/\\\"api\",namespace=\"shop\",pod=\"api-0\",container=\"task\"",
		"service=\"shop/\\\"api\",namespace=\"shop\",pod=\"api-1\",container=\"task\"",
	};
	static const char *const pods[] = { "api-0", "api-1" };
	struct service_times times = new_times(0);
	cleanup_profile struct profile *profile = sample_profile_of_services(3, 2);
	uint64_t ns;
	size_t i, named = 0;

	profile->targets[0].cpu_known = true;
	profile->targets[0].cpu_ns = 12345678901;
	for (i = 0; i < 2; i++) {
		const char *cgroup = profile->histograms[i].cgroup;

		cr_assert_eq(profile_add_label(profile, cgroup, "service.name", "shop/\"api"), 0);
		cr_assert_eq(profile_add_label(profile, cgroup, "k8s.namespace.name", "shop"), 0);
		cr_assert_eq(profile_add_label(profile, cgroup, "k8s.pod.name", pods[i]), 0);
		cr_assert_eq(profile_add_label(profile, cgroup, "k8s.container.name", "task"), 0);
	}
	ns = add(&times, profile);
	expect_increase(&times, ns);
	for (i = 0; i < times.nr; i++) {
		named += !strcmp(times.list[i].labels, wanted[0]);
		named += !strcmp(times.list[i].labels, wanted[1]);
		cr_expect_eq(!strstr(times.list[i].labels, "pod="),
			     !strstr(times.list[i].labels, "shop"), "%s", times.list[i].labels);
	}
	cr_expect_eq(named, 2);
	cr_expect_gt(times.nr, 2);
	service_times_free(&times);
}
