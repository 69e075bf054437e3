/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_HTTP_H
#define BPFPROFIL_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Bytes in allocated memory. */
struct bytes {
	char *data;
	size_t size;
};

void bytes_free(struct bytes *bytes);

/* Compresses by gzip. The caller frees *result in any case. Returns 0 or -ENOMEM. */
int gzip_bytes(const struct bytes *from, struct bytes *result);

/* How to speak with a backend; the same for all requests. */
struct http_options {
	const char *ca; /* a file; NULL: the host's certificates */
	const char *certificate; /* our own, with its key */
	const char *key;
	const char *headers_file; /* "Name: value" on each line; read again for each request */
	const char *token_file; /* a bearer token; read again for each request */
	char *const *headers; /* more headers; ends with NULL, or is NULL */
	uint64_t timeout_ms;
};

/* Requests to one URL, one after the other, over one connection, or over one each for gRPC. */
struct http;

/* Whether http_open() knows the URL's scheme, and if so, whether that is for gRPC. */
int http_check(const char *url, bool *ret_grpc, struct error *err);

/*
 * url is http, https, grpc or grpcs; for the latter two its path is that of a method. All strings
 * are copied. Call http_close() on *result in any case.
 */
int http_open(const struct http_options *options, const char *url, struct http **result,
	      struct error *err);
void http_close(struct http *http); /* NULL is fine */

/* The URL for messages, without user, password and query. */
const char *http_name(const struct http *http);

/* What tells it from others: the URL without a password, which may change. Not for messages. */
const char *http_key(const struct http *http);
bool http_is_grpc(const struct http *http);

enum http_outcome {
	HTTP_DONE,
	HTTP_RETRY, /* retry later: it was not accepted */
	HTTP_TOO_LARGE, /* a smaller request may be accepted */
	HTTP_REFUSED, /* never accepted */
};

#define GRPC_UNSAID (-1)

struct http_reply {
	enum http_outcome outcome;
	long code; /* HTTP's status; for gRPC 200 and the status below; 0: no answer */
	long grpc; /* gRPC's status; 0: OK; GRPC_UNSAID: the reply had none */
	uint64_t retry_after_s; /* 0: not given */
	bool denied; /* HTTP_RETRY: for the right token, or once the backend has such a path */
	struct bytes body; /* for gRPC the message; the caller frees it */
	char why[256]; /* "" on success */
};

/* Says what a body is. That of gRPC is always compressed. */
struct http_content {
	const char *type;
	bool gzip;
};

void http_post(struct http *http, const struct http_content *content, const struct bytes *body,
	       struct http_reply *reply);

/* Whether a file of headers or a token is another one than the last request had. */
bool http_credentials_changed(const struct http *http);

/* May be called from another thread or a signal handler: requests end soon, with HTTP_RETRY. */
void http_stop(struct http *http);

#endif
