/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SINK_H
#define BPFPROFIL_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "agent/http.h"
#include "base/error.h"
#include "export/export.h"
#include "profile/profile.h"

/*
 * Where profiles go. Each sink has a thread, which waits for a backend that is away as long as that
 * takes; what waits meanwhile has a cap. A profile is delivered, or its ticks are counted as lost.
 */
enum sink_kind {
	SINK_DIR,
	SINK_OTLP,
	SINK_PYROSCOPE,
	SINK_PARCA,
	NR_SINKS,
};

extern const char *const sink_words[NR_SINKS]; /* their options, without dashes */

struct sink_options {
	enum sink_kind kind;
	const char *where; /* a folder or a URL */
	struct http_options http;
	enum export_detail detail;
	size_t cap; /* bytes of what waits */
	uint64_t retry_ns; /* before the first retry */
	uint64_t retry_most_ns;
};

/* Since it was opened. */
struct sink_counts {
	uint64_t profiles; /* delivered */
	uint64_t ticks; /* in them */
	uint64_t requests;
	uint64_t retries; /* of them answered with later, or not at all */
	uint64_t lost; /* ticks that were refused, or for which no memory was */
	uint64_t rejected; /* profiles, by a backend that took others of the same request */
	uint64_t bytes; /* sent */
	uint64_t pending; /* profiles */
	uint64_t pending_bytes;
	uint64_t pending_ticks;
	uint64_t merged; /* times that two pending ones became one */
	uint64_t last_success; /* in seconds since 1970; 0: none yet */
	bool failing;
};

struct sink;

/* Copies all strings. sink_close() *ret in either case. */
int sink_open(const struct sink_options *options, struct sink **ret, struct error *err);

/* The profile stays the caller's. */
void sink_put(struct sink *sink, const struct profile *profile);

/*
 * Stops the one before, of the same kind and place, and takes over what waits there and what it has
 * counted. False: it is another.
 */
bool sink_inherit(struct sink *sink, struct sink *before);

void sink_count(struct sink *sink, struct sink_counts *ret);

/* What it is called in messages: its option and its URL without a password. */
const char *sink_name(const struct sink *sink);

/* Gives what waits this long to be delivered; says what could not be. NULL is fine. */
void sink_close(struct sink *sink, uint64_t patience_ns);

#endif
