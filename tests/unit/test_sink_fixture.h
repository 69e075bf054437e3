/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TEST_SINK_FIXTURE_H
#define BPFPROFIL_TEST_SINK_FIXTURE_H

#include <pthread.h>

#include "agent/sink.h"

#define MS UINT64_C(1000000)
#define SINK_TIMEOUT_MS 4000 /* of a request */
#define OK "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
#define LATE "late" /* as OK, but when a sink with a spool makes no more requests */
#define SAY(status) "HTTP/1.1 " status "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

/*
 * A backend that gives its answers one after the other, one per connection; the last one is
 * repeated.
 */
struct backend {
	const char *const *
		answers; /* "" closes without one, "slow" never answers, LATE does; ends with NULL */
	int fd;
	uint16_t port;
	char url[64];
	pthread_t thread;
	size_t limit; /* bytes of a body: a larger one is refused for that; 0: any */
	unsigned int requests;
	unsigned int refused; /* of these, for that */
	int64_t ticks; /* in requests that were answered with 200 */
	char head[4096]; /* of the last request */
};

void sink_backend_start(struct backend *backend, const char *const *answers);

/* At the port of another that was stopped. */
void sink_backend_start_at(struct backend *backend, const char *const *answers, uint16_t port);
void sink_backend_stop(struct backend *backend);

/* Waits until it has got a request. */
void sink_backend_wait(struct backend *backend);

/* One that tries again after some milliseconds. spool: NULL, or a folder. */
struct sink *sink_open_to(const char *url, size_t cap, const char *spool);

/* One with these options, which takes over from `before` unless that is NULL. */
struct sink *sink_open_as(const struct sink_options *options, struct sink *before);

/* As sink_open_to(), for one that takes over from `before`, which may be NULL. */
struct sink *sink_open_after(struct sink *before, const char *url, size_t cap, const char *spool);

/* Waits until nothing is pending. */
struct sink_counts sink_settle(struct sink *sink);

/* Delivers sample_profile() so often. */
struct sink_counts sink_deliver(const char *const *answers, struct backend *backend, size_t times);

#endif
