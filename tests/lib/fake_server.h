/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_FAKE_SERVER_H
#define TEST_FAKE_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "shared/call_protocol.h"

/*
 * A process that stands where `bpfprofil serve` would, and does as the test says: it remembers what
 * it was asked, and by whom, and answers well, badly or never. It can also count, into the sender's
 * own memory. All that both sides look at is in shared memory.
 */
enum fake_how {
	FAKE_REPLIES,
	FAKE_GARBAGE, /* of a reply's size */
	FAKE_SHORT,
	FAKE_LONG,
	FAKE_SILENT, /* until the client leaves */
	FAKE_HANGS_UP,
	FAKE_SLOW, /* replies after FAKE_SLOW_MS */
};

enum { FAKE_SLOW_MS = 300, FAKE_OPS = 8 };

struct fake_shared {
	/* The test's to set, at any time. */
	enum fake_how how;
	struct call_reply reply;
	struct {
		uint64_t at; /* bytes of text from the first region's offset on */
		uint32_t n; /* for the 32-bit counter there, each of 4 bytes of text; 0: none */
	} at_start, at_stop; /* added when a call begins and when it ends */

	/* The server's. */
	unsigned int requests;
	unsigned int by_op[FAKE_OPS];
	unsigned int in_hand; /* requests that it has read and not done with */
	unsigned int left; /* clients that left a silent server, and could not be sent to then */
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

/* Listens when it returns. */
void fake_start(struct fake_server *server);

/* The process alone; the socket's file stays. */
void fake_kill(struct fake_server *server);

/* Also removes the files. */
void fake_stop(struct fake_server *server);

/* The last request. */
const struct call_request *fake_request(const struct fake_server *server);

#endif
