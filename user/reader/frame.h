/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FRAME_H
#define BPFPROFIL_FRAME_H

#include <sys/types.h>

#include "reader/call.h"

/*
 * Frames between a reader and the program that started it. A question may have descriptors. Before
 * it answers, the reader may ask for any number of debug files, one after the other:
 *
 *     program   QUESTION             OPENED             OPENED ...
 *     reader             OPEN ...            OPEN ...              ANSWER
 */
enum frame_kind { FRAME_QUESTION = 1, FRAME_OPEN, FRAME_OPENED, FRAME_ANSWER };

struct reader_frame {
	enum frame_kind kind;
	int64_t code; /* kind of a question; else 0 or a negative errno */
	struct wire body;
	int fds[HELPER_FDS]; /* -1: none */
};

/* The purpose of a reader: letters of its argument. */
#define READER_TRUSTED 't' /* reads files of root or our user, which may name others to open */
#define READER_CODE 'c' /* decodes instructions, by capstone */

/* One side of the connection. */
struct frame_line {
	int socket;
	/* Waits until the socket is ready for poll's events; 0 or -errno. NULL: block. */
	int (*wait)(void *ctx, short events);
	void *ctx;
	uint64_t most; /* limit for received bodies; larger ones are -E2BIG */
	bool receives_fds; /* receive descriptors; else the kernel drops them */
};

/* Returns 0 or -errno; -EPIPE: the other side is gone, or broke the protocol. */
int frame_send(const struct frame_line *line, const struct reader_frame *frame);

/* Receives into *frame, replacing its body. The caller closes its descriptors. */
int frame_receive(const struct frame_line *line, struct reader_frame *frame);

#endif
