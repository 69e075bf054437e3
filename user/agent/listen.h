/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_LISTEN_H
#define BPFPROFIL_LISTEN_H

#include "agent/figures.h"
#include "agent/identity.h"
#include "agent/scrape.h"

/* The HTTP server: /metrics, /debug/pprof/profile, /healthz, /readyz. */
struct listen_options {
	const char *address; /* [HOST:]PORT; NULL: do not listen */
	bool insecure; /* allow addresses that other hosts can reach without TLS and a token */
	const char *certificate; /* a PEM file; NULL: no TLS */
	const char *key;
	const char *token_file; /* clients must send its first line; NULL: no token is needed */
	enum export_detail detail;
	uint64_t functions; /* of each service, counted in /metrics */
	uint64_t request_ms; /* in which a request must arrive; 0: 10 s */
};

/* What it reads to answer requests; all of this must outlive the listener. */
struct listen_sources {
	struct figures *figures;
	const char *config_error; /* why the file of options is not in force; NULL or "": it is */
	struct scrapes *scrapes;
	struct sink *const *sinks;
	size_t nr_sinks;
	const _Atomic uint64_t *cut_ns; /* when the last profile was made; NULL: that is not known */
	uint64_t late_ns; /* how long after that it says that it is not well */
	const struct identities *identities; /* NULL: it is not known whether pods have names */
};

struct listener;

/* Checks the options. -EINVAL: this is no address, or it needs TLS and a token, or `insecure`. */
int listener_check(const struct listen_options *options, struct error *err);

int listener_open(const struct listen_options *options, const struct listen_sources *sources,
		  struct listener **result, struct error *err);

/* Returns the port, which the kernel chose if it was 0. */
unsigned int listener_port(const struct listener *listener);

/* Call after scrapes_cancel(), whose requests get a second to be answered. NULL is fine. */
void listener_close(struct listener *listener);

#endif
