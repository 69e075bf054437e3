/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RUN_H
#define BPFPROFIL_RUN_H

#include "agent/agent.h"
#include "base/notify.h"
#include "host/record/sample_loop.h"

/* The agent from one reading of its options to the next. */
struct run {
	struct agent *agent;
	struct agent_options *options;
	struct targets targets;
	struct result result;
	struct sample_loop loop;
	struct phase_options phases; /* a single endless phase */
	struct watchdog watchdog;
	int timer_fd; /* for the watchdog */
	int watch_fd; /* inotify for the folder of the file of options; -1: none */
	int wake_fd; /* readable when a timer expires or a scrape needs attention */
	struct wall_clock clock; /* as of the last delivered profile */
	struct scrapes scrapes;
	bool has_scrapes;
	bool ended; /* sampling has ended */
	int save_fd; /* expires when the state must be saved; -1: never */
	struct listener *listener; /* NULL: no address to listen on */
	_Atomic uint64_t cut_ns; /* when the last part of a profile was made */
	struct sink **sinks; /* new sinks, until the agent owns them */
	size_t nr_sinks;
};

/* Opens all sinks. They deliver nothing yet, and earlier sinks keep running. */
int run_open_sinks(struct run *run, struct error *err);

/*
 * Replaces earlier sinks by the new ones. Each takes over from an earlier sink of its kind and
 * place.
 */
int run_replace_sinks(struct run *run, struct error *err);
/* Ends the sinks' threads. After that, what they have delivered does not change. */
void run_end_sinks(struct sink *const *sinks, size_t nr, uint64_t patience_ns);
void run_close_sinks(struct sink **sinks, size_t nr, uint64_t patience_ns);

/*
 * Updates the counters and saves them for the next agent before anybody can read them. The second
 * also takes the lock that protects shown figures.
 */
void run_save_state(struct run *run);
void run_save_shown(struct run *run);

/* Plans the next save. took_ns: CPU time of the last one. */
void run_plan_save(const struct run *run, uint64_t took_ns);

/*
 * Finds the unsampled time since the last session or agent, and the lost ticks of a killed agent.
 */
void run_find_unsampled(struct run *run);
void run_count_killed(struct agent *agent);

/* Sets up the events that wake the main loop, and handles them. */
int run_open_wake(struct run *run, struct error *err);
void run_wake(struct run *run);
bool run_is_reconfigured(const struct run *run);

#endif
