/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DEADLINE_H
#define BPFPROFIL_DEADLINE_H

#include <stdint.h>

#include "base/error.h"

/*
 * Ends connections that take too long, however busy they look: libmicrohttpd only knows how long a
 * connection was silent, so that a byte now and then would hold it for ever.
 */
struct deadlines;
struct deadline; /* of one connection */

/* deadlines_close() *result in any case; NULL is fine. */
int deadlines_open(struct deadlines **result, struct error *err);
void deadlines_close(struct deadlines *deadlines);

/* The connection is shut down after ms from now. NULL: out of memory. */
struct deadline *deadline_new(struct deadlines *deadlines, int fd, uint64_t ms);

/*
 * If there are `most` connections, ends the oldest of those on which no request has arrived: all of a
 * node's probes come from one address, so that a limit for an address would shut them out for one who
 * says nothing.
 */
void deadlines_make_room(struct deadlines *deadlines, unsigned int most);

/* A request has arrived: it may take as long as it does. NULL is fine. */
void deadline_asked(struct deadline *deadline);

/* Another time from now. NULL is fine. */
void deadline_set(struct deadline *deadline, uint64_t ms);

/* Call before the descriptor is closed. NULL is fine. */
void deadline_free(struct deadline *deadline);

#endif
