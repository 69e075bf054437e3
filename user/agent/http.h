/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_HTTP_H
#define BPFPROFIL_HTTP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* Bytes in allocated memory. */
struct bytes {
	char *data;
	size_t size;
};

void bytes_free(struct bytes *bytes);

/*
 * Makes bytes of what is written to a stream; NULL: out of memory. At the end result is 0 or what
 * failed. Returns that, or -ENOMEM; after a failure there is nothing to free.
 */
FILE *bytes_begin(struct bytes *bytes);
int bytes_end(struct bytes *bytes, FILE *stream, int result, bool gzip);

/*
 * Owns the strings of options. A sink may use them longer than the options are in force, until its
 * last request is answered.
 */
struct option_texts {
	atomic_uint users;
	void **list;
	size_t nr, room;
};

/* Owns a block of memory from here on, and makes *texts if it is NULL. Returns NULL, or block. */
void *option_texts_keep(struct option_texts **texts, void *block);
void option_texts_release(struct option_texts *texts); /* NULL is fine */

/* How to talk to a backend. */
struct http_options {
	const char *ca; /* a file; NULL: the host's certificates */
	const char *certificate; /* the client's certificate and key */
	const char *key;
	const char *headers_file; /* "Name: value" on each line; read again for each request */
	const char *token_file; /* a bearer token; read again for each request */
	char *const *headers; /* more headers; ends with NULL, or is NULL */
	uint64_t timeout_ms;
};

/* Sends requests to one URL, one after the other. They share a connection, except for gRPC. */
struct http;

/* Checks that http_open() knows the URL's scheme, and whether that scheme is gRPC. */
int http_check(const char *url, bool *ret_grpc, struct error *err);

/*
 * url is http, https, grpc or grpcs; for the latter two its path names a method. The strings of the
 * options must outlive the result. Call http_close() on *result in any case.
 */
int http_open(const struct http_options *options, const char *url, struct http **result,
	      struct error *err);
void http_close(struct http *http); /* NULL is fine */

/* The URL for messages, without user, password and query. */
const char *http_name(const struct http *http);

/* Identifies the URL, without its password, which may change. Not for messages. */
const char *http_key(const struct http *http);
bool http_is_grpc(const struct http *http);

enum http_outcome {
	HTTP_DONE,
	HTTP_RETRY, /* not accepted now: retry later */
	HTTP_TOO_LARGE, /* a smaller request may be accepted */
	HTTP_REFUSED, /* will never be accepted */
};

#define GRPC_NO_STATUS (-1)

struct http_reply {
	enum http_outcome outcome;
	long code; /* HTTP's status; for gRPC 200 and the status below; 0: no answer */
	long grpc; /* gRPC's status; 0: OK; GRPC_NO_STATUS: the reply had none */
	uint64_t retry_after_s; /* 0: not given */
	bool denied; /* with HTTP_RETRY: the token or the path is not accepted yet */
	struct bytes body; /* for gRPC the message; the caller frees it */
	char why[256]; /* "" on success */
};

/* The type of a body. gRPC's is always compressed. */
struct http_content {
	const char *type;
	bool gzip;
};

void http_post(struct http *http, const struct http_content *content, const struct bytes *body,
	       struct http_reply *reply);

/* Whether the header or token file changed since the last request. */
bool http_credentials_changed(const struct http *http);

/* May be called from another thread or a signal handler: requests end soon, with HTTP_RETRY. */
void http_stop(struct http *http);

#endif
