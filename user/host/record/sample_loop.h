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

/* The progress line on a terminal during a session. Without a terminal, it causes no wake-ups. */
struct progress {
	struct session *session;
	bool shown;
	unsigned int updates;
	char hottest[64];
};

/*
 * The main loop of run and attach: sleeps, handles new text while its process may still exist,
 * writes files of a series when they are due, and shows progress.
 */
struct sample_loop {
	const struct sampling_options *options;
	const struct phase_options *phases;
	struct session *session;
	struct result *result;
	struct preload *preload; /* NULL: none */
	int signal_fd;
	int ended_fd; /* readable when all targets have ended; -1: never */
	struct control control;
	struct progress progress;
	struct spending spending;
	struct signalfd_siginfo signal; /* the last one */
	double next_duty; /* while ticks are stopped: the duty to continue with */
	bool ticks_stopped; /* because the duty changes */
	uint64_t cut_ns; /* when the next file of a series is due; 0: no series */
	uint64_t then_ns; /* when the one after it is due; 0: an interval later */
	uint64_t named_ns; /* when its names are expected to be known */
	bool begun; /* the loop has been started */
	bool paused; /* between phases, or before the first one */
	bool over; /* it will not sample again */
	uint64_t begin_ns; /* end of the delay; 0: none, or it has passed */
	uint64_t end_ns; /* end of the duration; 0: never, or paused */
	uint64_t left_ns; /* rest of the duration while paused; 0: unlimited */
};

enum sample_event {
	SAMPLE_NONE,
	SAMPLE_ENDED, /* ended_fd is readable */
	SAMPLE_OVER, /* the duration is over */
	SAMPLE_SIGNAL,
};

/*
 * From here on SIGINT, SIGTERM and, unless it was ignored, SIGHUP arrive on the returned descriptor,
 * and writing to a closed pipe returns an error. Call it after the fork of COMMAND.
 */
int sample_open_signals(struct error *err);

/* Does the same with SIGUSR1 and SIGUSR2, which start and end phases. */
int sample_open_phase_signals(struct error *err);

/*
 * Call it at the end: another signal then ends the process at once, even while files are written. It
 * first writes the line `loss`, which says what is lost, or "".
 */
void sample_let_signals_through(const char *loss);

/* After that: signals arrive on the descriptor again. */
void sample_hold_signals(void);

/*
 * Opens a session on the targets, starts it, and names the first file. If the host lacks something
 * that explains a failure, the error names that.
 */
int sample_start(struct sample_loop *loop, const struct target *targets, size_t nr_targets,
		 const char *controller, struct error *err);

/* Explains a failure: if the host lacks a feature, names that rather than the errno. */
int sample_explain(int failure, struct error *err);

/* Runs until the end, or a signal that ends it. Another call continues. */
enum sample_event sample_run(struct sample_loop *loop);

/* Waits for one event after the session's end, without limit. */
enum sample_event sample_wait(struct sample_loop *loop);

/*
 * Ignores signals that have come meanwhile. timeout(1) sends its signal to its command and then to
 * its process group, and the copy of a signal must not count as a second one.
 */
void sample_forget_signals(struct sample_loop *loop);

/* When the next file is made, including a short wait for names; 0: no series. */
uint64_t sample_due(const struct sample_loop *loop);

/* Closes the loop's session and descriptors. */
void sample_close(struct sample_loop *loop);

/*
 * Makes the C library return freed memory. The agent runs all the time, but needs most of its
 * memory only while a profile is made or sent. Call it before starting any thread.
 */
void memory_keep_little(void);

#endif
