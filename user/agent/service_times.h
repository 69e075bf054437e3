/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SERVICE_TIMES_H
#define BPFPROFIL_SERVICE_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/profile.h"

#define SERVICES_MAX 1000

/*
 * Counters of CPU time: by service and pod, and by the hottest functions of each. "[other]" holds
 * services beyond SERVICES_MAX and colder functions, so that the sums are complete. The services'
 * increases add up to all CPU time at each reading. Those of a service's functions add up to its
 * own at the end of each interval.
 *
 * A service without CPU time for long, or a cold function, makes room for another. It starts at 0
 * when it comes back. Only time that no scraper has read moves to "[other]", because the rest was
 * counted in rates already.
 *
 * A new counter starts with some time, but Prometheus sees no increase in the first value that it
 * reads. Therefore a scraper that has read this page before reads 0 first, and the value from its
 * next scrape on.
 */
struct cpu_counter {
	uint64_t ns;
	uint64_t scraped; /* as far as a scraper has read it */
	uint64_t scrapes_before; /* number of scrapes before it was created */
	uint64_t created_ms; /* since 1970: when it was 0 */
};

struct function_time {
	char *name;
	char *object;
	struct cpu_counter time;
	uint64_t recent; /* also ns, but halved at each interval with CPU time */
};

struct service_time {
	char *labels; /* of its series: service="shop/api",namespace="shop",pod="api-0",... */
	struct cpu_counter time;
	struct function_time *list;
	size_t nr;
	struct cpu_counter other; /* all other functions */
	unsigned int interval; /* the last interval with CPU time */
};

/* A scraper that computes rates: its address, and the number of its last scrape. */
#define SCRAPERS_MAX 8
#define SCRAPER_BYTES 48

struct scraper {
	char name[SCRAPER_BYTES];
	uint64_t last;
};

/* CPU time of a cgroup since the last part. */
struct cgroup_time {
	char *cgroup;
	uint64_t ns;
};

struct service_times {
	bool wanted; /* false: count all as "[other]", which costs nothing */
	size_t most; /* functions per service */
	struct service_time *list; /* ascending by labels */
	size_t nr;
	size_t room;
	uint64_t other; /* ns of all other services */
	uint64_t forgotten; /* what scrapers have read of forgotten services */
	uint64_t other_functions; /* ns of other functions, also those of forgotten services */
	unsigned int interval; /* number of intervals; an interval may have several parts */
	struct scraper scrapers[SCRAPERS_MAX];
	uint64_t scrapes; /* by all scrapers */
	struct cgroup_time *read; /* ascending by cgroup */
	size_t nr_read, read_room;
	uint64_t read_ms; /* time of the last reading, since 1970 */
};

/* Writes a label's value. All formats of metrics escape a backslash, a quote and a newline. */
void service_label_write(FILE *out, const char *text);

/*
 * Adds the growth since the last reading. whole: this is a part, which also has functions, and its
 * total is cpu_ns; else it is an early reading of the next part. A service or function that finds
 * no memory counts as "[other]".
 */
void service_times_add(struct service_times *times, const struct profile *part, uint64_t cpu_ns,
		       bool whole);

/* Call at the end of each interval. */
void service_times_end_interval(struct service_times *times);

/*
 * Records a scrape, and returns the number of this scraper's previous one; TIMES_ALL: there was
 * none.
 */
#define TIMES_ALL UINT64_MAX
uint64_t service_times_scrape(struct service_times *times, const char *scraper);

/* The value to show if the previous scrape was `last`; TIMES_ALL: all of it. */
uint64_t service_times_value(const struct cpu_counter *counter, uint64_t last);

/* All CPU time: the sum of the services' counters, including forgotten ones. */
uint64_t service_times_sum(const struct service_times *times, uint64_t last);

/* Call after a scraper has read the counters. */
void service_times_mark_scraped(struct service_times *times, uint64_t last);

/* A session begins, with so many functions per service. The services' counters continue. */
void service_times_choose(struct service_times *times, bool wanted, size_t most);

void service_times_free(struct service_times *times);

#endif
