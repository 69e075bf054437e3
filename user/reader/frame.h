/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FRAME_H
#define BPFPROFIL_FRAME_H

#include <sys/types.h>

#include "reader/call.h"

/*
 * What goes over the socket between a reader and the program that started it. A question may have descriptors.
 * While the reader works on its answer it may have any number of debug files opened, one after the other:
 *
 *     program   QUESTION             OPENED             OPENED ...
 *     reader             OPEN ...            OPEN ...              ANSWER
 */
enum frame_kind { FRAME_QUESTION = 1, FRAME_OPEN, FRAME_OPENED, FRAME_ANSWER };

struct reader_frame {
	enum frame_kind kind;
	int64_t code; /* the kind of a question; else 0 or a negative errno */
	struct wire body;
	int fds[READER_FDS]; /* -1: none */
};

/* What a reader is started for; letters of its argument. */
#define READER_TRUSTED 't' /* files of root and of our user, which may name others that it opens */
#define READER_CODE 'c' /* instructions: it has loaded capstone */

/* How one side sends and receives. */
struct frame_line {
	int socket;
	/* Waits until the socket is ready for poll's events; 0 or -errno. NULL: block. */
	int (*wait)(void *ctx, short events);
	void *ctx;
	uint64_t most; /* bytes of a body that it receives; a larger one is -E2BIG */
	bool takes_fds; /* what comes with a frame is received; else the kernel drops it */
};

/* Returns 0 or -errno; -EPIPE: the other side is gone, or breaks the rules. */
int frame_send(const struct frame_line *line, const struct reader_frame *frame);

/* Receives into *frame, whose body is replaced and whose descriptors the caller closes. */
int frame_receive(const struct frame_line *line, struct reader_frame *frame);

#endif
