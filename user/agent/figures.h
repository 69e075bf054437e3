/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FIGURES_H
#define BPFPROFIL_FIGURES_H

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "agent/sink.h"
#include "agent/service_times.h"
#include "profile/profile.h"

/* A session's own figures. */
struct figures_session {
	uint64_t handler_ns; /* time of our programs in the kernel */
	struct profile_cost cost; /* handler_ns 0: not measured yet */
	uint64_t memory; /* kernel memory for histograms, in bytes */
	uint64_t memory_limit;
};

/* What /metrics shows: ticks, CPU times and costs since the agent began. */
struct figures {
	time_t begun;
	time_t counted_since; /* earlier than begun if counters were carried over */
	pthread_mutex_t shown; /* held while figures are shown that cannot be saved yet */
	pthread_mutex_t lock; /* for what follows */
	struct profile_account ticks;
	uint64_t sampled_ns; /* sampled time, scaled by the duty */
	double duty_percent; /* share of ticks that count; 0: all */
	uint64_t former_ns; /* sum of handler_ns of earlier sessions */
	struct figures_session session;
	struct cpu_counter unsampled; /* time between sessions and agents */
	struct service_times times; /* CPU time of all processes, by service */
	uint64_t old_spool_bytes; /* pending for sinks that no longer exist */
	uint64_t scrapes; /* answered scrapes */
};

/* Sinks count for themselves. Their figures are read at each scrape. */
struct figures_of_sinks {
	struct sink *const *sinks;
	size_t nr;
};

void figures_open(struct figures *figures);
void figures_close(struct figures *figures);

/* Continues the counters of an earlier agent, and owns them from here on. */
void figures_replace_counts(struct figures *figures, const struct figures *earlier);
void figures_free_counts(struct figures *figures);

/* Adds the ticks of a part, and replaces the session's figures. */
void figures_add(struct figures *figures, const struct profile *part,
		 const struct figures_session *session);

/* Raises CPU times to the least that the next part will have. */
void figures_read(struct figures *figures, const struct profile *times);

/* Counts the ticks of a killed agent that reached no part. */
void figures_lose(struct figures *figures, uint64_t ticks);

/* Adds unsampled time, and the CPU time of cgroups meanwhile; NULL: unknown. */
void figures_add_unsampled(struct figures *figures, uint64_t ns, const struct profile *spent);

void figures_end_interval(struct figures *figures);

void figures_count_scrape(struct figures *figures);
void figures_note_old_spools(struct figures *figures, uint64_t bytes);

/*
 * Call at the start of each session. listening: count by service, because there may be scrapes;
 * functions: how many of each service.
 */
void figures_new_session(struct figures *figures, bool listening, size_t functions);

struct figures_form {
	bool openmetrics; /* else Prometheus' older text format */
	bool functions; /* with the counters by function, if there are any */
	bool config_ok; /* the current file of options is in force */
	const char *scraper; /* address of a scraper that computes rates; NULL: another client */
};

void figures_write(struct figures *figures, const struct figures_of_sinks *of,
		   const struct figures_form *form, FILE *out);

#endif
