/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_STATE_H
#define BPFPROFIL_STATE_H

#include "agent/figures.h"
#include "agent/sink.h"
#include "agent/usage.h"

/*
 * The state for the next agent, in a file beside the spool: the counters of /metrics, the usage of
 * cgroups, and the duty. It is written every few seconds, so that a killed agent loses little. A
 * damaged file is ignored.
 */
#define STATE_NAME "counters"
#define STATE_BYTES_MAX ((size_t)32 << 20)

struct sink_state {
	char *name;
	struct sink_counts counts;
};

struct state {
	uint64_t until_ns; /* time of this state, by monotonic_ns(); 0: unknown */
	uint64_t cut_ns; /* ticks until then are in a profile */
	uint64_t ticks; /* ticks between the two, at least */
	uint64_t parts_ticks; /* further ticks in parts, which the figures include */
	double duty_percent; /* 0: unknown, or all */
	bool has_duty;
	struct usages usages; /* as of until_ns */
	struct sink_state *sinks;
	size_t nr_sinks;
	bool failed; /* to write it the last time */
	int fd; /* the folder, locked; -1: none */
};

/*
 * Opens the folder and reads the last agent's state into `figures` and `state`. If the state cannot
 * be used, counters start at 0, and a message says why, unless there is no file. quiet: problems
 * with the folder are reported elsewhere.
 */
void state_open(struct state *state, const char *dir, bool quiet, struct figures *figures);

/* Parses such a file. Returns NULL, or why it is ignored; in that case nothing changes. */
const char *state_read(const struct bytes *bytes, struct state *state, struct figures *figures);

/* Writes the file. On failure it is removed, and a message is printed the first time. */
void state_save(struct state *state, struct figures *figures);

void state_count_sinks(struct state *state, struct sink *const *sinks, size_t nr);

/* A sink's counts from the last agent; NULL: there are none. */
const struct sink_counts *state_find_sink(const struct state *state, const char *name);

void state_close(struct state *state);

#endif
