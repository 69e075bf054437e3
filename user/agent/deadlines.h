/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_DEADLINES_H
#define BPFPROFIL_DEADLINES_H

#include <stdint.h>

#include "base/error.h"

/*
 * When connections must end. libmicrohttpd only limits silence, so that a byte now and then would
 * hold a connection for ever.
 */
struct deadlines;
struct deadline; /* of one connection */

/* Call deadlines_close() on *result in any case; NULL is fine. */
int deadlines_open(struct deadlines **result, struct error *err);
void deadlines_close(struct deadlines *deadlines);

/*
 * If there are `most` connections, ends the oldest one without a request. A limit by address would
 * not do: all probes of a node come from one address, and a single silent client would shut them
 * out. Returns the number of connections; one that was ended counts until its thread has run.
 */
unsigned int deadlines_make_room(struct deadlines *deadlines, unsigned int most);

/* Shuts the connection down after ms. NULL: out of memory. */
struct deadline *deadline_new(struct deadlines *deadlines, int fd, uint64_t ms);

/* A request has arrived, and may take any time from here on. NULL is fine. */
void deadline_request_arrived(struct deadline *deadline);

/* Replaces the time, counted from now. NULL is fine. */
void deadline_set(struct deadline *deadline, uint64_t ms);

/* Call before the descriptor is closed. NULL is fine. */
void deadline_free(struct deadline *deadline);

#endif
