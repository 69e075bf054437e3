/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FIGURES_H
#define BPFPROFIL_FIGURES_H

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "agent/sink.h"
#include "agent/service_times.h"
#include "profile/profile.h"

/* What a session says of itself. */
struct figures_session {
	uint64_t handler_ns; /* time of our programs in the kernel */
	struct profile_cost cost; /* handler_ns 0: not known yet */
	uint64_t memory; /* kernel memory for histograms, in bytes */
	uint64_t memory_limit;
};

/* What was counted and what sampling cost since the agent began, for /metrics. */
struct figures {
	time_t begun;
	time_t counted_since; /* counters may be those of earlier agents */
	pthread_mutex_t shown; /* held while what is shown must not be what cannot be kept yet */
	pthread_mutex_t lock; /* for what follows */
	struct profile_account ticks;
	uint64_t sampled_ns; /* the share of the time that the ticks are which count */
	double duty_percent; /* how many of them do; 0: all */
	uint64_t former_ns; /* what handler_ns of earlier sessions was in all */
	struct figures_session session;
	struct cpu_counter unsampled; /* time between sessions and agents */
	struct service_times times; /* CPU time of all processes, by service */
	uint64_t old_spool_bytes; /* that wait for sinks that are no more */
	uint64_t scrapes; /* number of those that were answered */
};

/* Figures that others keep, read when somebody asks. */
struct figures_of_sinks {
	struct sink *const *sinks;
	size_t nr;
};

void figures_open(struct figures *figures);
void figures_close(struct figures *figures);

/* Goes on with the counters of an earlier agent, which belong to these then. */
void figures_replace_counts(struct figures *figures, const struct figures *earlier);
void figures_free_counts(struct figures *figures);

/* Adds the ticks of a part, and replaces the figures of the session by the current ones. */
void figures_add(struct figures *figures, const struct profile *part,
		 const struct figures_session *session);

/* Replaces CPU times by what the next part will have at least. */
void figures_read(struct figures *figures, const struct profile *times);

/* Counts ticks that were seen by an agent that was killed, before they were in a part. */
void figures_lose(struct figures *figures, uint64_t ticks);

/* A time of which nothing is known, and what cgroups spent meanwhile; NULL: that is not known. */
void figures_add_hole(struct figures *figures, uint64_t ns, const struct profile *spent);

void figures_end_interval(struct figures *figures);

void figures_count_scrape(struct figures *figures);
void figures_note_old_spools(struct figures *figures, uint64_t bytes);

/*
 * Call when another session begins. listening: somebody may ask, so that services are told apart;
 * functions: how many of each.
 */
void figures_new_session(struct figures *figures, bool listening, size_t functions);

struct figures_form {
	bool openmetrics; /* or Prometheus' older text format */
	bool functions; /* with the counters by function, if there are any */
	bool config_ok; /* the file of options, as it is now, is in force */
	const char *scraper; /* the address of one who takes rates; NULL: somebody else */
};

void figures_write(struct figures *figures, const struct figures_of_sinks *of,
		   const struct figures_form *form, FILE *out);

#endif
