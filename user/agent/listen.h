/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_LISTEN_H
#define BPFPROFIL_LISTEN_H

#include "agent/figures.h"
#include "agent/identity.h"
#include "agent/scrape.h"

/* The HTTP server of /metrics, /debug/pprof/profile, /healthz and /readyz. */
struct listen_options {
	const char *address; /* [HOST:]PORT; NULL: do not listen */
	bool insecure; /* allow addresses that other hosts can reach without TLS and a token */
	const char *certificate; /* a PEM file; NULL: no TLS */
	const char *key;
	const char *token_file; /* clients must send its first line; NULL: no token */
	enum export_detail detail;
	uint64_t functions; /* limit for each service in /metrics */
	uint64_t request_ms; /* limit for a request to arrive; 0: 10 s */
};

/* The sources of answers. They must outlive the listener. */
struct listen_sources {
	struct figures *figures;
	const char *config_error; /* why the file of options is not in force; NULL or "": it is */
	struct scrapes *scrapes;
	struct sink *const *sinks;
	size_t nr_sinks;
	const _Atomic uint64_t *cut_ns; /* time of the last profile; NULL: unknown */
	uint64_t late_ns; /* if no profile follows for so long, /healthz fails */
	const struct identities *identities; /* NULL: names of pods are not checked */
};

struct listener;

/*
 * Checks the options. -EINVAL: this is not an address, or it needs TLS and a token, or `insecure`.
 */
int listener_check(const struct listen_options *options, struct error *err);

int listener_open(const struct listen_options *options, const struct listen_sources *sources,
		  struct listener **result, struct error *err);

/* Returns the port. If the options said 0, the kernel chose it. */
unsigned int listener_port(const struct listener *listener);

/* Call after scrapes_cancel(): its requests get a second for their answers. NULL is fine. */
void listener_close(struct listener *listener);

#endif
