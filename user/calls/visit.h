/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_VISIT_H
#define BPFPROFIL_VISIT_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "calls/calls.h"

/*
 * Gives a connection to the worker of the peer's user, which reads the request, answers it and
 * closes the connection: even closing it may block, because a descriptor may have been sent along.
 * is_plain: there can be no descriptor. only: who may ask, besides root; (uid_t)-1: anybody.
 */
void visit_begin(struct calls *calls, int fd, bool is_plain, uid_t only, const struct ucred *peer);

#endif
