/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SAMPLE_LOOP_H
#define BPFPROFIL_SAMPLE_LOOP_H

#include <stdint.h>
#include <sys/signalfd.h>

#include "base/error.h"
#include "engine/session.h"
#include "record/control.h"
#include "record/options.h"
#include "record/preload.h"
#include "record/result.h"
#include "record/spending.h"

/* The line on a terminal while a session runs. Without a terminal nothing wakes up for it. */
struct progress {
	struct session *session;
	bool shown;
	unsigned int updates;
	char hottest[64];
};

/*
 * What run and attach do while ticks fall: sleep, look at new text while its process may still be
 * there, write the files of a series when they are due, and show the line of progress.
 */
struct sample_loop {
	const struct sampling_options *options;
	const struct phase_options *phases;
	struct session *session;
	struct result *result;
	struct preload *preload; /* NULL: none */
	int signal_fd;
	int ended_fd; /* readable when there is nothing more to sample; -1: never */
	struct control control;
	struct progress progress;
	struct spending spending;
	struct signalfd_siginfo signal; /* the last */
	uint64_t cut_ns; /* when the next file of a series is due; 0: there is no series */
	bool begun; /* once the loop runs */
	bool paused; /* between phases, or before the first */
	bool over; /* for good */
	uint64_t begin_ns; /* when the delay is over; 0: there is none, or it was */
	uint64_t end_ns; /* when the duration is over; 0: never, or not in a pause */
	uint64_t left_ns; /* in a pause what is left of it; 0: it is without end */
};

enum sample_event {
	SAMPLE_NONE,
	SAMPLE_ENDED, /* ended_fd is readable */
	SAMPLE_OVER, /* the duration is */
	SAMPLE_SIGNAL,
};

/*
 * From here on SIGINT, SIGTERM and SIGHUP come by the descriptor that is returned, and a closed
 * pipe is an error of write. A COMMAND must be forked before.
 */
int sample_open_signals(struct error *err);

/* The same with SIGUSR1 and SIGUSR2, between which there are phases. */
int sample_open_phase_signals(struct error *err);

/* At the end: the second signal is to end it at once, also while files are written. */
void sample_let_signals_through(void);

/*
 * Opens a session on the targets, starts it and names the first file. A failure that a lack of this
 * host explains is told as that lack.
 */
int sample_start(struct sample_loop *loop, const struct target *targets, size_t nr_targets,
		 const char *controller, struct error *err);

/* Why something failed: the lack of this host, if there is one, says more than a step's errno. */
int sample_explain(int failure, struct error *err);

/* Until the end or a signal that ends it. Called again it goes on. */
enum sample_event sample_run(struct sample_loop *loop);

/* After the session's end: one event, for as long as it takes. */
enum sample_event sample_wait(struct sample_loop *loop);

/* Closes what is the loop's: session and descriptors. */
void sample_close(struct sample_loop *loop);

#endif
