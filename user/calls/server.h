/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SERVER_H
#define BPFPROFIL_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "calls/calls.h"

/*
 * The socket for requests. A connection has one request and one reply. A silent connection is
 * closed after some seconds, and no user can fill all places.
 */
struct server_options {
	const char *path; /* @NAME: abstract; NULL: use listen_fd, which is open */
	int listen_fd;
	mode_t mode; /* of the socket */
	gid_t group; /* of the socket; (gid_t)-1: the server's group */
	uid_t only; /* who may make requests, besides root; (uid_t)-1: anybody who can connect */
};

struct server;

/* The caller keeps calls. */
int server_open(const struct server_options *options, struct calls *calls, struct server **result,
		struct error *err);

/* Readable if server_poll() has work. */
int server_fd(const struct server *server);
int server_poll(struct server *server, struct error *err);

/* Removes the socket if the server made it. NULL is fine. */
void server_close(struct server *server);

#endif
