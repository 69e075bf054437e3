/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SERVER_H
#define BPFPROFIL_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "calls/calls.h"

/*
 * The socket that requests come from. A connection brings one request and gets one reply; one that
 * is silent is closed after some seconds, and one user cannot take all places.
 */
struct server_options {
	const char *path; /* @NAME: abstract; NULL: listen_fd, which somebody has opened */
	int listen_fd;
	mode_t mode; /* of the socket */
	uid_t owner; /* of the socket; (uid_t)-1: the server's own */
	gid_t group; /* likewise */
	uid_t only; /* who may ask, beside root; (uid_t)-1: who can connect */
};

struct server;

/* calls stays the caller's. */
int server_open(const struct server_options *options, struct calls *calls, struct server **ret,
		struct error *err);

/* Readable when server_poll has something to do. */
int server_fd(const struct server *server);
int server_poll(struct server *server, struct error *err);

/* Removes the socket it made. NULL is fine. */
void server_close(struct server *server);

#endif
