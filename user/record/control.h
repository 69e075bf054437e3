/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CONTROL_H
#define BPFPROFIL_CONTROL_H

#include <stddef.h>

#include "base/error.h"

/*
 * A FIFO by which sampling is begun and paused, one command a line, and another into which each is
 * answered once it is done.
 */
struct control {
	int fd; /* -1: there is none */
	int answer_fd; /* -1: nobody wants an answer */
	char line[64]; /* what has come of the next command */
	size_t length;
};

#define CONTROL_CLOSED ((struct control){ .fd = -1, .answer_fd = -1 })

enum control_command { CONTROL_NONE, CONTROL_START, CONTROL_STOP };

/* FIFO[,ANSWERS]; NULL: none. control_close() it, also after a failure. */
int control_open(struct control *control, const char *names, struct error *err);

/*
 * The next command that has come. CONTROL_NONE: there is none now, or *reads, which is CONTROL_READS
 * at first, are done: who writes without pause is not to keep us. One that is not known was told.
 */
enum { CONTROL_READS = 16 };
enum control_command control_read(struct control *control, unsigned int *reads);

/* The last one is done, or could not be. */
void control_answer(const struct control *control, int failed);

void control_close(struct control *control);

#endif
