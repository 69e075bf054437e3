/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SAMPLE_LOOP_H
#define BPFPROFIL_SAMPLE_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>

#include "base/error.h"
#include "host/engine/session.h"
#include "host/record/control.h"
#include "host/record/options.h"
#include "host/record/preload.h"
#include "host/record/result.h"
#include "host/record/spending.h"

/*
 * The progress line on a terminal while a session runs. Without a terminal it causes no wake-ups.
 */
struct progress {
	struct session *session;
	bool shown;
	unsigned int updates;
	char hottest[64];
};

/*
 * What run and attach do while ticks fall: sleep, look at new text while its process may still
 * exist, write the files of a series when they are due, and show progress.
 */
struct sample_loop {
	const struct sampling_options *options;
	const struct phase_options *phases;
	struct session *session;
	struct result *result;
	struct preload *preload; /* NULL: none */
	int signal_fd;
	int ended_fd; /* readable when there is nothing left to sample; -1: never */
	struct control control;
	struct progress progress;
	struct spending spending;
	struct signalfd_siginfo signal; /* the last one received */
	uint64_t cut_ns; /* when the next file of a series is due; 0: no series */
	uint64_t then_ns; /* when the one after it is; 0: an interval later */
	uint64_t named_ns; /* names that it needs are there by then */
	bool begun; /* the loop has been started */
	bool paused; /* between phases, or before the first one */
	bool over; /* it will not sample again */
	uint64_t begin_ns; /* when the delay is over; 0: there is none, or it has passed */
	uint64_t end_ns; /* when the duration is over; 0: never, or paused */
	uint64_t left_ns; /* while paused, what is left of the duration; 0: it is unlimited */
};

enum sample_event {
	SAMPLE_NONE,
	SAMPLE_ENDED, /* ended_fd is readable */
	SAMPLE_OVER, /* the duration is over */
	SAMPLE_SIGNAL,
};

/*
 * From here on SIGINT, SIGTERM and SIGHUP are delivered on the returned descriptor, and writing to
 * a closed pipe returns an error. Call it after COMMAND was forked.
 */
int sample_open_signals(struct error *err);

/* The same with SIGUSR1 and SIGUSR2, which begin and end phases. */
int sample_open_phase_signals(struct error *err);

/*
 * Called at the end, so that another signal ends the process at once, even while files are written.
 */
void sample_let_signals_through(void);

/*
 * Opens a session on the targets, starts it and names the first file. If the host lacks something
 * that explains a failure, the error names that.
 */
int sample_start(struct sample_loop *loop, const struct target *targets, size_t nr_targets,
		 const char *controller, struct error *err);

/*
 * Why something failed: names what the host lacks, if anything, because that says more than an
 * errno.
 */
int sample_explain(int failure, struct error *err);

/* Runs until the end or a signal that ends it. A further call continues. */
enum sample_event sample_run(struct sample_loop *loop);

/* After the session's end: waits for one event, without limit. */
enum sample_event sample_wait(struct sample_loop *loop);

/* When the next file is made, which waits a little for names; 0: no series. */
uint64_t sample_due(const struct sample_loop *loop);

/* Closes the loop's session and descriptors. */
void sample_close(struct sample_loop *loop);

/*
 * Makes the C library keep little of what is freed, for the agent is left on each host, and needs
 * most of its memory only while a profile is made or sent. Call it before there is another thread.
 */
void memory_keep_little(void);

#endif
