/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_HTTP_H
#define BPFPROFIL_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/gzip.h"
#include "base/error.h"

/* How to speak with a backend: what is the same for all requests. */
struct http_options {
	const char *ca; /* a file; NULL: those of the host */
	const char *certificate; /* our own, with its key */
	const char *key;
	const char *headers_file; /* "Name: value" in each line, read anew for each request */
	const char *token_file; /* a bearer token, likewise */
	char *const *headers; /* more of them; ends with NULL, or is NULL */
	uint64_t timeout_ms;
};

/* One request after the other to one URL over one connection, or one for each of gRPC. */
struct http;

/*
 * url: http, https, grpc or grpcs; what the last two are called with is a method's path. All strings
 * are copied. http_close() *ret in either case.
 */
int http_open(const struct http_options *options, const char *url, struct http **ret,
	      struct error *err);
void http_close(struct http *http); /* NULL is fine */

/* Without what a user and a password in the URL say. */
const char *http_name(const struct http *http);

enum http_outcome {
	HTTP_DONE,
	HTTP_RETRY, /* later: nobody has taken it */
	HTTP_TOO_LARGE, /* less of it may be taken */
	HTTP_REFUSED, /* now and later */
};

struct http_reply {
	enum http_outcome outcome;
	long code; /* HTTP's, or of gRPC 200 and another status; 0: no answer */
	long grpc; /* its status; 0: OK */
	uint64_t retry_after_s; /* 0: it does not say */
	struct bytes body; /* of gRPC its message; the caller frees it */
	char why[256]; /* "" when it is done */
};

/* A body that is compressed by gzip already. */
void http_post(struct http *http, const char *content_type, const struct bytes *body,
	       struct http_reply *reply);

/* From another thread or a signal: requests end soon, with HTTP_RETRY. */
void http_stop(struct http *http);

#endif
