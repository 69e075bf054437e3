/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SERVER_H
#define BPFPROFIL_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "calls/calls.h"

/*
 * The socket on which requests arrive. A connection has one request and one reply. A silent
 * connection is closed after some seconds, and one user cannot take all places.
 */
struct server_options {
	const char *path; /* @NAME: abstract; NULL: use listen_fd, which is open already */
	int listen_fd;
	mode_t mode; /* of the socket */
	uid_t owner; /* of the socket; (uid_t)-1: the server's own */
	gid_t group; /* the same for its group */
	uid_t only; /* who may ask, besides root; (uid_t)-1: anybody who can connect */
};

struct server;

/* calls stays the caller's. */
int server_open(const struct server_options *options, struct calls *calls, struct server **result,
		struct error *err);

/* Readable when server_poll has something to do. */
int server_fd(const struct server *server);
int server_poll(struct server *server, struct error *err);

/* Removes the socket if the server made it. NULL is fine. */
void server_close(struct server *server);

#endif
