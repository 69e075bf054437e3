/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PRELOAD_H
#define BPFPROFIL_PRELOAD_H

#include <poll.h>

#include "base/error.h"
#include "calls/calls.h"
#include "calls/server.h"

/*
 * run --preload: a server for COMMAND and its descendants alone, and the library that has their
 * profil(), sprofil(), pcsample() and -pg start-up go to it.
 */
struct preload {
	struct calls *calls; /* NULL: not asked for */
	struct server *server;
	char *socket; /* its name: abstract */
};

enum { PRELOAD_FDS = 2 };

/*
 * Opens the server and sets the environment that COMMAND is to inherit, before it is forked. user
 * runs COMMAND; NULL: who we are.
 */
int preload_open(struct preload *preload, const char *user, struct error *err);

/* COMMAND has its environment: ours is as it was. */
void preload_started(const struct preload *preload);

/* Fills in what to wait for; -1 where nothing is. Afterwards preload_poll does what there is. */
void preload_watch(const struct preload *preload, struct pollfd fds[PRELOAD_FDS]);
int preload_poll(struct preload *preload, const struct pollfd fds[PRELOAD_FDS], struct error *err);

/* What was called, as targets of a profile; NULL when there is no server. */
int preload_finish(struct preload *preload, struct profile **ret, struct error *err);

void preload_close(struct preload *preload);

#endif
