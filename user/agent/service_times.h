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
 * increase by adds up to all CPU time, and what those of a service's functions increase by to its
 * own, because there is an "[other]" of each kind: for services beyond SERVICES_MAX, and for
 * functions that are not among the hottest. Who has had no time for long, or has become cold, makes
 * room, and begins at 0 when it comes back. Of its time only that goes to "[other]" of which nobody
 * has been told: whoever takes rates has counted the rest already.
 *
 * A new counter has time already, but the value that Prometheus reads first is no increase to it. So
 * a counter is 0 until the end of the interval in which somebody has read that, because two servers
 * may ask for the same metrics; or for a few intervals, if nobody asks.
 */
struct cpu_counter {
	uint64_t ns;
	uint64_t told; /* what of it somebody has read */
	unsigned int from; /* the first turn in which it is told */
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

struct service_times {
	bool wanted; /* else all is "[other]", which costs nothing */
	size_t most; /* functions of each service */
	struct service_time *list; /* ascending by labels */
	size_t nr;
	size_t room;
	uint64_t other; /* ns of all other services */
	uint64_t other_functions; /* the same, and of functions that ended with their service */
	unsigned int turn; /* how many intervals have ended; one may have several parts */
};

/* A label's value: a backslash, a quote and a newline are escaped, as all formats of metrics demand. */
void service_label_write(FILE *out, const char *text);

/*
 * Adds a part, which has cpu_ns in all. Without memory for a service or a function it is one of the
 * others.
 */
void service_times_add(struct service_times *times, const struct profile *part, uint64_t cpu_ns);

/* Call at the end of each interval. */
void service_times_turn(struct service_times *times);

/* What to tell of a counter. */
uint64_t service_times_value(const struct service_times *times, const struct cpu_counter *counter);

/* Call after the counters were given to somebody. */
void service_times_told(struct service_times *times);

/* From now on with so many functions of each service. The counters of services go on. */
void service_times_choose(struct service_times *times, bool wanted, size_t most);

void service_times_free(struct service_times *times);

#endif
