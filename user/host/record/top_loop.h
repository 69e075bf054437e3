/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_LOOP_H
#define BPFPROFIL_TOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/error.h"
#include "host/engine/session.h"
#include "host/record/cgroup_labels.h"
#include "host/record/kept.h"
#include "host/record/options.h"
#include "host/record/symbolizer.h"
#include "host/top/model.h"
#include "host/top/screen.h"
#include "host/top/ui.h"

/*
 * top: reads each interval's profile from the running session, finds its names, adds it to the
 * model, and shows it on a terminal, or as a table on stdout. All profiles are also kept, so that a
 * key can write them to a file.
 */
struct top_loop {
	const struct sampling_options *options;
	struct session *session;
	struct symbolizer symbolizer;
	struct cgroup_labels labels;
	struct kept kept;
	bool save; /* write a file at the end, too */
	struct top_model model;
	struct top_ui ui;
	struct top_plain plain;
	struct top_screen screen;
	struct terminal *terminal; /* NULL: plain tables */
	int signal_fd;
	int resize_fd; /* for SIGWINCH */
	int ended_fd; /* readable when a target may have ended; -1: never */
	bool (*is_over)(void *targets); /* then called: whether all targets have ended */
	void *targets;
	uint64_t delay_ns;
	uint64_t iterations; /* number of intervals; 0: unlimited */
	uint64_t due_ns; /* end of the current interval */
	time_t ended; /* end of the last interval */
	int out_ret; /* why stdout cannot be written; 0: it can, */
	struct error out_err; /* and in words */
};

/* by is the first view. */
int top_loop_init(struct top_loop *loop, const struct sampling_options *options, enum top_by by,
		  const char *file, struct error *err);

/*
 * Runs on a started session, until the user quits, a signal, the targets' end, or the last
 * interval.
 */
int top_loop_run(struct top_loop *loop, struct error *err);

/* Restores the terminal. The caller keeps session. */
void top_loop_free(struct top_loop *loop);

#endif
