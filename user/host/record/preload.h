/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PRELOAD_H
#define BPFPROFIL_PRELOAD_H

#include <poll.h>

#include "base/error.h"
#include "calls/calls.h"
#include "calls/server.h"

/*
 * run --preload: a server for COMMAND and its descendants only, and the preloaded library through
 * which their profil(), sprofil(), pcsample() and -pg start-up use it.
 */
struct preload {
	struct calls *calls; /* NULL: not used */
	struct server *server;
	char *socket; /* its abstract name */
};

enum { PRELOAD_FDS = 2 };

/*
 * Opens the server and sets the environment that COMMAND inherits; call it before the fork. user is
 * who runs COMMAND; NULL: our own user.
 */
int preload_open(struct preload *preload, const char *user, struct error *err);

/* COMMAND has its environment now, so ours is restored. */
void preload_started(const struct preload *preload);

/*
 * Fills in the descriptors to wait for, or -1 for those not needed. Call preload_poll afterwards.
 */
void preload_watch(const struct preload *preload, struct pollfd fds[PRELOAD_FDS]);
int preload_poll(struct preload *preload, const struct pollfd fds[PRELOAD_FDS], struct error *err);

/* The calls as targets of a profile; NULL if there is no server. */
int preload_finish(struct preload *preload, struct profile **result, struct error *err);

void preload_close(struct preload *preload);

#endif
