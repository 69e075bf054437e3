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
 * What backends answer, for counting. The words are labels of metrics, so there is a fixed number of
 * them whatever a backend says: common codes as they are, others by class.
 */
#define CODES_NR 50

/* A number below CODES_NR. http: HTTP's status, 0 for no answer; status: gRPC's. */
size_t code_number(long http, bool grpc, long status);

/* "200", "5xx", "grpc-14", "none" */
const char *code_word(size_t number);

/*
 * Where profiles go. Each sink has a thread, which waits for an unavailable backend for any time;
 * meanwhile profiles wait, up to a cap. A profile is either delivered, or its ticks are counted as
 * lost.
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
	size_t cap; /* bytes of pending profiles in memory */
	const char *spool; /* a folder for pending profiles; NULL: none. Not for folders as sinks */
	size_t spool_cap;
	uint64_t retry_ns; /* before the first retry */
	uint64_t retry_most_ns;
	uint64_t retry_denied_ns; /* the same while it denies, as by 401 */
	uint64_t unreadable_ns; /* for so long a file of the spool that cannot be read is tried again */
};

/* Why ticks were not delivered and will not be. */
enum sink_loss {
	LOST_REFUSED,
	LOST_TOO_LARGE, /* divided as far as it can be */
	LOST_NO_ROOM, /* there was no memory, or the cap was reached by profiles that do not add up */
	LOST_UNREADABLE, /* the disk did not give back what was spooled */
	LOST_KILLED, /* with an agent, before they were in a profile */
	NR_LOSSES,
};

extern const char *const sink_losses[NR_LOSSES];

/* Counts since it was opened. */
struct sink_counts {
	uint64_t profiles; /* delivered */
	uint64_t ticks; /* in the delivered profiles */
	uint64_t requests;
	uint64_t retries; /* requests that failed or were answered with "later" */
	uint64_t codes[CODES_NR]; /* requests by what was answered */
	uint64_t losses[NR_LOSSES]; /* ticks */
	uint64_t lost; /* their sum */
	uint64_t rejected; /* profiles rejected by a backend that took others */
	uint64_t bytes; /* sent */
	uint64_t pending; /* number of profiles */
	uint64_t pending_bytes; /* in memory */
	uint64_t spool_bytes; /* on disk */
	uint64_t spool_ok; /* 0: its disk is full, and what waits is in memory */
	uint64_t pending_ticks;
	uint64_t merged; /* how often two pending ones were added up */
	uint64_t last_success; /* in seconds since 1970; 0: none yet */
	bool failing;
	bool refusing; /* since then for what it was asked, and not for a failure of its own */
	char why[256]; /* what failed last, or is refused; "": nothing since the last success */
};

struct sink;

/* What a backend of this kind lacks that refuses so; NULL: its words must do. */
const char *sink_advice(enum sink_kind kind, const char *why);

/* Copies all strings. It delivers nothing before sink_start(). Call sink_close() on *result in any case. */
int sink_open(const struct sink_options *options, struct sink **result, struct error *err);

/* Whether both are of one kind and place, whatever else their options say. */
bool sink_is_same(const struct sink *sink, const struct sink *other);

/* Adds a number to its name, which another one has too: two URLs may differ in what is not shown. */
int sink_number(struct sink *sink, size_t number, struct error *err);

/* Whether that folder is its spool; NULL: whether it has one. */
bool sink_has_spool(const struct sink *sink, const char *folder);

/* Sends what waits in the folder of another sink too, once it has its own. Returns 0 or -ENOMEM. */
int sink_adopt(struct sink *sink, const char *folder);

/* Takes the spool and loads it, for a sink that takes over from none. */
int sink_load(struct sink *sink, struct error *err);

/*
 * Begins to deliver. before: NULL, or a sink of the same kind and place, from which this one takes over
 * pending profiles, counts and the spool, as soon as the backend has answered it. It is closed in any case.
 */
int sink_start(struct sink *sink, struct sink *before, struct error *err);

/* The profile stays the caller's. */
void sink_put(struct sink *sink, const struct profile *profile);

/* Before sink_start(): goes on with the counters of an earlier agent. */
void sink_restore(struct sink *sink, const struct sink_counts *counts);

/* Counts ticks of an agent that was killed, which no profile has. */
void sink_lose(struct sink *sink, uint64_t ticks);

void sink_count(struct sink *sink, struct sink_counts *result);

/*
 * The same, and from here on it is what sink_shown() returns: no more than what the next
 * agent continues from. Otherwise a counter could step back, which a rate takes for a restart.
 */
void sink_note(struct sink *sink, struct sink_counts *result);
void sink_shown(struct sink *sink, struct sink_counts *result);

/* The name for messages: its option, and its place, which is its URL without a password. */
const char *sink_name(const struct sink *sink);
const char *sink_kind(const struct sink *sink);
const char *sink_place(const struct sink *sink);

/* Says that no request is to begin after that time; NULL is fine. */
void sink_end(struct sink *sink, uint64_t patience_ns);

/* Gives pending profiles this long to be delivered, and reports what was not. NULL is fine. */
void sink_close(struct sink *sink, uint64_t patience_ns);

#endif
