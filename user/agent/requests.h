/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REQUESTS_H
#define BPFPROFIL_REQUESTS_H

#include "agent/http.h"
#include "agent/sink.h"
#include "agent/spool.h"
#include "export/samples.h"

/*
 * Divides a profile into requests. It is a single request unless that is too large for the backend.
 * Then the services are halved until one is left, that one is sent by function, and its samples are
 * halved. Each sample is in exactly one request. Therefore sums do not change. Pieces of a service,
 * and their profile's id, are the same at each retry.
 */
struct requests {
	enum sink_kind kind;
	enum export_detail detail;
	const struct profile *profile;
	struct samples samples;
	enum export_detail built; /* detail of `samples` */
	bool has_samples;
	struct delivered done;
	uint32_t at_once; /* services per request */
	/* The current request: */
	uint32_t services; /* number of whole services; 0: a piece of one */
	size_t first; /* sample of it */
	size_t nr;
	uint64_t ticks;
	bool waits; /* it has waits */
	size_t size; /* bytes of the body */
};

/*
 * The profile must outlive the requests. If `done` does not fit the profile, all of it is sent.
 * Call requests_end() in any case. Returns 0 or -ENOMEM.
 */
int requests_begin(struct requests *requests, enum sink_kind kind, const struct profile *profile,
		   enum export_detail detail, const struct delivered *done);
void requests_end(struct requests *requests);

bool requests_left(const struct requests *requests);

/* Makes the next request; the caller frees *body. Returns 0 or -ENOMEM. */
int requests_next(struct requests *requests, struct bytes *body);

/* The current request was accepted or refused: continue with the next one. */
void requests_advance(struct requests *requests);

/*
 * The current request was too large: the next one has less of it. False: it cannot be divided
 * further.
 */
bool requests_divide(struct requests *requests);

#endif
