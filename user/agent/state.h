/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_STATE_H
#define BPFPROFIL_STATE_H

#include "agent/figures.h"
#include "agent/sink.h"
#include "agent/usage.h"

/*
 * What the next agent goes on with, in a file beside the spool: the counters of /metrics, what cgroups had
 * spent by then, and the duty. It is replaced every few seconds, so that little is lost with an agent that is
 * killed. Anything that is not whole is ignored.
 */
#define STATE_NAME "counters"
#define STATE_BYTES_MAX ((size_t)32 << 20)

/* The counts of a sink, by its name. */
struct sink_state {
	char *name;
	struct sink_counts counts;
};

struct state {
	uint64_t until_ns; /* as of then, by monotonic_ns(); 0: it is not known */
	uint64_t cut_ns; /* what was counted until then is in a profile */
	uint64_t ticks; /* how many were counted between the two, at least, */
	uint64_t parts_ticks; /* and how many more are in parts, which figures have */
	double duty_percent; /* 0: it is not known, or all */
	bool has_duty;
	struct usages usages; /* at until_ns */
	struct sink_state *sinks;
	size_t nr_sinks;
	bool failed; /* the last time that it was written */
	int fd; /* of the folder, which it keeps locked; -1: none */
};

/*
 * Opens the folder, and reads what the last agent left there, if that can be used: figures are replaced by
 * it. Without it an agent begins anew, and a line says why unless there is just no file. quiet: what is
 * wrong with the folder is said elsewhere.
 */
void state_open(struct state *state, const char *dir, bool quiet, struct figures *figures);

/* Reads bytes of such a file: NULL, or why they are ignored, and then nothing is changed. */
const char *state_read(const struct bytes *bytes, struct state *state, struct figures *figures);

/* Writes it. What cannot be written is removed, and the first time a line says so. */
void state_save(struct state *state, struct figures *figures);

/* Replaces the counts of sinks by the current ones. */
void state_count_sinks(struct state *state, struct sink *const *sinks, size_t nr);

/* The counts of a sink as the last agent left them; NULL: there are none. */
const struct sink_counts *state_find_sink(const struct state *state, const char *name);

void state_close(struct state *state);

#endif
