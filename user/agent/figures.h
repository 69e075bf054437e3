/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FIGURES_H
#define BPFPROFIL_FIGURES_H

#include <pthread.h>
#include <stdio.h>

#include "agent/sink.h"
#include "profile/profile.h"

/* What was counted and what that took, since the agent began: for /metrics. */
struct figures {
	pthread_mutex_t lock;
	struct profile_account ticks;
	uint64_t cpu_ns; /* of all processes, by the scheduler */
	uint64_t handler_ns; /* of our programs in the kernel, in former sessions too */
	uint64_t former_ns; /* of that in former sessions */
	uint64_t memory; /* bytes of histograms in the kernel */
	uint64_t memory_limit;
};

/* What is asked for beside them. */
struct figures_of_sinks {
	struct sink *const *sinks;
	size_t nr;
	uint64_t scrapes; /* answered */
};

void figures_open(struct figures *figures);
void figures_close(struct figures *figures);

/* A part that was taken, and how the session has done. */
void figures_add(struct figures *figures, const struct profile *part, uint64_t handler_ns,
		 uint64_t memory, uint64_t memory_limit);

/* From here on there is another session. */
void figures_new_session(struct figures *figures);

/* As OpenMetrics has them, or Prometheus' older text. */
void figures_write(struct figures *figures, const struct figures_of_sinks *of, bool openmetrics,
		   FILE *out);

#endif
