/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SINK_IMPL_H
#define BPFPROFIL_SINK_IMPL_H

#include <pthread.h>

#include "agent/pending.h"
#include "agent/sink.h"

#define MS_NS UINT64_C(1000000)

struct sink {
	struct sink_options options;
	char *name; /* for messages */
	char *key; /* what tells it from others */
	struct http *http; /* NULL: a folder */
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* for everything below */
	struct sink *before; /* the one that it is taking over from; NULL: none, or it has */
	uint64_t due_ns; /* no attempt begins before this, unless it is closing */
	pthread_cond_t more; /* there is work, or the sink is closing */
	struct pending pending;
	struct sink_counts counts;
	size_t under_way; /* 1: a profile was taken out of the pending ones */
	uint64_t under_way_ticks;
	bool accepted; /* some part of it */
	bool said_too_large;
	bool closing;
	uint64_t until_ns; /* when closing: no attempt begins after this */
};

/*
 * sink_takeover.c: ends a sink's thread. No request begins after patience_ns; one in progress gets until
 * end_ns to finish.
 */
void sink_stop(struct sink *sink, uint64_t patience_ns, uint64_t end_ns);

/* Takes over what waits in the sink before, which ends. */
void sink_take_over(struct sink *sink);

#endif
