/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_FAKE_SERVER_H
#define TEST_FAKE_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "shared/call_protocol.h"

/*
 * A process in place of `bpfprofil serve` that does what the test says: it remembers what it was
 * asked, and by whom, and answers correctly, wrongly or never. It can also count, by writing to the
 * sender's memory. All that both sides use is in shared memory.
 */
enum fake_how {
	FAKE_REPLIES,
	FAKE_GARBAGE, /* of a reply's size */
	FAKE_SHORT,
	FAKE_LONG,
	FAKE_SILENT, /* until the client gives up */
	FAKE_HANGS_UP,
	FAKE_SLOW, /* replies after FAKE_SLOW_MS */
};

enum { FAKE_SLOW_MS = 300, FAKE_OPS = 8 };

struct fake_shared {
	/* Set by the test, at any time. */
	enum fake_how how;
	struct call_reply reply;
	struct {
		uint64_t at; /* bytes of text from the first region's offset on */
		uint32_t n; /* added to the 32-bit counter there (4 bytes of text each); 0: none */
	} at_start, at_stop; /* added when a call begins and when it ends */

	/* Set by the server. */
	unsigned int requests;
	unsigned int by_op[FAKE_OPS];
	unsigned int in_hand; /* requests that it has read and not finished */
	unsigned int left; /* clients that left a silent server, and to which it could not send */
	unsigned int uncounted; /* counts that could not be written */
	struct ucred sender; /* of the last request */
	size_t size;
	char message[sizeof(struct call_request) + CALL_ENTRIES_MAX * sizeof(struct call_entry)]
		__attribute__((aligned(8)));
};

struct fake_server {
	char dir[64];
	char path[96];
	pid_t pid;
	struct fake_shared *shared;
};

/* Returns when the server is listening. */
void fake_start(struct fake_server *server);

/* Ends the process only; the socket's file stays. */
void fake_kill(struct fake_server *server);

/* Also removes the files. */
void fake_stop(struct fake_server *server);

/* The last request. */
const struct call_request *fake_request(const struct fake_server *server);

#endif
