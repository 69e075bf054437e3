/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PRELOAD_H
#define BPFPROFIL_PRELOAD_H

#include <poll.h>

#include "base/error.h"
#include "calls/calls.h"
#include "calls/server.h"

/*
 * run --preload: a server for COMMAND and its descendants only. Their profil(), sprofil(),
 * pcsample() and -pg start-up reach it through the preloaded library.
 */
struct preload {
	struct calls *calls; /* NULL: no server */
	struct server *server;
	char *socket; /* abstract name */
};

enum { PRELOAD_FDS = 2 };

/*
 * Opens the server, and sets the environment for COMMAND. Call it before the fork. user runs
 * COMMAND; NULL: our own user.
 */
int preload_open(struct preload *preload, const char *user, struct error *err);

/* Restores our environment, because COMMAND has its own now. */
void preload_started(const struct preload *preload);

/* Fills in the descriptors to wait for, or -1. Call preload_poll() afterwards. */
void preload_watch(const struct preload *preload, struct pollfd fds[PRELOAD_FDS]);
int preload_poll(struct preload *preload, const struct pollfd fds[PRELOAD_FDS], struct error *err);

/* The calls as targets of a profile; NULL: no server. */
int preload_finish(struct preload *preload, struct profile **result, struct error *err);

void preload_close(struct preload *preload);

#endif
