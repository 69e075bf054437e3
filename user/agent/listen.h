/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_LISTEN_H
#define BPFPROFIL_LISTEN_H

#include "agent/figures.h"
#include "agent/scrape.h"

/* The HTTP side: /metrics, /debug/pprof/profile, /healthz, /readyz. */
struct listen_options {
	const char *address; /* [HOST:]PORT; NULL: no one is listened to */
	bool insecure; /* also where others than this host can ask */
	enum export_detail detail;
};

/* What it tells of; all of it outlives the listener. */
struct listen_sources {
	struct figures *figures;
	struct scrapes *scrapes;
	struct sink *const *sinks;
	size_t nr_sinks;
};

struct listener;

/* Whether it could be listened to. -EINVAL: no address, or one that needs insecure. */
int listener_check(const struct listen_options *options, struct error *err);

int listener_open(const struct listen_options *options, const struct listen_sources *sources,
		  struct listener **ret, struct error *err);

/* The port that it has, where 0 was asked for. */
unsigned int listener_port(const struct listener *listener);

/* After scrapes_cancel(). NULL is fine. */
void listener_close(struct listener *listener);

#endif
