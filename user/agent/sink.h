/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SINK_H
#define BPFPROFIL_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/http.h"
#include "base/error.h"
#include "export/export.h"
#include "profile/profile.h"

/*
 * Answers of backends, as labels of metrics. Their number is fixed whatever a backend sends: common
 * codes have a label each, others share one by class.
 */
#define CODES_NR 50

/* Returns a number below CODES_NR. http: HTTP's status, 0 for no answer; status: gRPC's. */
size_t code_index(long http, bool grpc, long status);

/* "200", "5xx", "grpc-14", "none" */
const char *code_label(size_t index);

/*
 * Sinks deliver profiles, each in a thread of its own. If a backend is unavailable, the sink
 * retries without limit, while new profiles wait in a queue with a cap. Each tick is either
 * delivered or counted as lost.
 */
enum sink_kind {
	SINK_DIR,
	SINK_OTLP,
	SINK_PYROSCOPE,
	SINK_PARCA,
	NR_SINKS,
};

extern const char *const sink_names[NR_SINKS]; /* their options, without dashes */

struct sink_options {
	enum sink_kind kind;
	const char *where; /* a folder or a URL */
	struct http_options http;
	enum export_detail detail;
	uint64_t cap; /* limit for pending profiles in memory, in bytes */
	const char *spool; /* a folder for pending profiles; NULL: none. Not for SINK_DIR */
	uint64_t spool_cap;
	uint64_t retry_ns; /* before the first retry */
	uint64_t retry_most_ns;
	uint64_t retry_denied_ns; /* while the backend denies access, as by 401 */
	uint64_t unreadable_ns; /* how long to retry an unreadable file of the spool */
	struct option_texts *texts; /* of these strings; NULL: they outlive the sink */
};

/* Why ticks were not delivered and will not be. */
enum sink_loss {
	LOST_REFUSED,
	LOST_TOO_LARGE, /* even the smallest piece */
	LOST_NO_ROOM, /* no memory, or the cap was reached by profiles that cannot be merged */
	LOST_UNREADABLE, /* the disk did not return a spooled profile */
	LOST_KILLED, /* by an agent that was killed before it made a profile of them */
	NR_LOSSES,
};

extern const char *const sink_losses[NR_LOSSES];

/* Counts since the sink was opened. */
struct sink_counts {
	uint64_t profiles; /* delivered */
	uint64_t ticks; /* in the delivered profiles */
	uint64_t requests;
	uint64_t retries; /* requests that failed or were deferred by the backend */
	uint64_t codes[CODES_NR]; /* requests by answer */
	uint64_t losses[NR_LOSSES]; /* ticks */
	uint64_t lost; /* their sum */
	uint64_t rejected; /* profiles that a backend rejected while it accepted others */
	uint64_t bytes; /* sent */
	uint64_t pending; /* profiles */
	uint64_t pending_bytes; /* in memory */
	uint64_t spool_bytes; /* on disk */
	uint64_t spool_ok; /* 0: its disk is full, and profiles wait in memory */
	uint64_t pending_ticks;
	uint64_t merged; /* number of merges of two pending profiles */
	uint64_t last_success; /* in seconds since 1970; 0: none yet */
	bool failing;
	bool refusing; /* it refused the request, rather than failed itself */
	char why[256]; /* reason of the last failure or refusal; "": none since the last success */
};

struct sink;

/* Advises what to change in a backend of this kind after such a refusal; NULL: its text must do. */
const char *sink_advice(enum sink_kind kind, const char *why);

/*
 * The sink delivers nothing before sink_start(). Call sink_close() on *result in any case.
 */
int sink_open(const struct sink_options *options, struct sink **result, struct error *err);

/* Whether both have the same kind and place. Other options may differ. */
bool sink_is_same(const struct sink *sink, const struct sink *other);

/*
 * Appends a number to the name. Two URLs may have one name if they differ in a part that is not
 * shown.
 */
int sink_number(struct sink *sink, size_t number, struct error *err);

/* Whether the folder is this sink's spool; NULL: whether it has a spool at all. */
bool sink_has_spool(const struct sink *sink, const char *folder);

/*
 * Also sends the profiles in another sink's folder, once this sink has a spool. Returns 0 or
 * -ENOMEM.
 */
int sink_import(struct sink *sink, const char *folder);

/* Locks the spool and loads it, for a sink without a predecessor. */
int sink_load(struct sink *sink, struct error *err);

/*
 * Starts to deliver. before: NULL, or a sink of the same kind and place. Once its last request is
 * answered, this sink takes over its queue, counts and spool. `before` is closed in any case.
 */
int sink_start(struct sink *sink, struct sink *before, struct error *err);

/* The caller keeps the profile. */
void sink_put(struct sink *sink, const struct profile *profile);

/* Before sink_start(): continues the counters of an earlier agent. */
void sink_restore(struct sink *sink, const struct sink_counts *counts);

/* Counts the lost ticks of a killed agent. */
void sink_lose(struct sink *sink, uint64_t ticks);

void sink_count(struct sink *sink, struct sink_counts *result);

/*
 * Counts, and has sink_shown() return the result from here on. Publish only what was saved:
 * otherwise counters could decrease after a restart.
 */
void sink_publish(struct sink *sink, struct sink_counts *result);
void sink_shown(struct sink *sink, struct sink_counts *result);

/* The name in messages: the option and the place, which is the URL without a password. */
const char *sink_name(const struct sink *sink);
const char *sink_kind(const struct sink *sink);
const char *sink_place(const struct sink *sink);

/* Lets no request begin after patience_ns. NULL is fine. */
void sink_begin_closing(struct sink *sink, uint64_t patience_ns);

/* Ends its thread: what it has delivered does not change any more. NULL is fine. */
void sink_end(struct sink *sink, uint64_t patience_ns);

/*
 * Waits this long for pending profiles to be delivered, and reports those that were not. NULL is
 * fine.
 */
void sink_close(struct sink *sink, uint64_t patience_ns);

#endif
