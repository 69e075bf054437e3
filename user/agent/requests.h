/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_REQUESTS_H
#define BPFPROFIL_REQUESTS_H

#include "agent/http.h"
#include "agent/sink.h"
#include "agent/spool.h"
#include "export/samples.h"

/*
 * A profile as requests: one, as long as the backend takes it. What is too large for it is divided:
 * the services are halved until one is alone, which is then sent by function, and then its samples
 * are halved. Each sample is in one request, and the sums stay the same. A piece of a service is the
 * same at each try, and so is its profile's id.
 */
struct requests {
	enum sink_kind kind;
	enum export_detail detail;
	const struct profile *profile;
	struct samples samples;
	enum export_detail built; /* the detail of these samples */
	bool has_samples;
	struct delivered done;
	uint32_t at_once; /* services in a request */
	/* The request at hand: */
	uint32_t services; /* so many, whole; 0: a piece of one */
	size_t first; /* of its samples */
	size_t nr;
	uint64_t ticks;
	size_t size; /* bytes, as sent */
};

/*
 * The profile must outlive the requests. Where `done` is not true of it, all of it is sent. Call requests_end() in any case. Returns 0 or -ENOMEM.
 */
int requests_begin(struct requests *requests, enum sink_kind kind, const struct profile *profile,
		   enum export_detail detail, const struct delivered *done);
void requests_end(struct requests *requests);

/* Whether there is another one. */
bool requests_left(const struct requests *requests);

/* Makes the next request; the caller frees *body. Returns 0 or -ENOMEM. */
int requests_next(struct requests *requests, struct bytes *body);

/* The request at hand is settled, whether accepted or refused: the next one is for what follows. */
void requests_settle(struct requests *requests);

/* The request at hand was too large: the next one has less of it. False: it cannot be divided. */
bool requests_divide(struct requests *requests);

#endif
