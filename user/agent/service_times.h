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
 * CPU time, by service and pod and by the hottest functions of each, as counters. What those of services
 * increase by adds up to all CPU time at each reading, and what those of a service's functions increase by
 * to its own at the end of each interval, because there is an "[other]" of each kind: for services beyond
 * SERVICES_MAX, and for functions that are not among the hottest. A service without CPU time for long, or
 * a function that has become cold, makes room, and begins at 0 when it comes back. Of its time only that
 * goes to "[other]" which no scraper has read: whoever takes rates has counted the rest already.
 *
 * A new counter has time already, but the value that Prometheus reads first is no increase to it. So each
 * scraper that has read this page before reads 0 first, and the value from its next scrape on.
 */
struct cpu_counter {
	uint64_t ns;
	uint64_t told; /* what of it a scraper has read */
	uint64_t born; /* how many scrapes there had been */
	uint64_t created_ms; /* when it was 0, since 1970 */
};

struct function_time {
	char *name;
	char *object;
	struct cpu_counter time;
	uint64_t recent; /* ns too, but halved with each turn */
};

struct service_time {
	char *labels; /* of its series: service="shop/api",namespace="shop",pod="api-0",... */
	struct cpu_counter time;
	struct function_time *list;
	size_t nr;
	struct cpu_counter other; /* all other functions */
	unsigned int turn; /* the last one in which it had time */
};

/* Who takes rates, as far as is known: by its address, and which scrape was its last. */
#define SCRAPERS_MAX 8
#define SCRAPER_BYTES 48

struct scraper {
	char name[SCRAPER_BYTES];
	uint64_t last;
};

/* What was read of a cgroup since the last part. */
struct cgroup_time {
	char *cgroup;
	uint64_t ns;
};

struct service_times {
	bool wanted; /* else all is "[other]", which costs nothing */
	size_t most; /* functions of each service */
	struct service_time *list; /* ascending by labels */
	size_t nr;
	size_t room;
	uint64_t other; /* ns of all other services */
	uint64_t gone; /* what scrapers have read of services that were forgotten */
	uint64_t other_functions; /* the same, and of functions that ended with their service */
	unsigned int turn; /* how many intervals have ended; one may have several parts */
	struct scraper scrapers[SCRAPERS_MAX];
	uint64_t scrapes; /* by scrapers, in all */
	struct cgroup_time *read; /* ascending by cgroup */
	size_t nr_read, read_room;
	uint64_t read_ms; /* when times were read last, since 1970 */
};

/* A label's value: a backslash, a quote and a newline are escaped, as all formats of metrics demand. */
void service_label_write(FILE *out, const char *text);

/*
 * Adds what a part, or a reading of what the next part will have, has more than the last reading: whole
 * says that it is a part, which has functions too. It has cpu_ns in all. Without memory for a service or
 * a function it is one of the others.
 */
void service_times_add(struct service_times *times, const struct profile *part, uint64_t cpu_ns,
		       bool whole);

/* Call at the end of each interval. */
void service_times_turn(struct service_times *times);

/*
 * For a scrape by this one: returns which scrape was its last, and notes this one; TIMES_ALL: there was
 * none.
 */
#define TIMES_ALL UINT64_MAX
uint64_t service_times_scrape(struct service_times *times, const char *scraper);

/* What to show of a counter if the last scrape was this one; TIMES_ALL: all. */
uint64_t service_times_value(const struct cpu_counter *counter, uint64_t last);

/* All CPU time, as the counters of services add up to it: with those that were forgotten. */
uint64_t service_times_sum(const struct service_times *times, uint64_t last);

/* Call after the counters were given to a scraper. */
void service_times_told(struct service_times *times, uint64_t last);

/* A session begins, with so many functions of each service. The counters of services go on. */
void service_times_choose(struct service_times *times, bool wanted, size_t most);

void service_times_free(struct service_times *times);

#endif
