/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RUN_H
#define BPFPROFIL_RUN_H

#include "agent/agent.h"
#include "base/notify.h"
#include "host/record/sample_loop.h"

/* Sampling between two readings of the options. */
struct run {
	struct agent *agent;
	struct agent_options *options;
	struct targets targets;
	struct result result;
	struct sample_loop loop;
	struct phase_options phases; /* a single phase without end */
	struct watchdog watchdog;
	int timer_fd; /* for the watchdog */
	int watch_fd; /* of the folder that the file of options is in; -1: none */
	int wake_fd; /* readable when a timer expires or a scrape has something to do */
	struct wall_clock clock; /* as of the last profile that was delivered */
	struct scrapes scrapes;
	bool has_scrapes;
	bool ended; /* nothing is sampled any more */
	int note_fd; /* expires when to note what the next agent goes on with; -1: never */
	struct listener *listener; /* NULL: no address to listen on */
	_Atomic uint64_t cut_ns; /* when the last part of a profile was made */
	struct sink **sinks; /* those of the options, until the agent has them */
	size_t nr_sinks;
};

/* Opens all sinks of the options. Nothing is delivered yet, and earlier ones go on. */
int run_open_sinks(struct run *run, struct error *err);

/* From here on there are the new ones. Each takes over from an earlier one of its kind and place. */
int run_replace_sinks(struct run *run, struct error *err);
void run_close_sinks(struct sink **sinks, size_t nr, uint64_t patience_ns);

/*
 * Brings the counters up to date, and keeps them for the next agent before anybody reads them; the second
 * takes the lock of what is shown, which the first needs.
 */
void run_note_state(struct run *run);
void run_note_shown(struct run *run);

/* When to note it next, if that took so much CPU time. */
void run_plan_note(const struct run *run, uint64_t took_ns);

/* The time since the last session, or agent, and the ticks of an agent that was killed. */
void run_find_hole(struct run *run);
void run_count_killed(struct agent *agent);

/* Sets up what wakes the loop, and does what it woke for. */
int run_open_wake(struct run *run, struct error *err);
void run_wake(struct run *run);
bool run_is_reconfigured(const struct run *run);

#endif
